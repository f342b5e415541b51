import { queryOptions } from '@tanstack/react-query';
import { etagOf, type WorkflowRedaction } from '../../../src/client/client.ts';
import { changes, errand } from './errand.ts';

/** The rules, and the version of their record: a change that names it overwrites no other one. */
export interface ReadRedaction extends WorkflowRedaction {
  readonly etag: string;
}

/** `workflowId`: whose rules; null: those of the owner. */
export function redactionQuery(workflowId: string | null) {
  return queryOptions({
    queryKey: ['redaction', workflowId],
    queryFn: async ({ signal }): Promise<ReadRedaction> => {
      if (workflowId === null) {
        const answer = await errand.getRedaction({}, { signal });
        return { ...answer.data, before_storing: false, etag: etagOf(answer) };
      }
      const answer = await errand.getWorkflowRedaction({ id: workflowId }, { signal });
      return { ...answer.data, etag: etagOf(answer) };
    },
  });
}

/** Replaces the rules. 412 when they were changed since they were read. */
export async function setRedaction(
  workflowId: string | null,
  { before_storing, ...rules }: WorkflowRedaction,
  ifMatch: string,
): Promise<void> {
  if (workflowId === null) await changes.setRedaction(rules, { ifMatch });
  else await changes.setWorkflowRedaction({ id: workflowId, ...rules, before_storing }, { ifMatch });
}
