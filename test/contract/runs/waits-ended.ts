// By what a wait ends, other than a request: time, its owner, a crash, or the end of its workflow.

import { deepEqual, equal } from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { DAY_MS, LIMITS, MINUTE_MS, SECOND_MS } from '../../../src/domain/limits.ts';
import {
  aStep,
  at,
  defined,
  ended,
  type Harness,
  none,
  only,
  START_MS,
  sameMembers,
  succeeded,
  timesInTurn,
  waits,
} from '../fixtures.ts';
import { assertLedgerAddsUp, assertOneErrorPerFailure } from '../log/counting.ts';
import { Stage } from '../stage.ts';

const stateOf = async (stage: Stage, run: number): Promise<unknown> =>
  (await stage.store.getRun(stage.owner.id, run))?.state;

export function endedWaitsContract(harness: Harness): void {
  describe('a wait that is due', () => {
    it('ends for all kinds but suspensions', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const kinds = ['delay', 'suspend', 'rerun'] as const;
      const runs = await timesInTurn(3, (i) => stage.waiting(workflow, { kind: at(kinds, i), ms: SECOND_MS }));
      const retried = await stage.started(workflow);
      await stage.tryAgain(retried, SECOND_MS);
      deepEqual(await stage.pass(SECOND_MS - 1), { queued: 0, cancelled: [], isMore: false });
      deepEqual(await stage.pass(1), { queued: 3, cancelled: [at(runs, 1).run], isMore: false });
      deepEqual(await stage.pass(DAY_MS), { queued: 0, cancelled: [], isMore: false });
      sameMembers(
        (await stage.claim()).map(({ run }) => run),
        [at(runs, 0).run, at(runs, 2).run, retried.run],
      );
      await assertLedgerAddsUp(stage);
    });

    it('leaves a suspended run as it was', async () => {
      await using stage = await Stage.open(harness);
      const run = await stage.started(await stage.workflow());
      await stage.end(run, waits({ kind: 'suspend' }, { steps: [aStep('ask')], summary: 'asked' }));
      await stage.pass(2 * MINUTE_MS);
      const record = defined(await stage.store.getRun(stage.owner.id, run.run));
      deepEqual([record.state, record.summary, record.errorEntry, record.waiting], ['cancelled', 'asked', null, null]);
      equal(record.endedAtMs, START_MS + 2 * MINUTE_MS);
      equal((JSON.parse(defined(record.detail)) as { steps: unknown[] }).steps.length, 1);
      deepEqual(await stage.claim(), []);
    });

    it('comes in its turn, few at a time', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const runs = await timesInTurn(5, (i) =>
        stage.waiting(workflow, { kind: 'suspend', ms: MINUTE_MS - i * SECOND_MS }),
      );
      stage.clock.advance(MINUTE_MS);
      const steps = await timesInTurn(3, () => stage.store.endWaits(2));
      deepEqual(
        steps.flatMap(({ cancelled }) => cancelled),
        runs.map(({ run }) => run).reverse(),
      );
      deepEqual(
        steps.map(({ isMore }) => isMore),
        [true, true, false],
      );
    });

    it('is announced with what else is due', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      equal(await stage.store.nextDueAtMs(), null);
      await stage.waiting(workflow, { ms: MINUTE_MS });
      await stage.waiting(workflow, { ms: SECOND_MS });
      equal(await stage.store.nextDueAtMs(), START_MS + SECOND_MS);
      await stage.pass(SECOND_MS);
      equal(await stage.store.nextDueAtMs(), START_MS + MINUTE_MS);
      await stage.pass(MINUTE_MS);
      equal(await stage.store.nextDueAtMs(), null);
    });

    it('puts its run before younger ones', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const { run } = await stage.waiting(workflow, { ms: SECOND_MS });
      await timesInTurn(3, () => stage.appendFor(workflow.id));
      await stage.pass(SECOND_MS);
      equal(only(await stage.claim(1)).run, run);
    });

    it('does not ask for room in the queue', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow({ settings: { queueLimit: 1 } });
      await timesInTurn(2, () => stage.waiting(workflow, { ms: SECOND_MS }));
      await stage.appendFor(workflow.id);
      equal((await stage.pass(SECOND_MS)).queued, 2);
      equal((await stage.appendFor(workflow.id)).firstRunRefused, true);
      equal((await stage.claim(9, workflow.id)).length, 3);
      await assertLedgerAddsUp(stage);
    });

    it('ends once for many who ask', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const runs = await timesInTurn(6, (i) => stage.waiting(workflow, { kind: i % 2 ? 'suspend' : 'delay' }));
      stage.clock.advance(MINUTE_MS);
      const ended = await Promise.all([1, 2, 3].map(() => stage.store.endWaits(4)));
      const queued = ended.reduce((sum, step) => sum + step.queued, 0);
      const cancelled = ended.flatMap((step) => step.cancelled);
      const rest = await stage.store.endWaits(9);
      sameMembers([...cancelled, ...rest.cancelled], [at(runs, 1).run, at(runs, 3).run, at(runs, 5).run]);
      equal(queued + rest.queued, 3);
      await assertLedgerAddsUp(stage);
    });
  });

  describe('a run that waits or goes on', () => {
    it('is cancelled by its owner, for good', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const runs = await timesInTurn(2, () => stage.waiting(workflow));
      const [waiting, queued] = runs.map(({ run }) => run) as [number, number];
      equal(await stage.store.cancelRun(stage.owner.id, waiting), 'cancelled');
      equal((await stage.pass(MINUTE_MS)).queued, 1);
      equal(await stage.store.cancelRun(stage.owner.id, queued), 'cancelled');
      deepEqual(await stage.claim(), []);
      deepEqual(await stage.pass(DAY_MS), { queued: 0, cancelled: [], isMore: false });
      deepEqual([await stateOf(stage, waiting), await stateOf(stage, queued)], ['cancelled', 'cancelled']);
      await assertLedgerAddsUp(stage);
    });

    it('is cancelled if that was asked before', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const runs = await timesInTurn(2, () => stage.started(workflow));
      for (const { run } of runs) equal(await stage.store.cancelRun(stage.owner.id, run), 'running');
      equal((await stage.end(at(runs, 0), waits())).isCancelled, true);
      equal((await stage.tryAgain(at(runs, 1), SECOND_MS)).isCancelled, true);
      for (const { run } of runs) equal(await stateOf(stage, run), 'cancelled');
      equal((await stage.pass(DAY_MS)).queued, 0);
      await assertLedgerAddsUp(stage);
    });

    it('is cancelled if it is handed back or lost', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const runs = await timesInTurn(3, () => stage.started(workflow));
      for (const run of runs)
        await stage.end(run, waits({ ms: SECOND_MS }, { steps: [aStep('ask')], summary: 'asked' }));
      await stage.pass(SECOND_MS);
      const again = await stage.claim();
      for (const { run } of runs) equal(await stage.store.cancelRun(stage.owner.id, run), 'running');
      for (const { run } of runs) equal(await stage.store.resumeRun({ run, waits: 2 }, 'resume', null), 'over');
      await stage.giveBack(...again.slice(0, 1));
      equal((await stage.end(at(again, 1), ended('unattributed'))).isCancelled, true);
      await stage.reopen();
      await stage.store.rescue(none());
      deepEqual(await stage.claim(), []);
      for (const { run } of runs) {
        const { state, summary, detail } = defined(await stage.store.getRun(stage.owner.id, run));
        const { steps } = JSON.parse(defined(detail)) as { steps: unknown[] };
        deepEqual([state, summary, steps.length], ['cancelled', 'asked', 1]);
      }
      await assertLedgerAddsUp(stage);
    });

    it('is cancelled with its workflow', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const [waiting, queued, running] = [
        await stage.waiting(workflow, { ms: DAY_MS }),
        await stage.waiting(workflow),
        await stage.waiting(workflow, { ms: SECOND_MS }),
      ];
      await stage.pass(SECOND_MS);
      const again = only(await stage.claim());
      await stage.pass(MINUTE_MS);
      await stage.store.deleteWorkflow(stage.owner.id, workflow.id);
      equal((await stage.end(again, waits())).isCancelled, true);
      for (const { run } of [waiting, queued, running]) equal(await stateOf(stage, run), 'cancelled');
      deepEqual(await stage.pass(DAY_MS), { queued: 0, cancelled: [], isMore: false });
      equal(await stage.store.nextDueAtMs(), null);
      const { runs } = await stage.store.ledger(stage.owner.id);
      deepEqual([runs.waiting, runs.queued, runs.running, runs.cancelled], [0, 0, 0, 3]);
    });

    it('ends whatever it has kept', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const large = { ...aStep('ask'), returnValue: JSON.stringify(randomBytes(3_500_000).toString('base64')) };
      const runs = await timesInTurn(3, () => stage.started(workflow));
      for (const run of runs) await stage.end(run, waits({ kind: 'suspend', ms: SECOND_MS }, { steps: [large] }));
      let ended = await stage.pass(SECOND_MS);
      const [early] = ended.cancelled;
      equal(early, at(runs, 0).run, 'the longest due first');
      for (let left = runs.length; ended.isMore && left > 0; left--) ended = await stage.pass(0);
      for (const { run } of runs) equal(await stateOf(stage, run), 'cancelled');
      for (const run of await timesInTurn(3, () => stage.started(workflow))) {
        await stage.end(run, waits({ ms: SECOND_MS }, { steps: [large] }));
        runs.push(run);
      }
      equal(await stage.store.deleteWorkflow(stage.owner.id, workflow.id), true);
      for (const { run } of runs) {
        const { state, detail } = defined(await stage.store.getRun(stage.owner.id, run));
        deepEqual([state, detail?.includes(large.returnValue)], ['cancelled', true]);
      }
      await assertLedgerAddsUp(stage);
    });

    it('goes on there when its process is lost', async () => {
      await using stage = await Stage.open(harness);
      const { run } = await stage.waiting(await stage.workflow());
      equal(await stage.store.resumeRun({ run, waits: 1 }, 'resume', '{"body":1}'), 'taken');
      const first = only(await stage.claim());
      await stage.giveBack(first);
      const second = only(await stage.claim());
      await stage.reopen();
      equal((await stage.store.rescue(none())).runs, 1);
      const third = only(await stage.claim());
      deepEqual(
        [first, second, third].map((r) => [r.attempt, r.checkpoint, r.resumed]),
        [
          [1, first.checkpoint, '{"body":1}'],
          [1, first.checkpoint, '{"body":1}'],
          [2, first.checkpoint, '{"body":1}'],
        ],
      );
      equal((await stage.tryEnd(second)).held, false);
      await stage.end(third, waits({ ms: SECOND_MS }));
      await stage.pass(SECOND_MS);
      equal(only(await stage.claim()).resumed, null);
    });

    it('fails when it is lost too often', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const run = await stage.started(workflow);
      await stage.end(run, waits({ ms: SECOND_MS }, { steps: [aStep('fetch')] }));
      await stage.pass(SECOND_MS);
      for (let losses = 0; losses < LIMITS.rescues; losses++) {
        equal((await stage.claim(1, workflow.id)).length, 1);
        await stage.reopen();
        await stage.store.rescue(none());
      }
      const record = defined(await stage.store.getRun(stage.owner.id, run.run));
      deepEqual([record.state, record.errorCode], ['failed', 'WorkerLost']);
      equal((JSON.parse(defined(record.detail)) as { steps: unknown[] }).steps.length, 1);
      await assertLedgerAddsUp(stage);
      await assertOneErrorPerFailure(stage);
    });

    it('keeps its event, however old', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const run = await stage.waiting(workflow, { ms: 3 * DAY_MS });
      stage.clock.advance(2 * DAY_MS);
      equal((await stage.store.prune(stage.clock.nowMs(), 0)).emissions, 0);
      await stage.pass(DAY_MS);
      await stage.end(only(await stage.claim()), succeeded());
      stage.clock.advance(DAY_MS);
      equal((await stage.store.prune(stage.clock.nowMs(), 0)).emissions, 1);
      equal(await stateOf(stage, run.run), undefined);
    });
  });
}
