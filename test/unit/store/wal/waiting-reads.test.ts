// For which commits a read waits: for those whose rows it may show, and for no other owner's.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import type { ClaimedRun } from '../../../../src/domain/run/run.ts';
import { LatestCommits } from '../../../../src/store/sqlite/wal/latest-commits.ts';
import { ended, failed, only, waits } from '../../../contract/fixtures.ts';
import type { Stage } from '../../../contract/stage.ts';
import { until } from '../../../support/wait.ts';
import { makePlace, turns, type Watched, watch } from './held-disk.ts';

/** A store with two owners. All that was written is on disk. */
async function makeTwo() {
  const place = await makePlace();
  const other = await place.stage.neighbour();
  const { workflow, trigger } = await other.hooked();
  await other.append(trigger.id);
  return {
    place,
    other: { stage: other, workflow, trigger },
    [Symbol.asyncDispose]: () => place[Symbol.asyncDispose](),
  };
}

/** Calls a verb while syncs are held, and waits until another connection sees its commit. */
async function commitHeld<T>(
  { path, disk }: Awaited<ReturnType<typeof makePlace>>,
  verb: () => Promise<T>,
): Promise<Watched<T>> {
  const db = new DatabaseSync(path, { readOnly: true });
  const version = () => db.prepare('PRAGMA data_version').get()?.data_version;
  const before = version();
  disk.isHeld = true;
  const written = watch(verb());
  await until('it is committed', () => version() !== before);
  db.close();
  await turns();
  equal(written.isOver, false, 'it waits for the disk');
  return written;
}

const readsOf = (
  { store, owner: { id: ownerId } }: Stage,
  runnableId: string,
  emitterId: string,
): Promise<unknown>[] => [
  store.listEmissions({ ownerId, emitterId, name: '' }, { limit: 10 }, true),
  store.listRuns({ ownerId, runnableId }, { limit: 10 }),
  store.listErrorGroups({ ownerId, sort: 'last_seen' }, { limit: 10 }),
  store.ledger(ownerId),
];

const areOver = (all: readonly Watched<unknown>[]): boolean[] => all.map(({ isOver }) => isOver);

const VERBS: Readonly<Record<string, (stage: Stage, of: { triggerId: string; run: ClaimedRun }) => Promise<unknown>>> =
  {
    append: (stage, { triggerId }) => stage.append(triggerId),
    claimRuns: (stage, { run }) => stage.claim(1, run.runnable.id),
    'finishRun of a success': (stage, { run }) => stage.tryEnd(run),
    'finishRun of a failure': (stage, { run }) => stage.tryEnd(run, failed()),
    'finishRun of one to run again': (stage, { run }) => stage.tryEnd(run, ended('unattributed')),
    'finishRun of one that waits': (stage, { run }) => stage.tryEnd(run, waits()),
  };

for (const [name, verb] of Object.entries(VERBS)) {
  test(`reads wait for commits of their owner alone: ${name}`, async () => {
    await using two = await makeTwo();
    const { place, other } = two;
    const { stage, workflow, trigger, disk } = place;
    await stage.append(trigger.id);
    await stage.append(trigger.id);
    const run = only(await stage.claim(1, workflow.id));
    const written = await commitHeld(place, () => verb(stage, { triggerId: trigger.id, run }));
    const own = readsOf(stage, workflow.id, trigger.id).map((read) => watch<unknown>(read));
    await Promise.all(readsOf(other.stage, other.workflow.id, other.trigger.id));
    await turns();
    deepEqual(areOver(own), [false, false, false, false]);
    await disk.letGo();
    await Promise.all([written, ...own].map(({ promise }) => promise));
  });
}

test('reads of what is set up wait for no run and no event, but for what is set up', async () => {
  await using two = await makeTwo();
  const { place, other } = two;
  const { stage, store, workflow, trigger, disk } = place;
  const reads = () => [
    store.exists(stage.owner.id, workflow.id),
    store.getWorkflow(stage.owner.id, workflow.id),
    store.getDeployment(stage.owner.id, workflow.deploymentId),
    store.listWorkflows({ ownerId: stage.owner.id }, { limit: 10 }),
    store.listDeployments(stage.owner.id, workflow.id, { limit: 10 }),
    store.listSubscriptions({ ownerId: stage.owner.id }, { limit: 10 }),
    store.getSubscription(stage.owner.id, 'sub_none'),
    store.listTriggerSubscriptions(stage.owner.id, workflow.id),
    store.redactionsOf(stage.owner.id),
    store.listTriggers(stage.owner.id, workflow.id),
    store.ownersWithRules(),
  ];
  const event = await commitHeld(place, () => stage.append(trigger.id));
  await Promise.all(reads());
  await disk.letGo();
  await event.promise;
  const made = await commitHeld(place, () => stage.webhook());
  const waiting = [...reads(), store.ledger(other.stage.owner.id)].map((read) => watch<unknown>(read));
  await turns();
  ok(areOver(waiting).every((isOver) => !isOver));
  await disk.letGo();
  await Promise.all([made, ...waiting].map(({ promise }) => promise));
});

test('the look-up of a key waits for no disk, and knows at once that the key is revoked', async () => {
  await using two = await makeTwo();
  const { place, other } = two;
  const { keyHash, key, owner } = other.stage;
  const { store, clock, disk } = place;
  const revoked = await commitHeld(place, () => store.revokeKey(owner.id, key.id, clock.nowMs()));
  equal(await store.keyByHash(keyHash), undefined);
  ok(await store.keyByHash(place.stage.keyHash));
  await disk.letGo();
  await revoked.promise;
});

test('what is set up is written by verbs of its own alone, and triggers by ticks, too', () => {
  const folder = join(import.meta.dirname, '../../../../src/store');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  // Beside those: the migration of a new store, and the repair of one that no server has open.
  const known = /^(config|migrations|sqlite.migrations|sqlite.salvage)./;
  const writersOf = (tables: string): string[] => {
    const writing = new RegExp(`(INSERT\\s+(OR \\w+ )?INTO|UPDATE|DELETE\\s+FROM)\\s+(${tables})\\b`, 'i');
    return files.filter((file) => writing.test(readFileSync(join(folder, file), 'utf8')));
  };
  const setup = writersOf('runnables|deployments|subscriptions|redactions');
  ok(setup.includes(join('config', 'runnables.ts')));
  const others = (writers: readonly string[]): string[] => writers.filter((file) => !known.test(file));
  deepEqual(others(setup), []);
  deepEqual(others(writersOf('triggers')), [join('log', 'ticks.ts')]);
});

test('owners beyond the bound wait for more than their own, never for less', () => {
  const latest = new LatestCommits();
  for (let n = 1; n <= 1000; n++) latest.committed(n, new Set(['counted']), [`o_${n}`]);
  deepEqual([latest.ofOwner('o_1'), latest.ofOwner('o_1000'), latest.ofOwner('o_none')], [1, 1000, 0]);
  latest.committed(1001, new Set(['counted']), ['o_1001']);
  deepEqual([latest.ofOwner('o_1'), latest.ofOwner('o_1001'), latest.ofSetup], [1001, 1001, 0]);
  latest.committed(1002, new Set(['counted', 'setup']), ['o_1']);
  deepEqual([latest.ofOwner('o_1'), latest.ofSetup, latest.notCounted], [1002, 1002, 1002]);
  latest.committed(1003, new Set(['anything']), []);
  latest.committed(1004, new Set(['counted']), ['o_1']);
  deepEqual([latest.ofOwner('o_2'), latest.ofSetup, latest.notCounted], [1003, 1002, 1003]);
});
