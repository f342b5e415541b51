import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Log } from '../../../src/ports.ts';
import { readConfig } from '../../../src/server/config.ts';
import { makeDataDir, warnOfOpenDataDir } from '../../../src/server/folders.ts';
import { prepareMachine } from '../../../src/server/preparation.ts';

type Warning = { readonly fields: unknown; readonly name: string };

function collecting(): { log: Log; warned: Warning[] } {
  const warned: Warning[] = [];
  const ignored = (): void => {};
  const warn = (fields: object, name: string) => warned.push({ fields, name });
  return { log: { debug: ignored, info: ignored, error: ignored, warn }, warned };
}

async function warningsOf(dataDir: string): Promise<Warning[]> {
  const { log, warned } = collecting();
  await makeDataDir({ dataDir });
  await warnOfOpenDataDir({ dataDir }, log);
  return warned;
}

test('a data dir open to others is told', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'errand-folders-'));
  t.after(() => rm(folder, { recursive: true }));
  const dataDir = join(folder, 'data');
  await mkdir(dataDir);
  for (const mode of [0o755, 0o750, 0o705, 0o711, 0o770, 0o1777, 0o701]) {
    await chmod(dataDir, mode);
    const [warning, ...more] = await warningsOf(dataDir);
    const shown = mode.toString(8).padStart(4, '0');
    assert.deepEqual(warning?.fields, { dir: dataDir, mode: shown, fix: `chmod 700 ${dataDir}` });
    assert.match(warning?.name ?? '', /open to other users/);
    assert.equal(more.length, 0);
    assert.equal((await stat(dataDir)).mode & 0o7777, mode, 'which is not ours to change');
  }
  await chmod(dataDir, 0o700);
  assert.deepEqual(await warningsOf(dataDir), []);
});

test('a data dir that is made is closed', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'errand-folders-'));
  t.after(() => rm(folder, { recursive: true }));
  assert.deepEqual(await warningsOf(join(folder, 'a', 'b')), []);
});

test('an open data dir is told once at a start', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'errand-folders-'));
  t.after(() => rm(folder, { recursive: true }));
  const dataDir = join(folder, 'data');
  await mkdir(dataDir);
  for (const mode of [0o755, 0o750, 0o705]) {
    await chmod(dataDir, mode);
    const { log, warned } = collecting();
    await prepareMachine(readConfig({ ERRAND_DATA_DIR: dataDir }), log);
    const [warning, ...more] = warned.filter(({ name }) => /data dir/.test(name));
    assert.deepEqual(more, [], mode.toString(8));
    // A server that is root closes it to the user of code, and leaves the group to the operator.
    const left = (await stat(dataDir)).mode & 0o777;
    const open = { mode: left.toString(8).padStart(4, '0'), fix: `chmod 700 ${dataDir}` };
    assert.deepEqual(warning?.fields, { dir: dataDir, ...(left === 0o700 ? {} : open) });
  }
});
