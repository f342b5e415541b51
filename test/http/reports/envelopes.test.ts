// What envelopes may be, and which are refused: lengths, encodings, sizes, shapes of events.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import type { Json } from '../../support/client.ts';
import { startErrand } from '../../support/errand.ts';
import { sharedErrand } from '../../support/owners.ts';
import { dsnFor, EVENT_ID, envelope, errorsOf, eventOf, send } from './envelope.ts';

const newOwner = sharedErrand();

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

test('messages that differ in their parameters alone are one group', async () => {
  const errand = await newOwner();
  const dsn = await dsnFor(errand);
  for (const who of ['al', 'bo', 'the whole crew']) {
    const event = JSON.stringify({ logentry: { message: 'hello %s', params: [who] } });
    equal((await send(dsn, envelope([{ type: 'event' }, event]))).status, 200);
  }
  for (const event of [{}, { message: '' }]) await send(dsn, envelope([{ type: 'event' }, JSON.stringify(event)]));
  const { data: groups } = await errand.client.get('/v1/error_groups');
  deepEqual(
    groups.map(({ fingerprint, count }: Json) => [fingerprint.template, count]),
    [
      ['', 2],
      ['hello %s', 3],
    ],
  );
  const { data: found } = await errand.client.get('/v1/errors?text=hello%20the%20whole');
  equal(found.length, 1);
});

test('events of any shape are errors', async () => {
  const errand = await newOwner();
  const dsn = await dsnFor(errand);
  const shapes: [object, string, string][] = [
    [{}, 'Message', '(no message)'],
    [{ message: 'said' }, 'Message', 'said'],
    [{ message: { formatted: 'said so' } }, 'Message', 'said so'],
    [{ logentry: { message: 'logged %s' }, level: 'info' }, 'Message', 'logged %s'],
    [{ exception: [{ type: 'E', value: 7 }] }, 'E', '7'],
    [{ exception: { values: [{ type: 'E' }] } }, 'E', 'E'],
    [{ exception: { type: 'Bare', value: 'one' } }, 'Bare', 'one'],
    [{ exception: { values: 'x' } }, 'Message', '(no message)'],
    [{ exception: { values: [{}] } }, 'Error', '(no message)'],
    [{ message: '', exception: { values: [{ type: 'E', value: '' }] } }, 'E', 'E'],
    [{ exception: { values: [{ type: 'X', value: { a: 1, b: ['c'] } }] } }, 'X', '{"a":1,"b":["c"]}'],
    [{ exception: { values: [{ value: [1] }] } }, 'Error', '[1]'],
    [{ logentry: { message: 'hello %s %d', params: ['al', 3] } }, 'Message', 'hello al 3'],
    [{ logentry: { message: 'hello %s', formatted: 'hello bo', params: ['al'] } }, 'Message', 'hello bo'],
    [{ message: { message: '%s has %.2f%% of %r', params: ['al', 2.5] } }, 'Message', 'al has 2.5% of %r'],
    [
      { logentry: { message: '%(who)s: %(what)s %(no)s', params: { who: 'al', what: { a: 1 } } } },
      'Message',
      'al: {"a":1} %(no)s',
    ],
    [{ logentry: { message: '%s 100%%', params: [] } }, 'Message', '%s 100%%'],
    [{ logentry: { message: '%s, %s, %s', params: [null, false, ''] } }, 'Message', 'null, false, '],
    [{ logentry: { message: '%(__proto__)s', params: { a: 1 } } }, 'Message', '%(__proto__)s'],
    // Filled in everywhere, it would have a gigabyte.
    [{ logentry: { message: '%(a)s'.repeat(40_000), params: { a: 'ä'.repeat(25_000) } } }, 'Message', 'ä'.repeat(4096)],
    [
      { exception: { values: [null, 7, { value: 'no type', stacktrace: { frames: [null, 7, {}] } }] } },
      'Error',
      'no type',
    ],
    [{ message: 'said', exception: { values: [{ value: 'said', stacktrace: { frames: [{}] } }] } }, 'Message', 'said'],
    [{ message: 'said', exception: { values: [{ value: 'thrown' }] } }, 'Error', 'thrown'],
    [{ exception: null, breadcrumbs: 7, tags: [['a', 'b']], user: 'x', timestamp: 'never' }, 'Message', '(no message)'],
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
