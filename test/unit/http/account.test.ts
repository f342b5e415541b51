import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApiKey, Scope } from '../../../src/domain/resource.ts';
import { idOf, OTHER_ID, OWNER_ID, sha256, T0_MS } from './fake-store.ts';
import { type Harness, KEY, startServer } from './harness.ts';

const OWNER = {
  id: OWNER_ID,
  name: 'Ada',
  email: 'a@b.c',
  globalErrorWorkflowId: idOf('p_', 1),
  digestWindowMs: 60_000,
  createdAtMs: T0_MS,
  updatedAtMs: T0_MS,
};

function key(scopes: readonly Scope[], more: Partial<ApiKey> = {}): ApiKey {
  return { id: idOf('key_', 9), ownerId: OWNER_ID, label: 'l', scopes, createdAtMs: T0_MS, revokedAtMs: null, ...more };
}

async function started(t: Parameters<typeof startServer>[0], scopes: Scope[] = ['read', 'write']): Promise<Harness> {
  const harness = await startServer(t, {
    actions: {
      updateOwner: () => OWNER,
      createKey: (_owner: string, { scopes: asked }: { scopes: Scope[] }) => ({
        key: key(asked),
        apiKey: 'the-new-key',
      }),
      revokeKey: () => key(['read'], { revokedAtMs: T0_MS + 1000 }),
      createOwner: () => ({ owner: { ...OWNER, id: OTHER_ID }, key: key(['read']), apiKey: 'their-key' }),
    },
  });
  harness.data.keys.set(sha256(KEY), key(scopes, { id: idOf('key_', 1) }));
  return harness;
}

test('you are the owner of the key', async (t) => {
  const { call } = await started(t);
  const { json } = await call('GET', '/v1/users/me');
  assert.deepEqual(json.data, {
    id: OWNER_ID,
    name: 'Ada',
    email: null,
    global_error_workflow_id: null,
    digest_window_ms: 86_400_000,
    created_at: 1_782_000_000,
    updated_at: 1_782_000_000,
  });
});

test('you may change who you are', async (t) => {
  const { call, calls } = await started(t);
  const body = { email: 'a@b.c', global_error_workflow_id: idOf('p_', 1), digest_window_ms: 60_000 };
  const { json } = await call('PUT', '/v1/users/me', { json: body });
  assert.equal(json.data.global_error_workflow_id, idOf('p_', 1));
  const input = { name: undefined, email: 'a@b.c', globalErrorWorkflowId: idOf('p_', 1), digestWindowMs: 60_000 };
  assert.deepEqual(calls[0]?.args, [OWNER_ID, input]);
  for (const wrong of [
    { email: 'nonsense' },
    { email: 'a@b.c\r\nBcc: x@y.z' },
    { digest_window_ms: 1 },
    { name: '' },
  ]) {
    assert.equal((await call('PUT', '/v1/users/me', { json: wrong })).status, 400);
  }
});

test('keys are listed without their secrets', async (t) => {
  const { call, data } = await started(t);
  data.keys.set('hash', key(['read'], { id: idOf('key_', 5), revokedAtMs: T0_MS }));
  const { json, text } = await call('GET', '/v1/keys');
  assert.deepEqual(
    json.data.map(({ id }: { id: string }) => id),
    [idOf('key_', 5), idOf('key_', 1)],
  );
  assert.deepEqual([json.data[0].revoked_at, json.data[1].revoked_at], [1_782_000_000, null]);
  assert.doesNotMatch(text, /hash|api_key/);
  const older = await call('GET', `/v1/keys?after=${idOf('key_', 5)}`);
  assert.deepEqual(
    older.json.data.map(({ id }: { id: string }) => id),
    [idOf('key_', 1)],
  );
});

test('a new key is shown once', async (t) => {
  const { call, calls } = await started(t);
  const { json } = await call('POST', '/v1/keys', { json: { label: 'ci', scopes: ['read'] } });
  assert.equal(json.data.api_key, 'the-new-key');
  assert.deepEqual(json.data.scopes, ['read']);
  await call('POST', '/v1/keys?label=ci&scopes=read,write');
  await call('POST', '/v1/keys?label=ci');
  assert.deepEqual(
    calls.slice(1).map(({ args }) => (args[1] as { scopes: Scope[] }).scopes),
    [
      ['read', 'write'],
      ['read', 'write'],
    ],
  );
  for (const body of [{}, { label: '' }, { label: 'x', scopes: [] }, { label: 'x', scopes: ['root'] }]) {
    assert.equal((await call('POST', '/v1/keys', { json: body })).status, 400);
  }
});

test('nobody makes a key beyond their own', async (t) => {
  const { call, calls } = await started(t, ['write']);
  const { status, json } = await call('POST', '/v1/keys', { json: { label: 'x', scopes: ['write', 'admin'] } });
  assert.equal(status, 403);
  assert.match(json.error, /"admin"/);
  assert.equal((await call('POST', '/v1/keys', { json: { label: 'x' } })).status, 403);
  assert.deepEqual(calls, []);
});

test('a revoked key is answered with its time', async (t) => {
  const { call, calls } = await started(t);
  const { json } = await call('DELETE', `/v1/keys/${idOf('key_', 9)}`);
  assert.equal(json.data.revoked_at, 1_782_000_001);
  assert.deepEqual(calls[0]?.args, [OWNER_ID, idOf('key_', 9)]);
});

test('owners are made by admins only', async (t) => {
  const { call, calls, data } = await started(t);
  const create = () => call('POST', '/v1/owners', { json: { name: 'Bob' } });
  const createKey = () => call('POST', `/v1/owners/${OTHER_ID}/keys`, { json: { label: 'x', scopes: ['read'] } });
  assert.deepEqual([(await create()).status, (await createKey()).status], [403, 403]);
  data.keys.set(sha256(KEY), key(['admin']));
  const { json } = await create();
  assert.deepEqual([json.data.id, json.data.api_key, json.data.key.id], [OTHER_ID, 'their-key', idOf('key_', 9)]);
  assert.equal((await createKey()).json.data.api_key, 'the-new-key');
  assert.deepEqual(calls[1]?.args, [OTHER_ID, { label: 'x', scopes: ['read'] }]);
});

test('the ledger adds up its totals', async (t) => {
  const { call } = await started(t);
  const { json } = await call('GET', '/v1/ledger');
  assert.deepEqual(json.data.errors, { captured: 4 });
  assert.deepEqual([json.data.emissions, json.data.runs.total, json.data.deliveries.total], [10, 10, 6]);
});
