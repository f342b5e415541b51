// What is set up for the round of all faults, over HTTP:
//
//   HTTP ──▶ A ──$errors──▶ B, the global error workflow, all webhooks
//             └──its own───▶ C (which waits a second), all webhooks
//   every two seconds ──▶ T
//
// C's summary is how long it has waited, by the clock of those who run code, which stays right; T's is when its tick was due.

import type { Client } from '../../support/client.ts';
import { A_CODE } from '../arrangement.ts';
import { MANNERS, type Receivers } from './receivers.ts';

export interface MixedArrangement {
  /** Of the HTTP trigger; the same at every server. */
  readonly path: string;
  readonly a: string;
  readonly b: string;
  readonly c: string;
  readonly t: string;
}

/** Often enough for any outage here, and soon. */
const DELAYS_MS = [500, 1000, ...Array.from({ length: 30 }, () => 2000)];
const ATTEMPT_MS = 1500;
/** What C waits between its steps. */
export const DELAY_MS = 1000;

export async function arrangeMixed(client: Client, receivers: Receivers): Promise<MixedArrangement> {
  const settings = { concurrency: 32, queue_limit: 1_000_000 };
  const workflow = (name: string, code: string, triggers: object[] = []) =>
    client.post('/v1/workflows', { name, steps: [{ namespace: 'step', code }], triggers, settings });
  const a = await workflow('A', A_CODE, [{ type: 'http' }]);
  const b = await workflow('B', 'export default ({ steps }) => steps.trigger.event.error.code;');
  const c = await client.post('/v1/workflows', {
    name: 'C',
    steps: [
      { namespace: 'first', code: `export default ({ $ }) => { $.flow.delay(${DELAY_MS}); return Date.now(); };` },
      {
        namespace: 'second',
        code: "export default ({ steps, $ }) => { $.export('$summary', String(Date.now() - steps.first.$return_value)); };",
      },
    ],
    settings,
  });
  const t = await workflow(
    'T',
    "export default ({ steps, $ }) => { $.export('$summary', String(steps.trigger.event.due_at_ms)); };",
    [{ type: 'schedule', interval_seconds: 2 }],
  );
  const webhooks = [];
  for (const manner of MANNERS) {
    webhooks.push(
      await client.post('/v1/webhooks', {
        url: receivers.url(manner),
        name: manner,
        timeout_ms: ATTEMPT_MS,
        retry: { delays_ms: DELAYS_MS },
      }),
    );
  }
  const subscribe = (listenerId: string, eventName?: string) =>
    client.post('/v1/subscriptions', { emitter_id: a.id, listener_id: listenerId, event_name: eventName });
  await subscribe(b.id, '$errors');
  await subscribe(c.id);
  for (const { id } of webhooks) {
    await subscribe(id, '$errors');
    await subscribe(id);
  }
  return { path: new URL(a.triggers[0].endpoint_url).pathname, a: a.id, b: b.id, c: c.id, t: t.id };
}
