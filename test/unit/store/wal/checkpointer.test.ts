// What becomes of checkpoints that cannot be made in their thread, or fail.

import { deepEqual, equal, match } from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { Connection } from '../../../../src/store/sqlite/database.ts';
import { Checkpointer } from '../../../../src/store/sqlite/wal/checkpointer.ts';
import { createFolder } from '../../../support/folders/folder.ts';
import { until } from '../../../support/wait.ts';

/** A WAL that is long, and a checkpointer, whose thread finds no database when none is named: it dies at once. */
async function makePlace(database = 'no folder/a.db', idleMs?: number) {
  const folder = await createFolder();
  const writer = new Connection(join(folder.path, 'a.db'), false);
  writer.exec('PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (a)');
  const grow = (): void => {
    writer.run('INSERT INTO t VALUES (zeroblob(10000000))');
  };
  grow();
  const heard = { failures: [] as Error[], holds: 0, warnings: [] as string[] };
  const log = {
    debug: () => undefined,
    info: () => undefined,
    warn: (_: object, name: string) => void heard.warnings.push(name),
    error: () => undefined,
  };
  const checkpointer = new Checkpointer({
    path: join(folder.path, database),
    ...(idleMs === undefined ? {} : { idleMs }),
    writer,
    log,
    onFailedSync: (error) => void heard.failures.push(error),
    holdCommits: () => {
      heard.holds++;
      return () => void heard.holds--;
    },
  });
  return {
    ...{ writer, checkpointer, heard, grow },
    async [Symbol.asyncDispose]() {
      await checkpointer.stop();
      writer.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}

const positionOf = (writer: Connection) => writer.get('PRAGMA wal_checkpoint(NOOP)') ?? {};

/** The writer's own checkpoints end so. */
function failWith(writer: Connection, errcode: number): void {
  const get = writer.get.bind(writer);
  writer.get = (sql, ...values) => {
    if (sql.includes('PASSIVE')) throw Object.assign(new Error('disk I/O error'), { errcode });
    return get(sql, ...values);
  };
}

test('without a thread the writer copies the WAL', async () => {
  await using place = await makePlace();
  const { writer, checkpointer, heard } = place;
  checkpointer.committed();
  await until('the WAL is copied', () => {
    const { log, checkpointed } = positionOf(writer);
    return log === checkpointed;
  });
  await until('commits go on', () => heard.holds === 0);
  deepEqual(heard.failures, []);
});

test('a checkpoint whose sync fails is told', async () => {
  await using place = await makePlace();
  const { writer, checkpointer, heard } = place;
  failWith(writer, 1034);
  checkpointer.committed();
  await until('the failure is told', () => heard.failures.length === 1);
  match(heard.failures[0]?.message ?? '', /disk I\/O error/);
  equal(heard.holds, 0);
});

test('a checkpoint that fails for want of room is tried again', async () => {
  await using place = await makePlace();
  const { writer, checkpointer, heard, grow } = place;
  failWith(writer, 13);
  checkpointer.committed();
  await until('it was tried', () => heard.warnings.length === 1);
  checkpointer.committed();
  grow();
  await until('it is tried again when the WAL has grown', () => {
    checkpointer.committed();
    return heard.warnings.length === 2;
  });
  deepEqual(heard.failures, []);
});

test('none begins while they are held', async () => {
  await using place = await makePlace();
  const { writer, checkpointer, grow } = place;
  const release = await checkpointer.hold();
  checkpointer.committed();
  grow();
  checkpointer.committed();
  const { log, checkpointed } = positionOf(writer);
  deepEqual([checkpointed, checkpointer.uncopiedPages()], [0, log]);
  release?.();
  await until('the WAL is copied', () => checkpointer.uncopiedPages() === 0);
  const again = await checkpointer.hold();
  again?.();
  await checkpointer.stop();
  equal(await checkpointer.hold(), null);
});

test('a thread that ends since it was idle takes no checkpoint of the next one with it', async () => {
  await using place = await makePlace('a.db', 0);
  const { writer, checkpointer, grow } = place;
  const get = writer.get.bind(writer);
  let byWriter = 0;
  writer.get = (sql, ...values) => {
    if (sql.includes('PASSIVE')) byWriter++;
    return get(sql, ...values);
  };
  for (let round = 0; round < 5; round++) {
    checkpointer.committed();
    await until('the WAL to be copied', () => {
      const { log, checkpointed } = positionOf(writer);
      return log === checkpointed;
    });
    const release = await checkpointer.hold();
    // It is told to end before the next one begins, and has ended while that one starts.
    await new Promise((resolve) => setTimeout(resolve, 1));
    // Each time longer than the WAL was before.
    for (let n = 0; n <= round + 1; n++) grow();
    release?.();
  }
  await (await checkpointer.hold())?.();
  equal(byWriter, 0, 'each is copied by a thread');
});
