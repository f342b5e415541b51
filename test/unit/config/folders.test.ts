import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Log } from '../../../src/ports.ts';
import { makeDataDir, warnOfOpenDataDir } from '../../../src/server/folders.ts';

type Warning = { readonly fields: unknown; readonly name: string };

async function warningsOf(dataDir: string): Promise<Warning[]> {
  const warned: Warning[] = [];
  const ignored = (): void => {};
  const log: Log = {
    debug: ignored,
    info: ignored,
    error: ignored,
    warn: (fields, name) => warned.push({ fields, name }),
  };
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
