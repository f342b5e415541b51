// Operations that replay many errors: each once, to the last one, with what became of it.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { text } from '../../../src/domain/bytes.ts';
import { DAY_MS, LIMITS, SECOND_MS } from '../../../src/domain/limits.ts';
import { at, defined, type Harness, shareOf, succeeded, times } from '../fixtures.ts';
import { assertLedgerAddsUp } from '../log/counting.ts';
import { failing, redeployed } from '../log/grouping.ts';
import type { Stage } from '../stage.ts';
import {
  asked,
  carryOut,
  counts,
  endAll,
  event,
  fail,
  failedOnes,
  groupState,
  LOST,
  next,
  order,
  results,
  shown,
  start,
  stepOn,
} from './replaying.ts';

const OTHER = failing({ code: 'Other', msg: 'something else' });

async function prune(stage: Stage, beforeMs: number): Promise<void> {
  for (let from: number | null = 0; from !== null; ) from = (await stage.store.prune(beforeMs, from)).next;
}

export function replaysContract(harness: Harness): void {
  describe('a replay of many', () => {
    it('counts, replays oldest first, and says what became of each', async () => {
      await using stage = await failedOnes(harness, 5);
      const operation = await start(stage, { groupId: stage.groupId });
      deepEqual(
        [operation.kind, operation.state, operation.total, operation.webhookId],
        ['replay', 'running', null, null],
      );
      equal(await stepOn(stage), 5);
      deepEqual([(await shown(stage, operation)).total, await counts(stage, operation)], [5, { under_way: 5 }]);
      const runs = await stage.claim();
      for (const { emission } of runs) stage.appended.add(emission.entry);
      deepEqual(
        runs.map((run) => text(run.emission.body)),
        times(5, (n) => text(event(n))),
        'the events as they came',
      );
      for (const [i, run] of runs.entries()) await stage.end(run, [succeeded(), LOST, OTHER, succeeded(), LOST][i]);
      await stepOn(stage);
      const done = await shown(stage, operation);
      deepEqual([done.state, done.reason, done.endedAtMs !== null], ['done', null, true]);
      deepEqual(await counts(stage, operation), { fixed: 2, failed_same: 2, failed_differently: 1 });
      const all = await results(stage, operation);
      deepEqual(
        all.map(({ entry, run, outcome, emitterId }) => [entry, run, outcome, emitterId]),
        ['fixed', 'failed_same', 'failed_differently', 'fixed', 'failed_same'].map((outcome, i) => [
          stage.entries[i],
          at(runs, i).run,
          outcome,
          stage.flow.id,
        ]),
      );
      deepEqual(
        all.map(({ errorEntry }) => errorEntry === null),
        [true, false, false, true, false],
      );
      const replaysOf = async (n: number) =>
        (await stage.store.outcomeOfError(stage.owner.id, at(stage.entries, n))).replays;
      for (const n of times(5, (at) => at)) {
        deepEqual(
          (await replaysOf(n)).map(({ run, outcome, operationId, errorEntry }) => [
            run,
            outcome,
            operationId,
            errorEntry,
          ]),
          [[at(runs, n).run, at(all, n).outcome, operation.id, at(all, n).errorEntry]],
          'the error itself says the same',
        );
      }
      deepEqual(
        (await replaysOf(1)).map(({ state }) => state),
        ['failed'],
      );
      await assertLedgerAddsUp(stage);
    });

    it('of a group with nothing left is done', async () => {
      await using stage = await failedOnes(harness, 1);
      const operation = await start(stage, { emitterId: stage.flow.id, code: 'Unknown' });
      equal(await stepOn(stage), 0);
      const { state, total } = await shown(stage, operation);
      deepEqual([state, total, await results(stage, operation)], ['done', 0, []]);
    });

    it('resolves its group when all are fixed', async () => {
      await using stage = await failedOnes(harness, 3);
      await start(stage, { groupId: stage.groupId });
      await carryOut(stage);
      equal(await groupState(stage), 'resolved');
    });

    it('leaves its group open when one is not fixed, or has come since', async () => {
      await using stage = await failedOnes(harness, 2);
      await start(stage, { groupId: stage.groupId });
      await fail(stage, stage.flow, 1);
      await carryOut(stage);
      equal(await groupState(stage), 'open', 'one has come since');
      await start(stage, { groupId: stage.groupId });
      await carryOut(stage, OTHER);
      equal(await groupState(stage), 'open', 'it failed differently');
    });

    it('is about the errors that there are when it is made', async () => {
      await using stage = await failedOnes(harness, 3);
      const operation = await start(stage, { groupId: stage.groupId });
      await carryOut(stage, LOST);
      deepEqual([(await shown(stage, operation)).state, await counts(stage, operation)], ['done', { failed_same: 3 }]);
    });

    it('runs no event twice that was replayed before', async () => {
      await using stage = await failedOnes(harness, 2);
      await start(stage, { groupId: stage.groupId });
      await carryOut(stage, LOST);
      const second = await start(stage, { groupId: stage.groupId });
      deepEqual(await carryOut(stage), [2], 'the errors of the replays alone');
      deepEqual(await counts(stage, second), { fixed: 2, replayed_before: 2 });
      equal(at(await results(stage, second), 0).outcome, 'replayed_before');
      equal(await groupState(stage), 'resolved');
    });

    it('takes errors of a workflow by time and code', async () => {
      await using stage = await failedOnes(harness, 1);
      const { flow: workflow, clock } = stage;
      clock.advance(DAY_MS);
      const sinceMs = clock.nowMs();
      await fail(stage, workflow, 2, 'Other');
      const [wanted] = await fail(stage, workflow, 1);
      clock.advance(DAY_MS);
      const untilMs = clock.nowMs();
      await fail(stage, workflow, 1);
      const operation = await start(stage, { emitterId: workflow.id, code: 'Lost', sinceMs, untilMs });
      await carryOut(stage);
      deepEqual(
        (await results(stage, operation)).map(({ entry }) => entry),
        [wanted],
      );
      equal((await shown(stage, operation)).total, 1);
    });

    it('takes the errors that are named, and lists those that are not there', async () => {
      await using stage = await failedOnes(harness, 4);
      const [first, second, , last] = stage.entries;
      const missing = defined(second) + 1_000_000;
      const entries = [defined(first), defined(last), missing].sort((a, b) => a - b);
      const operation = await start(stage, { entries });
      await carryOut(stage);
      const shownNow = await shown(stage, operation);
      deepEqual(
        [shownNow.state, shownNow.total, await counts(stage, operation)],
        ['done', 3, { fixed: 2, not_replayed: 1 }],
      );
      const gone = defined((await results(stage, operation)).find(({ entry }) => entry === missing));
      deepEqual([gone.emitterId, gone.run, gone.reason], [null, null, 'it is gone']);
    });

    it('lists errors of a deleted workflow with the reason', async () => {
      await using stage = await failedOnes(harness, 2);
      const operation = await start(stage, { emitterId: stage.flow.id });
      await stage.store.deleteWorkflow(stage.owner.id, stage.flow.id);
      await carryOut(stage);
      deepEqual(await counts(stage, operation), { not_replayed: 2 });
      for (const { reason, outcome } of await results(stage, operation)) {
        deepEqual([outcome, reason], ['not_replayed', `there is no ${stage.flow.id} any more`]);
      }
      equal((await shown(stage, operation)).state, 'done');
    });

    it('makes each replay once, whoever makes the step', async () => {
      await using stage = await failedOnes(harness, 3);
      const operation = await start(stage, { groupId: stage.groupId });
      await stage.store.stepOperation();
      const [one, other] = [defined(await next(stage)), defined(await next(stage))];
      const made = await Promise.all([stage.store.replayErrors(one), stage.store.replayErrors(other)]);
      equal(
        made.reduce((sum, step) => sum + step.made, 0),
        3,
      );
      equal((await stage.store.replayErrors(other)).made, 0);
      equal((await stage.claim()).length, 3);
      deepEqual(await counts(stage, operation), { under_way: 3 });
    });

    it('goes on where it was after a restart', async () => {
      await using stage = await failedOnes(harness, 5);
      const operation = await start(stage, { groupId: stage.groupId }, { canary: 1 });
      await stepOn(stage);
      await stage.reopen();
      deepEqual(await counts(stage, operation), { under_way: 1 });
      deepEqual(await endAll(stage), [0]);
      await stage.reopen();
      await carryOut(stage);
      deepEqual([(await shown(stage, operation)).state, await counts(stage, operation)], ['done', { fixed: 5 }]);
    });

    it('waits while the queue of the workflow is full', async () => {
      await using stage = await failedOnes(harness, 3);
      await redeployed(stage, { ...stage.flow, settings: { ...stage.flow.settings, queueLimit: 1 } });
      const operation = await start(stage, { groupId: stage.groupId });
      equal(await stepOn(stage), 1);
      await endAll(stage);
      stage.clock.advance(SECOND_MS / 10);
      equal(await stepOn(stage), 1, 'there was room before, and soon is again');
      stage.clock.advance(2 * SECOND_MS);
      equal(await stepOn(stage), 0);
      await endAll(stage);
      stage.clock.advance(SECOND_MS / 10);
      equal(await stepOn(stage), 0, 'there was none');
      stage.clock.advance(2 * SECOND_MS);
      equal(await stepOn(stage), 1);
      await endAll(stage);
      await stepOn(stage);
      deepEqual([(await shown(stage, operation)).state, await counts(stage, operation)], ['done', { fixed: 3 }]);
    });

    it('has a bounded number under way, and passes all of many', async () => {
      const many = shareOf(harness, 1000) + LIMITS.replaysUnderWay;
      await using stage = await failedOnes(harness, many);
      const operation = await start(stage, { groupId: stage.groupId });
      const rounds = await carryOut(stage);
      for (const round of rounds) ok(round <= LIMITS.replaysUnderWay, `${round} were under way`);
      deepEqual([(await shown(stage, operation)).total, await counts(stage, operation)], [many, { fixed: many }]);
      deepEqual(
        (await results(stage, operation)).map(({ entry }) => entry),
        stage.entries,
      );
      const { runs } = await stage.store.ledger(stage.owner.id);
      deepEqual([runs.failed, runs.succeeded, runs.queued + runs.running], [many, many, 0]);
    });

    it('is unknown to another owner', async () => {
      await using stage = await failedOnes(harness, 2);
      const operation = await start(stage, { groupId: stage.groupId });
      const neighbour = await stage.neighbour();
      while ((await stage.store.stepOperation()).isMore);
      const step = defined(await next(stage));
      equal((await stage.store.replayErrors({ ...step, ownerId: neighbour.owner.id })).made, 0);
      equal(await stage.store.getOperation(neighbour.owner.id, operation.id), undefined);
      equal(await stage.store.orderOperation(neighbour.owner.id, operation.id, 'cancel'), undefined);
      for (const theirs of [{ groupId: stage.groupId }, { emitterId: stage.flow.id }]) {
        equal((await stage.store.previewReplay(neighbour.owner.id, asked(theirs))).count, 0);
        const empty = await start(neighbour, theirs);
        await stepOn(neighbour);
        deepEqual([(await shown(neighbour, empty)).total, await results(neighbour, empty)], [0, []]);
      }
      const named = await start(neighbour, { entries: stage.entries });
      await stepOn(neighbour);
      deepEqual(await counts(neighbour, named), { not_replayed: 2 }, 'as if they did not exist');
      const previewed = await stage.store.previewReplay(neighbour.owner.id, asked({ entries: stage.entries }));
      deepEqual([...previewed.byEmitter.keys()], [], 'nor whose they are');
      await carryOut(stage);
      deepEqual(await counts(stage, operation), { fixed: 2 }, 'no step of another owner counts');
      const theirs = { ownerId: neighbour.owner.id, operationId: operation.id };
      deepEqual(await stage.store.listReplayResults(theirs, { limit: 9 }), { totalCount: 0, items: [] });
    });

    it('lists results by pages and outcomes', async () => {
      await using stage = await failedOnes(harness, 3);
      const operation = await start(stage, { groupId: stage.groupId });
      await stepOn(stage);
      const runs = await stage.claim();
      for (const [i, run] of runs.entries()) await stage.end(run, i === 1 ? LOST : succeeded());
      await stepOn(stage);
      const of = { ownerId: stage.owner.id, operationId: operation.id };
      const entriesOf = async (more: object, page = {}): Promise<unknown> => {
        const { totalCount, items } = await stage.store.listReplayResults({ ...of, ...more }, { limit: 2, ...page });
        return [totalCount, items.map(({ entry }) => stage.entries.indexOf(entry))];
      };
      deepEqual(await entriesOf({}), [3, [2, 1]]);
      deepEqual(await entriesOf({}, { after: at(stage.entries, 1) }), [3, [0]]);
      deepEqual(await entriesOf({}, { before: at(stage.entries, 0) }), [3, [2, 1]]);
      deepEqual(await entriesOf({ outcome: 'fixed' }), [2, [2, 0]]);
      deepEqual(await entriesOf({ outcome: 'failed_same' }), [1, [1]]);
    });

    it('is previewed without being made', async () => {
      await using stage = await failedOnes(harness, 7);
      const { owner, store, flow: workflow } = stage;
      const preview = await store.previewReplay(owner.id, asked({ groupId: stage.groupId }));
      deepEqual([preview.count, preview.isAtLeast, [...preview.byEmitter]], [7, false, [[workflow.id, 7]]]);
      deepEqual(
        preview.sample.map(({ entry }) => entry),
        stage.entries.slice(0, LIMITS.replaySample),
      );
      equal((await store.listOperations({ ownerId: owner.id }, { limit: 9 })).totalCount, 0);
      equal((await store.previewReplay(owner.id, asked({ emitterId: workflow.id, code: 'X' }))).count, 0);
    });

    it('is deleted with its results when it is old', async () => {
      await using stage = await failedOnes(harness, 2);
      const operation = await start(stage, { groupId: stage.groupId });
      await carryOut(stage);
      stage.clock.advance(DAY_MS);
      await prune(stage, stage.clock.nowMs());
      equal(await stage.store.getOperation(stage.owner.id, operation.id), undefined);
      deepEqual(await results(stage, operation), []);
    });

    it('keeps the deployment that it needs', async () => {
      await using stage = await failedOnes(harness, 1);
      const { deploymentId } = stage.flow;
      const operation = await start(stage, { groupId: stage.groupId }, { deploymentId });
      const prunes = async (): Promise<void> => {
        const settledMs = stage.clock.nowMs();
        await stage.store.pruneDeployments(settledMs, null);
      };
      let newest = stage.flow;
      for (let n = 0; n <= LIMITS.deploymentsKept; n++) newest = await redeployed(stage, newest);
      stage.clock.advance(DAY_MS);
      await prunes();
      ok(await stage.store.getDeployment(stage.owner.id, deploymentId));
      await order(stage, operation, 'cancel');
      await prunes();
      equal(await stage.store.getDeployment(stage.owner.id, deploymentId), undefined);
    });
  });
}
