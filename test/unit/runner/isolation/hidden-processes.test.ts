// Where /proc hides processes of code from the server, it says so.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { hidingOption } from '../../../../src/runner/isolation/hidden-processes.ts';
import { programOf } from '../../../support/programs.ts';
import { until } from '../../../support/wait.ts';

const USER = { isRoot: false, groups: [1000, 7] };
const proc = (options: string): string =>
  `22 27 0:20 / /sys rw - sysfs sysfs rw,hidepid=2\n21 27 0:21 / /proc rw,nosuid - proc proc ${options}\n`;

test('each option of /proc that hides processes is found', () => {
  for (const option of ['hidepid=2', 'hidepid=1', 'hidepid=invisible', 'hidepid=noaccess', 'hidepid=ptraceable']) {
    assert.equal(hidingOption(proc(`rw,${option}`), USER), option);
    assert.equal(hidingOption(proc(`rw,${option}`), { ...USER, isRoot: true }), null);
  }
  assert.equal(hidingOption(proc('rw,gid=8,hidepid=invisible'), USER), 'hidepid=invisible');
});

test('a /proc that hides nothing from the server is in order', () => {
  for (const options of ['rw', 'rw,hidepid=0', 'rw,hidepid=off', 'rw,gid=7,hidepid=invisible']) {
    assert.equal(hidingOption(proc(options), USER), null, options);
  }
  assert.equal(hidingOption('', USER), null);
  // What is mounted over another one counts.
  assert.equal(hidingOption(proc('rw,hidepid=2') + proc('rw'), USER), null);
});

const MAIN = join(import.meta.dirname, '../../../../src/main.ts');
const unshare = programOf('unshare') ?? '';
/** Runs the rest of the command as a user without rights, in a mount namespace whose /proc hides other users' processes. */
const HIDDEN = [
  ...['--mount', 'sh', '-c'],
  `mount -t proc -o hidepid=invisible proc /proc && exec setpriv --reuid=12345 --regid=12345 --clear-groups "$@"`,
  'sh',
];
/** Not in a container without that right, and not where that user may not read this folder. */
const canHide = spawnSync(unshare, [...HIDDEN, process.execPath, '--check', MAIN]).status === 0;

test('a server that does not see its processes of code warns', {
  skip: !canHide && 'needs root, unshare and setpriv',
}, async () => {
  const dir = await mkdtemp(join(tmpdir(), 'errand-hidden-'));
  await chown(dir, 12_345, 12_345);
  const env = { PATH: process.env.PATH, ERRAND_PORT: '0', ERRAND_DATA_DIR: join(dir, 'data') };
  const child = spawn(unshare, [...HIDDEN, process.execPath, MAIN], { cwd: dir, env });
  let said = '';
  child.stderr.on('data', (part) => {
    said += part;
  });
  child.stdout.resume();
  const ended = once(child, 'close');
  try {
    await until('the server warns', () => said.includes('since /proc hides its processes') || child.exitCode !== null);
    assert.match(said, /"level":40[^\n]*"option":"hidepid=invisible"/);
  } finally {
    child.kill('SIGTERM');
    await ended;
    await rm(dir, { recursive: true, force: true });
  }
});
