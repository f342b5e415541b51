// Which calls are made again, what all attempts have in common, and what ends a call.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConnectionError, Errand, ProblemError } from '../../src/client/client.ts';
import { readRetryAfter } from '../../src/client/problem.ts';
import { freePort } from '../support/port.ts';
import { refuse, sendJson, startScripted } from './server.ts';

const ME = { data: { id: 'u_1' } };
const WEBHOOK = { url: 'https://example.com' };

test('a call that may be repeated is made until it is answered', async () => {
  await using server = await startScripted((response, _asked, n) => {
    if (n === 0) response.destroy();
    else if (n === 1) refuse(response, 503, 'unavailable', { 'retry-after': '0' });
    else sendJson(response, 200, ME);
  });
  const errand = new Errand({ url: server.url, key: 'k' });
  assert.deepEqual(await errand.getMe(), ME);
  assert.equal(server.asked.length, 3);
});

test('what may have been done is not done twice', async () => {
  await using server = await startScripted((response, _asked, n) => {
    if (n === 0) response.destroy();
    else refuse(response, 503, 'unavailable', { 'retry-after': '0' });
  });
  const errand = new Errand({ url: server.url, key: 'k' });
  await assert.rejects(errand.createWebhook(WEBHOOK), (error: unknown) => {
    assert.ok(error instanceof ConnectionError && error.wasSent);
    return true;
  });
  await assert.rejects(errand.createWebhook(WEBHOOK), { name: 'ProblemError', code: 'unavailable' });
  assert.equal(server.asked.length, 2);
});

test('what was refused for now is made again, whatever it is', async () => {
  await using server = await startScripted((response, _asked, n) => {
    if (n === 0) refuse(response, 429, 'rate_limited', { 'retry-after': '0' });
    else sendJson(response, 200, { data: { id: 'wh_1' } });
  });
  const errand = new Errand({ url: server.url, key: 'k' });
  assert.equal((await errand.createWebhook(WEBHOOK)).data.id, 'wh_1');
  assert.deepEqual(
    server.asked.map(({ body }) => body),
    [JSON.stringify(WEBHOOK), JSON.stringify(WEBHOOK)],
  );
});

test('all attempts of an event have one idempotency key', async () => {
  await using server = await startScripted((response, _asked, n) => {
    if (n % 3 === 0) response.destroy();
    else if (n % 3 === 1) refuse(response, 502, 'x', { 'retry-after': '0' });
    else sendJson(response, 200, { id: 'e' });
  });
  const errand = new Errand({ url: server.url, key: 'k' });
  await errand.callEndpoint({ key: 'abc', body: { n: 1 } });
  await errand.callEndpoint({ key: 'abc', body: { n: 1 } }, { idempotencyKey: 'order-7' });
  const keys = server.asked.map(({ headers }) => headers['idempotency-key']);
  assert.equal(keys.length, 6);
  assert.match(String(keys[0]), /^[0-9a-f]{32}$/);
  assert.deepEqual(keys, [keys[0], keys[0], keys[0], 'order-7', 'order-7', 'order-7']);
  assert.ok(server.asked.every(({ headers }) => headers.authorization === undefined));
});

test('all attempts of a report have one idempotency key', async () => {
  await using server = await startScripted((response, _asked, n) => {
    if (n === 0) response.destroy();
    else sendJson(response, 200, { data: { id: '1-0' } });
  });
  await new Errand({ url: server.url, key: 'k' }).reportError({ service: 'shop', message: 'no' });
  const keys = server.asked.map(({ headers }) => String(headers['idempotency-key']));
  assert.match(keys[0] ?? '', /^[0-9a-f]{32}$/);
  assert.deepEqual(keys, [keys[0], keys[0]]);
});

test('a run that took too long is not started again', async () => {
  await using server = await startScripted((response) => refuse(response, 504, 'run_timeout'));
  const errand = new Errand({ url: server.url });
  await assert.rejects(errand.callEndpoint({ key: 'abc' }), { code: 'run_timeout', status: 504 });
  assert.equal(server.asked.length, 1);
});

test('refusals that stay are told at once, with all they say', async () => {
  const errors = [{ parameter: 'limit', message: 'must be a whole number' }];
  await using server = await startScripted((response) =>
    sendJson(response, 400, { type: '/docs/errors#malformed', detail: 'no', errors }, { 'x-request-id': 'q1' }),
  );
  const errand = new Errand({ url: server.url, key: 'k' });
  const error = await errand.searchRuns({ limit: 0 }).then(
    () => assert.fail('it was refused'),
    (refused: unknown) => refused,
  );
  assert.ok(error instanceof ProblemError && error instanceof Error);
  const { status, code, message, requestId, retryAfterMs } = error;
  assert.deepEqual([status, code, message, requestId, retryAfterMs], [400, 'malformed', 'no', 'q1', null]);
  assert.deepEqual(error.errors, errors);
  assert.equal(server.asked.length, 1);
});

test('an answer of another program is told as such', async () => {
  await using server = await startScripted((response, { path }) => {
    if (path === '/v1/users/me') response.writeHead(403, { 'content-type': 'text/html' }).end('<h1>Login</h1>');
    else if (path === '/v1/keys') response.writeHead(301, { location: 'https://elsewhere.example/v1/keys' }).end();
    else response.end('<h1>Welcome</h1>');
  });
  const errand = new Errand({ url: server.url, key: 'k', retries: 0 });
  await assert.rejects(errand.getMe(), {
    name: 'ProblemError',
    code: null,
    message: /answered 403 Forbidden without a reason/,
  });
  await assert.rejects(errand.listKeys(), { name: 'ConnectionError', message: /redirects to https:\/\/elsewhere/ });
  await assert.rejects(errand.getLedger(), { name: 'ConnectionError', message: /is that an Errand server\?/ });
});

test('a long Retry-After is left to the caller', async () => {
  await using server = await startScripted((response) =>
    refuse(response, 429, 'rate_limited', { 'retry-after': '3600' }),
  );
  const errand = new Errand({ url: server.url, key: 'k' });
  await assert.rejects(errand.getMe(), { code: 'rate_limited', retryAfterMs: 3_600_000 });
  assert.equal(server.asked.length, 1);
});

test('Retry-After is read as seconds or as a date', () => {
  const now = Date.parse('2026-01-31T12:00:00Z');
  assert.equal(readRetryAfter('7', now), 7000);
  assert.equal(readRetryAfter('Sat, 31 Jan 2026 12:00:30 GMT', now), 30_000);
  assert.equal(readRetryAfter('Sat, 31 Jan 2026 11:00:00 GMT', now), 0);
  for (const header of [null, '', 'soon', '-1', '1e9', '99999999999']) assert.equal(readRetryAfter(header, now), null);
});

test('a server that is away is told by its address', async () => {
  const url = `http://127.0.0.1:${await freePort()}`;
  const errand = new Errand({ url, key: 'k', retries: 1 });
  await assert.rejects(errand.createWebhook(WEBHOOK), (error: unknown) => {
    assert.ok(error instanceof ConnectionError && !error.wasSent);
    assert.match(error.message, new RegExp(`^${url} cannot be reached: .*ECONNREFUSED`));
    return true;
  });
});

test('the signal ends a call with its reason', async () => {
  const ended = new AbortController();
  await using server = await startScripted(() => ended.abort(new Error('enough')));
  const errand = new Errand({ url: server.url, key: 'k' });
  await assert.rejects(errand.getMe({}, { signal: ended.signal }), { message: 'enough' });
  await assert.rejects(errand.getMe({}, { signal: ended.signal }), { message: 'enough' });
  assert.equal(server.asked.length, 1);
  // Also while it waits for the next attempt.
  const waiting = new AbortController();
  await using refusing = await startScripted((response) => {
    refuse(response, 429, 'rate_limited', { 'retry-after': '50' });
    response.on('close', () => waiting.abort(new Error('no longer')));
  });
  const other = new Errand({ url: refusing.url, key: 'k' });
  await assert.rejects(other.getMe({}, { signal: waiting.signal }), { message: 'no longer' });
});

test('an attempt that takes too long is told with its time', async () => {
  await using server = await startScripted(() => undefined);
  const errand = new Errand({ url: server.url, key: 'k', retries: 0 });
  await assert.rejects(errand.getMe({}, { timeoutMs: 50 }), {
    name: 'ConnectionError',
    message: `GET ${server.url}/v1/users/me took longer than 50 ms`,
  });
  // A body that stops in the middle, too.
  await using half = await startScripted((response) => void response.writeHead(200).write('{"data":'));
  await assert.rejects(new Errand({ url: half.url, key: 'k', retries: 0 }).getMe({}, { timeoutMs: 50 }), /took longer/);
});

test('what cannot be right is refused before it is sent', async () => {
  await using server = await startScripted((response) => sendJson(response, 200, ME));
  const errand = new Errand({ url: server.url, key: 'k' });
  // As a program in JavaScript would call it.
  const loose = errand as unknown as Record<string, (input: object) => Promise<unknown>>;
  await assert.rejects(async () => loose.searchRuns?.({ stat: 'failed' }), /takes no stat/);
  for (const id of ['', '.', '..', undefined]) await assert.rejects(async () => loose.getRun?.({ id }), /: id is /);
  for (const url of ['errand.example.com', 'ftp://x', 'http://', 'https://u:p@x.example', 'https://x.example/?a=1']) {
    assert.throws(() => new Errand({ url }), TypeError, url);
  }
  for (const key of ['', 'a b', 'secret\n', 'schlüssel']) {
    assert.throws(
      () => new Errand({ key }),
      (error: Error) => !error.message.includes('secret') && /^key: /.test(error.message),
    );
  }
  assert.equal(server.asked.length, 0);
});
