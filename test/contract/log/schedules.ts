// Schedule triggers: due by the clock, each tick fired once.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { msOf } from '../../../src/domain/ids.ts';
import { MINUTE_MS, SECOND_MS } from '../../../src/domain/limits.ts';
import type { Trigger } from '../../../src/domain/resource.ts';
import type { Appended } from '../../../src/store/contract/store.ts';
import { all, at, defined, type Harness, none, only, START_MS, sorted, succeeded, times } from '../fixtures.ts';
import { Stage } from '../stage.ts';

async function scheduled(stage: Stage, nextAtMs: number | null, active = true): Promise<Trigger> {
  const workflow = stage.make.workflow({ active });
  const write = await stage.write({ workflow, triggers: [stage.make.timer(workflow.id, nextAtMs)] });
  return at(write.triggers, 0);
}

function fire(stage: Stage, timer: Trigger, expectedAtMs: number, slots = none()): Promise<Appended | null> {
  const nextAtMs = expectedAtMs + MINUTE_MS;
  const tick = { triggerId: timer.id, schedule: defined(timer.schedule), expectedAtMs, nextAtMs };
  return stage.store.fireTrigger(tick, stage.make.emission(timer.id), slots);
}

const dueIds = async (stage: Stage, limit = 100): Promise<string[]> =>
  (await stage.store.dueTriggers(limit)).map((t) => t.id);

export function schedulesContract(harness: Harness): void {
  describe('schedules', () => {
    it('are due by the clock, oldest first', async () => {
      await using stage = await Stage.open(harness);
      const second = await scheduled(stage, START_MS + 2 * SECOND_MS);
      const first = await scheduled(stage, START_MS + SECOND_MS);
      const later = await scheduled(stage, START_MS + MINUTE_MS);
      deepEqual(await dueIds(stage), []);
      stage.clock.advance(SECOND_MS);
      deepEqual(await dueIds(stage), [first.id]);
      stage.clock.advance(SECOND_MS);
      deepEqual(await dueIds(stage), [first.id, second.id]);
      deepEqual(await dueIds(stage, 1), [first.id]);
      stage.clock.advance(MINUTE_MS);
      deepEqual(await dueIds(stage), [first.id, second.id, later.id]);
    });

    it('come back as they were made', async () => {
      await using stage = await Stage.open(harness);
      const interval = await scheduled(stage, START_MS);
      const workflow = stage.make.workflow();
      const schedule = { cron: '0 9 * * 1-5', intervalMs: null, timezone: 'Europe/Vienna' };
      await stage.write({ workflow, triggers: [stage.make.timer(workflow.id, START_MS - 1, { schedule })] });
      const due = await stage.store.dueTriggers(10);
      deepEqual(
        due.map((t) => t.schedule),
        [schedule, interval.schedule],
      );
      deepEqual(due[1], interval);
    });

    it('skip and count what comes before its run is over', async () => {
      await using stage = await Stage.open(harness);
      const source = stage.make.source();
      const timers = times(2, () => stage.make.timer(source.id, START_MS));
      const subscriptions = timers.map(({ id }) =>
        stage.make.subscription({ from: id, to: source.id }, { via: 'trigger' }),
      );
      const deployment = stage.make.deployment(source);
      await stage.store.createSource({ source, deployment, triggers: timers, subscriptions });
      const [timer, other] = [at(timers, 0), at(timers, 1)];
      const tick = (n: number, slots = none()) => fire(stage, timer, START_MS + n * MINUTE_MS, slots);
      const skipped = async (): Promise<number[]> =>
        (await stage.store.listTriggers(stage.owner.id, source.id)).map(({ skippedTicks }) => skippedTicks);
      ok(await tick(0), 'nothing runs yet');
      equal(await tick(1), null, 'the run is queued');
      const [run] = (await stage.store.claimRuns(1, all())).runs;
      equal(await tick(2), null, 'the run is under way');
      ok(await fire(stage, other, START_MS), "another timer's ticks have nothing to do with it");
      deepEqual(sorted(await skipped()), [0, 2]);
      await stage.end(defined(run), succeeded(), none());
      const again = defined(await tick(3));
      equal(again.firstRun === null, false);
      equal(await tick(3), null, 'a tick that was fired is none to skip');
      await stage.reopen();
      deepEqual(sorted(await skipped()), [0, 2]);
      await stage.updateSource({ source, deployment: null, triggers: timers, subscriptions });
      deepEqual(sorted(await skipped()), [0, 2], 'a change does not begin to count anew');
    });

    it("never skip a workflow's", async () => {
      await using stage = await Stage.open(harness);
      const timer = await scheduled(stage, START_MS);
      await stage.subscribe(timer.id, timer.runnableId, '', { via: 'trigger' });
      for (const n of [0, 1, 2]) ok(await fire(stage, timer, START_MS + n * MINUTE_MS));
      equal((await stage.store.claimRuns(10, all())).runs.length, 3);
    });

    it('do not tick again for a change that did not see the tick', async () => {
      await using stage = await Stage.open(harness);
      const workflow = stage.make.workflow();
      const write = await stage.write({ workflow, triggers: [stage.make.timer(workflow.id, START_MS)] });
      const timer = at(write.triggers, 0);
      await fire(stage, timer, START_MS);
      ok(await stage.store.updateWorkflow({ ...write, deployment: null }));
      deepEqual(await dueIds(stage), []);
      equal(await stage.store.nextDueAtMs(), START_MS + MINUTE_MS);
      const schedule = { cron: null, intervalMs: SECOND_MS, timezone: 'UTC' };
      const changed = [{ ...timer, schedule, nextAtMs: START_MS + SECOND_MS }];
      ok(await stage.store.updateWorkflow({ ...write, deployment: null, triggers: changed }));
      equal(await stage.store.nextDueAtMs(), START_MS + SECOND_MS);
      ok(await stage.store.updateWorkflow({ ...write, deployment: null, triggers: [{ ...timer, nextAtMs: null }] }));
      equal(await stage.store.nextDueAtMs(), null);
    });

    it('that have no next tick are never due', async () => {
      await using stage = await Stage.open(harness);
      await scheduled(stage, null, false);
      equal(await stage.store.nextDueAtMs(), null);
      const running = await scheduled(stage, START_MS);
      deepEqual(await dueIds(stage), [running.id]);
      equal(await stage.store.nextDueAtMs(), START_MS);
    });

    it('run their workflow and move on', async () => {
      await using stage = await Stage.open(harness);
      const timer = await scheduled(stage, START_MS);
      const slots = all();
      const fired = defined(await fire(stage, timer, START_MS, slots));
      slots.assertAccountedFor(fired.claims);
      const run = only(fired.claims.runs);
      deepEqual([run.runnable.id, run.emission.emitterId, run.via], [timer.runnableId, timer.id, 'trigger']);
      deepEqual([run.emission.sourceType, msOf(fired.entry)], ['TIMER', START_MS]);
      deepEqual(await dueIds(stage), []);
      equal(await stage.store.nextDueAtMs(), START_MS + MINUTE_MS);
      const kept = only(await stage.store.listTriggers(stage.owner.id, timer.runnableId));
      equal(kept.nextAtMs, START_MS + MINUTE_MS);
    });

    it('fire one tick once', async () => {
      await using stage = await Stage.open(harness);
      const timer = await scheduled(stage, START_MS);
      const slots = all();
      const fired = await Promise.all(times(5, () => fire(stage, timer, START_MS, slots)));
      const won = only(fired.filter((f) => f !== null));
      slots.assertAccountedFor(defined(won).claims);
      equal(await fire(stage, timer, START_MS), null);
      equal((await stage.store.ledger(stage.owner.id)).emissions, 1);
      ok(await fire(stage, timer, START_MS + MINUTE_MS));
    });

    it('do not fire a tick that was changed', async () => {
      await using stage = await Stage.open(harness);
      const workflow = stage.make.workflow();
      const write = await stage.write({ workflow, triggers: [stage.make.timer(workflow.id, START_MS)] });
      const timer = at(write.triggers, 0);
      const moved = { ...timer, nextAtMs: START_MS + SECOND_MS };
      await stage.store.updateWorkflow({ ...write, deployment: null, triggers: [moved] });
      equal(await fire(stage, timer, START_MS), null);
      ok(await fire(stage, timer, START_MS + SECOND_MS));
    });

    it('do not fire once they are gone', async () => {
      await using stage = await Stage.open(harness);
      const [gone, kept] = [await scheduled(stage, START_MS), await scheduled(stage, START_MS)];
      await stage.store.deleteWorkflow(stage.owner.id, gone.runnableId);
      deepEqual(await dueIds(stage), [kept.id]);
      equal(await fire(stage, gone, START_MS), null);
      ok(await fire(stage, kept, START_MS));
    });

    it('survive that the store is reopened', async () => {
      await using stage = await Stage.open(harness);
      const timer = await scheduled(stage, START_MS);
      await fire(stage, timer, START_MS);
      await stage.reopen();
      equal(await stage.store.nextDueAtMs(), START_MS + MINUTE_MS);
      equal(await fire(stage, timer, START_MS), null);
      stage.clock.advance(MINUTE_MS);
      deepEqual(await dueIds(stage), [timer.id]);
    });
  });
}
