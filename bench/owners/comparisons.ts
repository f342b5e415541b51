// What comparisons of one owner's groups cost the calls of another: `node bench/owners/comparisons.ts [at once ...]`. 120 events of some
// 350 KB, half of which failed; then so many comparisons at once, while another owner reads a list every 20 ms.

import { setTimeout as pause } from 'node:timers/promises';
import { type Client, createClient } from '../../test/support/client.ts';
import { startBench } from '../kit/server.ts';

const AT_ONCE = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [1, 8, 24];
const [EVENTS, ITEMS, PAUSE_MS] = [120, 6000, 20];
const FAILS = 'export default ({ steps }) => { if (steps.trigger.event.body.fails) throw new Error("no card"); };';

/** Returns the times of a call, in ms, sorted, as long as `isOver` says no. */
async function times(client: Client, isOver: () => boolean): Promise<number[]> {
  const all: number[] = [];
  while (!isOver()) {
    const before = performance.now();
    await client.get('/v1/workflows?limit=1');
    all.push(performance.now() - before);
    await pause(PAUSE_MS);
  }
  return all.sort((a, b) => a - b);
}

function tell(what: string, all: readonly number[]): void {
  console.log(`${what}: p50 ${all[all.length >> 1]?.toFixed(0)} ms, at most ${all.at(-1)?.toFixed(0)} ms`);
}

await using bench = await startBench();
const { client } = bench;
const other = createClient(bench.process.url, (await client.post('/v1/owners', { name: 'other' })).api_key);
const steps = [{ namespace: 'step', code: FAILS }];
const workflow = await client.post('/v1/workflows', { name: 'fails', steps, triggers: [{ type: 'http' }] });
const items = Array.from({ length: ITEMS }, (_, id) => ({ id, name: `item number ${id}`, price: id * 1.5 }));
for (let n = 0; n < EVENTS; n++) {
  const body = JSON.stringify({ fails: n % 2 === 1, n, items });
  await fetch(workflow.triggers[0].endpoint_url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
}
await pause(2000);
const [group] = (await client.get('/v1/error_groups')).data;
const until = performance.now() + 3000;
tell('idle', await times(other, () => performance.now() > until));
for (const count of AT_ONCE) {
  let isOver = false;
  const path = `/v1/error_groups/${group.id}/differences`;
  const asked = Promise.all(Array.from({ length: count }, () => client.get(path))).finally(() => {
    isOver = true;
  });
  tell(`${count} comparisons`, await times(other, () => isOver));
  await asked;
}
