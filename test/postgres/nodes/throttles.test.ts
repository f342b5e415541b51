// A throttle holds over all nodes together, whichever verb lets a run begin, and whichever node.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { LIMITS, MINUTE_MS, SECOND_MS } from '../../../src/domain/limits.ts';
import type { Throttle } from '../../../src/domain/resource.ts';
import type { ClaimedRun } from '../../../src/domain/run/run.ts';
import { endOf } from '../../../src/domain/run/run-end.ts';
import type { Store } from '../../../src/store/contract/store.ts';
import { checkPostgres } from '../../../src/store/postgres/maintenance/check.ts';
import { all, at, defined, none, only, START_MS, succeeded, TestClock, times } from '../../contract/fixtures.ts';
import { Stage } from '../../contract/stage.ts';
import { queryOn } from '../../support/postgres/databases.ts';
import { newDatabase } from '../../support/postgres/shared.ts';
import { openTestStore } from '../../support/postgres/store.ts';
import { until } from '../../support/wait.ts';
import { type Stores, storesOn } from './stores.ts';

async function appendAt({ stage }: Pick<Stores, 'stage'>, node: Store, workflowId: string) {
  const event = stage.make.emission(stage.owner.id, { name: '$run', onlyListenerId: workflowId });
  return (await node.append(event, all())).claims.runs;
}

const claimAt = async (node: Store) => (await node.claimRuns(100, all())).runs;

async function throttled(stage: Stage, throttle: Throttle) {
  return stage.workflow({ settings: { throttle } });
}

test('three nodes begin no more than one may', async () => {
  await using nodes = await storesOn(3);
  const { stage, stores, clock, url } = nodes;
  const { id } = await throttled(stage, { limit: 5, intervalMs: 10 * SECOND_MS });
  const begun: number[] = [];
  const count = (runs: readonly ClaimedRun[]): void => {
    for (const _ of runs) begun.push(clock.ms);
  };
  // By an event that comes, by a claim, and by what an end hands over: at all nodes at the same moment.
  const held = stores.map((): ClaimedRun[] => []);
  const keep = (n: number, runs: readonly ClaimedRun[]): void => {
    held[n]?.push(...runs);
    count(runs);
  };
  for (let second = 0; second < 24; second++) {
    await Promise.all(
      stores.flatMap((node, n) => {
        // When the next ones may begin: at first these hand over to all of them, and then they meet claims.
        const mine = second % 10 === 0 ? (held[n]?.splice(0) ?? []) : [];
        const ends = mine.map((run) => node.finishRun(endOf(run, succeeded(), clock.nowMs()), all()));
        return [
          ...times(second < 4 ? 3 : 0, async () => keep(n, await appendAt(nodes, node, id))),
          ...ends.map(async (end) => keep(n, (await end).claims.runs)),
          ...times(second === 10 ? 0 : 1, async () => keep(n, await claimAt(node))),
        ];
      }),
    );
    // Nothing that may begin is left: a claim that met another one's lock has passed it over.
    count(await claimAt(at(stores, second % 3)));
    for (const ms of begun) ok(begun.filter((other) => other >= ms && other < ms + 10 * SECOND_MS).length <= 5);
    equal(begun.length, Math.min(36, 5 * (Math.floor(second / 10) + 1)), `second ${second}`);
    deepEqual((await checkPostgres(url)).findings, []);
    clock.advance(SECOND_MS);
  }
});

test('by the database’s own clock it is exact', async () => {
  const { url, drop } = await newDatabase();
  const stores = await Promise.all(times(3, () => openTestStore({ url, clock: null })));
  try {
    const stage = await Stage.on(at(stores, 0), new TestClock());
    const { id } = await throttled(stage, { limit: 4, intervalMs: 100 });
    const left = new Set(await Promise.all(times(40, (i) => appendAndTell({ stage }, at(stores, i % 3), id))));
    await until('all have begun', async () => {
      const claims = await Promise.all(stores.map((node) => node.claimRuns(100, all())));
      for (const { runs } of claims) for (const { run } of runs) left.delete(run);
      return [...left].every((run) => run === 0);
    });
    const rows = await queryOn(url, 'SELECT started_at_ms::float8 AS ms FROM open_runs ORDER BY started_at_ms');
    const starts = rows.map(({ ms }) => ms as number);
    equal(starts.length, 40);
    starts.forEach((ms, i) => {
      ok(i < 4 || ms >= at(starts, i - 4) + 100, `${ms} is too early after ${starts[i - 4]}`);
    });
  } finally {
    await Promise.all(stores.map((store) => store.close()));
    await drop();
  }
});

/** Its number when it waits; 0: it has begun. */
async function appendAndTell({ stage }: Pick<Stores, 'stage'>, node: Store, workflowId: string): Promise<number> {
  const event = stage.make.emission(stage.owner.id, { name: '$run', onlyListenerId: workflowId });
  const { claims, firstRun } = await node.append(event, all());
  return claims.runs.length > 0 ? 0 : defined(firstRun);
}

test('every node knows when the next may begin', async () => {
  await using nodes = await storesOn(2);
  const { stage, stores } = nodes;
  const [a, b] = [at(stores, 0), at(stores, 1)];
  const { id } = await throttled(stage, { limit: 1, intervalMs: MINUTE_MS });
  equal((await appendAt(nodes, a, id)).length, 1);
  equal((await appendAt(nodes, b, id)).length, 0);
  for (const node of stores) equal((await node.claimRuns(9, all())).nextDueAtMs, START_MS + MINUTE_MS);
});

test('nobody looks at what may not begin', async () => {
  await using nodes = await storesOn(2);
  const { stage, stores, clock, url } = nodes;
  const { id } = await throttled(stage, { limit: 1, intervalMs: MINUTE_MS });
  for (const node of stores) await appendAt(nodes, node, id);
  await appendAt(nodes, at(stores, 1), id);
  const ready = async (): Promise<unknown> =>
    (await queryOn(url, `SELECT ready_at_ms::float8 AS ms FROM listener_queues WHERE listener_id = '${id}'`))[0]?.ms;
  equal(await ready(), START_MS + MINUTE_MS);
  // Who is cancelled, or ends, changes nothing in that.
  const { items } = await stage.store.listRuns(
    { ownerId: stage.owner.id, runnableId: id, state: 'queued' },
    { limit: 9 },
  );
  await at(stores, 1).cancelRun(stage.owner.id, at(items, 0).run);
  equal(await ready(), START_MS + MINUTE_MS);
  clock.advance(MINUTE_MS);
  equal((await claimAt(at(stores, 1))).length, 1);
  equal(await ready(), null);
});

test('a run taken back from a dead node counts again', async () => {
  await using nodes = await storesOn(2);
  const { stage, stores, clock } = nodes;
  const [a, b] = [at(stores, 0), at(stores, 1)];
  const { id } = await throttled(stage, { limit: 2, intervalMs: MINUTE_MS });
  const lost = only(await appendAt(nodes, b, id));
  clock.advance(LIMITS.nodeLeaseMs + SECOND_MS);
  await a.beat();
  equal((await a.rescue(none())).runs, 1);
  equal(only(await claimAt(a)).run, lost.run);
  equal((await appendAt(nodes, a, id)).length, 0);
  clock.advance(MINUTE_MS - LIMITS.nodeLeaseMs - SECOND_MS);
  equal((await claimAt(a)).length, 1);
});

test('a throttle changed elsewhere holds at once', async () => {
  await using nodes = await storesOn(2);
  const { stage, stores, url } = nodes;
  const [a, b] = [at(stores, 0), at(stores, 1)];
  const { workflow, write } = await stage.hooked({ settings: { throttle: { limit: 1, intervalMs: MINUTE_MS } } });
  equal((await appendAt(nodes, b, workflow.id)).length, 1);
  for (let n = 0; n < 3; n++) equal((await appendAt(nodes, b, workflow.id)).length, 0);
  const change = (throttle: Throttle | null) =>
    a.updateWorkflow({
      ...write,
      deployment: null,
      workflow: { ...workflow, settings: { ...workflow.settings, throttle } },
    });
  await change({ limit: 2, intervalMs: MINUTE_MS });
  equal((await claimAt(b)).length, 1);
  equal((await claimAt(b)).length, 0);
  await change(null);
  equal((await claimAt(b)).length, 2);
  deepEqual((await checkPostgres(url)).findings, []);
});
