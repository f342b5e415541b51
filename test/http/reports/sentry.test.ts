// Envelopes as clients of Sentry send them, written by hand: what is taken, what is ignored, and how it is refused.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import { createClient, type Json } from '../../support/client.ts';
import { type Errand, startErrand } from '../../support/errand.ts';
import { createOwner, type OwnerOn, sharedErrand } from '../../support/owners.ts';

const newOwner = sharedErrand();

const EVENT_ID = '9ec79c33ec9942ab8353589fcb2e04dc';

interface Dsn {
  readonly origin: string;
  readonly key: string;
  readonly project: string;
  readonly workflowId: string;
}

async function dsnFor(errand: Pick<Errand | OwnerOn, 'client'>, service = 'shop'): Promise<Dsn> {
  const made = await errand.client.post('/v1/keys', { label: service, scopes: ['ingest'], service });
  const { origin, username, pathname } = new URL(made.dsn);
  equal(username, made.api_key);
  return { origin, key: username, project: pathname.slice(1), workflowId: made.workflow_id };
}

interface Sent {
  readonly headers?: Record<string, string>;
  readonly query?: string;
  readonly path?: string;
  readonly method?: string;
}

async function send({ origin, key, project }: Dsn, body: string | Uint8Array, more: Sent = {}) {
  const { headers = { 'x-sentry-auth': `Sentry sentry_version=7, sentry_key=${key}, sentry_client=x/1` } } = more;
  const { query = '', path = `/api/${project}/envelope/`, method = 'POST' } = more;
  const response = await fetch(`${origin}${path}${query}`, {
    method,
    headers,
    ...(method === 'GET' ? {} : { body: body as string }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: text === '' ? null : (JSON.parse(text) as Json),
  };
}

/** An envelope of these items; each with its length unless it is a text without. */
function envelope(...items: readonly (readonly [header: object, payload: string | Uint8Array])[]): Buffer {
  const parts: (string | Uint8Array)[] = [`${JSON.stringify({ event_id: EVENT_ID })}\n`];
  for (const [header, payload] of items) {
    parts.push(`${JSON.stringify({ length: Buffer.byteLength(payload), ...header })}\n`, payload, '\n');
  }
  return Buffer.concat(parts.map((part) => Buffer.from(part)));
}

const eventOf = (more: object = {}): string =>
  JSON.stringify({
    event_id: EVENT_ID,
    timestamp: 1_769_860_800.5,
    platform: 'python',
    level: 'fatal',
    release: 'shop@4.1.0',
    environment: 'production',
    tags: { region: 'eu' },
    user: { id: '7', email: 'ada@example.com' },
    breadcrumbs: { values: [{ category: 'query', message: 'SELECT 1', data: { secret: 'not told twice' } }] },
    exception: {
      values: [
        { type: 'KeyError', value: "'total'" },
        {
          type: 'OrderError',
          value: 'order 7 has no total',
          stacktrace: {
            frames: [
              { function: 'main', filename: 'app/main.py', lineno: 3, in_app: true },
              { function: 'charge', filename: 'app/charge.py', lineno: 41, colno: 5, in_app: true },
              { function: 'get', filename: 'lib/dict.py', lineno: 9, in_app: false },
            ],
          },
        },
      ],
    },
    ...more,
  });

async function errorsOf(errand: Pick<OwnerOn, 'client'>, { workflowId }: Dsn): Promise<Json[]> {
  return (await errand.client.get(`/v1/workflows/${workflowId}/$errors/event_summaries?expand=event`)).data;
}

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
    stack: '    at get (lib/dict.py:9)\n    at charge (app/charge.py:41:5)\n    at main (app/main.py:3)',
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

test('compressed envelopes are inflated within bounds', async () => {
  const errand = await newOwner();
  const dsn = await dsnFor(errand);
  const auth = { 'x-sentry-auth': `Sentry sentry_key=${dsn.key}` };
  const whole = envelope([{ type: 'event' }, eventOf({ event_id: undefined })]);
  for (const [encoding, body] of [
    ['gzip', gzipSync(whole)],
    ['deflate', deflateSync(whole)],
    ['br', brotliCompressSync(whole)],
  ] as const) {
    equal((await send(dsn, body, { headers: { ...auth, 'content-encoding': encoding } })).status, 200, encoding);
    const half = body.subarray(0, body.length - 9);
    equal((await send(dsn, half, { headers: { ...auth, 'content-encoding': encoding } })).status, 400, encoding);
  }
  equal((await send(dsn, whole, { headers: { ...auth, 'content-encoding': 'zstd' } })).status, 415);
  const bomb = brotliCompressSync(Buffer.alloc(20_000_000, ' '), { params: { [constants.BROTLI_PARAM_QUALITY]: 2 } });
  equal((await send(dsn, bomb, { headers: { ...auth, 'content-encoding': 'br' } })).status, 413);
  equal((await errorsOf(errand, dsn)).length, 3);
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

test('items that are no errors are ignored and counted', async () => {
  await using errand = await startErrand();
  const dsn = await dsnFor(errand);
  const binary = Buffer.from([0, 10, 0x7b, 0xff, 10, 10]);
  const types = ['session', 'sessions', 'transaction', 'client_report', 'profile', 'log', 'something_new'];
  const answer = await send(
    dsn,
    envelope(...types.map((type) => [{ type }, '{}'] as const), [{ type: 'attachment' }, binary], [{}, 'x']),
  );
  deepEqual([answer.status, answer.json], [200, { id: EVENT_ID }]);
  equal((await errorsOf(errand, dsn)).length, 0);
  const mixed = envelope([{ type: 'attachment' }, binary], [{ type: 'event' }, eventOf()], [{ type: 'session' }, '{}']);
  equal((await send(dsn, mixed)).status, 200);
  equal((await errorsOf(errand, dsn)).length, 1);
  const { text: metrics } = await errand.client.request('GET', '/metrics');
  match(metrics, /errand_envelope_items_total\{item="taken"\} 1\n/);
  match(metrics, /errand_envelope_items_total\{item="ignored"\} 11\n/);
});

test('lengths may be left out where payloads are lines', async () => {
  const errand = await newOwner();
  const dsn = await dsnFor(errand);
  const event = eventOf({ event_id: undefined });
  for (const body of [
    `{}\n{"type":"event"}\n${event}`,
    `{}\n{"type":"event"}\n${event}\n`,
    `{}\n\n\n{"type":"event","length":null}\n${event}\n\n`,
    `{}\n{"type":"session"}\n{}\n{"type":"event","length":${Buffer.byteLength(event)}}\n${event}`,
    '{}',
    '{}\n',
    '{}\n{"type":"session"}',
    '{}\n{"type":"session"}\n',
  ]) {
    equal((await send(dsn, body)).status, 200, body);
  }
  equal((await errorsOf(errand, dsn)).length, 4);
});

test('half envelopes and lying lengths are refused whole', async () => {
  const errand = await newOwner();
  const dsn = await dsnFor(errand);
  const event = eventOf();
  const n = Buffer.byteLength(event);
  const good = envelope([{ type: 'event' }, event]);
  const cases: [string | Uint8Array, number, RegExp][] = [
    ['', 400, /header of the envelope is not JSON/],
    ['[]\n', 400, /not a JSON object/],
    ['no\n', 400, /header of the envelope/],
    [`{}\n${event.slice(0, 40)}\n`, 400, /header of item 1/],
    [`{}\n{"type":"event","length":${n + 1}}\n${event}`, 400, /cut short/],
    [`{}\n{"type":"event","length":${n - 1}}\n${event}\n`, 400, /goes on behind/],
    [`{}\n{"type":"event","length":-1}\n${event}\n`, 400, /whole number/],
    [`{}\n{"type":"event","length":"${n}"}\n${event}\n`, 400, /whole number/],
    [`{}\n{"type":"event","length":1e400}\n${event}\n`, 400, /whole number/],
    [`{}\n{"type":"event"}\n{"half": \n`, 400, /not valid JSON/],
    [`{}\n{"type":"event"}\n7\n`, 400, /not a JSON object/],
    [Buffer.concat([Buffer.from('{}\n{"type":"event"}\n'), Buffer.from([0x22, 0xff, 0x22])]), 400, /UTF-8/],
    [`{}\n{"type":"event"}\n{"x":${'['.repeat(300)}${']'.repeat(300)}}\n`, 400, /nested/],
    [`{}\n{"type":"event"}\n{"x":[${'0,'.repeat(60_000)}0]}\n`, 413, /values/],
    [`{}\n{"type":"event"}\n{"x":"${'x'.repeat(600_000)}"}\n`, 413, /event has 6000/],
    [`{}\n{"type":"x","y":"${'y'.repeat(20_000)}"}\n\n`, 413, /header of item 1/],
    [`{}\n${'{"type":"x"}\n\n'.repeat(1001)}`, 413, /1000 items/],
    [Buffer.alloc(10_000_000, 'x'), 413, /larger than/],
  ];
  for (const [body, status, told] of cases) {
    const answer = await send(dsn, body);
    deepEqual([answer.status, answer.headers.get('access-control-allow-origin')], [status, '*'], answer.text);
    match(answer.json.detail, told);
    match(String(answer.headers.get('x-sentry-error')), told);
  }
  for (let cut = 1; cut < good.length - 1; cut += 37) {
    const { status } = await send(dsn, good.subarray(0, cut));
    const isWholeLine = cut < 60 && status === 200;
    ok(status === 400 || isWholeLine, `${cut}: ${status}`);
  }
  equal((await errorsOf(errand, dsn)).length, 0);
});

test('events of any shape are errors', async () => {
  const errand = await newOwner();
  const dsn = await dsnFor(errand);
  const shapes: [object, string, string][] = [
    [{}, 'Message', ''],
    [{ message: 'said' }, 'Message', 'said'],
    [{ message: { formatted: 'said so' } }, 'Message', 'said so'],
    [{ logentry: { message: 'logged %s' }, level: 'info' }, 'Message', 'logged %s'],
    [{ exception: [{ type: 'E', value: 7 }] }, 'E', '7'],
    [{ exception: { values: [{ type: 'E' }] } }, 'E', 'E'],
    [{ exception: { type: 'Bare', value: 'one' } }, 'Bare', 'one'],
    [{ exception: { values: 'x' } }, 'Message', ''],
    [
      { exception: { values: [null, 7, { value: 'no type', stacktrace: { frames: [null, 7, {}] } }] } },
      'Error',
      'no type',
    ],
    [{ exception: null, breadcrumbs: 7, tags: [['a', 'b']], user: 'x', timestamp: 'never' }, 'Message', ''],
    [{ exception: { values: [{ type: '\u0000E\ud800', value: '\u0000\ud800' }] } }, 'E\ufffd', '\u0000\ufffd'],
    [
      { exception: { values: [{ type: 'T'.repeat(9000), value: 'v'.repeat(90_000) }] } },
      `${'T'.repeat(127)}…`,
      'v'.repeat(8192),
    ],
  ];
  for (const [shape, code, msg] of shapes) {
    const answer = await send(dsn, envelope([{ type: 'event' }, JSON.stringify(shape)]));
    equal(answer.status, 200, answer.text);
    const [{ event }] = (await errorsOf(errand, dsn)) as [Json];
    deepEqual([event.error.code, event.error.msg], [code, msg]);
  }
  equal((await errorsOf(errand, dsn)).length, shapes.length);
  const tags = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`tag-${n}`, 'x'.repeat(900)]));
  const user = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`ü${n}`, 'ü'.repeat(900)]));
  equal(
    (await send(dsn, envelope([{ type: 'event' }, JSON.stringify({ tags, release: '1', extra: user, user })]))).status,
    413,
  );
  const fits = Object.fromEntries(Object.entries(user).slice(0, 100));
  const many = JSON.stringify({ tags: fits, release: '1', user: fits });
  equal((await send(dsn, envelope([{ type: 'event' }, many]))).status, 200);
  const [{ event }] = (await errorsOf(errand, dsn)) as [Json];
  ok(Buffer.byteLength(JSON.stringify(event.error.context)) <= 65_536);
  equal(event.error.context.release, '1');
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
