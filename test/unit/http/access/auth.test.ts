import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bearerOf } from '../../../../src/http/access/auth.ts';
import { StoreUnavailable } from '../../../../src/store/contract/unavailable.ts';
import { OTHER_KEY, startServer } from '../harness.ts';
import { OTHER_ID, OWNER_ID, webhook } from '../records.ts';

test('only a bearer token is a key', () => {
  assert.equal(bearerOf('Bearer abc'), 'abc');
  assert.equal(bearerOf('bearer   abc '), 'abc');
  for (const header of [
    undefined,
    '',
    'abc',
    'Basic abc',
    'Bearer',
    'Bearer ',
    'Bearer a b',
    'Bearerabc',
    'Bearer ü',
  ]) {
    assert.equal(bearerOf(header), undefined);
  }
});

test('a bad key answers 401 everywhere under v1', async (t) => {
  const { call } = await startServer(t);
  for (const path of ['/v1/workflows', '/v1/nothing', '/v1/users/me', '/v1', '/v1?x=1']) {
    for (const authorization of [undefined, 'Bearer', 'Basic eA==', 'Bearer unknown']) {
      const headers = authorization === undefined ? undefined : { authorization };
      const answer = await call('GET', path, { key: null, headers });
      assert.equal(answer.status, 401, path);
      assert.equal(answer.headers.get('www-authenticate'), 'Bearer');
      assert.match(answer.headers.get('content-type') ?? '', /problem\+json/);
    }
  }
});

test('scopes decide between looking and changing', async (t) => {
  const harness = await startServer(t, { actions: { createWebhook: () => webhook(1) } });
  const reader = await harness.seed.key(3, ['read']);
  const writer = await harness.seed.key(4, ['write']);
  const admin = await harness.seed.key(5, ['admin']);
  const look = (key: string, method = 'GET') => harness.call(method, '/v1/webhooks', { key });
  const change = (key: string) => harness.call('POST', '/v1/webhooks?url=https://example.com', { key });
  assert.deepEqual([(await look(reader)).status, (await change(reader)).status], [200, 403]);
  assert.deepEqual([(await look(writer)).status, (await change(writer)).status], [403, 200]);
  assert.deepEqual([(await look(admin)).status, (await change(admin)).status], [403, 403]);
  assert.equal((await look(reader, 'HEAD')).status, 200);
  assert.match((await change(reader)).json.error, /needs the scope "write".* has read/);
});

test('the owner comes from the key alone', async (t) => {
  const { seed, call, calls } = await startServer(t, { actions: { createWebhook: () => webhook(1) } });
  await seed.webhooks(webhook(1), webhook(2, { ownerId: OTHER_ID }));
  for (const name of ['owner_id', 'user_id']) {
    const { status } = await call('POST', `/v1/webhooks?url=https://example.com&${name}=${OTHER_ID}`);
    assert.equal(status, 200, `${name} is none of its parameters`);
    assert.equal(calls.pop()?.args[0], OWNER_ID, name);
    const body = JSON.stringify({ url: 'https://example.com', [name]: OTHER_ID });
    const headers = { 'content-type': 'application/json' };
    assert.equal((await call('POST', '/v1/webhooks', { body, headers })).status, 400, name);
    assert.equal(calls.length, 0);
  }
  assert.equal((await call('GET', `/v1/webhooks/${webhook(1).id}`)).status, 200);
  assert.equal((await call('GET', `/v1/webhooks/${webhook(2).id}`)).status, 404);
  assert.equal((await call('GET', `/v1/webhooks/${webhook(1).id}`, { key: OTHER_KEY })).status, 404);
});

test('storage that fails is not a bad key', async (t) => {
  const keyByHash = () => Promise.reject(new StoreUnavailable('gone'));
  const { call } = await startServer(t, { store: { keyByHash } });
  const { status, headers } = await call('GET', '/v1/workflows');
  assert.deepEqual([status, headers.get('retry-after')], [503, '1']);
});
