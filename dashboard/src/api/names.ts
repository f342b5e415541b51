import { type QueryClient, queryOptions, useQueries, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
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

/** By the beginning of an id: the key of the list that has it. */
const KEYS: Readonly<Record<string, readonly unknown[]>> = {
  p: workflowsQuery.queryKey,
  dc: namesQuery('sources').queryKey,
  wh: namesQuery('webhooks').queryKey,
  hb: namesQuery('heartbeats').queryKey,
  ch: namesQuery('channels').queryKey,
};

/** The least time between two such rounds. */
const SEEK_MS = 3000;
/** Ids that their lists did not have. What is gone is not sought again. */
const sought = new Set<string>();
const due = new Set<string>();
let nextAtMs = 0;

/** Asks for the lists again that do not have these ids: what was made after the page was opened has a name, too. */
function seek(client: QueryClient, ids: Iterable<string>): void {
  const isWaiting = due.size > 0;
  for (const id of ids) {
    const [kind = ''] = id.split('_');
    if (KEYS[kind] && !sought.has(id)) due.add(kind);
    sought.add(id);
  }
  if (isWaiting || due.size === 0) return;
  const now = Date.now();
  const ask = (): void => {
    for (const kind of due) void client.refetchQueries({ queryKey: KEYS[kind], exact: true });
    due.clear();
  };
  setTimeout(ask, Math.max(0, nextAtMs - now));
  nextAtMs = Math.max(now, nextAtMs) + SEEK_MS;
}

/** The channel that is in no list: the owner's mail address. */
const OWNER_MAIL = 'ch_mail';

/** Stands for a name that is being asked for. */
export const UNKNOWN = '…';

/** Returns what gives the name of a workflow, source, webhook, heartbeat or channel; its id when it has none, or is gone. */
export function useNames(): (id: string) => string {
  const client = useQueryClient();
  const { named, isPending } = useAllNamed();
  const unknown = new Set<string>();
  // Without a list of what it depends on: rows ask while they are drawn.
  useEffect(() => seek(client, unknown));
  const all = Object.values(named).flat();
  const names = new Map(all.map(({ id, name, url }) => [id, name ?? url ?? id])).set(OWNER_MAIL, 'Owner’s mail');
  return (id) => {
    const name = names.get(id);
    if (name === undefined && !isPending) unknown.add(id);
    return name ?? (isPending ? UNKNOWN : id);
  };
}
