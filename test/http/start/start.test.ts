// How the service starts: what it makes, what it takes from the environment, and what it refuses.

import assert from 'node:assert/strict';
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { readConfig } from '../../../src/server/config.ts';
import { clock, random } from '../../../src/server/real-ports.ts';
import { startService } from '../../../src/server/service.ts';
import { createClient } from '../../support/client.ts';
import { startErrand } from '../../support/errand.ts';
import { createErrandOn } from '../../support/flows.ts';
import { createFolder } from '../../support/folders/folder.ts';
import { freePort } from '../../support/port.ts';
import { assertProblem } from '../../support/problem.ts';
import { type ErrandProcess, spawnErrand } from '../../support/process.ts';

const KEY = 'a-key-that-only-this-test-knows';

async function printed(errand: ErrandProcess): Promise<string> {
  errand.child.kill('SIGTERM');
  await errand.exited;
  return errand.stdout() + errand.stderr();
}

function refusal(env: Record<string, string>): Promise<string> {
  return spawnErrand(env).then(
    async (errand) => {
      await errand[Symbol.asyncDispose]();
      return 'it started';
    },
    (error: Error) => error.message,
  );
}

test('a fresh store gets its owner', async () => {
  await using folder = await createFolder();
  await using errand = await spawnErrand({ ERRAND_DATA_DIR: join(folder.path, 'not', 'yet') });
  const keyFile = join(folder.path, 'not', 'yet', 'api-key');
  const key = (await readFile(keyFile, 'utf8')).trim();
  assert.equal((await stat(keyFile)).mode & 0o777, 0o600);
  assert.ok(key.length >= 24, 'a made key is as long as a given one must be');

  const client = createClient(errand.url, key);
  const { data: me } = await client.get('/v1/users/me');
  assert.match(me.id, /^u_\w+$/);
  assert.match(me.global_error_workflow_id, /^p_\w+$/);
  const { data: workflow } = await client.get(`/v1/workflows/${me.global_error_workflow_id}`);
  assert.deepEqual([workflow.active, workflow.owner_id, workflow.steps.length], [true, me.id, 1]);
  assert.match(workflow.steps[0].code, /\$\.send\.email/);

  const output = await printed(errand);
  assert.equal(output.split(key).length - 1, 1, 'the key is printed once');
});

test('a made key is kept hashed', async () => {
  await using folder = await createFolder();
  await using errand = await spawnErrand({ ERRAND_DATA_DIR: folder.path });
  const key = (await readFile(join(folder.path, 'api-key'), 'utf8')).trim();
  await createClient(errand.url, key).get('/v1/users/me');
  const files = await folder.contents();
  const found = [...files].filter(([, bytes]) => bytes.includes(key)).map(([file]) => file);
  assert.deepEqual(found, [join(folder.path, 'api-key')]);
});

test('a made key is printed only once', async () => {
  await using folder = await createFolder();
  await using first = await spawnErrand({ ERRAND_DATA_DIR: folder.path });
  const key = (await readFile(join(folder.path, 'api-key'), 'utf8')).trim();
  await printed(first);
  await using second = await spawnErrand({ ERRAND_DATA_DIR: folder.path });
  await createClient(second.url, key).get('/v1/users/me');
  assert.equal((await printed(second)).includes(key), false);
});

test('a new store beside the keys of an earlier one is told', async () => {
  await using folder = await createFolder();
  const env = { ERRAND_DATA_DIR: folder.path };
  await using earlier = await spawnErrand(env);
  assert.doesNotMatch(await printed(earlier), /an earlier store/);
  const key = await readFile(join(folder.path, 'api-key'), 'utf8');
  for (const name of await readdir(folder.path)) if (name.startsWith('errand.db')) await rm(join(folder.path, name));
  await using later = await spawnErrand(env);
  await createClient(later.url, key.trim()).get('/v1/users/me');
  const output = await printed(later);
  assert.match(output, /"level":40[^\n]*the keys of an earlier store \(api-key, secret-key\), but no errand\.db/);
  assert.doesNotMatch(output, /\(new/, 'its key is an old one');
  await using again = await spawnErrand(env);
  assert.doesNotMatch(await printed(again), /an earlier store/);
});

test('a given key is taken and hidden', async () => {
  await using folder = await createFolder();
  await using errand = await spawnErrand({ ERRAND_DATA_DIR: folder.path, ERRAND_API_KEY: KEY });
  await createClient(errand.url, KEY).get('/v1/users/me');
  assertProblem(await createClient(errand.url, `${KEY}x`).request('GET', '/v1/users/me'), 401);
  const files = await folder.contents();
  assert.deepEqual(
    [...files].filter(([, bytes]) => bytes.includes(KEY)),
    [],
  );
  const output = await printed(errand);
  assert.equal(output.includes(KEY), false);
});

test('a secret is never printed nor logged', async () => {
  await using folder = await createFolder();
  await using errand = await spawnErrand({
    ERRAND_DATA_DIR: folder.path,
    ERRAND_API_KEY: KEY,
    ERRAND_SMTP_URL: 'smtp://someone:mail-password@127.0.0.1:1',
    ERRAND_MAIL_TO: 'owner@example.com',
    ERRAND_LOG_LEVEL: 'debug',
  });
  const client = createClient(errand.url, KEY);
  const actions = createErrandOn(() => client);
  const workflow = await actions.workflow(`export default () => { throw new Error(process.env.TOKEN_OF_STEP) }`, {
    triggers: [{ type: 'http', auth: { type: 'bearer', token: 'token-of-trigger' } }],
    settings: { env: { TOKEN_OF_STEP: 'value-of-env' } },
  });
  const url = workflow.triggers[0].endpoint_url;
  const answer = await fetch(url, { method: 'POST', headers: { authorization: 'Bearer token-of-trigger' } });
  assert.equal(answer.status, 200);
  await actions.errors(workflow.id, 1);
  await fetch(`${url}?api_key=value-of-query`, { method: 'POST', headers: { authorization: 'Bearer wrong-token' } });
  await client.request('GET', `/v1/users/me?key=${KEY}`);

  const output = await printed(errand);
  assert.match(output, /Error/, 'the failed run is logged');
  const endpointKey = new URL(url).pathname.slice('/e/'.length);
  const secrets = [
    'mail-password',
    'token-of-trigger',
    'wrong-token',
    'value-of-env',
    'value-of-query',
    endpointKey,
    KEY,
  ];
  assert.deepEqual(
    secrets.filter((secret) => output.includes(secret)),
    [],
  );
});

test('an unknown setting stops the start', async () => {
  await using folder = await createFolder();
  const message = await refusal({ ERRAND_DATA_DIR: folder.path, ERRAND_PROT: '4400' });
  assert.match(message, /^errand exited with [1-9]\d*:.*ERRAND_PROT/s);
});

test('a bad value stops the start', async () => {
  await using folder = await createFolder();
  const bad: [string, string][] = [
    ['ERRAND_PORT', 'four'],
    ['ERRAND_PORT', '70000'],
    ['ERRAND_PUBLIC_URL', 'not a url'],
    ['ERRAND_DATABASE_URL', 'mysql://localhost/errand'],
    ['ERRAND_API_KEY', 'too-short'],
    ['ERRAND_SMTP_URL', 'http://mail.example.com'],
    ['ERRAND_ALLOW_TARGETS', '10.0.0.0/8,10.0.0.0/40'],
    ['ERRAND_ISOLATION', 'hope'],
    ['ERRAND_JAIL_NETWORK', 'some'],
    ['ERRAND_CODE_USER', '0:0'],
    ['ERRAND_ROLES', 'api,cook'],
    ['ERRAND_MAX_BODY_BYTES', '-1'],
    ['ERRAND_RETENTION_DAYS', 'forever'],
    ['ERRAND_LOG_LEVEL', 'loud'],
  ];
  const messages = await Promise.all(
    bad.map(([name, value]) => refusal({ ERRAND_DATA_DIR: folder.path, [name]: value })),
  );
  for (const [n, [name, value]] of bad.entries()) {
    const message = messages[n] ?? '';
    assert.match(message, new RegExp(`^errand exited with [1-9]\\d*:.*${name}`, 's'), `${name}=${value}`);
    assert.doesNotMatch(message, /\n\s+at /, 'it is a message, not a crash');
  }
});

test('a second start on one store fails', async () => {
  await using folder = await createFolder();
  // SQLite, whatever the store of the other tests: one file has one process.
  const env = { ERRAND_DATA_DIR: folder.path, ERRAND_API_KEY: KEY, ERRAND_DATABASE_URL: '' };
  await using first = await spawnErrand(env);
  const client = createClient(first.url, KEY);
  const actions = createErrandOn(() => client);
  const workflow = await actions.workflow('export default ({ steps }) => steps.trigger.event.body');
  const message = await refusal(env);
  assert.match(message, /^errand exited with [1-9]/);
  assert.ok(message.includes(folder.path), `it says which folder: ${message}`);
  assert.doesNotMatch(message, /\n\s+at /);
  await actions.send(workflow, { a: 1 });
  const [run] = await actions.runs(workflow.id, 1);
  assert.equal(run.state, 'succeeded');
});

test('a start that fails lets go of its store', async () => {
  await using folder = await createFolder();
  await using other = await startErrand();
  const quiet = { debug() {}, info() {}, warn() {}, error() {} };
  const start = (port: string) =>
    startService(readConfig({ ERRAND_DATA_DIR: folder.path, ERRAND_PORT: port }), { clock, random, log: quiet });
  await assert.rejects(start(new URL(other.url).port), /^ConfigError: ERRAND_PORT: listen EADDRINUSE/);
  const service = await start('0');
  await service.stop(0);
});

test('a killed service starts again', async () => {
  await using folder = await createFolder();
  const env = { ERRAND_DATA_DIR: folder.path, ERRAND_API_KEY: KEY, ERRAND_PORT: `${await freePort()}` };
  await using first = await spawnErrand(env);
  const client = createClient(first.url, KEY);
  const actions = createErrandOn(() => client);
  const workflow = await actions.workflow('export default () => 1');
  await actions.send(workflow, {});
  await actions.runs(workflow.id, 1);
  first.child.kill('SIGKILL');
  await first.exited;
  await using second = await spawnErrand(env);
  assert.equal(second.url, first.url);
  await actions.send(workflow, {});
  const runs = await actions.runs(workflow.id, 2);
  assert.deepEqual(
    runs.map((run) => run.state),
    ['succeeded', 'succeeded'],
  );
});

test('health and readiness need no key', async () => {
  await using folder = await createFolder();
  await using errand = await spawnErrand({ ERRAND_DATA_DIR: folder.path });
  for (const path of ['/healthz', '/readyz', '/docs']) {
    const answer = await fetch(errand.url + path);
    assert.equal(answer.status, 200, path);
    await answer.body?.cancel();
  }
});
