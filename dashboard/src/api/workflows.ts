import { queryOptions } from '@tanstack/react-query';
import { call } from './http.ts';
import type { Page, Workflow } from './types.ts';

interface Data<T> {
  readonly data: T;
}

export const workflowsQuery = queryOptions({
  queryKey: ['workflows'],
  queryFn: async ({ signal }) => {
    const all: Workflow[] = [];
    let after = '';
    // Names are needed everywhere; a thousand workflows are ten requests.
    for (let page = 0; page < 20; page++) {
      const listed = await call<Page<Workflow>>('GET', `/v1/workflows?limit=100${after}`, undefined, signal);
      all.push(...listed.data);
      if (listed.data.length < 100 || listed.page_info.end_cursor === null) break;
      after = `&after=${listed.page_info.end_cursor}`;
    }
    return all;
  },
  staleTime: 30_000,
});

export function workflowQuery(id: string) {
  return queryOptions({
    queryKey: ['workflow', id],
    queryFn: async ({ signal }) => (await call<Data<Workflow>>('GET', `/v1/workflows/${id}`, undefined, signal)).data,
  });
}

export async function createWorkflow(input: object): Promise<Workflow> {
  return (await call<Data<Workflow>>('POST', '/v1/workflows', input)).data;
}
