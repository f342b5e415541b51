import { useQueryClient } from '@tanstack/react-query';
import { ProblemError, type Trigger, type UpdateWorkflowInput } from '../../../src/client/client.ts';
import { type ReadWorkflow, updateWorkflow, workflowQuery } from '../api/workflows.ts';
import { T } from '../english.ts';
import { toast } from '../parts/toast.tsx';

/** The record is not the one any more that the change is of. */
const CHANGED = 412;

type Sent = NonNullable<UpdateWorkflowInput['triggers']>;

/**
 * Returns what replaces the triggers of a workflow. It throws when the triggers are not those any more that are shown, and shows
 * the new ones. What else of the workflow was changed meanwhile does not matter.
 */
export function useTriggerChange(shown: ReadWorkflow) {
  const client = useQueryClient();
  const { queryKey } = workflowQuery(shown.id);
  return async (make: (triggers: readonly Trigger[]) => Sent, said: string): Promise<void> => {
    const triggers = make(shown.triggers ?? []);
    const put = (etag: string): Promise<ReadWorkflow> => updateWorkflow(shown.id, { triggers }, etag);
    const changed = await put(shown.etag).catch(async (error: unknown) => {
      if (!(error instanceof ProblemError && error.status === CHANGED)) throw error;
      const now = await client.fetchQuery({ ...workflowQuery(shown.id), staleTime: 0 });
      if (factsOf(now) !== factsOf(shown)) throw new Error(T.triggers.overtaken);
      return put(now.etag);
    });
    client.setQueryData(queryKey, changed);
    void client.invalidateQueries({ queryKey: ['workflows'] });
    toast(said);
  };
}

/** Returns what people set of triggers: when a schedule is due next changes by itself. */
function factsOf({ triggers = [] }: ReadWorkflow): string {
  return JSON.stringify(triggers.map(({ next_at_ms: _, next_at_iso: __, ...facts }) => facts));
}
