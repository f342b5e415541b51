// Replays by hand beside operations: an operation and a person never run one event at the same time.

import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { emissionOfReplay } from '../../../src/domain/errors/replay.ts';
import type { Appended, Store } from '../../../src/store/contract/store.ts';
import { at, defined, type Harness, none, only, timesInTurn } from '../fixtures.ts';
import {
  carryOut,
  counts,
  endAll,
  event,
  type Failed,
  failedOnes,
  LOST,
  next,
  results,
  start,
  stepOn,
} from './replaying.ts';

/** Replays an error as a request does, unless an operation is replaying it. */
export async function replayByHand(
  { owner, store }: Pick<Failed, 'owner' | 'store'>,
  entry: number,
  { at: node = store, edited = null }: { at?: Store; edited?: Uint8Array | null } = {},
): Promise<Appended> {
  const error = defined(await store.getEmission(owner.id, entry));
  const causeRun = defined(error.causeRun);
  const beside = edited ? {} : { unlessReplayed: { entry, causeRun, byOperation: true } };
  return node.append(emissionOfReplay(error, edited), none(), beside);
}

export function replaysByHandContract(harness: Harness): void {
  describe('a replay by hand', () => {
    it('is not made while an operation replays the error', async () => {
      await using stage = await failedOnes(harness, 2);
      const error = at(stage.entries, 0);
      const operation = await start(stage, { groupId: stage.groupId });
      await stepOn(stage);
      const { firstRun, lastReplay } = await replayByHand(stage, error);
      equal(firstRun, null);
      deepEqual([lastReplay?.run, lastReplay?.operationId], [at(await results(stage, operation), 0).run, operation.id]);
      await endAll(stage, LOST);
      equal((await replayByHand(stage, error)).lastReplay, undefined, 'that one is over');
      equal((await stage.claim()).length, 1);
    });

    it('is made beside another one by hand, and with another event', async () => {
      await using stage = await failedOnes(harness, 1);
      const error = at(stage.entries, 0);
      const made = await timesInTurn(2, () => replayByHand(stage, error));
      equal(new Set(made.map(({ firstRun }) => defined(firstRun))).size, 2);
      await endAll(stage, LOST);
      const operation = await start(stage, { entries: [error] }, { isAgain: true });
      await stepOn(stage);
      const edited = await replayByHand(stage, error, { edited: event(7) });
      equal(edited.lastReplay, undefined);
      deepEqual((await endAll(stage)).toSorted(), [0, 7]);
      await stepOn(stage);
      deepEqual(await counts(stage, operation), { fixed: 1 });
    });

    it('and an operation at the same time make one run', async () => {
      await using stage = await failedOnes(harness, 6);
      const operation = await start(stage, { groupId: stage.groupId });
      while ((await stage.store.stepOperation()).isMore);
      const step = defined(await next(stage));
      // In one batch on Postgres; whichever is planned first makes the run.
      const before = stage.entries.slice(0, 3).map((entry) => replayByHand(stage, entry));
      const stepped = stage.store.replayErrors(step);
      const after = stage.entries.slice(3).map((entry) => replayByHand(stage, entry));
      const byHand = (await Promise.all([...before, ...after])).flatMap(({ firstRun }) => firstRun ?? []);
      equal((await stepped).made + byHand.length, 6);
      const runs = (await results(stage, operation)).map(({ run }) => defined(run));
      equal(new Set([...runs, ...byHand]).size, 6, 'the operation follows what was made by hand');
      equal((await stage.claim()).length, 6);
    });

    it('of another owner is nothing to an operation', async () => {
      await using stage = await failedOnes(harness, 1);
      const error = at(stage.entries, 0);
      await start(stage, { groupId: stage.groupId });
      await stepOn(stage);
      const { causeRun } = defined(await stage.store.getEmission(stage.owner.id, error));
      const other = await stage.neighbour();
      const unlessReplayed = { entry: error, causeRun: defined(causeRun), byOperation: true };
      const emission = other.make.emission(other.owner.id);
      equal((await stage.store.append(emission, none(), { unlessReplayed })).lastReplay, undefined);
    });

    it('that was cancelled is replaced by an operation', async () => {
      await using stage = await failedOnes(harness, 1);
      const { firstRun } = await replayByHand(stage, at(stage.entries, 0));
      equal(await stage.store.cancelRun(stage.owner.id, defined(firstRun)), 'cancelled');
      const operation = await start(stage, { groupId: stage.groupId });
      await carryOut(stage);
      equal(only(await results(stage, operation)).outcome, 'fixed');
    });
  });
}
