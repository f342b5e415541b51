// Watches when several nodes look at them: one tells, and what each of them notes counts.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MINUTE_MS } from '../../../src/domain/limits.ts';
import { all, failed, none, times } from '../../contract/fixtures.ts';
import { assertLedgerAddsUp } from '../../contract/log/counting.ts';
import type { Stage } from '../../contract/stage.ts';
import { codesOf, heartbeat, judgeOf, NOTHING, now, recoveriesOf } from '../../contract/watches/watching.ts';
import { type Stores, storesOn } from './stores.ts';

/** All nodes look at the same time. */
async function look({ stores, clock }: Stores): Promise<void> {
  await Promise.all(stores.map((store) => judgeOf({ store, clock }).tickWatches()));
}

async function pass(stores: Stores, ms: number): Promise<void> {
  await look(stores);
  for (let left = ms; left > 0; left -= 40_000) {
    stores.clock.advance(Math.min(left, 40_000));
    await look(stores);
  }
}

test('one of the nodes tells of a silence, and of its end', async () => {
  await using stores = await storesOn(3);
  const { stage } = stores;
  const watch = { ...NOTHING, silentAfterMs: 2 * MINUTE_MS };
  const workflows = [];
  for (const _ of times(5, () => 0)) workflows.push(await stage.workflow({ settings: { watch, notify: false } }));
  await pass(stores, 3 * MINUTE_MS);
  for (const { id } of workflows) assert.deepEqual(await codesOf(stage, id), ['Silent']);
  for (const { id } of workflows) await stage.end(await stage.started({ id }));
  await Promise.all(times(3, () => look(stores)));
  for (const { id } of workflows) assert.equal((await recoveriesOf(stage, id)).length, 1);
});

test('pings at all nodes are counted', async () => {
  await using stores = await storesOn(3);
  const { stage, clock } = stores;
  const beat = await heartbeat(stage);
  const ping = { kind: 'success', exitCode: null, log: '' } as const;
  const pings = times(30, (n) =>
    judgeOf({ store: stores.stores[n % 3] as Stage['store'], clock }).ping(beat.heartbeat.key, ping),
  );
  await Promise.all(pings);
  assert.equal((await now(stage, beat)).watch.counts.pings, 30);
});

test('runs end at one node while the others judge', async () => {
  await using stores = await storesOn(2);
  const { stage } = stores;
  const errorRatio = { over: 0.5, ofAtLeast: 4, windowMs: 60 * MINUTE_MS };
  const workflow = await stage.workflow({
    settings: { watch: { ...NOTHING, silentAfterMs: MINUTE_MS, errorRatio }, notify: false, concurrency: 100 },
  });
  await look(stores);
  await Promise.all(times(20, () => stage.appendFor(workflow.id, {}, none())));
  const { runs } = await stage.store.claimRuns(20, all());
  assert.equal(runs.length, 20);
  await Promise.all([...runs.map((run) => stage.end(run, failed())), ...times(10, () => look(stores))]);
  await look(stores);
  const codes = await codesOf(stage, workflow.id);
  assert.deepEqual([codes.length, codes.filter((code) => code === 'Unhealthy').length], [21, 1]);
  await assertLedgerAddsUp(stage);
});
