// How many verbs share a commit: a crowd's go together, and beside a guest few do.

import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { test } from 'node:test';
import { Connection } from '../../../../src/store/sqlite/database.ts';
import { Batch } from '../../../../src/store/sqlite/log/batch.ts';
import type { Transaction } from '../../../../src/store/sqlite/log/transaction.ts';
import { CommitSync } from '../../../../src/store/sqlite/wal/commit-sync.ts';

const CROWD = 1500;

/** A batch on a database in memory, which says of each commit whose verbs were in it. */
function newBatch(areSeveral = false) {
  const committed: string[][] = [];
  let open: string[] = [];
  const writer = new Connection(':memory:', false);
  const tx = {
    beforeCommit: () => undefined,
    countedOwners: () => [],
    committed: () => void committed.push(open),
    rolledBack: () => undefined,
  } as unknown as Transaction;
  const begin = (): Transaction => {
    open = [];
    return tx;
  };
  const commits = new CommitSync({ sync: () => Promise.resolve() });
  const batch = new Batch({ writer, begin, commits, owners: { areSeveral } });
  const write = (lane: string, count: number): Promise<unknown> =>
    Promise.all(Array.from({ length: count }, () => batch.write(() => void open.push(lane), { flow: lane })));
  const begun = (lane: string): void => void open.push(lane);
  return { batch, commits: committed, write, begun, [Symbol.dispose]: () => writer.close() };
}

const sizes = (commits: readonly string[][]): number[] => commits.map(({ length }) => length);

test('a crowd alone shares commits of many', async () => {
  using world = newBatch();
  await world.write('crowd', CROWD);
  const [first = 0] = sizes(world.commits);
  ok(first >= 192, `${sizes(world.commits)}`);
  equal(world.commits.flat().length, CROWD);
});

test('a guest shares a small commit, the first', async () => {
  using world = newBatch();
  await Promise.all([world.write('crowd', CROWD), world.write('guest', 1)]);
  const [first = []] = world.commits;
  ok(first.includes('guest'), `${sizes(world.commits)}`);
  equal(first.length, 64);
  equal(world.commits.flat().length, CROWD + 1);
});

test('commits stay small behind a guest, for a while', async () => {
  using world = newBatch();
  await Promise.all([world.write('crowd', CROWD), world.write('guest', 1)]);
  const small = sizes(world.commits).findIndex((size) => size > 64);
  equal(small, 8, `${sizes(world.commits)}`);
});

test('what the service does for itself is no guest', async () => {
  using world = newBatch();
  await Promise.all([world.write('crowd', CROWD), world.write('', 1)]);
  const [first = []] = world.commits;
  ok(first.includes(''));
  ok(first.length >= 192, `${sizes(world.commits)}`);
});

test('many with a verb each are no guests', async () => {
  using world = newBatch();
  await Promise.all(Array.from({ length: 400 }, (_, n) => world.write(`lane ${n}`, 1)));
  const [first = 0] = sizes(world.commits);
  ok(first >= 192, `${sizes(world.commits)}`);
});

test('a verb that throws takes no other with it', async () => {
  using world = newBatch();
  const written = world.write('crowd', 100);
  const failed = world.batch.write(
    () => {
      throw new Error('no');
    },
    { flow: 'guest' },
  );
  await rejects(failed, /no/);
  await written;
  deepEqual(
    world.commits.flat().filter((lane) => lane !== 'crowd'),
    [],
  );
  equal(world.commits.flat().length, 100);
});

/** Longer than a batch takes verbs while several owners are active. */
function work(): void {
  for (const until = performance.now() + 2; performance.now() < until; );
}

test('a batch is short while several owners are active', async () => {
  for (const [areSeveral, expected] of [
    [true, [4, 4, 2]],
    [false, [10]],
  ] as const) {
    using world = newBatch(areSeveral);
    await Promise.all(
      Array.from({ length: 10 }, () =>
        world.batch.write(
          () => {
            world.begun('crowd');
            work();
          },
          { flow: 'crowd' },
        ),
      ),
    );
    deepEqual(sizes(world.commits), expected);
  }
});
