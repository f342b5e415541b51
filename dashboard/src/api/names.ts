import { queryOptions, useQuery } from '@tanstack/react-query';
import { readAll } from './list.ts';
import { workflowsQuery } from './workflows.ts';

export interface Named {
  readonly id: string;
  readonly name: string | null;
  readonly url?: string;
}

/** A field that a record does not have is refused. */
const fieldsOf = (noun: string) => ({ include: noun === 'webhooks' ? 'id,name,url' : 'id,name' });

const othersQuery = queryOptions({
  queryKey: ['names'],
  queryFn: async ({ signal }) => {
    const read = (noun: string): Promise<Named[]> => readAll<Named>(`/v1/${noun}`, fieldsOf(noun), signal);
    const [sources, webhooks, heartbeats, channels] = await Promise.all(
      ['sources', 'webhooks', 'heartbeats', 'channels'].map(read),
    );
    return { sources: sources ?? [], webhooks: webhooks ?? [], heartbeats: heartbeats ?? [], channels: channels ?? [] };
  },
  staleTime: 60_000,
});

const NONE: readonly Named[] = [];

/** What has a name, by kind. */
export function useNamed() {
  const workflows: readonly Named[] = useQuery(workflowsQuery).data ?? NONE;
  const others = useQuery(othersQuery).data;
  return {
    workflows,
    sources: others?.sources ?? NONE,
    webhooks: others?.webhooks ?? NONE,
    heartbeats: others?.heartbeats ?? NONE,
    channels: others?.channels ?? NONE,
  };
}

/** Returns what gives the name of a workflow, source, webhook, heartbeat or channel; its id when it has none, or is gone. */
export function useNames(): (id: string) => string {
  const all = Object.values(useNamed()).flat();
  const names = new Map(all.map(({ id, name, url }) => [id, name ?? url ?? id]));
  return (id) => names.get(id) ?? id;
}
