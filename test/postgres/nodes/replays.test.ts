// Replays of many errors that several nodes make at once: of one operation, and of several that come to the same errors.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import postgres from 'postgres';
import { RUN } from '../../../src/domain/emission.ts';
import { LIMITS } from '../../../src/domain/limits.ts';
import type { ClaimedRun, RunOutcome } from '../../../src/domain/run/run.ts';
import { endOf } from '../../../src/domain/run/run-end.ts';
import { createReplays } from '../../../src/engine/runs/replays.ts';
import type { Finished, Store } from '../../../src/store/contract/store.ts';
import { checkPostgres } from '../../../src/store/postgres/maintenance/check.ts';
import { all, at, defined, none, succeeded, timesInTurn } from '../../contract/fixtures.ts';
import { replayByHand } from '../../contract/replays/by-hand.ts';
import {
  counts,
  type Failed,
  fail,
  LOST,
  NONE,
  next,
  order,
  PLAIN_ORDER,
  results,
  shown,
  start,
} from '../../contract/replays/replaying.ts';
import { retry } from '../../contract/replays/same-errors.ts';
import { holding, lockWaits } from '../../support/postgres/holding.ts';
import { until } from '../../support/wait.ts';
import { type Stores, storesOn } from './stores.ts';

const NODES = 3;
const ERRORS = 150;
const QUIET = { settings: { notify: false } };

async function failedOn({ stage }: Stores): Promise<Failed> {
  const flow = await stage.workflow({ settings: { notify: false, concurrency: 1000 } });
  const entries = await fail(stage, flow, ERRORS);
  const error = defined(await stage.store.getEmission(stage.owner.id, at(entries, 0)));
  return Object.assign(stage, { flow, entries, groupId: defined(error.groupId) });
}

/** Steps at one node until nothing is left to do at once. */
async function stepAll(node: Store): Promise<void> {
  for (;;) {
    const { isMore } = await node.stepOperation();
    const step = await next({ store: node });
    if (step) await node.replayErrors(step);
    else if (!isMore) return;
  }
}

async function endAll(node: Store, nowMs: number): Promise<number> {
  const { runs } = await node.claimRuns(100, all());
  for (const run of runs) await node.finishRun(endOf(run, succeeded(), nowMs), none());
  return runs.length;
}

test('operations at several nodes replay each error once', async () => {
  await using nodes = await storesOn(NODES);
  const stage = await failedOn(nodes);
  const { stores, clock } = nodes;
  const operations = await Promise.all(stores.map(() => start(stage, { groupId: stage.groupId })));
  // Not of one kind at a time: a step may find its operation locked, so nothing to do is found twice.
  for (let isQuiet = 0; isQuiet < 2; ) {
    await Promise.all(stores.map(stepAll));
    const ended = await Promise.all(stores.map((node) => endAll(node, clock.nowMs())));
    isQuiet = ended.every((count) => count === 0) ? isQuiet + 1 : 0;
  }
  for (const operation of operations) {
    deepEqual([(await shown(stage, operation)).state, await counts(stage, operation)], ['done', { fixed: ERRORS }]);
  }
  const { runs } = await stage.store.ledger(stage.owner.id);
  deepEqual([runs.failed, runs.succeeded, runs.queued + runs.running], [ERRORS, ERRORS, 0]);
  equal(defined(await stage.store.getErrorGroup(stage.owner.id, stage.groupId)).group.state, 'resolved');
  deepEqual((await checkPostgres(nodes.url)).findings, []);
});

test('a run that is retried at two nodes at once is retried once', async () => {
  await using nodes = await storesOn(2);
  const stage = await failedOn(nodes);
  const sql = postgres(nodes.url, { max: 2, onnotice: () => undefined });
  try {
    const { release, locked } = holding(sql, stage.flow.id);
    await locked;
    const retries = nodes.stores.map((node) => retry(stage, at(stage.entries, 0), node));
    await until('both to wait for a lock', async () => (await lockWaits(sql)) === 2);
    await release();
    const [first, ...others] = (await Promise.all(retries)).toSorted(
      (a, b) => (a.lastReplay ? 1 : 0) - (b.lastReplay ? 1 : 0),
    );
    deepEqual([first?.lastReplay, first?.firstRun === null], [undefined, false]);
    deepEqual(
      others.map(({ lastReplay, firstRun }) => [lastReplay?.run, firstRun]),
      [[first?.firstRun, null]],
    );
  } finally {
    await sql.end({ timeout: 1 });
  }
  equal((await stage.store.ledger(stage.owner.id)).runs.queued, 1);
});

test('an error that is replayed by hand at one node is followed at another', async () => {
  await using nodes = await storesOn(2);
  const stage = await failedOn(nodes);
  const [one, other] = [at(nodes.stores, 0), at(nodes.stores, 1)];
  const error = at(stage.entries, 0);
  const operation = await start(stage, { entries: [error] });
  while ((await one.stepOperation()).isMore);
  const step = defined(await next({ store: one }));
  const sql = postgres(nodes.url, { max: 2, onnotice: () => undefined });
  try {
    const { release, locked } = holding(sql, stage.flow.id);
    await locked;
    const [byHand, stepped] = [replayByHand(stage, error, { at: other }), one.replayErrors(step)];
    await until('both to wait for a lock', async () => (await lockWaits(sql)) === 2);
    await release();
    const [{ firstRun, lastReplay }, { made }] = await Promise.all([byHand, stepped]);
    equal((firstRun === null ? 0 : 1) + made, 1, 'one of them makes the run');
    equal(at(await results(stage, operation), 0).run, firstRun ?? lastReplay?.run);
  } finally {
    await sql.end({ timeout: 1 });
  }
  equal((await stage.store.ledger(stage.owner.id)).runs.queued, 1);
});

test('an operation is made when no error can be added before its last one', async () => {
  await using nodes = await storesOn(2);
  const { stage, clock } = nodes;
  const [one, other] = [at(nodes.stores, 0), at(nodes.stores, 1)];
  // Queues are locked in the order of their ids.
  const flows = [await stage.workflow(QUIET), await stage.workflow(QUIET)].toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const [held, flow] = [at(flows, 0), at(flows, 1)];
  const running = async (node: Store, { id }: { id: string }): Promise<ClaimedRun> => {
    const { claims } = await node.append(stage.make.emission(stage.owner.id, { name: RUN, onlyListenerId: id }), all());
    return at(claims.runs, 0);
  };
  const [ofHeld, early] = [await running(one, held), await running(one, flow)];
  const late = await running(other, flow);
  const end = (run: ClaimedRun, outcome: RunOutcome) => endOf(run, outcome, clock.nowMs());
  const sql = postgres(nodes.url, { max: 2, onnotice: () => undefined });
  try {
    // The first error has its number, and waits for a lock before it can be seen; the second one has a higher number.
    const { release, locked } = holding(sql, held.id);
    await locked;
    const ends = [one.finishRun(end(ofHeld, succeeded()), none()), one.finishRun(end(early, LOST), none())];
    await until('the first error to wait', async () => (await lockWaits(sql)) === 1);
    clock.advance(1000);
    const { errorEntry } = await other.finishRun(end(late, LOST), none());
    const { groupId } = defined(await other.getEmission(stage.owner.id, defined(errorEntry)));
    const { replayMany } = createReplays({
      store: other,
      shown: other,
      clock,
      ids: stage.ids,
      wake: { notify: () => undefined },
    });
    const selection = { ...NONE, groupId: defined(groupId) };
    clock.advance(1);
    const making = replayMany(stage.owner.id, { ...PLAIN_ORDER, selection });
    const made = making.then(() => stepAll(other));
    await Promise.race([made, timesInTurn(500, () => sql`SELECT 1`)]);
    await release();
    const [, { errorEntry: entry }] = (await Promise.all(ends)) as [unknown, Finished];
    await made;
    const { id } = await making;
    ok(defined(entry) < defined(errorEntry), 'numbers are in the order of the beginnings');
    deepEqual(
      (await results(stage, { id })).map((one) => [one.entry, one.outcome]),
      [entry, errorEntry].map((one) => [one, 'under_way']),
    );
    equal((await shown(stage, { id })).total, 2);
  } finally {
    await sql.end({ timeout: 1 });
  }
});

test('two steps at two nodes with the same errors wait for each other', async () => {
  await using nodes = await storesOn(2);
  const stage = await failedOn(nodes);
  const [one, other] = [at(nodes.stores, 0), at(nodes.stores, 1)];
  const first = await start(stage, { groupId: stage.groupId });
  const second = await start(stage, { groupId: stage.groupId });
  while ((await one.stepOperation()).isMore);
  await order(stage, second, 'pause');
  const ofFirst = defined(await next({ store: one }));
  await order(stage, second, 'resume');
  await order(stage, first, 'pause');
  const ofSecond = defined(await next({ store: other }));
  await order(stage, first, 'resume');
  deepEqual([ofFirst.operationId, ofSecond.operationId], [first.id, second.id]);
  const sql = postgres(nodes.url, { max: 2, onnotice: () => undefined });
  try {
    // Both have read what stands for the errors before one of them has written.
    const { release, locked } = holding(sql, stage.flow.id);
    await locked;
    const steps = [one.replayErrors(ofFirst), other.replayErrors(ofSecond)];
    await until('both to wait for a lock', async () => (await lockWaits(sql)) === 2);
    await release();
    deepEqual((await Promise.all(steps)).map(({ made }) => made).toSorted(), [0, LIMITS.replaysUnderWay]);
  } finally {
    await sql.end({ timeout: 1 });
  }
  for (const operation of [first, second]) {
    deepEqual(await counts(stage, operation), { under_way: LIMITS.replaysUnderWay });
  }
  equal((await stage.store.ledger(stage.owner.id)).runs.queued, LIMITS.replaysUnderWay);
});
