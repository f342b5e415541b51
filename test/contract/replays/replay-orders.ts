// What bounds, stops and orders a replay of many: its canary, failures, rate, its owner.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ErrorSelection } from '../../../src/domain/errors/replaying.ts';
import { DAY_MS, HOUR_MS, SECOND_MS } from '../../../src/domain/limits.ts';
import type { Workflow } from '../../../src/domain/resource.ts';
import { atOnce } from '../../../src/store/log/replays/replay-records.ts';
import { at, defined, type Harness, only, timesInTurn } from '../fixtures.ts';
import { failing, redeployed } from '../log/grouping.ts';
import { Stage } from '../stage.ts';
import {
  asked,
  carryOut,
  counts,
  endAll,
  event,
  failedOnes,
  groupState,
  LOST,
  next,
  order,
  results,
  selection,
  shown,
  start,
  stepOn,
} from './replaying.ts';

export function replayOrdersContract(harness: Harness): void {
  describe('a replay of many under way', () => {
    it('sends a canary first, and goes on when it is fixed', async () => {
      await using stage = await failedOnes(harness, 5);
      const operation = await start(stage, { groupId: stage.groupId }, { canary: 2 });
      equal(await stepOn(stage), 2);
      deepEqual(await endAll(stage), [0, 1]);
      equal(await stepOn(stage), 3);
      await carryOut(stage);
      deepEqual([(await shown(stage, operation)).state, await counts(stage, operation)], ['done', { fixed: 5 }]);
    });

    it('pauses when its canary fails, and goes on when resumed', async () => {
      await using stage = await failedOnes(harness, 3);
      const operation = await start(stage, { groupId: stage.groupId }, { canary: 1 });
      await stepOn(stage);
      await endAll(stage, LOST);
      equal(await stepOn(stage), 0);
      const paused = await shown(stage, operation);
      equal(paused.state, 'paused');
      match(paused.reason ?? '', /did not end well/);
      const resumed = await order(stage, operation, 'resume');
      deepEqual([resumed.state, resumed.reason], ['running', null]);
      await carryOut(stage);
      deepEqual(
        [(await shown(stage, operation)).state, await counts(stage, operation)],
        ['done', { fixed: 2, failed_same: 1 }],
      );
      equal(await groupState(stage), 'open');
    });

    it('goes on when resumed although its canary ended while it was paused', async () => {
      await using stage = await failedOnes(harness, 3);
      const operation = await start(stage, { groupId: stage.groupId }, { canary: 1 });
      await stepOn(stage);
      await order(stage, operation, 'pause');
      await endAll(stage);
      equal(await stepOn(stage), 0);
      const { state, reason } = await shown(stage, operation);
      deepEqual([state, reason], ['paused', null]);
      await order(stage, operation, 'resume');
      equal(await stepOn(stage), 2);
      await carryOut(stage);
      deepEqual([(await shown(stage, operation)).state, await counts(stage, operation)], ['done', { fixed: 3 }]);
    });

    it('says of a canary that failed while it was paused why it would pause, and goes on when resumed', async () => {
      await using stage = await failedOnes(harness, 3);
      const operation = await start(stage, { groupId: stage.groupId }, { canary: 1 });
      await stepOn(stage);
      await order(stage, operation, 'pause');
      await endAll(stage, LOST);
      equal(await stepOn(stage), 0);
      const paused = await shown(stage, operation);
      equal(paused.state, 'paused');
      match(paused.reason ?? '', /did not end well/);
      await order(stage, operation, 'resume');
      await carryOut(stage);
      equal((await shown(stage, operation)).state, 'done');
    });

    it('pauses after so many failures, and again', async () => {
      await using stage = await failedOnes(harness, 6);
      const operation = await start(stage, { groupId: stage.groupId }, { stopOnFailures: 2, isOrdered: true });
      const ends = async (): Promise<number> => (await carryOut(stage, LOST)).length;
      equal(await ends(), 2);
      equal((await shown(stage, operation)).state, 'paused');
      await order(stage, operation, 'resume');
      equal(await ends(), 2);
      equal((await shown(stage, operation)).state, 'paused');
      await order(stage, operation, 'resume');
      equal(await ends(), 2);
      deepEqual([(await shown(stage, operation)).state, await counts(stage, operation)], ['done', { failed_same: 6 }]);
    });

    it('keeps the order of the errors when asked', async () => {
      await using stage = await failedOnes(harness, 3);
      await start(stage, { groupId: stage.groupId }, { isOrdered: true });
      for (const n of [0, 1, 2]) {
        equal(await stepOn(stage), 1);
        deepEqual(await endAll(stage), [n]);
      }
    });

    it('makes no more a second than its rate', async () => {
      await using stage = await failedOnes(harness, 4);
      await start(stage, { groupId: stage.groupId }, { rate: 0.5 });
      equal(await stepOn(stage), 1);
      equal(await stepOn(stage), 0);
      const waits = await stage.store.nextReplays();
      ok('dueAtMs' in waits);
      ok(defined(waits.dueAtMs) > stage.clock.nowMs() + SECOND_MS);
      stage.clock.advance(2 * SECOND_MS);
      equal(await stepOn(stage), 1);
      stage.clock.advance(DAY_MS);
      equal(await stepOn(stage), 1, 'what was missed is not caught up with');
    });

    it('goes on at its rate when the clock is set back or forward', async () => {
      await using stage = await failedOnes(harness, 7);
      const operation = await start(stage, { groupId: stage.groupId }, { rate: 0.1 });
      equal(await stepOn(stage), 1);
      stage.clock.advance(-HOUR_MS);
      equal(await stepOn(stage), 1);
      equal(await stepOn(stage), 0, 'by the clock as it is now');
      stage.clock.advance(10 * SECOND_MS);
      equal(await stepOn(stage), 1);
      stage.clock.advance(DAY_MS);
      equal(await stepOn(stage), 1);
      stage.clock.advance(-SECOND_MS);
      equal(await stepOn(stage), 0, 'a little back is a little later');
      await order(stage, operation, 'pause');
      stage.clock.advance(-DAY_MS);
      equal(await stepOn(stage), 0);
      await order(stage, operation, 'resume');
      equal(await stepOn(stage), 1);
      await endAll(stage);
      for (let made = 5; made < 7; made++) {
        stage.clock.advance(10 * SECOND_MS);
        await carryOut(stage);
      }
      deepEqual([(await shown(stage, operation)).state, await counts(stage, operation)], ['done', { fixed: 7 }]);
      equal((await results(stage, operation)).length, 7);
    });

    it('replays with the deployment that was asked for', async () => {
      await using stage = await failedOnes(harness, 2);
      const { deploymentId } = stage.flow;
      const newer = await redeployed(stage, stage.flow);
      await start(stage, { entries: [at(stage.entries, 0)] }, { deploymentId });
      await stepOn(stage);
      const old = only(await stage.claim());
      deepEqual([old.runnable.deploymentId, old.attempt], [deploymentId, 1]);
      await stage.end(old);
      await start(stage, { entries: [at(stage.entries, 1)] });
      await stepOn(stage);
      equal(only(await stage.claim()).runnable.deploymentId, newer.deploymentId);
    });

    it('is paused, and makes none until it is resumed', async () => {
      await using stage = await failedOnes(harness, 3);
      const operation = await start(stage, { groupId: stage.groupId }, { isOrdered: true });
      await stepOn(stage);
      const step = await next(stage);
      equal(step, null, 'one is under way');
      await order(stage, operation, 'pause');
      await endAll(stage);
      equal(await stepOn(stage), 0);
      deepEqual(await counts(stage, operation), { fixed: 1 }, 'the end of what was under way is noted');
      await order(stage, operation, 'resume');
      equal(await stepOn(stage), 1);
    });

    it('refuses a step that was read before it was paused', async () => {
      await using stage = await failedOnes(harness, 2);
      const operation = await start(stage, { groupId: stage.groupId });
      await stage.store.stepOperation();
      const step = defined(await next(stage));
      await order(stage, operation, 'pause');
      equal((await stage.store.replayErrors(step)).made, 0);
      await order(stage, operation, 'resume');
      equal((await stage.store.replayErrors(step)).made, 2);
    });

    it('refuses a step that was read before another one was made', async () => {
      await using stage = await failedOnes(harness, 3);
      const operation = await start(stage, { groupId: stage.groupId }, { rate: 1 });
      await stage.store.stepOperation();
      const [one, other] = [defined(await next(stage)), defined(await next(stage))];
      equal((await stage.store.replayErrors(one)).made, 1);
      stage.clock.advance(2 * SECOND_MS);
      equal((await stage.store.replayErrors(other)).made, 0);
      equal(await stepOn(stage), 1);
      deepEqual(await counts(stage, operation), { under_way: 2 });
    });

    it('notes how replays end after it was cancelled', async () => {
      await using stage = await failedOnes(harness, 2);
      const operation = await start(stage, { groupId: stage.groupId }, { isOrdered: true });
      await stepOn(stage);
      await order(stage, operation, 'cancel');
      await endAll(stage);
      equal(await stepOn(stage), 0);
      deepEqual([(await shown(stage, operation)).state, await counts(stage, operation)], ['cancelled', { fixed: 1 }]);
      equal(await groupState(stage), 'open');
    });

    it('notes a replay that is cancelled', async () => {
      await using stage = await failedOnes(harness, 1);
      const operation = await start(stage, { groupId: stage.groupId });
      await stepOn(stage);
      const { run } = only(await results(stage, operation));
      equal(await stage.store.cancelRun(stage.owner.id, defined(run)), 'cancelled');
      await stepOn(stage);
      deepEqual([(await shown(stage, operation)).state, await counts(stage, operation)], ['done', { cancelled: 1 }]);
    });

    it('takes errors of one step or deployment alone, and counts no others', async () => {
      await using stage = await failedOnes(harness, 1);
      const { flow, store, owner } = stage;
      const failed = async (workflow: Workflow, namespace: string): Promise<number> => {
        const run = await stage.started(workflow, { body: event(7) });
        return defined((await stage.end(run, failing({ code: 'Lost', namespace }))).errorEntry);
      };
      // More than are looked at in one go.
      await timesInTurn(atOnce(selection({ step: 'x' })) + 20, () => failed(flow, 'load'));
      const next = await redeployed(stage, flow);
      const [ofNext, ofStep, ofBoth] = [
        await failed(next, 'load'),
        await failed(flow, 'charge'),
        await failed(next, 'charge'),
      ];
      const cases: [Partial<ErrorSelection>, number[]][] = [
        [{ step: 'charge' }, [ofStep, ofBoth]],
        [{ deploymentId: next.deploymentId }, [ofNext, ofStep, ofBoth]],
        [{ step: 'load', deploymentId: next.deploymentId }, [ofNext]],
        [{ step: 'charg' }, []],
        [{ step: 'charge', code: 'Other' }, []],
      ];
      for (const [limits, entries] of cases) {
        const of = { emitterId: flow.id, ...limits };
        const preview = await store.previewReplay(owner.id, asked(of, true));
        deepEqual([preview.count, preview.isAtLeast], [entries.length, false], JSON.stringify(limits));
        const operation = await start(stage, of, { isAgain: true });
        await carryOut(stage);
        const found = (await results(stage, operation)).map(({ entry }) => entry);
        deepEqual(
          found.toSorted((a, b) => a - b),
          entries,
          JSON.stringify(limits),
        );
        const { total, state } = await shown(stage, operation);
        deepEqual([total, state], [entries.length, 'done']);
      }
      equal(
        (await store.previewReplay((await stage.neighbour()).owner.id, asked({ emitterId: flow.id, step: 'load' })))
          .count,
        0,
      );
    });

    it('takes errors of a source', async () => {
      await using stage = await Stage.open(harness);
      const source = await stage.source();
      const run = await stage.started(source, { body: event(1) });
      const entry = defined((await stage.end(run, LOST)).errorEntry);
      const operation = await start(stage, { emitterId: source.id });
      await carryOut(stage);
      deepEqual(
        (await results(stage, operation)).map((one) => [one.entry, one.outcome]),
        [[entry, 'fixed']],
      );
    });

    it('holds up no other when what it is limited to is no text of the database', async () => {
      await using stage = await failedOnes(harness, 2);
      for (const odd of ['\u0000', '\ud800', '\\u0000', '"']) {
        await start(stage, { emitterId: stage.flow.id, code: odd }, { rate: 1000 });
        await start(stage, { emitterId: stage.flow.id, step: odd }, { rate: 1000 });
      }
      const operation = await start(stage, { groupId: stage.groupId }, { rate: 1000 });
      stage.clock.advance(SECOND_MS);
      await carryOut(stage);
      deepEqual(await counts(stage, operation), { fixed: 2 });
    });

    it('goes on when it was ordered by a version that knew fewer limits', async () => {
      await using stage = await failedOnes(harness, 2);
      const operation = await start(stage, { emitterId: stage.flow.id, code: 'Lost' });
      const { selection: kept, ...others } = defined((await shown(stage, operation)).replaying).order;
      const { emitterId: workflowId, step: _step, deploymentId: _deploymentId, ...limits } = kept;
      const { isFromFailedStep: _isFromFailedStep, ...older } = { ...others, selection: { workflowId, ...limits } };
      await stage.execute(`UPDATE operations SET replay = '${JSON.stringify(older)}' WHERE id = '${operation.id}'`);
      await carryOut(stage);
      deepEqual(await counts(stage, operation), { fixed: 2 });
      deepEqual(defined((await shown(stage, operation)).replaying).order.selection, kept);
    });
  });
}
