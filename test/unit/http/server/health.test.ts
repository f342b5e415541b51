import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LIMITS } from '../../../../src/domain/limits.ts';
import { startServer } from '../harness.ts';
import { connect } from '../raw-connection.ts';

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

test('metrics need a key with the scope admin', async (t) => {
  const { call, seed } = await startServer(t);
  const proxied: Record<string, string>[] = [{}, { 'x-forwarded-for': '127.0.0.1' }, { forwarded: 'for=127.0.0.1' }];
  for (const headers of proxied) {
    assert.equal((await call('GET', '/metrics', { ...OPEN, headers })).status, 401, 'also from this machine');
    assert.equal((await call('GET', '/metrics', { headers })).status, 403, 'of all owners');
  }
  const key = await seed.key(3, ['admin']);
  const { status, text, headers } = await call('GET', '/metrics', { key });
  assert.deepEqual([status, text], [200, 'up 1\n']);
  assert.match(headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
});

test('metrics have an address of their own', async (t) => {
  const { metricsPort } = await startServer(t, { withMetrics: true });
  const asked = async (method: string, path: string, line = `host: x`) => {
    const raw = connect(t, metricsPort);
    raw.send(`${method} ${path} HTTP/1.1\r\n${line}\r\ncontent-length: 0\r\n\r\n`);
    const answer = await raw.answer(method !== 'HEAD');
    raw.close();
    assert.match(answer.head, /x-request-id: req_/);
    assert.match(answer.head, /x-content-type-options: nosniff/);
    return answer;
  };
  const { status, body, head } = await asked('GET', '/metrics');
  assert.deepEqual([status, body], [200, 'up 1\n']);
  assert.match(head, /content-type: text\/plain; version=0\.0\.4/);
  for (const [method, path, line, refused] of [
    ['HEAD', '/metrics?x=1', 'host: x', 200],
    ['POST', '/metrics', 'host: x', 405],
    ['GET', '/metrics', 'host: x\r\nhost: y', 400],
    ['GET', '/v1/users/me', 'host: x', 404],
    ['GET', '/e/key1', 'host: x', 404],
    ['GET', '/healthz', 'host: x', 404],
    ['GET', '/%6detrics', 'host: x', 404],
  ] as const) {
    assert.equal((await asked(method, path, line)).status, refused, `${method} ${path}`);
  }
  // A page of another site may have its own name lead here, and would read the answer.
  for (const [host, refused] of [
    ['127.0.0.1', 200],
    [`127.0.0.1:${metricsPort}`, 200],
    [`[::1]:${metricsPort}`, 200],
    ['localhost', 200],
    ['LOCALHOST.:80', 200],
    ['metrics.localhost', 200],
    ['errand:9464', 200],
    ['evil.example', 400],
    [`evil.example:${metricsPort}`, 400],
    ['EVIL.example.', 400],
    ['127.0.0.1.evil.example', 400],
    ['localhost.evil.example', 400],
    ['127.0.0.1.', 200],
  ] as const) {
    assert.equal((await asked('GET', '/metrics', `host: ${host}`)).status, refused, host);
  }
});

test('requests for metrics sent ahead are bounded', async (t) => {
  const { metricsPort } = await startServer(t, { withMetrics: true });
  const raw = connect(t, metricsPort);
  raw.send('GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(LIMITS.requestsAhead + 10));
  const statuses = [];
  for (let status = 0; status !== 503; ) {
    ({ status } = await raw.answer());
    statuses.push(status);
  }
  assert.equal(statuses.length, LIMITS.requestsAhead + 2, 'the first one does not wait');
  assert.deepEqual([...new Set(statuses)], [200, 503]);
  assert.equal(await raw.closed(), '');
});
