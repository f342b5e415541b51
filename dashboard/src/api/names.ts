import { queryOptions, useQuery } from '@tanstack/react-query';
import { call } from './http.ts';
import type { Page } from './types.ts';
import { workflowsQuery } from './workflows.ts';

interface Named {
  readonly id: string;
  readonly name: string | null;
  readonly url?: string;
}

const PAGE = 100;
const MAX_PAGES = 20;

async function listAll(noun: string, signal: AbortSignal): Promise<Named[]> {
  const all: Named[] = [];
  let after = '';
  for (let page = 0; page < MAX_PAGES; page++) {
    const path = `/v1/${noun}?limit=${PAGE}&include=id,name,url${after}`;
    const listed = await call<Page<Named>>('GET', path, undefined, signal);
    all.push(...listed.data);
    if (listed.data.length < PAGE || listed.page_info.end_cursor === null) break;
    after = `&after=${listed.page_info.end_cursor}`;
  }
  return all;
}

const othersQuery = queryOptions({
  queryKey: ['names'],
  queryFn: async ({ signal }) => (await Promise.all([listAll('sources', signal), listAll('webhooks', signal)])).flat(),
  staleTime: 60_000,
});

/** Returns what gives the name of a workflow, source or webhook; its id when it has none, or is gone. */
export function useNames(): (id: string) => string {
  const workflows = useQuery(workflowsQuery).data ?? [];
  const others = useQuery(othersQuery).data ?? [];
  const names = new Map<string, string>();
  for (const { id, name } of workflows) names.set(id, name);
  for (const { id, name, url } of others) names.set(id, name ?? url ?? id);
  return (id) => names.get(id) ?? id;
}
