// Groups of errors that several nodes count at once: exact, and opened again once.

import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_SETTINGS } from '../../../src/domain/resource.ts';
import type { ClaimedRun } from '../../../src/domain/run/run.ts';
import { endOf } from '../../../src/domain/run/run-end.ts';
import type { Store } from '../../../src/store/contract/store.ts';
import { checkPostgres } from '../../../src/store/postgres/maintenance/check.ts';
import { all, at, defined, failed, none, times } from '../../contract/fixtures.ts';
import { timesOf } from '../../support/data/thorough.ts';
import { queryOn } from '../../support/postgres/databases.ts';
import { type Stores, storesOn } from './stores.ts';

const NODES = 3;
const CODES = ['A', 'B', 'C', 'D', 'E'];
const ROUNDS = timesOf(80, 25);
/** Errors of one round at one node: each code in its own order, so that locks would meet crosswise. */
const PER_ROUND = 10;

const begin = async ({ stage }: Stores, node: Store, workflowId: string): Promise<ClaimedRun | undefined> => {
  const event = stage.make.emission(stage.owner.id, { name: '$run', onlyListenerId: workflowId });
  return (await node.append(event, all())).claims.runs[0];
};

/** Fails one run at each node. */
async function failOnEach(nodes: Stores, workflowId: string, code: string): Promise<void> {
  await Promise.all(
    nodes.stores.map(async (node) => {
      const run = defined(await begin(nodes, node, workflowId));
      await node.finishRun(endOf(run, failed(code), nodes.clock.nowMs()), none());
    }),
  );
}

async function groupsOf({ stage, stores }: Stores) {
  const query = { ownerId: stage.owner.id, sort: 'last_seen' as const };
  return (await at(stores, 1).listErrorGroups(query, { limit: 100 })).items;
}

test('a storm at three nodes is counted exactly', async () => {
  await using nodes = await storesOn(NODES);
  const { stage, stores, clock, url } = nodes;
  const settings = { ...DEFAULT_SETTINGS, notify: false, concurrency: 1000, queueLimit: 1 };
  const failing = await stage.workflow({ settings });
  const full = await stage.workflow({ settings: { ...settings, concurrency: 1 } });
  // Its only slot is taken, and its queue is full: each further event is an error, found behind the lock of the queue.
  await Promise.all(times(2, () => begin(nodes, at(stores, 0), full.id)));
  const until = times(ROUNDS, (n) => n);
  await Promise.all(
    stores.map(async (node, i) => {
      for (const round of until) {
        const codes = times(PER_ROUND, (n) => at(CODES, (n * (i + 1) + round) % CODES.length));
        await Promise.all([
          ...codes.map(async (code) => {
            const run = defined(await begin(nodes, node, failing.id));
            await node.finishRun(endOf(run, failed(code), clock.nowMs()), none());
          }),
          begin(nodes, node, full.id),
        ]);
      }
    }),
  );
  const groups = await groupsOf(nodes);
  const counts = new Map(groups.map(({ fingerprint, count }) => [fingerprint.code, count]));
  const [refused = 0, ...thrown] = ['QueueFull', ...CODES].map((code) => counts.get(code) ?? 0);
  equal(refused, NODES * ROUNDS);
  equal(
    thrown.reduce((sum, n) => sum + n),
    NODES * ROUNDS * PER_ROUND,
  );
  equal((await stage.store.ledger(stage.owner.id)).errors, NODES * ROUNDS * (PER_ROUND + 1));
  const sql = `SELECT g.n::int, (SELECT count(*)::int FROM emissions AS e WHERE e.group_id = g.id) AS kept,
    (SELECT sum(n)::int FROM error_group_hours WHERE group_id = g.id) AS hours,
    (SELECT sum(n)::int FROM error_group_deployments WHERE group_id = g.id) AS deployments FROM error_groups AS g`;
  for (const { n, kept, hours, deployments } of await queryOn(url, sql)) {
    deepEqual([kept, hours, deployments], [n, n, n]);
  }
  deepEqual((await checkPostgres(url)).findings, []);
});

test('a resolved group is opened again once', async () => {
  await using nodes = await storesOn(NODES);
  const { stage, stores } = nodes;
  const { id } = await stage.workflow({ settings: { ...DEFAULT_SETTINGS, notify: false } });
  await failOnEach(nodes, id, 'A');
  const [group] = await groupsOf(nodes);
  const openers = new Set<number>();
  for (const node of stores) {
    const before = defined(await node.getErrorGroup(stage.owner.id, defined(group).id)).group;
    const standing = { state: 'resolved', inNextDeployment: false } as const;
    await node.updateErrorGroup(stage.owner.id, before.id, { status: standing });
    await failOnEach(nodes, id, 'A');
    const { group: after } = defined(await node.getErrorGroup(stage.owner.id, before.id));
    deepEqual([after.state, after.count], ['open', before.count + NODES]);
    // Not always among the newest: each node takes numbers of its own.
    const opener = defined(await node.getEmission(stage.owner.id, defined(after.reopened?.entry)));
    deepEqual([opener.name, opener.groupId], ['$errors', before.id]);
    equal(openers.has(opener.entry), false, 'an error of this round');
    openers.add(opener.entry);
  }
});

test('a mute of some errors ends with the last of them', async () => {
  await using nodes = await storesOn(NODES);
  const { stage } = nodes;
  const { id } = await stage.workflow({ settings: { ...DEFAULT_SETTINGS, notify: false } });
  await failOnEach(nodes, id, 'A');
  const { id: groupId } = at(await groupsOf(nodes), 0);
  const standing = { state: 'muted', untilMs: null, afterCount: NODES + 1, untilNextDeployment: false } as const;
  await stage.store.updateErrorGroup(stage.owner.id, groupId, { status: standing });
  await failOnEach(nodes, id, 'A');
  const shown = async () => defined(await stage.store.getErrorGroup(stage.owner.id, groupId)).group;
  equal((await shown()).state, 'muted');
  await failOnEach(nodes, id, 'A');
  const { state, reopened, count } = await shown();
  deepEqual([state, reopened?.by, count], ['open', 'count', 3 * NODES]);
});
