// Rows are locked in one order at all nodes (src/store/postgres/log/batch-reads.ts), so what two of them do at the same moment
// waits in no circle: a database in which transactions deadlocked is dropped with an error.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { utf8 } from '../../src/domain/bytes.ts';
import { type NewEmission, RECOVERED } from '../../src/domain/emission.ts';
import { MINUTE_MS } from '../../src/domain/limits.ts';
import type { Trigger } from '../../src/domain/resource.ts';
import { all, at, defined, failed, none, succeeded, times } from '../contract/fixtures.ts';
import { assertLedgerAddsUp } from '../contract/log/counting.ts';
import { judgeOf } from '../contract/watches/watching.ts';
import { storesOn } from './nodes/stores.ts';

const DONE = { status: 200, headers: {}, body: utf8('done') };

test('answers of runs and repeated keys wait in no circle', async () => {
  await using stores = await storesOn(2, {}, { mostDeadlocks: 0 });
  const { stage } = stores;
  const other = at(stores.stores, 1);
  const { trigger } = await stage.hooked();
  const emission = (): NewEmission => stage.make.emission(trigger.id);
  for (let round = 0; round < 20; round++) {
    const keyed = times(8, (n) => ({
      idempotency: { triggerId: trigger.id, key: `${round} ${n}`, requestHash: 'same' },
      isAwaited: true,
    }));
    const firsts = [];
    for (const options of keyed) firsts.push((await stage.store.append(emission(), none(), options)).entry);
    const { runs } = await stage.store.claimRuns(100, all());
    assert.equal(runs.length, keyed.length);
    // The end of each run writes its answer into the key behind the queue; the callers at the other node bring new work, too.
    const [again] = await Promise.all([
      Promise.all(keyed.map((options) => other.append(emission(), none(), options))),
      ...runs.map((run) => stage.tryEnd(run, succeeded({ answer: DONE }))),
      ...times(8, () => other.append(emission(), none())),
    ]);
    assert.deepEqual(
      again.map(({ entry }) => entry),
      firsts,
    );
    for (const run of (await stage.store.claimRuns(100, all())).runs) await stage.end(run);
  }
});

test('changes of watches and decisions about them wait in no circle', async () => {
  await using stores = await storesOn(2, {}, { mostDeadlocks: 0 });
  const { stage, clock } = stores;
  stage.names.add(RECOVERED);
  const decider = judgeOf({ store: at(stores.stores, 1), clock });
  const errorRatio = (minutes: number) => ({ over: 0, ofAtLeast: 1, windowMs: minutes * MINUTE_MS });
  const watches = [
    { silentAfterMs: MINUTE_MS, succeededWithinMs: MINUTE_MS, errorRatio: errorRatio(60) },
    { silentAfterMs: 2 * MINUTE_MS, succeededWithinMs: null, errorRatio: errorRatio(30) },
  ];
  const workflow = await stage.workflow({ settings: { watch: at(watches, 0), notify: false } });
  for (let round = 1; round <= 40; round++) {
    await stage.end(await stage.started(workflow), failed());
    clock.advance(round % 2 === 0 ? 20_000 : 3 * MINUTE_MS);
    const settings = { ...workflow.settings, watch: at(watches, round % 2) };
    const write = { workflow: { ...workflow, settings }, deployment: null, triggers: [], subscriptions: [] };
    await Promise.all([stage.store.updateWorkflow(write), ...times(3, () => decider.tickWatches())]);
  }
  await assertLedgerAddsUp(stage);
});

test('silences and ends of runs of many watched workflows wait in no circle', async () => {
  await using stores = await storesOn(2, {}, { mostDeadlocks: 0 });
  const { stage, clock } = stores;
  stage.names.add(RECOVERED);
  const decider = judgeOf({ store: at(stores.stores, 1), clock });
  const watch = { silentAfterMs: MINUTE_MS, succeededWithinMs: MINUTE_MS, errorRatio: null };
  const workflows = [];
  for (let n = 0; n < 12; n++) workflows.push(await stage.workflow({ settings: { watch, notify: false } }));
  for (let round = 0; round < 12; round++) {
    const runs = [];
    for (const workflow of workflows) runs.push(await stage.started(workflow));
    clock.advance(3 * MINUTE_MS);
    await Promise.all([...runs.map((run) => stage.end(run)), decider.tickWatches()]);
  }
  await assertLedgerAddsUp(stage);
});

test('two nodes fire the same timers, each tick once and in no circle', async () => {
  await using stores = await storesOn(2, {}, { mostDeadlocks: 0 });
  const { stage, clock } = stores;
  const timers = await Promise.all(
    times(12, async () => {
      const workflow = stage.make.workflow();
      const timer = stage.make.timer(workflow.id, clock.nowMs());
      await stage.write({ workflow, triggers: [timer] });
      return timer;
    }),
  );
  let fired = 0;
  for (let round = 0; round < 20; round++) {
    const expectedAtMs = clock.nowMs();
    const tick = (node: number, { id: triggerId, schedule }: Trigger) =>
      at(stores.stores, node).fireTrigger(
        { triggerId, schedule: defined(schedule), expectedAtMs, nextAtMs: expectedAtMs + MINUTE_MS },
        stage.make.emission(triggerId),
        none(),
      );
    const fires = [...timers.map((timer) => tick(0, timer)), ...timers.toReversed().map((timer) => tick(1, timer))];
    for (const one of await Promise.all(fires)) if (one !== null) fired++;
    clock.advance(MINUTE_MS);
  }
  assert.equal(fired, 20 * timers.length);
});

test('first work for new listeners waits in no circle', async () => {
  await using stores = await storesOn(4, {}, { mostDeadlocks: 0 });
  const { stage, webhook } = stores;
  const emitters = [await stage.source(), await stage.source(), await stage.source(), await stage.source()];
  for (const i of [0, 2, 3]) await stage.subscribe(at(emitters, i).id, webhook.id);
  for (let round = 0; round < 30; round++) {
    // Their queues come before that of the webhook, which is there.
    const [a, b] = [await stage.workflow(), await stage.workflow()];
    for (const i of [0, 1, 2]) await stage.subscribe(at(emitters, i).id, a.id);
    for (const i of [0, 1, 3]) await stage.subscribe(at(emitters, i).id, b.id);
    const emit = (n: number) => at(stores.stores, n).append(stage.make.emission(at(emitters, n).id), none());
    await Promise.all(times(8, (n) => emit(n % 4)));
    for (const { id } of [a, b]) await stage.store.deleteWorkflow(stage.owner.id, id);
  }
  await assertLedgerAddsUp(stage);
});
