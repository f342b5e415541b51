// Several operations that come to the same errors, and replays by hand beside them: an event runs once at a time.

import { deepEqual, equal, match } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { emissionOfReplay, retryOf } from '../../../src/domain/errors/replay.ts';
import { numberedId, PREFIX } from '../../../src/domain/ids.ts';
import type { ReplayStep } from '../../../src/store/contract/operations.ts';
import type { Appended, Store } from '../../../src/store/contract/store.ts';
import { at, defined, failed, type Harness, none, only, shareOf, times, timesInTurn } from '../fixtures.ts';
import { assertLedgerAddsUp } from '../log/counting.ts';
import {
  carryOut,
  counts,
  endAll,
  event,
  type Failed,
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

/** The step that comes next in each of two operations that have replayed nothing. */
async function bothSteps(stage: Failed, ids: readonly [{ id: string }, { id: string }]): Promise<ReplayStep[]> {
  while ((await stage.store.stepOperation()).isMore);
  const steps: ReplayStep[] = [];
  for (const [i, other] of [at(ids, 1), at(ids, 0)].entries()) {
    await order(stage, other, 'pause');
    const step = defined(await next(stage));
    equal(step.operationId, at(ids, i).id);
    steps.push(step);
    await order(stage, other, 'resume');
  }
  return steps;
}

/** Replays an error by hand. Returns the run. */
async function byHand(stage: Failed, entry: number): Promise<number> {
  const error = defined(await stage.store.getEmission(stage.owner.id, entry));
  return defined((await stage.store.append(emissionOfReplay(error, null), none())).firstRun);
}

/** Retries the run that an error is of, unless its event was run again already. */
export async function retry(
  { owner, store }: Pick<Failed, 'owner' | 'store'>,
  entry: number,
  at: Store = store,
): Promise<Appended> {
  const error = defined(await store.getEmission(owner.id, entry));
  const causeRun = defined(error.causeRun);
  const emission = { ...emissionOfReplay(error, null), summary: retryOf(causeRun) };
  return at.append(emission, none(), { unlessReplayed: { entry, causeRun } });
}

export function sameErrorsContract(harness: Harness): void {
  describe('replays of the same errors', () => {
    it('of two operations at once are made once, and both note how they end', async () => {
      await using stage = await failedOnes(harness, 3);
      const operations = [
        await start(stage, { groupId: stage.groupId }),
        await start(stage, { groupId: stage.groupId }),
      ] as const;
      const [first, second] = await bothSteps(stage, operations);
      const made = await Promise.all([defined(first), defined(second)].map((step) => stage.store.replayErrors(step)));
      deepEqual(made.map((one) => one.made).toSorted(), [0, 3]);
      for (const operation of operations) deepEqual(await counts(stage, operation), { under_way: 3 });
      deepEqual(await endAll(stage), [0, 1, 2]);
      await stepOn(stage);
      const [maker, follower] = at(made, 0).made === 3 ? operations : operations.toReversed();
      for (const operation of operations) {
        deepEqual([(await shown(stage, operation)).state, await counts(stage, operation)], ['done', { fixed: 3 }]);
      }
      const [own, followed] = [await results(stage, defined(maker)), await results(stage, defined(follower))];
      deepEqual(
        followed.map(({ run }) => run),
        own.map(({ run }) => run),
      );
      deepEqual(
        own.map(({ reason }) => reason),
        [null, null, null],
      );
      deepEqual(
        followed.map(({ reason }) => reason),
        own.map(({ run }) => `its event is being run again by ${numberedId(PREFIX.run, run ?? 0)} of ${maker?.id}`),
      );
      equal(await groupState(stage), 'resolved');
      const { runs } = await stage.store.ledger(stage.owner.id);
      deepEqual([runs.failed, runs.succeeded], [3, 3]);
    });

    it('are not made beside one that was made by hand meanwhile', async () => {
      await using stage = await failedOnes(harness, 3);
      const operation = await start(stage, { groupId: stage.groupId });
      await stage.store.stepOperation();
      const step = defined(await next(stage));
      const run = await byHand(stage, at(stage.entries, 1));
      equal((await stage.store.replayErrors(step)).made, 2);
      const [, followed] = await results(stage, operation);
      deepEqual([followed?.run, followed?.outcome], [run, 'under_way']);
      equal(followed?.reason, `its event is being run again by ${numberedId(PREFIX.run, run)}`);
      await endAll(stage, LOST);
      await stepOn(stage);
      deepEqual([(await shown(stage, operation)).state, await counts(stage, operation)], ['done', { failed_same: 3 }]);
      equal(await groupState(stage), 'open');
    });

    it('are not made beside one whose end is written together with them', async () => {
      await using stage = await failedOnes(harness, 2);
      const [error] = stage.entries;
      const run = await byHand(stage, defined(error));
      const claimed = only(await stage.claim());
      const operation = await start(stage, { groupId: stage.groupId });
      while ((await stage.store.stepOperation()).isMore);
      const step = defined(await next(stage));
      const [, { made }] = await Promise.all([stage.end(claimed), stage.store.replayErrors(step)]);
      equal(made, 1, 'the other error');
      equal(at(await results(stage, operation), 0).run, run);
      await endAll(stage);
      await stepOn(stage);
      const { runs } = await stage.store.ledger(stage.owner.id);
      deepEqual([runs.failed, runs.succeeded], [2, 2]);
      equal((await shown(stage, operation)).state, 'done');
      // Followed, or over already, whichever of the two the store writes first.
      const { fixed = 0, replayed_before: left = 0, ...others } = await counts(stage, operation);
      deepEqual([fixed + left, others], [2, {}]);
    });

    it('count towards what may be under way, and towards the canary', async () => {
      await using stage = await failedOnes(harness, 3);
      await byHand(stage, at(stage.entries, 0));
      const operation = await start(stage, { groupId: stage.groupId }, { canary: 1 });
      const inOrder = await start(stage, { groupId: stage.groupId }, { isOrdered: true });
      equal(await stepOn(stage), 0);
      for (const one of [operation, inOrder]) deepEqual(await counts(stage, one), { under_way: 1 });
      await endAll(stage, LOST);
      equal(await stepOn(stage), 1, 'the one in order goes on');
      equal((await shown(stage, operation)).state, 'paused');
    });

    it('are followed one at a time when order is asked for', async () => {
      await using stage = await failedOnes(harness, 3);
      const runs = await timesInTurn(2, (n) => byHand(stage, at(stage.entries, n)));
      const operation = await start(stage, { groupId: stage.groupId }, { isOrdered: true });
      equal(await stepOn(stage), 0);
      deepEqual(
        (await results(stage, operation)).map(({ run }) => run),
        [at(runs, 0)],
      );
      await endAll(stage);
      equal(await stepOn(stage), 1);
      deepEqual(await counts(stage, operation), { fixed: 1, replayed_before: 1, under_way: 1 });
    });

    it('are left when they have ended, whatever the newest one that was cancelled', async () => {
      await using stage = await failedOnes(harness, 2);
      const [error] = stage.entries;
      await byHand(stage, defined(error));
      await endAll(stage);
      const cancelled = await byHand(stage, defined(error));
      equal(await stage.store.cancelRun(stage.owner.id, cancelled), 'cancelled');
      const operation = await start(stage, { groupId: stage.groupId });
      equal(await stepOn(stage), 1);
      const [left] = await results(stage, operation);
      match(left?.reason ?? '', /^its event was run again by r_.* \(succeeded\)$/);
      equal(left?.outcome, 'replayed_before');
    });

    it('are made again when asked, but not beside one under way', async () => {
      await using stage = await failedOnes(harness, 2);
      await byHand(stage, at(stage.entries, 0));
      await endAll(stage);
      const open = await byHand(stage, at(stage.entries, 1));
      const operation = await start(stage, { groupId: stage.groupId }, { isAgain: true });
      equal(await stepOn(stage), 1);
      equal(at(await results(stage, operation), 1).run, open);
      equal((await stage.claim()).length, 2);
    });

    it('are replaced when they are cancelled', async () => {
      await using stage = await failedOnes(harness, 1);
      const [one, other] = [
        await start(stage, { groupId: stage.groupId }),
        await start(stage, { groupId: stage.groupId }),
      ];
      equal(await stepOn(stage), 1);
      const { run } = only(await results(stage, one));
      equal(await stage.store.cancelRun(stage.owner.id, defined(run)), 'cancelled');
      await stepOn(stage);
      for (const operation of [one, other]) deepEqual(await counts(stage, operation), { cancelled: 1 });
      const third = await start(stage, { groupId: stage.groupId });
      await carryOut(stage);
      deepEqual(await counts(stage, third), { fixed: 1 });
    });

    it('of many operations at once are made once each', async () => {
      const many = shareOf(harness, 200);
      await using stage = await failedOnes(harness, many);
      const operations = await timesInTurn(5, () => start(stage, { groupId: stage.groupId }));
      const stepAll = async (): Promise<void> => {
        for (let isMore = true; isMore; ) {
          isMore = (await stage.store.stepOperation()).isMore;
          const step = await next(stage);
          if (!step) continue;
          // A step that is made twice, beside others.
          await Promise.all([stage.store.replayErrors(step), stage.store.replayErrors(step)]);
          isMore = true;
        }
      };
      do await Promise.all([stepAll(), stepAll(), stepAll()]);
      while ((await endAll(stage)).length > 0);
      for (const operation of operations) {
        deepEqual([(await shown(stage, operation)).state, await counts(stage, operation)], ['done', { fixed: many }]);
      }
      const { runs } = await stage.store.ledger(stage.owner.id);
      deepEqual([runs.failed, runs.succeeded, runs.queued + runs.running], [many, many, 0]);
      equal(await groupState(stage), 'resolved');
    });
  });

  describe('a retry that may be the first alone', () => {
    it('is made once by several calls at once', async () => {
      await using stage = await failedOnes(harness, 2);
      const [error, other] = [at(stage.entries, 0), at(stage.entries, 1)];
      const [own, ...made] = await Promise.all([retry(stage, other), ...times(5, () => retry(stage, error))]);
      equal(own.lastReplay, undefined);
      const { firstRun: run, entry: again } = only(made.filter(({ lastReplay }) => !lastReplay));
      for (const entry of [own.entry, again]) stage.appended.add(entry);
      for (const { lastReplay, entry, firstRun, repeated } of made.filter((one) => one.lastReplay)) {
        deepEqual([entry, firstRun, repeated], [error, null, null]);
        deepEqual([lastReplay?.kind, lastReplay?.run, lastReplay?.state], ['retry', run, 'queued']);
      }
      equal((await stage.store.ledger(stage.owner.id)).runs.queued, 2);
      await endAll(stage, LOST);
      equal((await retry(stage, error)).lastReplay?.state, 'failed');
      await assertLedgerAddsUp(stage);
    });

    it('is not made beside one whose end is written together with it', async () => {
      await using stage = await failedOnes(harness, 1);
      const error = at(stage.entries, 0);
      const run = await byHand(stage, error);
      const claimed = only(await stage.claim());
      const [, { lastReplay }] = await Promise.all([stage.end(claimed), retry(stage, error)]);
      equal(lastReplay?.run, run);
    });

    it('is made when the one before was cancelled, and not beside one with another event', async () => {
      await using stage = await failedOnes(harness, 1);
      const [error] = stage.entries;
      const cancelled = defined((await retry(stage, defined(error))).firstRun);
      equal(await stage.store.cancelRun(stage.owner.id, cancelled), 'cancelled');
      const whole = defined(await stage.store.getEmission(stage.owner.id, defined(error)));
      const { firstRun: edited } = await stage.store.append(emissionOfReplay(whole, event(7)), none());
      equal((await retry(stage, defined(error))).lastReplay?.run, edited);
      await stage.end(only(await stage.claim()), failed());
      const { lastReplay, firstRun } = await retry(stage, defined(error));
      deepEqual([lastReplay, firstRun === null], [undefined, false]);
    });

    it('is not made beside a replay, nor an operation beside it', async () => {
      await using stage = await failedOnes(harness, 3);
      const [first, second] = [at(stage.entries, 0), at(stage.entries, 1)];
      const run = await byHand(stage, first);
      deepEqual((await retry(stage, first)).lastReplay?.run, run);
      const operation = await start(stage, { groupId: stage.groupId });
      await stage.store.stepOperation();
      const step = defined(await next(stage));
      // In one batch on Postgres, in which neither is written when the other is planned.
      const [{ made }, retried] = await Promise.all([stage.store.replayErrors(step), retry(stage, second)]);
      const ofSecond = defined((await results(stage, operation)).find(({ entry }) => entry === second));
      deepEqual([made, ofSecond.run], retried.lastReplay ? [2, retried.lastReplay.run] : [1, retried.firstRun]);
      if (retried.lastReplay) equal(retried.lastReplay.operationId, operation.id);
      equal((await stage.claim()).length, 3);
    });

    it('is nothing to another owner', async () => {
      await using stage = await failedOnes(harness, 1);
      const [error] = stage.entries;
      await retry(stage, defined(error));
      const { causeRun } = defined(await stage.store.getEmission(stage.owner.id, defined(error)));
      const other = await stage.neighbour();
      const emission = other.make.emission(other.owner.id);
      const unlessReplayed = { entry: defined(error), causeRun: defined(causeRun) };
      equal((await stage.store.append(emission, none(), { unlessReplayed })).lastReplay, undefined);
    });
  });
}
