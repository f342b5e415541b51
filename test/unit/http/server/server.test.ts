import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createUrls } from '../../../../src/domain/endpoint.ts';
import type { Answered } from '../../../../src/domain/requests.ts';
import { createHttpServer } from '../../../../src/http/server/server.ts';
import { appended, startServer } from '../harness.ts';
import { connect } from '../raw-connection.ts';
import { trigger } from '../records.ts';

/** Enough for a server that answers nothing. */
const IDLE = {
  ids: { next: () => '', secret: () => 'x' },
  urls: createUrls({ publicUrl: null, endpointHosts: null }, () => ''),
  draining: () => false,
} as never;

test('a draining server refuses all but health', async (t) => {
  const { seed, call, accepted, port } = await startServer(t, { leaving: () => true, draining: () => true });
  await seed.triggers(trigger(1));
  for (const [method, path] of [
    ['POST', '/e/key1'],
    ['GET', '/v1/workflows'],
    ['GET', '/docs'],
    ['GET', '/readyz'],
  ] as const) {
    const { status, headers, json } = await call(method, path);
    assert.equal(status, 503, path);
    assert.equal(headers.get('retry-after'), '1');
    assert.match(headers.get('x-request-id') ?? '', /^req_/);
    assert.match(json.type, /#unavailable$/);
  }
  assert.equal((await call('GET', '/healthz')).status, 200);
  assert.equal(accepted.length, 0);
  const raw = connect(t, port);
  raw.send('POST /e/key1 HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\n\r\nx');
  assert.match((await raw.answer()).head, /connection: close/i);
  await raw.closed();
});

test('the longest query of a webhook fits', async (t) => {
  const { call } = await startServer(t);
  const query = new URLSearchParams({ url: 'nothing', name: '中'.repeat(255), description: '中'.repeat(4096) });
  const { status, json } = await call('POST', `/v1/webhooks?${query}`);
  assert.equal(status, 400);
  assert.deepEqual(
    json.errors.map(({ parameter }: { parameter: string }) => parameter),
    ['url'],
  );
});

test('stopping waits for answers under way', async (t) => {
  const { promise, resolve } = Promise.withResolvers<Answered>();
  const waiting = Promise.withResolvers<void>();
  const accept = () => {
    waiting.resolve();
    return { appended: appended(1), answer: promise };
  };
  const { seed, call, stop } = await startServer(t, { actions: { accept } });
  await seed.triggers(trigger(1, { customResponse: true }));
  const answer = call('POST', '/e/key1', { key: null });
  await waiting.promise;
  const stopped = stop();
  resolve({ kind: 'answer', answer: { status: 202, headers: {}, body: Buffer.from('late') } });
  const { status, text } = await answer;
  assert.deepEqual([status, text], [202, 'late']);
  await stopped;
  await assert.rejects(call('GET', '/healthz'));
});

test('an idle connection does not hold up stopping', async (t) => {
  const { port, stop } = await startServer(t);
  const raw = connect(t, port);
  raw.send('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n');
  assert.equal((await raw.answer()).status, 200);
  await stop();
  await raw.closed();
});

test('stopping twice, or before listening, is fine', async (t) => {
  const { stop } = await startServer(t);
  await Promise.all([stop(), stop()]);
  await stop();
  const server = await createHttpServer(IDLE);
  assert.equal(server.address(), null);
  await server.stop();
  await server.stop();
});

test('a port that is taken rejects listening', async (t) => {
  const { port } = await startServer(t);
  const server = await createHttpServer(IDLE);
  await assert.rejects(server.listen({ host: '127.0.0.1', port }), { code: 'EADDRINUSE' });
  await server.stop();
});

test('every answer has its own request id', async (t) => {
  const { call } = await startServer(t);
  const paths = ['/healthz', '/nothing', '/v1/workflows', '/docs', '/e/none', '/v1/webhooks/%ff', '/'];
  const ids = await Promise.all(paths.map(async (path) => (await call('GET', path)).headers.get('x-request-id')));
  for (const id of ids) assert.match(id ?? '', /^req_\w+$/);
  assert.equal(new Set(ids).size, paths.length);
});

test('HEAD answers like GET without a body', async (t) => {
  const { call } = await startServer(t);
  for (const path of ['/v1/workflows', '/v1/nothing', '/docs', '/nothing', '/e/none']) {
    const got = await call('GET', path);
    const head = await call('HEAD', path);
    assert.deepEqual([head.status, head.text], [got.status, ''], path);
    assert.equal(head.headers.get('content-type'), got.headers.get('content-type'));
  }
});
