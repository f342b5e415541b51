// Deliveries by the second, against what only sends them: a loop over undici with as many requests in flight, the same
// body and headers, and no store. What is to be delivered lies in the store before, held; nothing else is done meanwhile.

import { createHmac } from 'node:crypto';
import { Pool } from 'undici';
import { LIMITS } from '../../src/domain/limits.ts';
import { type Crowd, startCrowd } from '../kit/crowd.ts';
import { BODY } from '../kit/load.ts';
import { type Bench, cpuSecondsOf, type Env, startBench } from '../kit/server.ts';

export interface Delivering {
  readonly perSecond: number;
  /** CPU time of the server for one delivery, in microseconds. */
  readonly serverCpuUs: number;
}

export interface DeliveryLoad {
  /** Each has 8 requests in flight. */
  readonly webhooks: number;
  readonly deliveries: number;
}

/** Emits what it is sent, as often as it is told. */
const EMITS = `export default ({ steps, $ }) => {
  const { times, event } = steps.trigger.event.body;
  for (let n = 0; n < times; n++) $.send.emit(event);
};`;

const PER_RUN = 500;
const WARM_UP = 1000;

/** Enables webhooks that have a backlog, and counts what arrives. */
export async function deliverBacklog({ webhooks, deliveries }: DeliveryLoad, env?: Env): Promise<Delivering> {
  await using crowd = await startCrowd();
  await using bench = await startBench(undefined, env);
  const workflow = await bench.workflow(EMITS, { concurrency: 1 });
  const ids: string[] = [];
  for (let n = 0; n < webhooks; n++) {
    ids.push(await bench.webhook(crowd.url(n)));
    await bench.subscribe(workflow.id, ids[n] as string);
  }
  const drain = { bench, crowd, ids, endpoint: workflow.endpoint };
  await drained({ ...drain, events: Math.ceil(WARM_UP / webhooks) });
  return await drained({ ...drain, events: Math.ceil(deliveries / webhooks) });
}

interface Drain {
  readonly bench: Bench;
  readonly crowd: Crowd;
  readonly ids: readonly string[];
  readonly endpoint: string;
  readonly events: number;
}

async function drained({ bench, crowd, ids, endpoint, events }: Drain): Promise<Delivering> {
  const setActive = (active: boolean) =>
    Promise.all(ids.map((id) => bench.client.put(`/v1/webhooks/${id}`, { active })));
  await setActive(false);
  for (let left = events; left > 0; left -= PER_RUN) {
    const body = JSON.stringify({ times: Math.min(left, PER_RUN), event: JSON.parse(BODY) });
    const headers = { 'content-type': 'application/json' };
    await fetch(endpoint, { method: 'POST', headers, body }).then((answer) => answer.arrayBuffer());
  }
  await bench.settled();
  await crowd.forget();
  const pid = bench.process.child.pid as number;
  const cpuBefore = await cpuSecondsOf(pid);
  await setActive(true);
  const { count, firstAtMs, lastAtMs } = await crowd.reached(events * ids.length);
  await bench.settled();
  const serverCpuUs = (((await cpuSecondsOf(pid)) - cpuBefore) / count) * 1e6;
  return { perSecond: ((count - 1) / (lastAtMs - firstAtMs)) * 1000, serverCpuUs };
}

/** The same requests from this process, sent one after the other by as many hands. */
export async function bareLoop({ webhooks, deliveries }: DeliveryLoad, isSigned: boolean): Promise<number> {
  await using crowd = await startCrowd();
  const key = Buffer.alloc(32, 1);
  const body = Buffer.from(BODY);
  let left = WARM_UP;
  let sent = 0;
  const sendAll = async (pool: Pool, path: string): Promise<void> => {
    while (left > 0) {
      left--;
      const headers = headersOf(`bare${sent++}`, isSigned ? { key, body } : null);
      const answer = await pool.request({ path, method: 'POST', headers, body });
      await answer.body.dump();
    }
  };
  const pools = Array.from({ length: webhooks }, (_, n) => {
    const url = new URL(crowd.url(n));
    return { path: url.pathname, pool: new Pool(url.origin, { connections: LIMITS.inFlightPerWebhook }) };
  });
  const hands = () =>
    pools.flatMap(({ pool, path }) => Array.from({ length: LIMITS.inFlightPerWebhook }, () => sendAll(pool, path)));
  await Promise.all(hands());
  await crowd.forget();
  left = deliveries;
  await Promise.all(hands());
  const { count, firstAtMs, lastAtMs } = await crowd.tally();
  await Promise.all(pools.map(({ pool }) => pool.close()));
  return ((count - 1) / (lastAtMs - firstAtMs)) * 1000;
}

function headersOf(id: string, signing: { key: Buffer; body: Buffer } | null): string[] {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const headers = [
    ...['content-type', 'application/json', 'user-agent', 'errand/bench', 'accept-encoding', 'identity'],
    ...['webhook-id', id, 'webhook-timestamp', timestamp, 'errand-emitter-id', 'p_abcdefghijkl'],
    ...['errand-event-name', '', 'errand-attempt', '1', 'errand-trigger', 'event'],
  ];
  if (!signing) return headers;
  const { key, body } = signing;
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64');
  return [...headers, 'webhook-signature', `v1,${signature}`];
}
