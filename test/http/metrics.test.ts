// What an operator watches, of a server as a process: metrics at a port of their own, and whether it is ready.

import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync } from 'node:fs';
import { arch, platform } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createClient } from '../support/client.ts';
import { createFolder } from '../support/folders/folder.ts';
import { freePort } from '../support/port.ts';
import { assertProblem } from '../support/problem.ts';
import { spawnErrand } from '../support/process.ts';
import { until } from '../support/wait.ts';

const ROOT = join(import.meta.dirname, '../..');
const KEY = 'a-key-that-only-this-test-knows';
const OF_UNAUTHENTICATED = /^errand_http_refusals_total\{code="unauthenticated"\} (\d+)$/m;

test('metrics are read at a port of their own', async () => {
  await using folder = await createFolder();
  const port = await freePort();
  const env = { ERRAND_API_KEY: KEY, ERRAND_METRICS_HOST: '127.0.0.1', ERRAND_METRICS_PORT: String(port) };
  await using errand = await spawnErrand({ ERRAND_DATA_DIR: folder.path, ...env });
  const url = `http://127.0.0.1:${port}/metrics`;
  await until('the greeting', () => errand.stdout().includes(url));
  const refused = async (): Promise<number> => {
    const answer = await fetch(url);
    assert.equal(answer.status, 200);
    return Number(OF_UNAUTHENTICATED.exec(await answer.text())?.[1]);
  };
  assert.equal(await refused(), 0);
  assert.equal((await fetch(`${errand.url}/metrics`)).status, 401);
  assertProblem(await createClient(errand.url, 'guessed').request('GET', '/v1/workflows'), 401);
  assert.equal(await refused(), 2);
  for (const path of ['/', '/v1/users/me', '/readyz']) {
    assert.equal((await fetch(new URL(path, url), { headers: { authorization: `Bearer ${KEY}` } })).status, 404, path);
  }
  errand.child.kill('SIGTERM');
  await errand.exited;
  await assert.rejects(fetch(url));
});

test('an address where metrics cannot be is told by its setting', async () => {
  await using folder = await createFolder();
  await using other = await spawnErrand({ ERRAND_DATA_DIR: join(folder.path, 'other') });
  const refusals: [Record<string, string>, RegExp][] = [
    [{ ERRAND_METRICS_PORT: new URL(other.url).port }, /ERRAND_METRICS_PORT: .*choose another port/],
    [
      { ERRAND_METRICS_PORT: '0', ERRAND_METRICS_HOST: '192.0.2.1' },
      /ERRAND_METRICS_HOST: .*an address of this machine/,
    ],
  ];
  for (const [env, why] of refusals) {
    await assert.rejects(spawnErrand({ ERRAND_DATA_DIR: join(folder.path, 'one'), ...env }), why);
  }
});

/** The program, with a bundler of its own that can be taken away. Returns where that is. */
function copyProgram(root: string): string {
  const bundler = `@esbuild/${platform()}-${arch()}`;
  // The process that bundles may read its own packages by the names that they have here, and not where links lead.
  const copied = ['esbuild', 'semver', bundler];
  const own = new Set(['.bin', '.cache', '@esbuild', ...copied]);
  mkdirSync(join(root, 'node_modules'), { recursive: true });
  for (const name of ['src', 'sources', 'package.json'])
    cpSync(join(ROOT, name), join(root, name), { recursive: true });
  for (const name of readdirSync(join(ROOT, 'node_modules'))) {
    if (!own.has(name)) symlinkSync(join(ROOT, 'node_modules', name), join(root, 'node_modules', name));
  }
  for (const name of copied) {
    cpSync(join(ROOT, 'node_modules', name), join(root, 'node_modules', name), { recursive: true });
  }
  return join(root, 'node_modules', bundler, 'bin/esbuild');
}

/** In the arguments of a process that bundles: its modules, or the one file of them that a checkout keeps. */
const BUNDLING = /bundling\/main\.ts|\/bundler-[0-9a-f]+\.mjs/;

/** Ends the processes that bundle, with their bundlers. */
function endBundling(server: number): void {
  const children = readFileSync(`/proc/${server}/task/${server}/children`, 'latin1').trim().split(' ');
  for (const child of children.filter(Boolean)) {
    if (!BUNDLING.test(readFileSync(`/proc/${child}/cmdline`, 'latin1'))) continue;
    process.kill(-Number(child), 'SIGKILL');
  }
}

test('a server that cannot bundle is degraded, until it can', {
  skip: platform() !== 'linux' && 'needs /proc',
}, async () => {
  await using folder = await createFolder();
  const root = join(folder.path, 'program');
  const bundler = copyProgram(root);
  const env = { ERRAND_API_KEY: KEY, ERRAND_METRICS_PORT: String(await freePort()), ERRAND_CODE_USER: 'server' };
  await using errand = await spawnErrand({ ERRAND_DATA_DIR: join(folder.path, 'data'), ...env }, root);
  const ready = async (): Promise<unknown> => {
    const answer = await fetch(`${errand.url}/readyz`);
    return [answer.status, await answer.json()];
  };
  const failing = async (): Promise<string | undefined> => {
    const text = await (await fetch(`http://127.0.0.1:${env.ERRAND_METRICS_PORT}/metrics`)).text();
    return /^errand_bundling_failing (\d)$/m.exec(text)?.[1];
  };
  assert.deepEqual([await ready(), await failing()], [[200, { status: 'ok' }], '0']);
  renameSync(bundler, `${bundler}.away`);
  endBundling(errand.child.pid as number);
  const client = createClient(errand.url, KEY);
  const deploy = () =>
    client.request('POST', '/v1/workflows', { name: 'a', steps: [{ namespace: 'a', code: 'export default () => 1' }] });
  assertProblem(await deploy(), 503);
  assert.deepEqual([await ready(), await failing()], [[200, { status: 'degraded', bundling: 'failing' }], '1']);
  renameSync(`${bundler}.away`, bundler);
  // Nobody deploys meanwhile: it is tried by itself.
  await until('a bundler', async () => (await failing()) === '0');
  assert.deepEqual(await ready(), [200, { status: 'ok' }]);
  assert.equal((await deploy()).status, 200);
});
