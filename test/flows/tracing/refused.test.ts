// What a trace tells of events that were refused, and the `tracestate` that is passed on.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startErrand } from '../../support/errand.ts';
import { startGate } from '../../support/gate.ts';
import { startReceiver } from '../../support/receiver.ts';
import { until } from '../../support/wait.ts';
import { named, startOtlp } from './otlp.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const CALLER = '00f067aa0ba902b7';
const TRACEPARENT = `00-${TRACE}-${CALLER}-01`;
const EMIT = `export default ({ $ }) => { $.send.emit(1); };`;

function post(url: string, headers: Record<string, string> = {}, body = '{}'): Promise<Response> {
  return fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body });
}

test('the caller’s tracestate reaches the receiver, also after a restart', async () => {
  await using otlp = await startOtlp();
  await using errand = await startErrand(otlp.settings);
  await using receiver = await startReceiver();
  receiver.answer((n) => (n === 0 ? 503 : 200));
  const workflow = await errand.workflow(EMIT);
  const webhook = await errand.client.post('/v1/webhooks', { url: receiver.url });
  await errand.subscribe(workflow.id, webhook.id);
  const { endpoint_url: url } = workflow.triggers[0] as { endpoint_url: string };
  await post(url, { traceparent: TRACEPARENT, tracestate: 'rojo=00f067aa0ba902b7 , congo=t61rcWkgMzE,' });
  await receiver.wait(1);
  await errand.settled();
  await errand.restart();
  errand.forward(60_000);
  await receiver.wait(2);
  assert.deepEqual(
    receiver.received.map(({ headers }) => headers.tracestate),
    Array(2).fill('rojo=00f067aa0ba902b7,congo=t61rcWkgMzE'),
  );
  assert.ok(receiver.received.every(({ headers }) => String(headers.traceparent).startsWith(`00-${TRACE}-`)));
});

test('a tracestate that is wrong or without a trace is dropped', async () => {
  await using otlp = await startOtlp();
  await using errand = await startErrand(otlp.settings);
  await using receiver = await startReceiver();
  const workflow = await errand.workflow(EMIT);
  const webhook = await errand.client.post('/v1/webhooks', { url: receiver.url });
  await errand.subscribe(workflow.id, webhook.id);
  const { endpoint_url: url } = workflow.triggers[0] as { endpoint_url: string };
  await post(url, { traceparent: TRACEPARENT, tracestate: 'A=1' });
  await post(url, { traceparent: 'x', tracestate: 'a=1' });
  await post(url, { tracestate: 'a=1' });
  await post(url, { traceparent: TRACEPARENT, tracestate: `a=1,${'b'.repeat(13_000)}=2` });
  const received = await receiver.wait(4);
  assert.deepEqual(
    received.map(({ headers }) => [typeof headers.traceparent, headers.tracestate]),
    Array(4).fill(['string', undefined]),
  );
});

test('what a webhook sets itself is not joined by a foreign state', async () => {
  await using otlp = await startOtlp();
  await using errand = await startErrand(otlp.settings);
  await using receiver = await startReceiver();
  const workflow = await errand.workflow(EMIT);
  const headers = { tracestate: 'own=1' };
  const webhook = await errand.client.post('/v1/webhooks', { url: receiver.url, headers });
  await errand.subscribe(workflow.id, webhook.id);
  const { endpoint_url: url } = workflow.triggers[0] as { endpoint_url: string };
  await post(url, { traceparent: TRACEPARENT, tracestate: 'a=1' });
  const [got] = await receiver.wait(1);
  assert.deepEqual([got?.headers.traceparent, got?.headers.tracestate], [undefined, 'own=1']);
});

test('a request that is refused has a span with an error', async () => {
  await using otlp = await startOtlp();
  await using errand = await startErrand({ ...otlp.settings, ERRAND_MAX_BODY_BYTES: '1000' });
  const workflow = await errand.workflow(`export default () => 1;`);
  const { endpoint_url: url } = workflow.triggers[0] as { endpoint_url: string };
  const secret = 'very-private-value';
  const refusals = [
    [404, () => post(`${url}${secret}`, { traceparent: TRACEPARENT })],
    [415, () => post(url, { traceparent: TRACEPARENT, 'content-encoding': 'rot13' }, `{"${secret}`)],
    [413, () => post(url, { traceparent: TRACEPARENT }, JSON.stringify(secret.repeat(100)))],
  ] as const;
  for (const [n, [status, call]] of refusals.entries()) {
    assert.equal((await call()).status, status);
    const spans = await otlp.wait(n + 1);
    const span = spans[n];
    assert.deepEqual(
      [span?.name, span?.traceId, span?.parentSpanId, span?.kind, span?.isError],
      ['accept HTTP', TRACE, CALLER, 2, true],
    );
    assert.equal(Number(span?.attributes['http.response.status_code']), status);
    assert.match(
      String(span?.exceptions[0]?.['exception.message']),
      new RegExp(`^The event was refused: ${status} \\w`),
    );
  }
  assert.ok(!otlp.requests.received.some(({ body }) => body.includes(secret)));
  await post(`${url}x`, { traceparent: TRACEPARENT.replace(/01$/, '00') });
  await post(`${url}x`);
  await post(url);
  const spans = await otlp.wait(7);
  assert.equal(spans.length, 7, 'none of an unsampled caller');
  assert.notEqual(spans[3]?.traceId, TRACE);
  assert.match(String(spans[3]?.traceId), /^[0-9a-f]{32}$/);
  assert.equal(named(spans.slice(4), 'accept HTTP').isError, false);
});

test('a refusal of a call of the API is no accept', async () => {
  await using otlp = await startOtlp();
  await using errand = await startErrand(otlp.settings);
  assert.equal((await errand.client.request('GET', '/v1/workflows/p_0000000000000000')).status, 404);
  const workflow = await errand.workflow(`export default () => 1;`);
  await errand.send(workflow, {});
  const spans = await otlp.wait(3);
  assert.deepEqual(spans.map(({ name }) => name).sort(), ['accept HTTP', 'run test', 'step step']);
});

test('a full queue is an error of the accept', async () => {
  await using otlp = await startOtlp();
  await using gate = await startGate();
  await using errand = await startErrand(otlp.settings);
  const workflow = await errand.workflow('export default async () => { await fetch(process.env.GATE); }', {
    triggers: [{ type: 'http', custom_response: true }],
    settings: { concurrency: 1, queue_limit: 1, notify: false, env: { GATE: gate.url } },
  });
  const { endpoint_url: url } = workflow.triggers[0] as { endpoint_url: string };
  await errand.client.post(`/v1/workflows/${workflow.id}/runs`, { event: {} });
  await gate.wait(1);
  const waiting = post(url);
  waiting.catch(() => {});
  await until('the second waits', async () => {
    const { data } = await errand.client.get(`/v1/workflows/${workflow.id}/runs?state=queued`);
    return data.length === 1;
  });
  assert.ok((await post(url, { traceparent: TRACEPARENT })).status >= 400);
  gate.open();
  await waiting;
  const accept = await until('its span', () =>
    otlp.spans().find(({ name, traceId }) => name === 'accept HTTP' && traceId === TRACE),
  );
  assert.deepEqual([accept.isError, accept.exceptions[0]?.['exception.type']], [true, 'NoRoom']);
  // Of the caller whose run gave no answer: its event was accepted.
  const all = otlp.spans().filter(({ name }) => name === 'accept HTTP');
  assert.deepEqual(all.map(({ isError }) => isError).sort(), [false, true], 'one span of each request');
});
