// What is set up in the server, and what must therefore follow from each event. The event itself decides what becomes of
// it, so that the verdict needs nothing but the event's number and kind. What becomes of a replay of it is decided by its number.
//
//   HTTP ──▶ A ──$errors──▶ B, the global error workflow, webhook W
//             └──its own───▶ C, webhook W

import type { Client } from '../support/client.ts';

/** What A does with an event. `late` kinds wait before that, so that a kill finds them under way. */
export const KINDS = ['ok', 'emit', 'throw', 'emit-throw', 'exit', 'late', 'late-emit', 'late-throw'] as const;
export type Kind = (typeof KINDS)[number];

export const EMITS: ReadonlySet<Kind> = new Set(['emit', 'emit-throw', 'late-emit']);
export const FAILS: ReadonlySet<Kind> = new Set(['throw', 'emit-throw', 'exit', 'late-throw']);

/** How often each kind is sent. `exit` costs its process, so there are few of them. */
export const USUAL_MIX: Readonly<Record<Kind, number>> = {
  ok: 50,
  emit: 12,
  throw: 14,
  'emit-throw': 4,
  exit: 0.15,
  late: 10,
  'late-emit': 5,
  'late-throw': 5,
};

export const A_CODE = `export default async ({ steps, $ }) => {
  const { n, kind, wait_ms } = steps.trigger.event.body;
  if (kind.startsWith('late')) await new Promise((resolve) => setTimeout(resolve, wait_ms));
  const isReplay = steps.trigger.context.replay;
  if (kind.includes('emit')) $.send.emit({ n, is_replay: isReplay });
  if (kind.endsWith('throw') && (!isReplay || n % 4 === 0)) throw new Error('event ' + n);
  if (kind.endsWith('throw') && n % 4 === 1) throw new Error('event ' + n + ' again');
  if (kind === 'exit' && !isReplay) process.exit(3);
  return n;
};`;

/** Fails no more: what is replayed with it is fixed. */
export const REPAIRED_CODE = 'export default ({ steps }) => steps.trigger.event.body.n;';

export interface Arrangement {
  /** Of the HTTP trigger; the same at every server. */
  readonly path: string;
  /** The ids by the letters above. */
  readonly a: string;
  readonly b: string;
  readonly c: string;
  readonly w: string;
  readonly global: string;
}

export async function arrange(client: Client, hookUrl: string): Promise<Arrangement> {
  const settings = { concurrency: 64, queue_limit: 1_000_000 };
  const workflow = (name: string, code: string, triggers: object[] = []) =>
    client.post('/v1/workflows', { name, steps: [{ namespace: 'step', code }], triggers, settings });
  const a = await workflow('A', A_CODE, [{ type: 'http' }]);
  const b = await workflow('B', 'export default ({ steps }) => steps.trigger.event.error.code;');
  const c = await workflow('C', 'export default ({ steps }) => steps.trigger.event.n;');
  const w = await client.post('/v1/webhooks', { url: hookUrl });
  const subscribe = (listenerId: string, eventName?: string) =>
    client.post('/v1/subscriptions', { emitter_id: a.id, listener_id: listenerId, event_name: eventName });
  for (const [listenerId, eventName] of [[b.id, '$errors'], [w.id, '$errors'], [c.id], [w.id]] as const) {
    await subscribe(listenerId, eventName);
  }
  const { data: me } = await client.get('/v1/users/me');
  const path = new URL(a.triggers[0].endpoint_url).pathname;
  return { path, a: a.id, b: b.id, c: c.id, w: w.id, global: me.global_error_workflow_id };
}
