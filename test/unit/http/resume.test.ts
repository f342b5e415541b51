// The address of a run's wait, up to what is asked of the engine.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { Refusal } from '../../../src/domain/refusal.ts';
import type { WaitAddress, WaitOrder } from '../../../src/domain/requests.ts';
import { prefersHtml } from '../../../src/http/ingress/resume-page.ts';
import { StoreUnavailable } from '../../../src/store/contract/unavailable.ts';
import { type FakeActions, startServer } from './harness.ts';

const OPEN = { key: null } as const;
const RUN = 1_000_000_000_000_000;
const ID = `r_${RUN.toString(36)}`;
const ADDRESS = `/r/${ID}/2.tok-en_/resume`;

const resuming = (): FakeActions => ({ endWait: () => 'queued' });

test('the request is handed on as an event', async (t) => {
  const { call, calls } = await startServer(t, { actions: resuming() });
  const headers = { 'content-type': 'application/json', 'x-a': 'b' };
  const body = '{"n":1.0,"n":12345678901234567890}';
  const { status, json } = await call('POST', `${ADDRESS}?a=1&a=2`, { ...OPEN, headers, body });
  assert.deepEqual([status, json], [200, { data: { run_id: ID, state: 'queued' } }]);
  const [{ args } = { args: [] }] = calls;
  const { request, ...order } = args[0] as WaitOrder;
  assert.deepEqual(order, { run: RUN, waits: 2, token: 'tok-en_', order: 'resume' });
  assert.ok(request.endsWith(`"body":${body}}`), request);
  const event = JSON.parse(request);
  assert.deepEqual(
    [event.method, event.path, event.query, event.headers['x-a']],
    ['POST', '/', { a: ['1', '2'] }, 'b'],
  );
  assert.deepEqual(Object.keys(event), ['method', 'path', 'query', 'client_ip', 'url', 'headers', 'body']);
});

test('a compressed body is inflated within the limit', async (t) => {
  const { call, calls } = await startServer(t, { actions: resuming(), maxBodyBytes: 1000 });
  const headers = { 'content-encoding': 'gzip', 'content-type': 'text/plain' };
  await call('POST', ADDRESS, { ...OPEN, headers, body: gzipSync('yes') });
  const order = calls[0]?.args[0] as WaitOrder | undefined;
  assert.equal(JSON.parse(order?.request ?? '').body, 'yes');
  const bomb = await call('POST', ADDRESS, { ...OPEN, headers, body: gzipSync('x'.repeat(1001)) });
  assert.deepEqual([bomb.status, calls.length], [413, 1]);
});

test('what the engine refuses is told as it is', async (t) => {
  const cases: [Error, number][] = [
    [new Refusal('not_found', 'No run waits at this address'), 404],
    [new Refusal('conflict', 'over'), 409],
    [new StoreUnavailable('gone'), 503],
    [new Error('a bug'), 500],
  ];
  for (const [error, status] of cases) {
    const { call } = await startServer(t, { actions: { endWait: () => Promise.reject(error) } });
    const answer = await call('GET', ADDRESS, OPEN);
    assert.deepEqual([answer.status, answer.json.status], [status, status]);
    const page = await call('GET', ADDRESS, { ...OPEN, headers: { accept: 'text/html' } });
    assert.deepEqual([page.status, page.headers.get('content-type')], [status, 'text/html; charset=utf-8']);
    assert.equal(page.headers.get('retry-after'), answer.headers.get('retry-after'));
    assert.doesNotMatch(page.text, /a bug/);
  }
});

test('what a browser asks for ahead ends nothing', async (t) => {
  const { call, calls } = await startServer(t, { actions: resuming() });
  for (const name of ['sec-purpose', 'purpose', 'x-moz']) {
    assert.equal((await call('GET', ADDRESS, { ...OPEN, headers: { [name]: 'prefetch' } })).status, 503);
  }
  assert.deepEqual(calls, []);
  await call('GET', ADDRESS, { ...OPEN, headers: { 'sec-purpose': 'navigate' } });
  assert.equal(calls.length, 1);
});

test('a process that stops ends no wait', async (t) => {
  const { call, calls } = await startServer(t, { actions: resuming(), draining: () => true });
  assert.deepEqual([(await call('GET', ADDRESS, OPEN)).status, calls], [503, []]);
});

test('a page is for who asks for it', () => {
  const wanted = (accept: string | undefined, expected: boolean): void =>
    assert.equal(prefersHtml(accept), expected, String(accept));
  wanted('text/html,application/xhtml+xml,*/*;q=0.8', true);
  wanted('TEXT/HTML', true);
  wanted('text/html;q=0.5, application/json', false);
  wanted('application/json;q=0.5, text/html;q=0.9', true);
  wanted('text/html;q=0', false);
  wanted('*/*', false);
  wanted('application/json', false);
  wanted(undefined, false);
});

test('ending a wait counts as a request of its owner', async (t) => {
  const asked: string[] = [];
  const takeRequest = (ownerId: string): void => {
    asked.push(ownerId);
    if (asked.length > 1) throw new Refusal('rate_limited', 'The quota is used up', { retryAfterS: 7 });
  };
  const none = () => Promise.reject(new Error('no fake'));
  const quotas = { takeRequest, takeStored: () => undefined, set: none, show: none };
  const findWait = ({ token }: WaitAddress): string => {
    if (token !== 'tok-en_') throw new Refusal('not_found', 'No run waits at this address');
    return 'u_waits';
  };
  const { call, calls } = await startServer(t, { actions: { ...resuming(), findWait }, quotas });
  assert.equal((await call('POST', ADDRESS, OPEN)).status, 200);
  const { status, headers } = await call('POST', ADDRESS, OPEN);
  assert.deepEqual([status, headers.get('retry-after')], [429, '7']);
  assert.equal((await call('POST', ADDRESS.replace('tok-en_', 'guessed'), OPEN)).status, 404);
  assert.deepEqual(asked, ['u_waits', 'u_waits'], 'a guessed address is none of its requests');
  assert.equal(calls.filter(({ verb }) => verb === 'endWait').length, 1, 'what was refused was not done');
});
