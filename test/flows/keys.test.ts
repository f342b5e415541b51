// Keys and their scopes, and owners made at the command line.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient, type Json } from '../support/client.ts';
import { startErrand } from '../support/errand.ts';
import { createOwner, runCommand, withScopes } from '../support/owners.ts';

test('a key is shown once and never again', async () => {
  await using errand = await startErrand();
  const made = await errand.client.post('/v1/keys', { label: 'dashboard', scopes: ['read'] });
  assert.equal(made.label, 'dashboard');
  assert.deepEqual(made.scopes, ['read']);
  assert.ok(made.api_key.length >= 24);
  const answer = await errand.client.request('GET', '/v1/keys');
  assert.equal(answer.status, 200);
  assert.ok(answer.text.includes(made.id));
  assert.ok(!answer.text.includes(made.api_key) && !answer.text.includes(errand.client.key));
});

test('a read key reads and changes nothing', async () => {
  await using errand = await startErrand();
  const { client } = await withScopes(errand.client, ['read']);
  const document = await errand.client.get('/v1/openapi.json');
  let refused = 0;
  for (const [path, item] of Object.entries<Json>(document.paths)) {
    for (const [method, spec] of Object.entries<Json>(item)) {
      // Some questions need a body: a key that reads may ask them. And signing in takes a key that reads.
      const mayRead = spec.security?.[0]?.key?.[0] === 'read' || path === '/v1/session';
      if (method === 'get' || !path.startsWith('/v1') || mayRead) continue;
      const example = spec.requestBody?.content?.['application/json']?.example ?? {};
      const answer = await client.request(method.toUpperCase(), path.replace(/\{[^}]+\}/g, 'p_1'), example);
      assert.equal(answer.status, 403, `${method} ${path}: ${answer.status} ${answer.text}`);
      assert.match(answer.json.error, /needs the scope "(ingest|write|keys|account|admin)"/);
      refused += 1;
    }
  }
  assert.ok(refused > 20);
  for (const path of ['/v1/workflows', '/v1/users/me', '/v1/ledger', '/v1/webhooks']) {
    assert.equal((await client.request('GET', path)).status, 200, path);
  }
});

test('a write key cannot read', async () => {
  await using errand = await startErrand();
  const { client } = await withScopes(errand.client, ['write']);
  assert.equal((await client.request('POST', '/v1/webhooks?url=https://example.com/')).status, 200);
  for (const path of ['/v1/workflows', '/v1/webhooks', '/v1/users/me']) {
    const answer = await client.request('GET', path);
    assert.equal(answer.status, 403, path);
    assert.match(answer.json.error, /read/);
  }
});

test('no key makes one with more scopes', async () => {
  await using errand = await startErrand();
  const b = await createOwner(errand);
  const { client: writer } = await withScopes(errand.client, ['write']);
  for (const client of [writer, b.client]) {
    const answer = await client.request('POST', '/v1/keys', { label: 'more', scopes: ['read', 'write', 'admin'] });
    assert.equal(answer.status, 403, answer.text);
    assert.equal((await client.request('POST', '/v1/owners', { name: 'x' })).status, 403);
  }
  const first = (await errand.client.get('/v1/users/me')).data;
  const taken = await b.client.request('POST', `/v1/owners/${first.id}/keys`, { label: 'taken over' });
  assert.equal(taken.status, 403);
});

test('a revoked key is refused at once', async () => {
  await using errand = await startErrand();
  const { client, key } = await withScopes(errand.client, ['read', 'write']);
  assert.equal((await client.request('GET', '/v1/users/me')).status, 200);
  await errand.client.delete(`/v1/keys/${key.id}`);
  const answer = await client.request('GET', '/v1/users/me');
  assert.equal(answer.status, 401);
  assert.equal(answer.headers.get('www-authenticate'), 'Bearer');
  await errand.restart();
  const after = createClient(errand.url, key.api_key);
  assert.equal((await after.request('GET', '/v1/users/me')).status, 401);
  assert.equal((await errand.client.request('GET', '/v1/users/me')).status, 200);
});

test('keys of an owner work after a restart', async () => {
  await using errand = await startErrand();
  const b = await createOwner(errand);
  await errand.restart();
  const me = (await createClient(errand.url, b.client.key).get('/v1/users/me')).data;
  assert.equal(me.id, b.id);
});

test('the command makes owners on a running server', async () => {
  await using errand = await startErrand();
  const { code, stdout, stderr } = await runCommand(errand, [
    'owners',
    'create',
    '--name',
    'by command',
    '--email',
    'c@example.com',
    '--json',
  ]);
  assert.equal(code, 0, stderr);
  const made = JSON.parse(stdout);
  assert.match(made.id, /^u_/);
  const me = (await createClient(errand.url, made.api_key).get('/v1/users/me')).data;
  assert.equal(me.id, made.id);
  assert.equal(me.name, 'by command');
  assert.equal(me.email, 'c@example.com');
  assert.match(me.global_error_workflow_id, /^p_/);
});

test('the command makes owners on a stopped store', async () => {
  await using errand = await startErrand();
  await errand.workflow('export default () => 1;', { name: 'of the first' });
  await errand.stop();
  const { code, stdout, stderr } = await runCommand(errand, ['owners', 'create', '--name', 'while stopped', '--json']);
  assert.equal(code, 0, stderr);
  const made = JSON.parse(stdout);
  await errand.restart();
  const client = createClient(errand.url, made.api_key);
  const me = (await client.get('/v1/users/me')).data;
  assert.equal(me.id, made.id);
  assert.equal(me.name, 'while stopped');
  assert.match(me.global_error_workflow_id, /^p_/);
  assert.deepEqual((await client.get('/v1/workflows?name=of%20the%20first')).data, []);
  assert.equal((await errand.client.get('/v1/workflows?name=of%20the%20first')).data.length, 1);
});

test('the command revokes keys of the server', async () => {
  await using errand = await startErrand();
  const created = await runCommand(errand, ['keys', 'create', '--label', 'short lived', '--scopes', 'read', '--json']);
  assert.equal(created.code, 0, created.stderr);
  const key = JSON.parse(created.stdout);
  const client = createClient(errand.url, key.api_key);
  assert.equal((await client.request('GET', '/v1/users/me')).status, 200);
  const revoked = await runCommand(errand, ['keys', 'revoke', key.id]);
  assert.equal(revoked.code, 0, revoked.stderr);
  assert.equal((await client.request('GET', '/v1/users/me')).status, 401);
});

test('a command without a name fails with help', async () => {
  await using errand = await startErrand();
  const { code, stdout, stderr } = await runCommand(errand, ['owners', 'create']);
  assert.notEqual(code, 0);
  assert.match(stderr, /--name/);
  assert.equal(stdout, '');
});
