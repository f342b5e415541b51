// The unit is one that systemd can read, its settings are ours, and it gives the limits that the documents ask for.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readConfig } from '../../src/server/config.ts';
import { programOf } from '../support/programs.ts';

const UNIT = join(import.meta.dirname, '../../deploy/systemd/errand.service');
const ANALYZE = programOf('systemd-analyze');

test('systemd finds nothing wrong with the unit', {
  skip: ANALYZE === undefined && 'systemd is not installed',
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'errand-unit-'));
  try {
    const file = join(folder, 'errand.service');
    // The program is not installed here: another one stands for it.
    await writeFile(file, (await readFile(UNIT, 'utf8')).replace('ExecStart=errand', `ExecStart=${process.execPath}`));
    execFileSync(ANALYZE as string, ['verify', '--man=no', file], { stdio: 'pipe' });
    const wrong = join(folder, 'wrong.service');
    await writeFile(wrong, '[Service]\nExecStart=/not/there\n');
    assert.throws(() => execFileSync(ANALYZE as string, ['verify', '--man=no', wrong], { stdio: 'pipe' }));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test('the settings of the unit are settings of the server', async () => {
  const text = await readFile(UNIT, 'utf8');
  const environment = /^Environment=(.*)$/m.exec(text)?.[1] ?? '';
  const settings = Object.fromEntries(environment.split(' ').map((pair) => pair.split('=') as [string, string]));
  assert.equal(readConfig(settings).dataDir, '/var/lib/errand');
});

test('a stop of the unit waits longer than the server does, and it may open enough', async () => {
  const text = await readFile(UNIT, 'utf8');
  const number = (name: string): number => Number(new RegExp(`^${name}=(\\d+)$`, 'm').exec(text)?.[1]);
  assert.ok(number('TimeoutStopSec') > 30);
  assert.ok(number('LimitNOFILE') >= 65_536);
  assert.ok(number('LimitNOFILE') > readConfig({}).maxConnections);
});

test('the unit does not hide processes of code from the server, which limits what they take', async () => {
  assert.doesNotMatch(await readFile(UNIT, 'utf8'), /^(ProtectProc|ProcSubset)=/m);
});
