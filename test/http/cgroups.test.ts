// A whole server, as a process, in a cgroup of its own: what it says at its start, and where it puts processes of code. It may
// have such a cgroup as a service of systemd with Delegate=yes, or on a machine of its own (test/vm).

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createClient } from '../support/client.ts';
import { createErrandOn } from '../support/flows.ts';
import { createFolder } from '../support/folders/folder.ts';
import { type ErrandProcess, spawnErrand } from '../support/process.ts';

const KEY = 'a-key-that-only-this-test-knows';
const WITH = 'processes of code are limited by cgroups';
const WITHOUT = 'processes of code are limited without cgroups';
/** `memory_mb` is 256; what Node needs, and 64 MB. */
const MEMORY_MB = 256 + 96 + 64;

/** What it said of limits, once. */
function toldBy(errand: ErrandProcess): { msg: string; obstacle: string; dir: string } {
  const lines = errand.stderr().split('\n');
  const told = lines.filter((line) => line.includes(WITH) || line.includes(WITHOUT));
  assert.equal(told.length, 1);
  return JSON.parse(told[0] ?? '');
}

test('a start says how code is limited', async (t) => {
  await using folder = await createFolder();
  await using errand = await spawnErrand({ ERRAND_DATA_DIR: folder.path, ERRAND_API_KEY: KEY });
  const line = toldBy(errand);
  if (line.msg === WITHOUT) {
    assert.match(line.obstacle, /\w/);
    t.skip(`the rest needs a cgroup: ${line.obstacle}`);
    return;
  }
  const actions = createErrandOn(() => createClient(errand.url, KEY));
  const workflow = await actions.workflow('export default () => process.pid', { settings: { memory_mb: 256 } });
  await actions.send(workflow, {});
  const [run] = await actions.runs(workflow.id, 1);
  const { data } = await createClient(errand.url, KEY).get(`/v1/runs/${run.id}`);
  const path = readFileSync(`/proc/${data.steps[0].return_value}/cgroup`, 'latin1').trim().slice('0::'.length);
  const of = (name: string): string => readFileSync(join('/sys/fs/cgroup', path, name), 'latin1').trim();
  assert.match(path, /errand-code-\d+-\d+$/);
  assert.deepEqual(['memory.max', 'pids.max', 'cpu.max', 'cpu.weight'].map(of), [
    String(MEMORY_MB * 1024 * 1024),
    '128',
    '150000 100000',
    '100',
  ]);
  errand.child.kill('SIGTERM');
  await errand.exited;
  assert.deepEqual(
    readdirSync(line.dir).filter((name) => name.startsWith('errand-code-')),
    [],
  );
  await using next = await spawnErrand({ ERRAND_DATA_DIR: folder.path, ERRAND_API_KEY: KEY });
  assert.equal(toldBy(next).dir, line.dir, 'started from where the first one has moved this process to');
});
