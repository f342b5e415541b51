// errand store salvage: no server starts on a damaged store, which stays as it is; what can be read of it becomes a store
// that passes every check, and on which work goes on.

import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { readConfig } from '../../../../src/server/config.ts';
import { openStore } from '../../../../src/server/open-store.ts';
import { checkSqlite } from '../../../../src/store/sqlite/maintenance/check.ts';
import { type SalvageReport, salvageSqlite } from '../../../../src/store/sqlite/salvage/salvage.ts';
import { readWal } from '../../../../src/store/sqlite/salvage/wal.ts';
import { all, strongRandom, TestClock } from '../../../contract/fixtures.ts';
import { Stage } from '../../../contract/stage.ts';
import { createClient } from '../../../support/client.ts';
import { createFolder } from '../../../support/folders/folder.ts';
import { spawnErrand } from '../../../support/process.ts';
import { call } from '../command.ts';
import { fillStore, openFull } from '../full-store.ts';
import { cut, type Image, makeImage, overwrite, PAGE_BYTES, pagesOf, zeroPages } from './damaged.ts';

const EVENTS = 600;
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

interface Damage {
  readonly name: string;
  /** Of the store, before the damage. */
  readonly wanted?: { readonly inFile?: number; readonly inWal?: number; readonly isCopied?: boolean };
  readonly damage: (image: Image) => void;
  /** What the server says, or null: it starts, and nothing is lost. */
  readonly says: RegExp | null;
  /** Of the events, at least. */
  readonly kept: number;
  readonly wal?: SalvageReport['wal'];
}

const half = (path: string): number => Math.floor(statSync(path).size / 2);

const DAMAGES: readonly Damage[] = [
  {
    name: 'the header of the file is overwritten',
    wanted: { inWal: 0 },
    damage: ({ path }) => overwrite(path, 0, Buffer.alloc(100, 0xff)),
    says: /its header was overwritten, or it never was a store/,
    kept: 1,
  },
  {
    name: 'the first page of the file is zeroed',
    wanted: { inWal: 0 },
    damage: ({ path }) => zeroPages(path, [1]),
    says: /its header was overwritten, or it never was a store/,
    kept: 1,
  },
  {
    name: 'a page of a table is zeroed',
    damage: ({ path }) => zeroPages(path, [pagesOf(path, 'emissions')[4]]),
    says: null,
    kept: 0.9,
  },
  {
    name: 'the root of an index is zeroed',
    wanted: { inWal: 0 },
    damage: ({ path }) => zeroPages(path, [pagesOf(path, 'runs_open')[0]]),
    says: /SQLite says: /,
    kept: 1,
  },
  {
    name: 'the file is cut',
    wanted: { inFile: 4 * EVENTS, inWal: 0 },
    damage: ({ path }) => cut(path, half(path)),
    says: /its header tells of \d+|SQLite says/,
    kept: 0.2,
  },
  {
    name: 'the WAL is cut after it was copied into the file',
    wanted: { isCopied: true },
    damage: ({ path }) => cut(`${path}-wal`, half(`${path}-wal`)),
    says: /its end is lost: by its commits the store has no more than \d+ pages/,
    kept: 1,
    wal: 'ignored',
  },
  {
    name: 'a page in the WAL is overwritten after it was copied into the file',
    wanted: { isCopied: true },
    damage: ({ path }) => overwrite(`${path}-wal`, half(`${path}-wal`), Buffer.alloc(PAGE_BYTES, 7)),
    says: /behind a damaged one there are \d+ that are lost/,
    kept: 1,
    wal: 'ignored',
  },
  {
    name: 'the file is empty, and its WAL is not',
    damage: ({ path }) => cut(path, 0),
    says: /errand\.db is empty/,
    kept: 0,
  },
  {
    name: 'the file is no database',
    wanted: { inWal: 0 },
    damage: ({ path }) => {
      writeFileSync(path, Buffer.alloc(40_960, 'no such thing'));
      rmSync(`${path}-wal`);
    },
    says: /or it never was a store/,
    kept: 0,
  },
  {
    name: 'garbage is where the shared memory was',
    damage: ({ path }) => writeFileSync(`${path}-shm`, Buffer.alloc(32_768, 0xa5)),
    says: null,
    kept: 1,
  },
  {
    name: 'garbage is behind the end of the WAL',
    damage: ({ path }) => writeFileSync(`${path}-wal`, Buffer.alloc(9000, 0xa5), { flag: 'a' }),
    says: null,
    kept: 1,
  },
  {
    name: 'garbage is behind the end of the file',
    wanted: { inWal: 0 },
    damage: ({ path }) => writeFileSync(path, Buffer.alloc(1000, 0xa5), { flag: 'a' }),
    says: null,
    kept: 1,
  },
];

function start(folder: string) {
  const config = readConfig({ ERRAND_DATA_DIR: folder, ERRAND_SECRET_KEY: 's'.repeat(40) });
  return openStore(config, { clock: new TestClock(), random: strongRandom, log: silent });
}

function hashes(path: string): string[] {
  return ['', '-wal'].map((end) =>
    existsSync(`${path}${end}`)
      ? createHash('sha256')
          .update(readFileSync(`${path}${end}`))
          .digest('hex')
      : '',
  );
}

for (const { name, wanted, damage, says, kept, wal } of DAMAGES) {
  test(`salvaged when ${name}`, async () => {
    await using folder = await createFolder();
    const clock = new TestClock();
    const image = await makeImage({ folder: folder.path, clock, inFile: EVENTS, inWal: EVENTS / 2, ...wanted });
    const { path } = image;
    damage(image);
    const before = hashes(path);
    const file = join(folder.path, 'new', 'errand.db');
    if (says !== null) {
      await rejects(start(folder.path), (error: Error) => {
        match(error.message, says);
        match(error.message, /Nothing was changed/);
        match(error.message, /errand store salvage '.*' --to '.*\.salvaged'/);
        return true;
      });
      deepEqual(hashes(path), before, 'a start that failed leaves the files');
    }
    if (says !== null && kept === 0) {
      await rejects(salvageSqlite({ path, file, keys: [] }), /nothing can be read of .*Restore the newest backup/);
      return;
    }
    const report = await salvageSqlite({ path, file, keys: [] });
    deepEqual(hashes(path), before, 'salvaging leaves the files');
    deepEqual([report.findings, report.ok], [[], true]);
    if (wal) equal(report.wal, wal);
    const least = Math.floor(image.entries.length * kept);
    const events = report.tables.emissions?.read ?? 0;
    ok(events >= least && events <= image.entries.length, `${events} of ${image.entries.length} events`);
    if (kept === 1) equal(events, image.entries.length);
    // What waited goes on.
    const store = await openFull(file, clock);
    const claimed = await store.claimRuns(10, all());
    ok(claimed.runs.length > 0);
    await store.close();
    equal((await checkSqlite(file)).ok, true);
  });
}

test('a WAL that was not copied yet may end anywhere', async () => {
  await using folder = await createFolder();
  const image = await makeImage({ folder: folder.path, clock: new TestClock(), inFile: 50, inWal: 200 });
  const whole = readFileSync(`${image.path}-wal`);
  for (let n = 0; n <= 12; n++) {
    const place = join(folder.path, `cut-${n}`);
    mkdirSync(place);
    const path = join(place, 'errand.db');
    writeFileSync(path, readFileSync(image.path));
    writeFileSync(`${path}-wal`, whole.subarray(0, Math.floor((whole.length * n) / 12) - (n % 3)));
    const { commits } = readWal(`${path}-wal`);
    await (await openFull(path, new TestClock())).close();
    const { ok: isWhole, figures } = await checkSqlite(path);
    ok(isWhole && (figures?.kept.emissions ?? 0) >= 50, `${commits} commits`);
  }
});

test('everything of a store that is whole is salvaged', async () => {
  await using folder = await createFolder();
  const [path, file] = [join(folder.path, 'errand.db'), join(folder.path, 'new', 'errand.db')];
  await fillStore(path, new TestClock());
  const before = await checkSqlite(path);
  const report = await salvageSqlite({ path, file, keys: [] });
  deepEqual([report.findings, report.repairs, report.secrets], [[], [], true]);
  deepEqual((await checkSqlite(file)).figures, before.figures);
});

test('each table may be lost, and the others are a store', async (t) => {
  await using folder = await createFolder();
  const path = join(folder.path, 'whole.db');
  const clock = new TestClock();
  await fillStore(path, clock);
  const whole = readFileSync(path);
  const { tables } = await salvageSqlite({ path, file: join(folder.path, 'all', 'errand.db'), keys: [] });
  for (const table of Object.keys(tables)) {
    await t.test(table, async () => {
      const damaged = join(folder.path, `${table}.db`);
      writeFileSync(damaged, whole);
      zeroPages(damaged, pagesOf(path, table));
      const file = join(folder.path, `new-${table}`, 'errand.db');
      const report = await salvageSqlite({ path: damaged, file, keys: [] });
      deepEqual([report.findings, report.ok], [[], true]);
      const found = report.tables[table];
      ok(found && found.read === 0 && found.reason !== undefined, JSON.stringify(found));
      equal(report.secrets, table !== 'meta');
      const store = await openFull(file, clock);
      await store.close();
    });
  }
});

test('a new place that is not empty, and a store in use, are refused', async () => {
  await using folder = await createFolder();
  const path = join(folder.path, 'errand.db');
  const clock = new TestClock();
  const store = await openFull(path, clock);
  const file = join(folder.path, 'new', 'errand.db');
  await rejects(salvageSqlite({ path, file, keys: [] }), /another Errand process is using/);
  await store.close();
  mkdirSync(join(folder.path, 'full'));
  writeFileSync(join(folder.path, 'full', 'precious'), '1');
  const full = join(folder.path, 'full', 'errand.db');
  await rejects(salvageSqlite({ path, file: full, keys: [] }), /full is not empty, and nothing is overwritten/);
  await rejects(salvageSqlite({ path: `${path}.none`, file, keys: [] }), /there is no store at/);
});

test('the command copies the keys, and says what to do next', async () => {
  await using folder = await createFolder();
  const [dir, to] = [join(folder.path, 'data'), join(folder.path, 'data.salvaged')];
  mkdirSync(dir);
  const { path } = await makeImage({ folder: dir, clock: new TestClock(), inFile: 150, inWal: 0 });
  overwrite(path, 0, Buffer.alloc(100));
  writeFileSync(join(dir, 'api-key'), 'key\n');
  const started = await call(['store', 'check', '--json'], { ERRAND_DATA_DIR: dir });
  equal(started.status, 1);
  const called = await call(['store', 'salvage', dir, '--to', to, '--json'], { ERRAND_DATA_DIR: dir });
  equal(called.status, 0, called.stderr);
  const report = called.json();
  deepEqual([report.ok, report.tables.emissions.read], [true, 150]);
  equal(report.next, `start a server with ERRAND_DATA_DIR=${to}`);
  equal(readFileSync(join(to, 'api-key'), 'utf8'), 'key\n');
  equal(statSync(join(to, 'errand.db')).mode & 0o077, 0);
  deepEqual((await call(['store', 'salvage', dir, '--to', dir], {})).status, 2);
});

test('a store whose secret key is missing is salvaged, and says so', async () => {
  await using folder = await createFolder();
  const path = join(folder.path, 'errand.db');
  const store = await start(folder.path);
  await store.close();
  const file = join(folder.path, 'new', 'errand.db');
  const report = await salvageSqlite({ path, file, keys: [] });
  equal(report.ok, false);
  deepEqual(
    report.findings.map(({ check }) => check),
    ['secret_key'],
  );
});

test('a workflow whose code is lost keeps its address, and is given code again', async () => {
  await using folder = await createFolder();
  const [dir, to] = [join(folder.path, 'data'), join(folder.path, 'data.salvaged')];
  await using before = await spawnErrand({ ERRAND_DATA_DIR: dir });
  const clientOf = ({ url }: { url: string }) => createClient(url, readFileSync(join(dir, 'api-key'), 'utf8').trim());
  const code = `export default () => 1;${' // long enough to stand apart'.repeat(20)}`;
  const made = await clientOf(before).post('/v1/workflows', {
    name: 'W',
    steps: [{ namespace: 'one', code }],
    triggers: [{ type: 'http' }],
  });
  before.child.kill('SIGTERM');
  await before.exited;
  const path = join(dir, 'errand.db');
  zeroPages(path, pagesOf(path, 'codes'));
  const called = await call(['store', 'salvage', dir, '--to', to, '--json'], { ERRAND_DATA_DIR: dir });
  equal(called.status, 0, called.stderr);
  await using after = await spawnErrand({ ERRAND_DATA_DIR: to });
  const { data: kept } = await clientOf(after).get(`/v1/workflows/${made.id}`);
  deepEqual([kept.active, kept.steps, kept.triggers[0].id], [false, [], made.triggers[0].id]);
  const again = await clientOf(after).put(`/v1/workflows/${made.id}`, {
    active: true,
    steps: [{ namespace: 'one', code }],
  });
  equal(again.steps.length, 1);
});

for (const chars of [1000, 100]) {
  test(`a source whose active deployment is lost has the older one's code of ${chars} characters`, async () => {
    await using folder = await createFolder();
    const [path, file] = [join(folder.path, 'errand.db'), join(folder.path, 'new', 'errand.db')];
    const clock = new TestClock();
    const store = await openFull(path, clock);
    const stage = await Stage.on(store, clock);
    const code = (version: number): string =>
      `export default { version: ${version}, "a": "\\u0000\0\ud800" }`.padEnd(chars);
    const source = await stage.source({ componentCode: code(1) });
    const changed = { ...source, deploymentId: stage.ids.next('d_'), componentCode: code(2) };
    const deployment = stage.make.deployment(changed, changed.componentCode);
    equal(await stage.updateSource({ source: changed, deployment, triggers: [], subscriptions: [] }), true);
    await store.close();
    const db = new DatabaseSync(path);
    db.prepare('DELETE FROM deployments WHERE id = ?').run(changed.deploymentId);
    db.close();
    const report = await salvageSqlite({ path, file, keys: [] });
    deepEqual([report.findings, report.ok], [[], true]);
    const salvaged = await openFull(file, clock);
    deepEqual(await salvaged.getSource(stage.owner.id, source.id), { ...source, active: false });
    await salvaged.close();
  });
}
