import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fastify } from 'fastify';
import { addAccess } from '../../../../src/http/access/access.ts';
import type { App } from '../../../../src/http/app-type.ts';
import type { HttpDeps } from '../../../../src/http/deps.ts';
import { buildDocument } from '../../../../src/http/openapi/openapi.ts';
import { KEY, startServer } from '../harness.ts';
import { connect } from '../raw-connection.ts';
import { trigger } from '../records.ts';

test('a route that does not say who may call it stops the start', async () => {
  const app = fastify() as unknown as App;
  addAccess(app, {} as HttpDeps);
  const add = (schema: object | undefined) => () => app.get('/v1/new', { schema }, async () => 'secret');
  assert.throws(add(undefined), /GET \/v1\/new does not say who may call it/);
  assert.throws(add({ summary: 'x' }), /does not say/);
  add({ access: 'public' })();
  await app.close();
});

test('a route that was added before needs a key, too', async () => {
  const app = fastify() as unknown as App;
  app.get('/early', async () => 'secret');
  addAccess(app, { isApi: true, draining: () => false } as unknown as HttpDeps);
  const { statusCode, body } = await app.inject('/early');
  assert.notEqual(statusCode, 200);
  assert.doesNotMatch(body, /secret/);
  await app.close();
});

test('no route is open but those that are meant to be', async () => {
  const { paths } = await buildDocument();
  const open = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, { security }]) => (security?.length === 0 ? [`${method} ${path}`] : [])),
  );
  assert.deepEqual(open.sort(), [
    'get /healthz',
    'get /readyz',
    'get /v1/openapi.json',
    'post /api/{project}/envelope/',
    'post /api/{project}/store/',
    'post /e/{key}',
    'post /h/{key}',
    'post /h/{key}/{status}',
    'post /r/{run}/{token}/{order}',
    'post /v1/session',
  ]);
});

test('escaped letters of an address are the letters', async (t) => {
  const { seed, call, accepted } = await startServer(t);
  await seed.triggers(trigger(1));
  for (const path of ['/%76%31/owners', '/%761/workflows', '/v1/%77orkflows', '/%73se/dc/dc_1/emits', '/%2576%2531']) {
    const { status } = await call('GET', path, { key: null });
    assert.equal(status, path.includes('%25') ? 404 : 401, path);
  }
  assert.equal((await call('GET', '/%76%31/%77orkflows')).status, 200, 'they are one address, for good keys too');
  assert.equal((await call('GET', '/%68ealthz', { key: null })).status, 200);
  const { status } = await call('POST', '/%65/key1/a%7Eb%2Fc?d=%7E', { json: {} });
  assert.equal(status, 200);
  const event = JSON.parse(Buffer.from(accepted[0]?.body ?? []).toString());
  assert.equal(event.path, '/a%7Eb%2Fc', 'the rest of the address is the event’s');
});

const SPELLED = ['/healthz', '/%68ealthz', '/healthz?x', '/healthz#x', '/%72eadyz'];
const NOT_HEALTH = [
  '/e/key1',
  '/%65/key1',
  '/r/x/1.y/resume',
  '/%72/x/1.y/resume',
  '/%76%31/workflows',
  '/nothing',
  '/healthz/x',
];

test('a process without the API answers by one reading of the address', async (t) => {
  const { seed, call, accepted } = await startServer(t, { isApi: false });
  await seed.triggers(trigger(1));
  for (const path of SPELLED) assert.equal((await call('GET', path)).status, 200, path);
  for (const path of ['/metrics', '/%6detrics']) assert.equal((await call('GET', path)).status, 403, 'it needs admin');
  for (const path of NOT_HEALTH) assert.equal((await call('POST', path, { json: {} })).status, 503, path);
  assert.deepEqual(accepted, []);
});

test('a stopping process answers by one reading of the address', async (t) => {
  const { seed, call, accepted, port } = await startServer(t, { draining: () => true });
  await seed.triggers(trigger(1));
  assert.equal((await call('GET', '/%68ealthz')).status, 200);
  for (const path of [...NOT_HEALTH, '/metrics', '/%6detrics']) {
    assert.equal((await call('POST', path, { json: {} })).status, 503, path);
  }
  assert.deepEqual(accepted, []);
  const raw = connect(t, port);
  raw.send(`POST /v1/workflows HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${KEY}\r\ncontent-length: 9\r\n\r\n{`);
  assert.match((await raw.answer()).head, /503[\s\S]*connection: close/i, 'before the body has come');
});
