// Clients of Sentry, by hand: their keys, projects and answers.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { createClient, type Json } from '../../support/client.ts';
import { startErrand } from '../../support/errand.ts';
import { createOwner, sharedErrand } from '../../support/owners.ts';
import { dsnFor, EVENT_ID, envelope, errorsOf, eventOf, type Sent, send } from './envelope.ts';

const newOwner = sharedErrand();

test('an event becomes an error with its stack', async () => {
  const errand = await newOwner();
  const dsn = await dsnFor(errand);
  const event = eventOf().replace('{', '{ "odd":[12345678901234567890,"\\ud800","\\u0000"],');
  const answer = await send(dsn, envelope([{ type: 'event' }, event]));
  deepEqual([answer.status, answer.json], [200, { id: EVENT_ID }]);
  const { text } = await errand.client.request(
    'GET',
    `/v1/workflows/${dsn.workflowId}/$errors/event_summaries?expand=event`,
  );
  ok(text.includes(`"original_event":${event},`), 'byte for byte');
  const [record] = await errorsOf(errand, dsn);
  const { context, ...error } = record.event.error;
  deepEqual(error, {
    code: 'OrderError',
    msg: 'order 7 has no total',
    cellId: '',
    ts: '2026-01-31T12:00:00.500Z',
    stack:
      "    at get (lib/dict.py:9)\n    at charge (app/charge.py:41:5)\n    at main (app/main.py:3)\n    at [cause: KeyError: 'total']",
    namespace: '',
  });
  deepEqual(
    [context.event_id, context.level, context.release, context.tags, context.user, context.causes, context.breadcrumbs],
    [
      EVENT_ID,
      'fatal',
      'shop@4.1.0',
      { region: 'eu' },
      { id: '7', email: 'ada@example.com' },
      ["KeyError: 'total'"],
      [{ category: 'query', message: 'SELECT 1' }],
    ],
  );
  equal(record.event.original_context.verified, false);
  const [group] = (await errand.client.get('/v1/error_groups')).data;
  equal(group.fingerprint.frame, 'charge (app/charge.py)', 'of the program itself');
  const path = `/v1/workflows/${dsn.workflowId}/error_groups/preview`;
  const [preview] = await errand.client.post(path, { grouping: [] });
  deepEqual([preview.fingerprint, preview.group_ids], [group.fingerprint, [group.id]]);
});

test('the key comes in either header or in the query', async () => {
  const errand = await newOwner();
  const dsn = await dsnFor(errand);
  const event = () => envelope([{ type: 'event' }, eventOf({ event_id: undefined })]);
  const ways: Sent[] = [
    {},
    { headers: { 'x-sentry-auth': `Sentry sentry_key=${dsn.key}` } },
    { headers: { authorization: `Sentry sentry_version=7,sentry_key=${dsn.key}` } },
    { headers: {}, query: `?sentry_version=7&sentry_key=${dsn.key}` },
    { headers: {}, path: `/api/${dsn.project}/envelope`, query: `?sentry_key=${dsn.key}` },
  ];
  for (const way of ways) equal((await send(dsn, event(), way)).status, 200, JSON.stringify(way));
  equal((await errorsOf(errand, dsn)).length, ways.length);
  for (const way of [
    { headers: {} },
    { headers: {}, query: '?sentry_key=' },
    { headers: {}, query: '?sentry_key=no' },
  ]) {
    const { status, headers, json } = await send(dsn, event(), way);
    deepEqual([status, headers.get('access-control-allow-origin')], [401, '*']);
    equal(headers.get('x-sentry-error'), json.detail);
  }
});

test('an event that comes twice is one error', async () => {
  const errand = await newOwner();
  const dsn = await dsnFor(errand);
  const all = await Promise.all(Array.from({ length: 8 }, () => send(dsn, envelope([{ type: 'event' }, eventOf()]))));
  deepEqual(
    all.map(({ status, json }) => [status, json.id]),
    Array(8).fill([200, EVENT_ID]),
  );
  equal((await errorsOf(errand, dsn)).length, 1);
});

test('the store endpoint of older clients works', async () => {
  const errand = await newOwner();
  const dsn = await dsnFor(errand);
  const path = `/api/${dsn.project}/store/`;
  const answer = await send(dsn, eventOf({ event_id: '9EC79C33-EC99-42AB-8353-589FCB2E04DC' }), { path });
  deepEqual([answer.status, answer.json], [200, { id: EVENT_ID }]);
  equal((await send(dsn, 'no', { path })).status, 400);
  equal((await errorsOf(errand, dsn)).length, 1);
});

test('a DSN is good for its project alone', async () => {
  const [a, b] = [await newOwner(), await newOwner()];
  const [shop, other, theirs] = [await dsnFor(a), await dsnFor(a, 'other'), await dsnFor(b)];
  const body = envelope([{ type: 'event' }, eventOf()]);
  equal((await send({ ...shop, project: other.project }, body)).status, 403);
  equal((await send({ ...shop, project: theirs.project }, body)).status, 403);
  const wide = await a.client.post('/v1/keys', { label: 'wide', scopes: ['ingest'] });
  equal(wide.dsn, undefined);
  equal((await send({ ...theirs, key: wide.api_key }, body)).status, 404, 'of another owner');
  equal((await send({ ...other, key: wide.api_key }, body)).status, 200);
  for (const project of ['0', '1', '9'.repeat(29), '9'.repeat(30), '9'.repeat(41)]) {
    equal((await send({ ...shop, key: wide.api_key, project }, body)).status, 404, project);
  }
  for (const scopes of [['read'], ['ingest', 'read'], ['ingest', 'write', 'keys', 'account']]) {
    const more = await a.client.post('/v1/keys', { label: 'x', scopes });
    const answer = await send({ ...shop, key: more.api_key }, body);
    deepEqual([answer.status, answer.json.type], [403, '/docs/errors#forbidden']);
  }
  const keys = (await a.client.get('/v1/keys')).data;
  const key = keys.find((one: Json) => one.workflow_id === shop.workflowId);
  ok(key.last_used_at !== null && !JSON.stringify(keys).includes(shop.key));
  await a.client.delete(`/v1/keys/${key.id}`);
  equal((await send(shop, body)).status, 401);
  equal((await errorsOf(a, shop)).length, 0);
  equal((await errorsOf(b, theirs)).length, 0);
});

test('browsers may ask and are told', async () => {
  const errand = await newOwner();
  const dsn = await dsnFor(errand);
  const asked = await send(dsn, '', { method: 'OPTIONS', headers: { origin: 'https://shop.example' } });
  deepEqual(
    [asked.status, asked.headers.get('access-control-allow-origin'), asked.headers.get('access-control-allow-methods')],
    [204, '*', 'POST'],
  );
  match(String(asked.headers.get('access-control-allow-headers')), /x-sentry-auth/);
  const got = await send(dsn, '', { method: 'GET' });
  deepEqual([got.status, got.headers.get('allow')], [405, 'POST, OPTIONS']);
  const elsewhere = await fetch(`${dsn.origin}/v1/errors`, {
    method: 'OPTIONS',
    headers: { origin: 'https://shop.example' },
  });
  equal(elsewhere.headers.get('access-control-allow-origin'), null, 'the API answers no other origin');
  for (const path of ['/api/', '/api/1', '/api/x/envelope/', '/api/1/envelope/more', '/api/1/minidump/']) {
    equal((await send(dsn, '{}', { path })).status, 404, path);
  }
});

test('a quota is told in the words of the protocol', async () => {
  await using errand = await startErrand();
  const owner = await createOwner(errand);
  const dsn = await dsnFor(owner);
  await errand.client.put(`/v1/owners/${owner.id}/quotas`, { requests_per_second: 3 });
  const body = envelope([{ type: 'event' }, eventOf({ event_id: undefined })]);
  const all = await Promise.all(Array.from({ length: 30 }, () => send(dsn, body)));
  const refused = all.filter(({ status }) => status === 429);
  const taken = all.filter(({ status }) => status === 200);
  equal(refused.length + taken.length, 30);
  ok(refused.length > 0);
  const [{ headers }] = refused as [(typeof refused)[number]];
  match(String(headers.get('retry-after')), /^\d+$/);
  equal(headers.get('x-sentry-rate-limits'), `${headers.get('retry-after')}::organization`);
  match(String(headers.get('access-control-expose-headers')), /x-sentry-rate-limits/);
  await errand.client.put(`/v1/owners/${owner.id}/quotas`, { requests_per_second: null });
  equal((await errorsOf(owner, dsn)).length, taken.length);
});

test('a DSN still reports after a restart', async () => {
  await using errand = await startErrand();
  const dsn = await dsnFor(errand);
  const body = () => envelope([{ type: 'event' }, eventOf({ event_id: undefined })]);
  await send(dsn, body());
  await errand.restart();
  equal((await send({ ...dsn, origin: errand.url }, body())).status, 200);
  equal((await errorsOf(errand, dsn)).length, 2);
  equal((await createClient(errand.url, dsn.key).request('GET', '/v1/workflows')).status, 403);
});
