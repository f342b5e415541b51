import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { Refusal } from '../../../../src/domain/refusal.ts';
import type { Answered, WhenGone } from '../../../../src/domain/requests.ts';
import type { HttpAnswer } from '../../../../src/domain/run/run.ts';
import { Waiters } from '../../../../src/engine/accept/waiters.ts';
import type { Accepted } from '../../../../src/http/deps.ts';
import type { Idempotency } from '../../../../src/store/contract/store.ts';
import { StoreUnavailable } from '../../../../src/store/contract/unavailable.ts';
import { until } from '../../../support/wait.ts';
import { appended, type FakeActions, startServer } from '../harness.ts';
import { connect } from '../raw-connection.ts';
import { idOf, trigger } from '../records.ts';

const OPEN = { key: null } as const;

function answering(answered: Answered): FakeActions {
  return { accept: (): Accepted => ({ appended: appended(1), answer: Promise.resolve(answered) }) };
}

function answer(more: Partial<HttpAnswer>): Answered {
  return { kind: 'answer', answer: { status: 200, headers: {}, body: Buffer.from(''), ...more } };
}

async function custom(t: Parameters<typeof startServer>[0], actions: FakeActions) {
  const harness = await startServer(t, { actions });
  await harness.seed.triggers(trigger(1, { customResponse: true }));
  return harness;
}

test('an unknown endpoint answers 404', async (t) => {
  const { seed, call, accepted } = await startServer(t);
  await seed.triggers(trigger(1, { kind: 'schedule' }));
  for (const path of ['/e/none', '/e/', '/e/key1', '/e//key1']) {
    const { status, json } = await call('POST', path, { ...OPEN, body: 'x' });
    assert.equal(status, 404, path);
    assert.match(json.type, /#not_found$/);
  }
  assert.equal(accepted.length, 0);
});

test('an idempotency key goes to the log', async (t) => {
  const seen: unknown[] = [];
  const accept = (_emission: unknown, more: unknown) => {
    seen.push(more);
    return { appended: appended(7, { repeated: { answer: null, isSameRequest: true } }), answer: null };
  };
  const { seed, call } = await startServer(t, { actions: { accept } });
  await seed.triggers(trigger(1));
  const headers = { 'idempotency-key': 'k-1' };
  const { json } = await call('POST', '/e/key1', { ...OPEN, headers });
  assert.deepEqual(json, { id: 'tag427' });
  const requestHash = createHash('sha256').update('POST \n').digest('base64');
  assert.deepEqual(seen, [{ idempotency: { triggerId: idOf('hi_', 1), key: 'k-1', requestHash }, wantsAnswer: false }]);
});

test('what makes it another request changes its hash', async (t) => {
  const hashes: string[] = [];
  const accept = (_emission: unknown, { idempotency }: { idempotency: Idempotency }) => {
    hashes.push(idempotency.requestHash);
    return { appended: appended(7), answer: null };
  };
  const { seed, call } = await startServer(t, { actions: { accept } });
  await seed.triggers(trigger(1), trigger(2));
  const headers = { 'idempotency-key': 'k-1' };
  const others = [
    ['POST', '/e/key1', 'a'],
    ['PUT', '/e/key1', 'a'],
    ['POST', '/e/key1', 'b'],
    ['POST', '/e/key1', ''],
    ['POST', '/e/key1', '\n'],
    ['POST', '/e/key1/', 'a'],
    ['POST', '/e/key1/x', 'a'],
    ['POST', '/e/key1?x', 'a'],
    ['POST', '/e/key1?x=1', 'a'],
  ] as const;
  for (const [method, path, body] of others) await call(method, path, { ...OPEN, headers, body });
  assert.equal(new Set(hashes).size, others.length);
  await call('POST', '/e/key1', { ...OPEN, headers: { ...headers, 'x-sent-at': 'later' }, body: 'a' });
  await call('POST', '/e/key1', { ...OPEN, headers: { ...headers, 'content-encoding': 'gzip' }, body: gzipSync('a') });
  assert.deepEqual(hashes.slice(-2), [hashes[0], hashes[0]], 'the same payload, compressed or not');
});

test('an idempotency key of 256 characters is refused', async (t) => {
  const { seed, call } = await startServer(t);
  await seed.triggers(trigger(1));
  const headersOf = (length: number) => ({ 'idempotency-key': 'k'.repeat(length) });
  assert.equal((await call('POST', '/e/key1', { ...OPEN, headers: headersOf(255) })).status, 200);
  const { status, json } = await call('POST', '/e/key1', { ...OPEN, headers: headersOf(256) });
  assert.equal(status, 400);
  assert.equal(json.errors[0].parameter, 'Idempotency-Key');
});

test('a custom answer goes out as given', async (t) => {
  const body = Buffer.from([1, 2, 0xff]);
  const headers = {
    'Content-Type': 'image/png',
    'X-Mine': 'yes',
    Connection: 'close',
    'Content-Length': '99',
    'X-Request-Id': 'z',
  };
  const { call } = await custom(t, answering(answer({ status: 418, headers, body })));
  const response = await call('GET', '/e/key1', OPEN);
  assert.equal(response.status, 418);
  assert.equal(response.headers.get('content-type'), 'image/png');
  assert.equal(response.headers.get('x-mine'), 'yes');
  assert.equal(response.headers.get('content-length'), '3');
  assert.equal(response.headers.get('connection'), 'keep-alive');
  assert.match(response.headers.get('x-request-id') ?? '', /^req_/);
  assert.match(response.headers.get('content-security-policy') ?? '', /^sandbox/);
});

test('an answer of 204 has no body', async (t) => {
  const { call } = await custom(t, answering(answer({ status: 204, body: Buffer.from('ignored') })));
  const response = await call('GET', '/e/key1', OPEN);
  assert.deepEqual([response.status, response.text, response.headers.get('content-length')], [204, '', null]);
});

test('an answer that is no HTTP becomes 500', async (t) => {
  const broken = [
    answer({ headers: { 'bad name': 'x' } }),
    answer({ headers: { 'x-a': 'line\r\nx-b: injected' } }),
    answer({ headers: { 'x-a': 'snow ☃' } }),
    answer({ status: 101 }),
    answer({ status: 99.5 }),
    answer({ status: 1000 }),
    answer({ headers: { 'Content-Type': 'Multipart/X-Mixed-Replace; boundary=b' } }),
    answer({ headers: { 'content-type': ['text/html', 'multipart/x-mixed-replace'] } }),
  ];
  let next = 0;
  const accept = (): Accepted => ({ appended: appended(1), answer: Promise.resolve(broken[next++] as Answered) });
  const { call } = await custom(t, { accept });
  for (const _ of broken) {
    const { status, json } = await call('GET', '/e/key1', OPEN);
    assert.equal(status, 500);
    assert.match(json.detail, /workflow answered/);
  }
});

test('a repeated key gives the first answer', async (t) => {
  const first: HttpAnswer = { status: 201, headers: { 'x-first': '1' }, body: Buffer.from('made') };
  const repeated = [first, null].map((kept) => ({ answer: kept, isSameRequest: true }));
  let next = 0;
  const accept = () => ({ appended: appended(5, { repeated: repeated[next++] ?? null }), answer: null });
  const { call } = await custom(t, { accept });
  const headers = { 'idempotency-key': 'k' };
  const answered = await call('POST', '/e/key1', { ...OPEN, headers });
  assert.deepEqual([answered.status, answered.text, answered.headers.get('x-first')], [201, 'made', '1']);
  assert.deepEqual((await call('POST', '/e/key1', { ...OPEN, headers })).json, { id: 'tag425' });
});

test('storage that fails answers 503', async (t) => {
  const fail = () => Promise.reject(new StoreUnavailable('disk full'));
  const harness = await startServer(t, { actions: { accept: fail } });
  await harness.seed.triggers(trigger(1));
  const { status, headers, json } = await harness.call('POST', '/e/key1', { ...OPEN, json: {} });
  assert.equal(status, 503);
  assert.equal(headers.get('retry-after'), '1');
  assert.doesNotMatch(json.detail, /disk full/);
  const lookup = await startServer(t, { store: { triggerByKey: fail } });
  assert.equal((await lookup.call('POST', '/e/key1', { ...OPEN, json: {} })).status, 503);
});

test('a refusal of the engine passes through', async (t) => {
  const accept = () => Promise.reject(new Refusal('rate_limited', 'slowly', { retryAfterS: 7 }));
  const { seed, call } = await startServer(t, { actions: { accept } });
  await seed.triggers(trigger(1));
  const { status, headers } = await call('POST', '/e/key1', { ...OPEN, json: {} });
  assert.deepEqual([status, headers.get('retry-after')], [429, '7']);
});

test('a bug leaks nothing and is logged', async (t) => {
  const accept = () => Promise.reject(new Error('secret detail'));
  const { seed, call, logged } = await startServer(t, { actions: { accept } });
  await seed.triggers(trigger(1));
  const { status, text, headers } = await call('POST', '/e/key1', { ...OPEN, json: {} });
  assert.equal(status, 500);
  assert.doesNotMatch(text, /secret detail/);
  const [line] = logged as { fields: { request_id: string; err: Error }; name: string }[];
  assert.equal(line?.fields.request_id, headers.get('x-request-id'));
  assert.equal(line?.fields.err.message, 'secret detail');
});

test('a caller who disconnects is waited for no more', async (t) => {
  const waiters = new Waiters();
  let runs = 0;
  const accept = (_emission: unknown, { whenGone }: { whenGone?: WhenGone }): Accepted => {
    runs++;
    return { appended: appended(runs, { firstRun: runs }), answer: waiters.answerOf(runs, whenGone).answered };
  };
  const { port } = await custom(t, { accept });
  const callers = Array.from({ length: 20 }, () => connect(t, port));
  for (const caller of callers) caller.send('POST /e/key1 HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n');
  const waiting = (count: number) => until(`${count} who wait`, async () => waiters.runs().length === count);
  await waiting(20);
  const [last, ...others] = callers;
  for (const caller of others) caller.close();
  await waiting(1);
  const [run] = waiters.runs();
  // Only the side that has nothing more to send.
  last?.end();
  waiters.answer(run as number, answer({ status: 202, body: Buffer.from('still here') }));
  assert.equal((await last?.answer())?.body, 'still here');
  assert.deepEqual(waiters.runs(), []);
});
