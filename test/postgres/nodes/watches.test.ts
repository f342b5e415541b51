// Watches when several nodes look at them: one tells, and what each of them notes counts.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ERRORS, RECOVERED } from '../../../src/domain/emission.ts';
import { LIMITS, MINUTE_MS } from '../../../src/domain/limits.ts';
import type { Workflow } from '../../../src/domain/resource.ts';
import { all, at, failed, none, times } from '../../contract/fixtures.ts';
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
  for (let left = ms; left > 0; left -= 20_000) {
    stores.clock.advance(Math.min(left, 20_000));
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
  stores.clock.advance(LIMITS.watchPauseMs);
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
  stores.clock.advance(LIMITS.watchPauseMs);
  await Promise.all(times(3, () => look(stores)));
  const codes = await codesOf(stage, workflow.id);
  assert.deepEqual([codes.length, codes.filter((code) => code === 'Unhealthy').length], [21, 1]);
  await assertLedgerAddsUp(stage);
});

test('ends of runs and decisions wait for each other in no circle', async () => {
  await using stores = await storesOn(2);
  const { stage, clock } = stores;
  stage.names.add(RECOVERED);
  const decider = { store: at(stores.stores, 1), clock };
  const errorRatio = { over: 0, ofAtLeast: 1, windowMs: 60 * MINUTE_MS };
  const watch = { silentAfterMs: MINUTE_MS, succeededWithinMs: MINUTE_MS, errorRatio };
  const workflows: Workflow[] = [];
  for (const _ of times(4, () => 0)) {
    workflows.push(await stage.workflow({ settings: { watch, notify: false, concurrency: 1000 } }));
  }
  // What is told of one needs the queues of all others, and each end of a run the watches of its own.
  for (const { id } of workflows) {
    for (const listener of workflows) {
      if (listener.id === id) continue;
      for (const name of [ERRORS, RECOVERED]) await stage.subscribe(id, listener.id, name);
    }
  }
  for (let round = 0; round < 25; round++) {
    for (const { id } of workflows) await stage.appendFor(id, {}, none());
    const { runs } = await stage.store.claimRuns(40, all());
    clock.advance(20_000);
    // Each in a transaction of its own: the batch begins with the first, and takes the others one by one.
    const ends = runs.map((run, n) => stage.end(run, n % 2 === round % 2 ? failed() : undefined));
    await Promise.all([...ends, ...times(5, () => judgeOf(decider).tickWatches())]);
  }
  assert.ok((await codesOf(stage, at(workflows, 0).id)).includes('Unhealthy'));
  await assertLedgerAddsUp(stage);
});
