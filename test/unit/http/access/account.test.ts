import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ApiKey, OWNER_SCOPES, type Scope } from '../../../../src/domain/keys.ts';
import { type Harness, startServer } from '../harness.ts';
import { apiKey, idOf, OTHER_ID, OWNER_ID, T0_MS } from '../records.ts';

const OWNER = {
  id: OWNER_ID,
  name: 'Ada',
  email: 'a@b.c',
  globalErrorWorkflowId: idOf('p_', 1),
  digestWindowMs: 60_000,
  deletion: null,
  channelIds: [],
  createdAtMs: T0_MS,
  updatedAtMs: T0_MS,
};

async function started(t: Parameters<typeof startServer>[0]): Promise<Harness> {
  return startServer(t, {
    actions: {
      updateOwner: () => OWNER,
      createKey: (_owner: string, { scopes }: { scopes: Scope[] }) => ({
        key: apiKey(9, { scopes }),
        apiKey: 'the-new-key',
      }),
      revokeKey: () => apiKey(9, { revokedAtMs: T0_MS + 1000 }),
      createOwner: () => ({ owner: { ...OWNER, id: OTHER_ID }, key: apiKey(9), apiKey: 'their-key' }),
    },
  });
}

test('you are the owner of the key', async (t) => {
  const { call, stage } = await started(t);
  const { json } = await call('GET', '/v1/users/me');
  assert.deepEqual(json.data, {
    id: OWNER_ID,
    name: 'Ada',
    username: 'Ada',
    orgs: [],
    email: stage.owner.email,
    global_error_workflow_id: stage.global.id,
    digest_window_ms: 86_400_000,
    channels: [],
    state: 'active',
    purge_at: null,
    purge_at_iso: null,
    created_at: 1_782_000_000,
    created_at_iso: '2026-06-21T00:00:00.000Z',
    updated_at: 1_782_000_000,
    updated_at_iso: '2026-06-21T00:00:00.000Z',
  });
});

test('you may change who you are', async (t) => {
  const { call, calls } = await started(t);
  const body = {
    email: 'a@b.c',
    global_error_workflow_id: idOf('p_', 1),
    digest_window_ms: 60_000,
    channels: ['ch_1'],
  };
  const { json } = await call('PUT', '/v1/users/me', { json: body });
  assert.equal(json.data.global_error_workflow_id, idOf('p_', 1));
  const input = {
    name: undefined,
    email: 'a@b.c',
    globalErrorWorkflowId: idOf('p_', 1),
    digestWindowMs: 60_000,
    channelIds: ['ch_1'],
  };
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
  const { call, seed, stage } = await started(t);
  await seed.key(5, ['read']);
  await stage.store.revokeKey(OWNER_ID, idOf('key_', 5), T0_MS);
  const { json, text } = await call('GET', '/v1/keys');
  const shown = (ids: readonly { id: string; revoked_at: number | null }[]) =>
    ids.map(({ id, revoked_at }) => [id, revoked_at]);
  assert.deepEqual(shown(json.data), [
    [stage.key.id, null],
    [idOf('key_', 5), 1_782_000_000],
    [idOf('key_', 1), null],
  ]);
  assert.doesNotMatch(text, /hash|api_key/);
  const older = await call('GET', `/v1/keys?after=${idOf('key_', 5)}`);
  assert.deepEqual(shown(older.json.data), [[idOf('key_', 1), null]]);
});

test('a new key is shown once', async (t) => {
  const { call, calls } = await started(t);
  const { json } = await call('POST', '/v1/keys', { json: { label: 'ci', scopes: ['read'] } });
  assert.equal(json.data.api_key, 'the-new-key');
  assert.deepEqual(json.data.scopes, ['read']);
  await call('POST', '/v1/keys?label=ci&scopes=read,write');
  await call('POST', '/v1/keys?label=ci');
  await call('POST', '/v1/keys', { json: { label: 'ci', scopes: ['keys', 'account'], expires_at: 1_782_000_060 } });
  const plain = { label: 'ci', scopes: ['read', 'write'], expiresAtMs: null };
  assert.deepEqual(
    calls.slice(1).map(({ args }) => args[1]),
    [plain, plain, { label: 'ci', scopes: ['keys', 'account'], expiresAtMs: 1_782_000_060_000 }],
  );
  const wrong = [{}, { label: '' }, { scopes: [] }, { scopes: ['root'] }, { scopes: ['read', 'read'] }];
  const times = ['soon', 1.5, -1, 1e15, 1_782_000_060_000].map((time) => ({ expires_at: time }));
  for (const body of [...wrong, ...times]) {
    const { status, text } = await call('POST', '/v1/keys', {
      json: { ...(body === wrong[0] ? {} : { label: 'x' }), ...body },
    });
    assert.equal(status, 400, `${JSON.stringify(body)}: ${text}`);
  }
});

test('keys and the account need scopes of their own', async (t) => {
  const { call, calls, seed } = await started(t);
  const key = await seed.key(4, ['read', 'write']);
  const asked = [
    ['GET', '/v1/keys', 'keys'],
    ['POST', '/v1/keys?label=x', 'keys'],
    ['DELETE', `/v1/keys/${idOf('key_', 9)}`, 'keys'],
    ['PUT', '/v1/users/me?email=x@y.z', 'account'],
    ['GET', '/v1/audit', 'account'],
    ['GET', '/v1/owners', 'admin'],
  ] as const;
  for (const [method, path, scope] of asked) {
    const { status, json } = await call(method, path, { key });
    assert.deepEqual(
      [status, json.error],
      [403, `This needs the scope "${scope}", but the key "key 4" has read, write`],
    );
  }
  assert.deepEqual(calls, []);
  const keys = { key: await seed.key(5, ['keys']) };
  assert.equal((await call('GET', '/v1/keys', keys)).status, 200, 'and need no other');
  assert.equal((await call('GET', '/v1/workflows', keys)).status, 403);
});

test('an expired key is told when it expired', async (t) => {
  const { call, seed, stage } = await started(t);
  const key = await seed.key(4, ['read'], { expiresAtMs: T0_MS + 1 });
  assert.equal((await call('GET', '/v1/ledger', { key })).status, 200);
  stage.clock.advance(1);
  const { status, headers, json } = await call('GET', '/v1/ledger', { key });
  assert.deepEqual([status, headers.get('www-authenticate')], [401, 'Bearer']);
  assert.equal(json.detail, 'This API key expired at 2026-06-21T00:00:00.001Z; use another one');
  await stage.store.revokeKey(OWNER_ID, idOf('key_', 4), T0_MS);
  assert.match((await call('GET', '/v1/ledger', { key })).json.detail, /unknown or was revoked/);
});

test('the use of a key is written once a minute', async (t) => {
  const touched: [string, number][] = [];
  const { call, stage } = await startServer(t, {
    store: {
      touchKey: async (id, atMs) => {
        touched.push([id, atMs]);
        throw new Error('storage is away: no request waits for this');
      },
    },
  });
  const used = () => call('GET', '/v1/ledger');
  for (const one of await Promise.all([used(), used(), used()])) assert.equal(one.status, 200);
  const id = idOf('key_', 1);
  assert.deepEqual(touched, [[id, T0_MS]]);
  stage.clock.advance(59_999);
  await used();
  assert.equal(touched.length, 1);
  stage.clock.advance(1);
  await used();
  assert.deepEqual(touched[1], [id, T0_MS + 60_000]);
  // Another process has written it.
  await stage.store.touchKey(id, T0_MS + 90_000);
  stage.clock.advance(70_000);
  await used();
  assert.equal(touched.length, 2);
  await call('GET', '/v1/ledger', { key: 'unknown' });
  assert.equal(touched.length, 2);
});

test('a revoked key is answered with its time', async (t) => {
  const { call, calls } = await started(t);
  const { json } = await call('DELETE', `/v1/keys/${idOf('key_', 9)}`);
  assert.equal(json.data.revoked_at, 1_782_000_001);
  assert.deepEqual(calls[0]?.args, [OWNER_ID, idOf('key_', 9), apiKey(1, { scopes: OWNER_SCOPES })]);
});

test('owners are made by admins only', async (t) => {
  const { call, calls, seed } = await started(t);
  const create = (key?: string) => call('POST', '/v1/owners', { key, json: { name: 'Bob' } });
  const createKey = (key?: string) =>
    call('POST', `/v1/owners/${OTHER_ID}/keys`, { key, json: { label: 'x', scopes: ['read'] } });
  assert.deepEqual([(await create()).status, (await createKey()).status], [403, 403]);
  const { json } = await create(await seed.key(4, ['admin']));
  assert.deepEqual([json.data.id, json.data.api_key, json.data.key.id], [OTHER_ID, 'their-key', idOf('key_', 9)]);
  assert.equal((await createKey(await seed.key(5, ['admin']))).json.data.api_key, 'the-new-key');
  const by = (n: number): ApiKey => apiKey(n, { scopes: ['admin'] });
  assert.deepEqual(calls[0]?.args, [{ name: 'Bob', email: null, by: by(4) }]);
  assert.deepEqual(calls[1]?.args, [OTHER_ID, { label: 'x', scopes: ['read'], expiresAtMs: null }, by(5)]);
});
