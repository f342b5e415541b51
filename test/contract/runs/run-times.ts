// When runs began and ended, whatever the clock does meanwhile: nothing starts before it was created, nothing ends before
// it started, and what is over tells when it began.

import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { msOf } from '../../../src/domain/ids.ts';
import { HOUR_MS, LIMITS } from '../../../src/domain/limits.ts';
import { NO_OUTCOME, type RunOutcome } from '../../../src/domain/run/run.ts';
import { defined, failed, type Harness, none, only, START_MS, succeeded } from '../fixtures.ts';
import { Stage } from '../stage.ts';

const UNATTRIBUTED: RunOutcome = { ...NO_OUTCOME, end: { kind: 'unattributed' } };
const RETURNED: RunOutcome = { ...NO_OUTCOME, end: { kind: 'returned' } };

async function timesOf(stage: Stage, run: number) {
  const record = defined(await stage.store.getRun(stage.owner.id, run));
  return [record.state, record.attempt, record.startedAtMs, record.endedAtMs];
}

export function runTimesContract(harness: Harness): void {
  describe('the times of a run', () => {
    for (const [state, outcome] of [
      ['succeeded', succeeded()],
      ['failed', failed()],
    ] as const) {
      it(`that has ${state}: no end before its start`, async () => {
        await using stage = await Stage.open(harness);
        const run = await stage.started(await stage.workflow());
        stage.clock.advance(-HOUR_MS);
        await stage.end(run, outcome);
        deepEqual(await timesOf(stage, run.run), [state, 1, START_MS, START_MS]);
      });
    }

    it('of one that is cancelled when it begins to wait', async () => {
      await using stage = await Stage.open(harness);
      const run = await stage.started(await stage.workflow());
      equal(await stage.store.cancelRun(stage.owner.id, run.run), 'running');
      stage.clock.advance(-HOUR_MS);
      await stage.tryAgain(run, 1);
      deepEqual(await timesOf(stage, run.run), ['cancelled', 2, START_MS, START_MS]);
    });

    it('of one that is cancelled while it waits', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const [asked, ordered] = [await stage.waiting(workflow), await stage.waiting(workflow, { kind: 'suspend' })];
      const gone = await stage.waiting(await stage.workflow());
      stage.clock.advance(-HOUR_MS);
      equal(await stage.store.cancelRun(stage.owner.id, asked.run), 'cancelled');
      await stage.store.resumeRun({ run: ordered.run, waits: 1 }, 'cancel', null);
      equal(await stage.store.deleteWorkflow(stage.owner.id, gone.runnable.id), true);
      for (const { run } of [asked, ordered, gone]) {
        deepEqual(await timesOf(stage, run), ['cancelled', 1, START_MS, START_MS]);
      }
    });

    it('of one that is claimed: no start before its creation', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      await stage.append(workflow.id);
      const { firstRun } = await stage.appendFor(workflow.id, {}, none());
      stage.clock.advance(-HOUR_MS);
      const run = only(await stage.claim());
      equal(run.run, firstRun);
      deepEqual(await timesOf(stage, run.run), ['running', 1, msOf(run.run), null]);
    });

    for (const [how, outcome] of [
      ['a run of an unattributed crash', UNATTRIBUTED],
      ['one that is handed back', RETURNED],
    ] as const) {
      it(`of ${how} that is cancelled`, async () => {
        await using stage = await Stage.open(harness);
        const run = await stage.started(await stage.workflow());
        equal(await stage.store.cancelRun(stage.owner.id, run.run), 'running');
        stage.clock.advance(HOUR_MS);
        const { isCancelled } = await stage.end(run, outcome);
        equal(isCancelled, true);
        deepEqual(await timesOf(stage, run.run), ['cancelled', 1, START_MS, START_MS + HOUR_MS]);
      });
    }

    it('of one that is queued again: it has not begun', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const [back, lost] = [await stage.started(workflow), await stage.started(workflow)];
      await stage.end(back, RETURNED);
      deepEqual(await timesOf(stage, back.run), ['queued', 1, null, null]);
      await stage.reopen();
      await stage.store.rescue(none());
      deepEqual(await timesOf(stage, lost.run), ['queued', 2, null, null]);
    });

    it('of one that has waited and is queued again: it began with its first segment', async () => {
      await using stage = await Stage.open(harness);
      const { run } = await stage.waiting(await stage.workflow());
      await stage.pass(HOUR_MS);
      equal(only(await stage.claim()).run, run);
      await stage.reopen();
      await stage.store.rescue(none());
      deepEqual(await timesOf(stage, run), ['queued', 2, START_MS, null]);
    });

    it('of one that is cancelled when its process is gone', async () => {
      await using stage = await Stage.open(harness);
      const run = await stage.started(await stage.workflow());
      equal(await stage.store.cancelRun(stage.owner.id, run.run), 'running');
      await stage.reopen();
      stage.clock.advance(HOUR_MS);
      equal((await stage.store.rescue(none())).runs, 1);
      deepEqual(await timesOf(stage, run.run), ['cancelled', 1, START_MS, START_MS + HOUR_MS]);
    });

    it('of a hook whose change was abandoned', async () => {
      await using stage = await Stage.open(harness);
      const source = stage.make.source();
      const deployment = stage.make.deployment(source);
      await stage.store.createSource({ source, deployment, triggers: [], subscriptions: [], goesOn: true });
      stage.runnableIds.push(source.id);
      const run = await stage.started(source, { name: '$deploy', emitterId: stage.owner.id });
      await stage.reopen();
      stage.clock.advance(HOUR_MS);
      equal((await stage.store.rescue(none())).runs, 1);
      deepEqual(await timesOf(stage, run.run), ['cancelled', 1, START_MS, START_MS + HOUR_MS]);
    });

    it('of one whose process was lost too often', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const { run } = await stage.started(workflow);
      for (let lost = 1; lost <= LIMITS.rescues; lost++) {
        await stage.reopen();
        stage.clock.advance(HOUR_MS);
        await stage.store.rescue(none());
        await stage.claim(1, workflow.id);
      }
      const [claimedAtMs, endedAtMs] = [LIMITS.rescues - 1, LIMITS.rescues].map((n) => START_MS + n * HOUR_MS);
      deepEqual(await timesOf(stage, run), ['failed', LIMITS.rescues, claimedAtMs, endedAtMs]);
    });
  });
}
