// The ledger against what the lists say, and every failed run against its `$errors`.

import { deepEqual, equal } from 'node:assert/strict';
import { DELIVERY_STATES } from '../../../src/domain/delivery/delivery.ts';
import { ERRORS } from '../../../src/domain/emission.ts';
import { RUN_STATES } from '../../../src/domain/run/run.ts';
import type { Ledger, PageQuery, RunRecord } from '../../../src/store/contract/records.ts';
import { defined, walk } from '../fixtures.ts';
import type { Stage } from '../stage.ts';

const ONE = { limit: 1 };

/** Counted by the lists: true while no channel holds more than a list shows, and nothing was deleted. */
export async function countedByLists(stage: Stage): Promise<Ledger> {
  const { store, owner } = stage;
  const ownerId = owner.id;
  const zeros = <S extends string>(states: readonly S[]): Record<S, number> =>
    Object.fromEntries(states.map((state) => [state, 0])) as Record<S, number>;
  const [runs, deliveries] = [zeros(RUN_STATES), zeros(DELIVERY_STATES)];
  const { entries, errors } = await listedEmissions(stage);
  for (const entry of stage.appended) entries.add(entry);
  for (const runnableId of stage.runnableIds) {
    for (const state of RUN_STATES) {
      runs[state] += (await store.listRuns({ ownerId, runnableId, state }, ONE)).totalCount;
    }
  }
  for (const state of DELIVERY_STATES) {
    deliveries[state] = (await store.listDeliveries({ ownerId, state }, ONE)).totalCount;
  }
  return { emissions: entries.size, runs, deliveries, errors };
}

async function listedEmissions(stage: Stage): Promise<{ entries: Set<number>; errors: number }> {
  const entries = new Set<number>();
  let errors = 0;
  for (const emitterId of stage.emitterIds) {
    for (const name of stage.names) {
      const channel = { ownerId: stage.owner.id, emitterId, name };
      const { items } = await stage.store.listEmissions(channel, { limit: 100 }, false);
      for (const { entry } of items) entries.add(entry);
      if (name === ERRORS) errors += items.length;
    }
  }
  return { entries, errors };
}

export async function assertLedgerAddsUp(stage: Stage): Promise<void> {
  deepEqual(await stage.store.ledger(stage.owner.id), await countedByLists(stage));
}

/** What counts the rows says what they say, in the ledger and beside each listener. */
export async function assertCountersAreRight({ store }: Stage): Promise<void> {
  deepEqual((await store.repairCounters(Number.MAX_SAFE_INTEGER)).repairs, []);
}

/** Each failed run has one `$errors` that names it, and no `$errors` of a run stands without a failed run. */
export async function assertOneErrorPerFailure(stage: Stage): Promise<void> {
  const { store, owner } = stage;
  for (const runnableId of stage.runnableIds) {
    const runs = await runsOf(stage, runnableId);
    const failures = runs.filter((run) => run.state === 'failed');
    for (const run of failures) {
      const error = defined(await store.getEmission(owner.id, defined(run.errorEntry)));
      equal(error.name, ERRORS);
      equal(error.emitterId, runnableId);
      equal(error.causeRun, run.run);
      equal(error.code, run.errorCode);
    }
    equal(new Set(failures.map((run) => run.errorEntry)).size, failures.length, 'each failed run its own error');
    deepEqual(
      runs.filter((run) => run.state !== 'failed' && run.errorEntry !== null),
      [],
    );
    let errorsOfRuns = 0;
    const channel = { ownerId: owner.id, emitterId: runnableId, name: ERRORS };
    for (const { entry } of (await store.listEmissions(channel, { limit: 100 }, false)).items) {
      if ((await store.getEmission(owner.id, entry))?.causeRun !== null) errorsOfRuns++;
    }
    equal(errorsOfRuns, failures.length, 'as many errors as failed runs');
  }
}

export function runsOf(stage: Stage, runnableId: string): Promise<RunRecord[]> {
  const of = { ownerId: stage.owner.id, runnableId };
  return walk(
    (page: PageQuery<number>) => stage.store.listRuns(of, page),
    (run) => run.run,
  );
}
