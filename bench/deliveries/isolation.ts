// What dead webhooks cost the others: all of them hear every event, and the receivers of some never answer.

import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import { startCrowd } from '../kit/crowd.ts';
import { BODY } from '../kit/load.ts';
import { sharedNowMs } from '../kit/receiver.ts';
import { type Env, startBench } from '../kit/server.ts';
import { type Spread, spreadOf } from '../kit/stats.ts';

export interface Arranged {
  readonly living: number;
  readonly dead: number;
  readonly eventsPerSecond: number;
  readonly seconds: number;
}

/** Until connections are open and each dead one has all its requests in flight. */
const WARM_UP_EVENTS = 20;

/** Of the deliveries to the living: from the start of the POST to the headers at the receiver. */
export async function delaysWith(arranged: Arranged, env?: Env): Promise<Spread> {
  const { living, dead, eventsPerSecond, seconds } = arranged;
  await using crowd = await startCrowd();
  await using bench = await startBench(undefined, env);
  const workflow = await bench.workflow('export default () => 1;');
  for (let n = 0; n < living + dead; n++) {
    await bench.subscribe(workflow.hi, await bench.webhook(crowd.url(n, n < dead ? 'dead' : 'ok')));
  }
  const { origin, pathname: path } = new URL(workflow.endpoint);
  const pool = new Pool(origin, { connections: 8 });
  const sentAtMs = new Map<string, number>();
  const events = WARM_UP_EVENTS + eventsPerSecond * seconds;
  const sending: Promise<void>[] = [];
  const startedMs = sharedNowMs();
  for (let n = 0; n < events; n++) {
    const dueMs = startedMs + (n * 1000) / eventsPerSecond;
    if (dueMs > sharedNowMs()) await pause(dueMs - sharedNowMs());
    sending.push(
      (async () => {
        const before = sharedNowMs();
        const headers = { 'content-type': 'application/json' };
        const answer = await pool.request({ path, method: 'POST', headers, body: BODY });
        const { id } = (await answer.body.json()) as { id: string };
        if (n >= WARM_UP_EVENTS) sentAtMs.set(id, before);
      })(),
    );
  }
  await Promise.all(sending);
  await crowd.reached(events * living);
  await pool.close();
  const delays: number[] = [];
  for (const { id, atMs, attempt } of await crowd.arrivals()) {
    const before = sentAtMs.get(id);
    if (before !== undefined && attempt === 1) delays.push(atMs - before);
  }
  // It would wait for the dead ones.
  bench.process.child.kill('SIGKILL');
  return spreadOf(delays);
}
