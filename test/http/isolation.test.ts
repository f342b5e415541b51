// How a whole server keeps user code in: as its settings say, and closed to the user that the code runs as.

import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startErrand } from '../support/errand.ts';
import { createFolder } from '../support/folder.ts';
import { spawnErrand } from '../support/process.ts';
import { noJail } from '../unit/runner/jail-kit.ts';

const skip = await noJail();
const isRoot = process.getuid?.() === 0;
const WHO = `import fs from 'node:fs';
  export default ({ steps }) => {
    let files = [];
    try { files = fs.readdirSync('/proc').filter((name) => Number(name) > 1) } catch {}
    return { user: process.getuid(), pid: process.pid, cwd: process.cwd(), files };
  }`;

test('a server runs code in jails', { skip }, async () => {
  await using errand = await startErrand({ ERRAND_ISOLATION: 'jail' });
  const workflow = await errand.workflow(WHO);
  await errand.send(workflow, {});
  const [run] = await errand.runs(workflow.id, 1);
  const { data } = await errand.client.get(`/v1/runs/${run.id}`);
  assert.deepEqual(data.steps[0].return_value, { user: 65_534, pid: 1, cwd: '/tmp', files: [] });
});

test('code in a jail has no network by default', { skip }, async () => {
  await using errand = await startErrand({ ERRAND_ISOLATION: 'jail' });
  const workflow = await errand.workflow(
    'export default async ({ steps }) => (await fetch(steps.trigger.event.body.url)).status',
  );
  await errand.send(workflow, { url: `${errand.url}/healthz` });
  const [error] = await errand.errors(workflow.id, 1);
  assert.match(error.event.error.msg, /fetch failed/);
});

test('the start says how code is kept in', { skip }, async () => {
  await using folder = await createFolder();
  const start = async (env: Record<string, string>): Promise<string> => {
    await using errand = await spawnErrand({ ERRAND_DATA_DIR: folder.path, ...env });
    return /^ {2}code +(.*)$/m.exec(errand.stdout())?.[1] ?? errand.stdout();
  };
  assert.match(await start({ ERRAND_DATABASE_URL: '' }), /^in processes of /);
  assert.match(
    await start({ ERRAND_ISOLATION: 'jail', ERRAND_DATABASE_URL: '' }),
    /^in jails of .*, without a network$/,
  );
});

test('a root server runs code as nobody', { skip: !isRoot && 'needs root' }, async () => {
  await using errand = await startErrand();
  const workflow = await errand.workflow(WHO);
  await errand.send(workflow, {});
  const [run] = await errand.runs(workflow.id, 1);
  const { data } = await errand.client.get(`/v1/runs/${run.id}`);
  const { user, cwd } = data.steps[0].return_value;
  assert.equal(user, 65_534);
  assert.ok(!cwd.startsWith(errand.dataDir), cwd);
});

test('a root server closes its data dir', { skip: !isRoot && 'needs root' }, async () => {
  await using folder = await createFolder();
  const dataDir = join(folder.path, 'data');
  mkdirSync(dataDir);
  chmodSync(dataDir, 0o755);
  await using errand = await spawnErrand({ ERRAND_DATA_DIR: dataDir });
  assert.equal(statSync(dataDir).mode & 0o777, 0o750);
  assert.match(errand.stderr(), /was open to all users/);
});

test('root may be told to run code itself', { skip: !isRoot && 'needs root' }, async () => {
  await using errand = await startErrand({ ERRAND_CODE_USER: 'server' });
  const workflow = await errand.workflow(WHO);
  await errand.send(workflow, {});
  const [run] = await errand.runs(workflow.id, 1);
  const { data } = await errand.client.get(`/v1/runs/${run.id}`);
  assert.equal(data.steps[0].return_value.user, 0);
});
