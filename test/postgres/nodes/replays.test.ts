// Replays of many errors that several nodes make at once: of one operation, and of several that come to the same errors.

import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import postgres from 'postgres';
import { LIMITS } from '../../../src/domain/limits.ts';
import { endOf } from '../../../src/domain/run/run-end.ts';
import type { Store } from '../../../src/store/contract/store.ts';
import { checkPostgres } from '../../../src/store/postgres/maintenance/check.ts';
import { all, at, defined, none, succeeded } from '../../contract/fixtures.ts';
import { counts, type Failed, fail, next, order, shown, start } from '../../contract/replays/replaying.ts';
import { holding, lockWaits } from '../../support/postgres/holding.ts';
import { until } from '../../support/wait.ts';
import { type Stores, storesOn } from './stores.ts';

const NODES = 3;
const ERRORS = 150;

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
