import { queryOptions, useQueries, useQuery } from '@tanstack/react-query';
import { errand } from './errand.ts';
import { readAll } from './list.ts';
import { workflowsQuery } from './workflows.ts';

export interface Named {
  readonly id: string;
  readonly name: string | null;
  readonly url?: string;
}

/** The lists of all others, by the keys of theirs. A field that a record does not have is refused. */
const LISTS = {
  sources: (asked, options) => errand.listSources({ ...asked, include: 'id,name' }, options),
  webhooks: (asked, options) => errand.listWebhooks({ ...asked, include: 'id,name,url' }, options),
  heartbeats: (asked, options) => errand.listHeartbeats({ ...asked, include: 'id,name' }, options),
  channels: (asked, options) => errand.listChannels({ ...asked, include: 'id,name' }, options),
} satisfies Readonly<Record<string, Parameters<typeof readAll<Named>>[0]>>;

const NOUNS = ['sources', 'webhooks', 'heartbeats', 'channels'] as const;

/** Begins with the key of the list, so that what asks again for the list asks for the names. */
function namesQuery(noun: (typeof NOUNS)[number]) {
  return queryOptions({
    queryKey: [noun, 'names'],
    queryFn: ({ signal }) => readAll<Named>(LISTS[noun], signal),
    staleTime: 60_000,
  });
}

const NONE: readonly Named[] = [];

/** What has a name, by kind. */
export function useNamed() {
  return useAllNamed().named;
}

function useAllNamed() {
  const asked = useQuery(workflowsQuery);
  const others = useQueries({ queries: NOUNS.map(namesQuery) });
  const workflows: readonly Named[] = asked.data ?? NONE;
  const [sources = NONE, webhooks = NONE, heartbeats = NONE, channels = NONE] = others.map(({ data }) => data);
  const isPending = [asked, ...others].some((one) => one.isPending);
  return { named: { workflows, sources, webhooks, heartbeats, channels }, isPending };
}

/** Stands for a name that is being asked for. */
export const UNKNOWN = '…';

/** Returns what gives the name of a workflow, source, webhook, heartbeat or channel; its id when it has none, or is gone. */
export function useNames(): (id: string) => string {
  const { named, isPending } = useAllNamed();
  const all = Object.values(named).flat();
  const names = new Map(all.map(({ id, name, url }) => [id, name ?? url ?? id]));
  return (id) => names.get(id) ?? (isPending ? UNKNOWN : id);
}
