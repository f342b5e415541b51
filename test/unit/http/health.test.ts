import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startServer } from './harness.ts';

const OPEN = { key: null } as const;

test('health needs no key', async (t) => {
  const { call } = await startServer(t);
  for (const path of ['/healthz', '/readyz']) {
    const { status, json, headers } = await call('GET', path, OPEN);
    assert.deepEqual([status, json], [200, { status: 'ok' }]);
    assert.match(headers.get('x-request-id') ?? '', /^req_/);
  }
  assert.equal((await call('HEAD', '/healthz', OPEN)).status, 200);
});

test('storage that fails is not ready', async (t) => {
  for (const check of [() => Promise.resolve(false), () => Promise.reject(new Error('down'))]) {
    const { call, logged } = await startServer(t, { store: { check } });
    const { status, headers } = await call('GET', '/readyz', OPEN);
    assert.deepEqual([status, headers.get('retry-after')], [503, '1']);
    assert.equal((await call('GET', '/healthz', OPEN)).status, 200);
    assert.deepEqual(logged, []);
  }
});

test('a process that cannot bundle is degraded', async (t) => {
  const { call } = await startServer(t, { canBundle: () => false });
  const { status, json } = await call('GET', '/readyz', OPEN);
  assert.deepEqual([status, json], [200, { status: 'degraded', bundling: 'failing' }]);
});

test('metrics are for this machine or a key', async (t) => {
  const { call } = await startServer(t);
  const local = await call('GET', '/metrics', OPEN);
  assert.deepEqual([local.status, local.text], [200, 'up 1\n']);
  assert.match(local.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
  for (const header of ['x-forwarded-for', 'forwarded']) {
    const headers = { [header]: '203.0.113.9' };
    assert.equal((await call('GET', '/metrics', { ...OPEN, headers })).status, 401);
    assert.equal((await call('GET', '/metrics', { headers })).status, 200);
  }
});
