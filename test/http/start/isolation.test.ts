// How a whole server keeps user code in: as its settings say, and closed to the user that the code runs as.

import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readdirSync, readlinkSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { startErrand } from '../../support/errand.ts';
import { createFolder } from '../../support/folders/folder.ts';
import { spawnErrand } from '../../support/process.ts';
import { noJail } from '../../unit/runner/isolation/jail-kit.ts';
import { until } from '../../unit/runner/kit.ts';

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

test('code in a jail may reach public addresses', { skip }, async () => {
  const receiver = createServer((_request, response) => response.setHeader('connection', 'close').end('hello'));
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const { port } = receiver.address() as AddressInfo;
  await using errand = await startErrand({
    ERRAND_ISOLATION: 'jail',
    ERRAND_JAIL_NETWORK: 'public',
    ERRAND_ALLOW_TARGETS: '127.0.0.0/8',
  });
  const workflow = await errand.workflow(`export default async ({ steps }) => {
    const asked = [];
    for (const url of steps.trigger.event.body) {
      asked.push(await fetch(url).then((response) => response.text(), ({ cause }) => cause.code + ' ' + cause.message));
    }
    return asked;
  }`);
  // In this spelling, or it would be the jail's own loopback.
  const here = (at: number) => `http://[::ffff:127.0.0.1]:${at}/healthz`;
  await errand.send(workflow, [here(port), here(Number(new URL(errand.url).port)), 'http://10.0.0.1/']);
  const [run] = await errand.runs(workflow.id, 1);
  const { data } = await errand.client.get(`/v1/runs/${run.id}`);
  const [hello, own, inner] = data.steps[0].return_value;
  assert.equal(hello, 'hello');
  assert.match(own, /^ERR_TARGET_FORBIDDEN .*it is where the server listens/);
  assert.match(inner, /^ERR_TARGET_FORBIDDEN .*RFC1918/);
  await new Promise((resolve) => receiver.close(resolve));
});

test('the start says how code is kept in', { skip }, async () => {
  await using folder = await createFolder();
  const start = async (env: Record<string, string>): Promise<string> => {
    await using errand = await spawnErrand({ ERRAND_DATA_DIR: folder.path, ...env });
    return /^ {2}code +(.*)$/m.exec(errand.stdout())?.[1] ?? errand.stdout();
  };
  assert.match(await start({ ERRAND_DATABASE_URL: '' }), /^in processes of /);
  assert.match(
    await start({ ERRAND_ISOLATION: 'jail', ERRAND_JAIL_NETWORK: 'public', ERRAND_DATABASE_URL: '' }),
    /^in jails of .*, with public addresses$/,
  );
  assert.match(
    await start({ ERRAND_ISOLATION: 'jail', ERRAND_DATABASE_URL: '' }),
    /^in jails of .*, without a network$/,
  );
});

test('a root server runs the code of an owner as its own user', { skip: !isRoot && 'needs root' }, async (t) => {
  await using errand = await startErrand({ ERRAND_CODE_USER: 'auto' });
  const workflow = await errand.workflow(WHO);
  await errand.send(workflow, {});
  const [run] = await errand.runs(workflow.id, 1);
  const { data } = await errand.client.get(`/v1/runs/${run.id}`);
  const { user, cwd } = data.steps[0].return_value;
  const links = join(tmpdir(), 'errand-users');
  t.after(() => rmSync(join(links, String(user)), { force: true }));
  assert.match(readlinkSync(join(links, String(user))), /^u_/);
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

test('a start clears away what a killed server left', { skip: !isRoot && 'needs root' }, async () => {
  await using folder = await createFolder();
  chmodSync(folder.path, 0o711);
  const tmp = join(folder.path, 'tmp');
  mkdirSync(tmp, { mode: 0o711 });
  const start = (name: string) => {
    const env = { ERRAND_DATABASE_URL: '', ERRAND_CODE_USER: 'auto', TMPDIR: tmp };
    return spawnErrand({ ERRAND_DATA_DIR: join(folder.path, name), ...env });
  };
  const folders = () => readdirSync(tmp).filter((name) => /^errand-[0-9a-f]{16}$/.test(name));
  await using killed = await start('killed');
  const [left] = folders();
  await using running = await start('running');
  assert.equal(folders().length, 2);
  killed.child.kill('SIGKILL');
  await killed.exited;
  await using next = await start('next');
  // It listens before it has cleared away.
  await until(() => folders().length === 2);
  assert.equal(folders().includes(left ?? ''), false);
  for (const server of [running, next]) {
    server.child.kill('SIGTERM');
    await server.exited;
  }
  assert.deepEqual(folders(), [], 'a server that stops leaves none');
});
