// Operations over errors that were replayed before: when their group is resolved, and how fast they are passed.

import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ErrorGroup } from '../../../src/domain/errors/group.ts';
import { emissionOfReplay } from '../../../src/domain/errors/replay.ts';
import { LIMITS } from '../../../src/domain/limits.ts';
import { at, defined, type Harness, none, only, shareOf, succeeded } from '../fixtures.ts';
import { failing, order, whole } from '../log/grouping.ts';
import { Stage } from '../stage.ts';
import {
  asked,
  carryOut,
  counts,
  endAll,
  event,
  type Failed,
  failedOnes,
  groupState,
  LOST,
  next,
  results,
  shown,
  start,
  stepOn,
} from './replaying.ts';

const OTHER = failing({ code: 'Other', msg: 'something else' });

async function replay(stage: Failed, entry: number, edited: Uint8Array | null = null): Promise<void> {
  const error = defined(await stage.store.getEmission(stage.owner.id, entry));
  await stage.store.append(emissionOfReplay(error, edited), none());
}

/** Replays the whole group, each error with what its event comes to now. Returns the counts of the operation. */
async function again(stage: Failed, outcome?: Parameters<typeof carryOut>[1]): Promise<Record<string, number>> {
  const operation = await start(stage, { groupId: stage.groupId });
  await carryOut(stage, outcome);
  equal((await shown(stage, operation)).state, 'done');
  return counts(stage, operation);
}

async function groupOf(stage: Failed): Promise<ErrorGroup> {
  return (await whole(stage, { id: stage.groupId })).group;
}

async function told(stage: Failed): Promise<string> {
  const counted = defined(await stage.store.countReplayed(await groupOf(stage)));
  return `${counted.succeeded} of ${counted.of}`;
}

export function replayedBeforeContract(harness: Harness): void {
  describe('a group whose errors were replayed before', () => {
    it('stays open when an earlier replay failed in another way', async () => {
      await using stage = await failedOnes(harness, 3);
      await start(stage, { entries: [at(stage.entries, 0)] });
      await carryOut(stage, OTHER);
      deepEqual(await again(stage), { fixed: 2, replayed_before: 1 });
      equal(await groupState(stage), 'open', 'the event of one has not come through');
      deepEqual(await again(stage), { replayed_before: 3 });
      equal(await groupState(stage), 'open', 'and has not since');
      const forced = await start(stage, { groupId: stage.groupId }, { isAgain: true });
      await carryOut(stage);
      deepEqual(await counts(stage, forced), { fixed: 3 });
      equal(await groupState(stage), 'resolved');
    });

    it('is resolved once what a replay failed with is fixed, too', async () => {
      await using stage = await failedOnes(harness, 2);
      const first = await start(stage, { entries: [at(stage.entries, 0)] });
      await carryOut(stage, OTHER);
      const [{ errorEntry } = {}] = await results(stage, first);
      const second = await start(stage, { entries: [defined(errorEntry)] });
      await carryOut(stage, failing({ code: 'Third', msg: 'a third one' }));
      deepEqual(await again(stage), { fixed: 1, replayed_before: 1 });
      equal(await groupState(stage), 'open');
      const [{ errorEntry: last } = {}] = await results(stage, second);
      await start(stage, { entries: [defined(last)] });
      await carryOut(stage);
      deepEqual(await again(stage), { replayed_before: 2 });
      equal(await groupState(stage), 'resolved');
    });

    for (const back of [true, false]) {
      it(`is resolved after many replays that ended in other groups${back ? ', and in it again' : ''}`, async () => {
        await using stage = await failedOnes(harness, 1);
        let entry = at(stage.entries, 0);
        for (let n = 0; n < 24; n++) {
          const operation = await start(stage, { entries: [entry] });
          await carryOut(stage, back && n % 2 === 1 ? LOST : failing({ code: `Other${n % 3}`, msg: 'something else' }));
          const [{ errorEntry } = {}] = await results(stage, operation);
          entry = defined(errorEntry);
        }
        await again(stage);
        equal(await groupState(stage), 'open');
        await start(stage, { entries: [entry] });
        await carryOut(stage);
        await again(stage);
        equal(await groupState(stage), 'resolved');
      });
    }

    it('is told with each error whose event came through', async () => {
      await using stage = await failedOnes(harness, 4);
      equal(await told(stage), '0 of 4');
      await replay(stage, at(stage.entries, 0));
      await endAll(stage, LOST);
      equal(await told(stage), '0 of 5', 'that failed the same way, which is one more error');
      await replay(stage, at(stage.entries, 1), event(9));
      await endAll(stage, succeeded());
      equal(await told(stage), '1 of 5', 'it came through with changes');
      await replay(stage, at(stage.entries, 2));
      await endAll(stage, succeeded());
      equal(await told(stage), '2 of 5');
      await again(stage);
      equal(await told(stage), '5 of 5', 'the one that failed twice came through in the end');
      const { id, lastEntry } = await groupOf(stage);
      equal((await stage.store.countReplayed({ id, lastEntry, ownerId: 'u_neighbour' }))?.of, 0);
    });

    it('stays open when the group of what a replay failed with is resolved by hand', async () => {
      await using stage = await failedOnes(harness, 2);
      const first = await start(stage, { entries: [at(stage.entries, 0)] });
      await carryOut(stage, OTHER);
      const [{ errorEntry } = {}] = await results(stage, first);
      const failure = defined(await stage.store.getEmission(stage.owner.id, defined(errorEntry)));
      await order(stage, { id: defined(failure.groupId) }, { state: 'resolved', inNextDeployment: false });
      deepEqual(await again(stage), { fixed: 1, replayed_before: 1 });
      equal(await groupState(stage), 'open', 'a mark on a group says nothing of an event');
      await stage.reopen();
      deepEqual(await again(stage), { replayed_before: 2 });
      equal(await groupState(stage), 'open');
      await start(stage, { entries: [defined(errorEntry)] });
      await carryOut(stage);
      deepEqual(await again(stage), { replayed_before: 2 });
      equal(await groupState(stage), 'resolved', 'the event has come through');
    });

    it('is resolved by the newest replay of each, by hand or not', async () => {
      await using stage = await failedOnes(harness, 3);
      await start(stage, { entries: [at(stage.entries, 0)] });
      await carryOut(stage, OTHER);
      await replay(stage, at(stage.entries, 0));
      await endAll(stage, succeeded());
      deepEqual(await again(stage), { fixed: 2, replayed_before: 1 });
      equal(await groupState(stage), 'resolved');
    });

    it('stays open when its newest replay failed, whatever came before', async () => {
      await using stage = await failedOnes(harness, 2);
      await replay(stage, at(stage.entries, 0));
      await endAll(stage, succeeded());
      await replay(stage, at(stage.entries, 0));
      await endAll(stage, OTHER);
      deepEqual(await again(stage), { fixed: 1, replayed_before: 1 });
      equal(await groupState(stage), 'open');
    });

    it('is resolved when all were fixed before', async () => {
      await using stage = await failedOnes(harness, 2);
      for (const entry of stage.entries) await replay(stage, entry);
      await endAll(stage, succeeded());
      equal(await groupState(stage), 'open', 'replays by hand resolve nothing');
      deepEqual(await again(stage), { replayed_before: 2 });
      equal(await groupState(stage), 'resolved');
    });

    it('counts what failed the same way by its new errors', async () => {
      await using stage = await failedOnes(harness, 2);
      await again(stage, LOST);
      deepEqual(await again(stage, OTHER), { failed_differently: 2, replayed_before: 2 });
      deepEqual(await again(stage), { replayed_before: 4 });
      equal(await groupState(stage), 'open');
    });

    it('is resolved by what came through with another event, which is not run beside it or once more', async () => {
      await using stage = await failedOnes(harness, 2);
      const [first, second] = [at(stage.entries, 0), at(stage.entries, 1)];
      await replay(stage, first);
      await endAll(stage, OTHER);
      await replay(stage, first, event(7));
      const followed = await start(stage, { entries: [first] });
      await stepOn(stage);
      deepEqual(await endAll(stage, succeeded()), [7]);
      await stepOn(stage);
      deepEqual(await counts(stage, followed), { fixed: 1 });
      // That another event fails says nothing of the original one, whichever came first.
      await replay(stage, first, event(8));
      await replay(stage, second, event(9));
      await endAll(stage, OTHER);
      const operation = await start(stage, { groupId: stage.groupId });
      await carryOut(stage);
      deepEqual(await counts(stage, operation), { fixed: 1, replayed_before: 1 });
      const left = (await results(stage, operation)).find(({ entry }) => entry === first);
      match(defined(left?.reason), /^its event was run again, with changes, by r_\w+ \(succeeded\)$/);
      equal(await groupState(stage), 'resolved');
    });
  });

  describe('an error whose run has gone on by itself', () => {
    /** A run whose first failure is told at once, and which waits to try again. */
    async function tellingFirst() {
      const stage = await Stage.open(harness);
      const retry = { attempts: 3, baseMs: 1, maxMs: 1, also: [], reportFirst: true };
      const flow = await stage.workflow({ settings: { notify: false, retry } });
      const run = await stage.started(flow, { body: event(1) });
      const entry = defined((await stage.tryAgain(run, 1)).errorEntry);
      const groupId = defined(defined(await stage.store.getEmission(stage.owner.id, entry)).groupId);
      const goOn = async (outcome?: Parameters<Stage['end']>[1]) => {
        await stage.pass(1);
        return stage.end(only(await stage.claim(1, flow.id)), outcome);
      };
      return Object.assign(stage, { flow, entries: [entry], groupId, run: run.run, goOn });
    }

    async function previewed(stage: Failed): Promise<readonly unknown[]> {
      const { passedOver, toReplay } = await stage.store.previewReplay(
        stage.owner.id,
        asked({ groupId: stage.groupId }),
      );
      return [...toReplay.values(), ...passedOver.map(({ outcome, count }) => `${outcome} ${count}`)];
    }

    it('is left when the run has succeeded', async () => {
      await using stage = await tellingFirst();
      await stage.goOn();
      deepEqual(await previewed(stage), ['replayed_before 1']);
      deepEqual(await again(stage), { replayed_before: 1 });
      equal(await groupState(stage), 'resolved');
      equal(await told(stage), '1 of 1');
    });

    it('is followed while the run waits', async () => {
      await using stage = await tellingFirst();
      deepEqual(await previewed(stage), ['under_way 1']);
      const operation = await start(stage, { groupId: stage.groupId });
      equal(await stepOn(stage), 0, 'nothing runs beside it');
      await stage.goOn();
      await stepOn(stage);
      deepEqual(await counts(stage, operation), { fixed: 1 });
      equal((await shown(stage, operation)).state, 'done');
    });

    it('is left for the error that the run has ended in, whose event runs once', async () => {
      await using stage = await tellingFirst();
      const last = defined((await stage.goOn(failing({ code: 'Lost' }))).errorEntry);
      notEqual(last, at(stage.entries, 0));
      const operation = await start(stage, { emitterId: stage.flow.id });
      deepEqual(await carryOut(stage), [1]);
      deepEqual(await counts(stage, operation), { fixed: 1, replayed_before: 1 });
      const ofFirst = (await results(stage, operation)).find(({ entry }) => entry === at(stage.entries, 0));
      deepEqual([ofFirst?.outcome, ofFirst?.run], ['replayed_before', stage.run]);
    });

    it('is replayed when the run was cancelled', async () => {
      await using stage = await tellingFirst();
      equal(await stage.store.cancelRun(stage.owner.id, stage.run), 'cancelled');
      deepEqual(await previewed(stage), [1]);
      deepEqual(await again(stage), { fixed: 1 });
    });

    it('is shown as retried by its run', async () => {
      await using stage = await tellingFirst();
      const search = { ownerId: stage.owner.id, emitterId: stage.flow.id };
      const shownOf = async (replayed: boolean) =>
        (await stage.store.searchErrors({ ...search, replayed }, { limit: 10 }, false)).items.map(
          ({ replay: one }) => one && [one.kind, one.run, one.state, one.outcome],
        );
      deepEqual(await shownOf(true), [['retry', stage.run, 'waiting', 'under_way']]);
      await stage.goOn();
      deepEqual(await shownOf(true), [['retry', stage.run, 'succeeded', 'fixed']]);
      deepEqual(await shownOf(false), []);
    });
  });

  describe('errors that were replayed before', () => {
    it('are passed as many a step as are looked at, whatever may be under way', async () => {
      const many = Math.max(100, shareOf(harness, 700));
      await using stage = await failedOnes(harness, many);
      await again(stage);
      const orders = [{}, { canary: 1 }, { isOrdered: true }, { rate: 1 }];
      for (const order of orders) {
        const operation = await start(stage, { groupId: stage.groupId }, order);
        while ((await stage.store.stepOperation()).isMore);
        let steps = 0;
        for (let step = await next(stage); step !== null; step = await next(stage), steps++) {
          ok(
            step.choices.every((choice) => !('emission' in choice)),
            'their events are not read',
          );
          await stage.store.replayErrors(step);
        }
        equal(steps, Math.ceil((many + 1) / LIMITS.operationStep), JSON.stringify(order));
        while ((await stage.store.stepOperation()).isMore);
        deepEqual(await counts(stage, operation), { replayed_before: many });
        equal((await shown(stage, operation)).state, 'done');
      }
    });

    it('are mixed with others in the order of the errors', async () => {
      await using stage = await failedOnes(harness, 60);
      const before = stage.entries.filter((_, n) => n % 3 !== 0);
      await start(stage, { entries: before });
      await carryOut(stage);
      const operation = await start(stage, { groupId: stage.groupId }, { isOrdered: true });
      await stepOn(stage);
      const ended: number[] = [];
      for (let now = await endAll(stage); now.length > 0; now = await endAll(stage)) {
        ended.push(...now);
        await stepOn(stage);
      }
      deepEqual(
        ended,
        stage.entries.flatMap((_, n) => (n % 3 === 0 ? [n] : [])),
      );
      deepEqual(await counts(stage, operation), { fixed: 20, replayed_before: 40 });
      equal(await groupState(stage), 'resolved');
    });

    it('are replayed when retention deletes their replay meanwhile', async () => {
      await using stage = await failedOnes(harness, 1);
      await again(stage, OTHER);
      const operation = await start(stage, { groupId: stage.groupId });
      while ((await stage.store.stepOperation()).isMore);
      const step = defined(await next(stage));
      const causeRun = 1;
      const gone = { ...step, choices: step.choices.map((choice) => ({ ...choice, causeRun })) };
      equal((await stage.store.replayErrors(gone)).made, 0);
      deepEqual(await counts(stage, operation), {}, 'it is not passed');
      await carryOut(stage);
      deepEqual(await counts(stage, operation), { replayed_before: 1 });
    });
  });
}
