// Traces of an event's way, as a receiver of OTLP gets them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Errand, startErrand } from '../../support/errand.ts';
import { startGate } from '../../support/gate.ts';
import { startReceiver } from '../../support/receiver.ts';
import { until } from '../../support/wait.ts';
import { named, startOtlp } from './otlp.ts';

const PARENT = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' };
const TRACEPARENT = `00-${PARENT.traceId}-${PARENT.spanId}-01`;
const EMIT = `export default ({ steps, $ }) => { $.send.emit({ n: steps.trigger.event.body.n }); return 1; };`;
const FAIL = `export default () => { throw Object.assign(new Error('no stock'), { code: 'STOCK' }); };`;
const SECRET = 'very-private-value';

async function send(
  workflow: { triggers: { endpoint_url: string }[] },
  body: unknown,
  headers = {},
): Promise<Response> {
  const url = (workflow.triggers[0] as { endpoint_url: string }).endpoint_url;
  return fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
}

async function webhookOf(errand: Errand, emitterId: string, url: string): Promise<{ id: string }> {
  const webhook = await errand.client.post('/v1/webhooks', { url });
  await errand.subscribe(emitterId, webhook.id);
  return webhook;
}

test('an event is traced from its caller to its receiver', async () => {
  await using otlp = await startOtlp();
  await using errand = await startErrand(otlp.settings);
  await using receiver = await startReceiver();
  const workflow = await errand.workflow(EMIT);
  const webhook = await webhookOf(errand, workflow.id, `${receiver.url}?token=${SECRET}`);
  const response = await send(workflow, { n: SECRET }, { traceparent: TRACEPARENT, 'x-secret': SECRET });
  const { id } = (await response.json()) as { id: string };
  const spans = await otlp.wait(5);
  const [accept, run, step] = ['accept HTTP', 'run test', 'step step'].map((name) => named(spans, name));
  const [delivery, attempt] = ['deliver webhook', 'POST'].map((name) => named(spans, name));
  assert.ok(accept && run && step && delivery && attempt);
  assert.deepEqual(
    spans.map(({ traceId }) => traceId),
    spans.map(() => PARENT.traceId),
  );
  const parents = [accept, run, step, delivery, attempt].map(({ parentSpanId }) => parentSpanId);
  assert.deepEqual(parents, [PARENT.spanId, accept.spanId, run.spanId, run.spanId, delivery.spanId]);
  assert.deepEqual(
    [accept, run, step, delivery, attempt].map(({ kind }) => kind),
    [2, 5, 1, 4, 3],
  );
  const [got] = await receiver.wait(1);
  assert.equal(got?.headers.traceparent, `00-${PARENT.traceId}-${attempt.spanId}-01`);
  assert.equal(response.headers.get('traceresponse'), `00-${PARENT.traceId}-${accept.spanId}-01`);
  assert.equal(accept.attributes['errand.emission.id'], id);
  assert.equal(run.attributes['errand.workflow.id'], workflow.id);
  assert.equal(delivery.attributes['errand.webhook.id'], webhook.id);
  assert.equal(attempt.attributes['server.address'], '127.0.0.1');
  assert.equal(run.resource['service.name'], 'errand');
  assert.ok(spans.every(({ isError, tookMs }) => !isError && tookMs >= 0 && tookMs < 60_000));
  const sent = otlp.requests.received.map(({ body }) => body.toString()).join();
  assert.ok(!sent.includes(SECRET), 'no event, header or query is told');
  assert.ok(
    !sent.includes(new URL(workflow.triggers[0].endpoint_url).pathname.slice(3)),
    'the trigger’s key is a secret',
  );
  const { body } = await errand.client.request('GET', '/metrics').then(({ text }) => ({ body: text }));
  assert.match(body, /errand_trace_spans_total\{result="exported"\} [5-9]/);
});

test('an error is an exception of its step and run', async () => {
  await using otlp = await startOtlp();
  await using errand = await startErrand(otlp.settings);
  const workflow = await errand.workflow(FAIL, { settings: { notify: false } });
  const listener = await errand.workflow(`export default () => 1;`, { name: 'listener' });
  await errand.subscribe(workflow.id, listener.id, '$errors');
  await send(workflow, {});
  const spans = await otlp.wait(5);
  const [run, step] = [
    named(spans, 'run test'),
    spans.find(({ attributes }) => attributes['errand.step.state'] === 'failed'),
  ];
  for (const span of [run, step]) {
    assert.ok(span?.isError);
    const [exception] = span.exceptions;
    assert.equal(exception?.['exception.type'], 'STOCK');
    assert.equal(exception?.['exception.message'], 'no stock');
    assert.match(String(exception?.['exception.stacktrace']), /at /);
  }
  const heard = named(spans, 'run listener');
  assert.deepEqual([heard.traceId, heard.parentSpanId, heard.isError], [run.traceId, run.spanId, false]);
});

test('what rules hide is in no exception', async () => {
  await using otlp = await startOtlp();
  await using errand = await startErrand(otlp.settings);
  await errand.client.put('/v1/users/me/redaction', { keys: [], patterns: ['\\b\\d{16}\\b'] });
  const code = `export default () => { throw new Error('no charge of 4111111111111111'); };`;
  await send(await errand.workflow(code, { settings: { notify: false } }), {});
  const run = named(await otlp.wait(3), 'run test');
  assert.match(String(run.exceptions[0]?.['exception.message']), /^no charge of (?!4111)/);
  assert.ok(!otlp.requests.received.some(({ body }) => body.includes('4111111111111111')));
});

test('a delivery that fails tells each attempt', async () => {
  await using otlp = await startOtlp();
  await using errand = await startErrand(otlp.settings);
  await using receiver = await startReceiver();
  receiver.answer((n) => (n === 0 ? 503 : 200));
  const workflow = await errand.workflow(EMIT);
  await webhookOf(errand, workflow.id, receiver.url);
  await send(workflow, { n: 1 });
  await receiver.wait(1);
  await otlp.wait(4);
  errand.forward(60_000);
  await receiver.wait(2);
  const spans = await until('both attempts', () => {
    const all = otlp.spans();
    return all.some(({ name }) => name === 'deliver webhook') && all.length === 6 && all;
  });
  const attempts = spans.filter(({ name }) => name === 'POST');
  assert.deepEqual(
    attempts.map(({ attributes, isError }) => [attributes['http.response.status_code'], isError]),
    [
      [503, true],
      [200, false],
    ],
  );
  const delivery = named(spans, 'deliver webhook');
  assert.deepEqual([...new Set(attempts.map(({ parentSpanId }) => parentSpanId))], [delivery.spanId]);
  assert.equal(new Set(attempts.map(({ spanId }) => spanId)).size, 2);
  const sent = receiver.received.map(({ headers }) => headers.traceparent);
  assert.deepEqual(
    sent,
    attempts.map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`),
  );
});

test('a trace goes on after a restart', async () => {
  await using otlp = await startOtlp();
  await using gate = await startGate();
  await using errand = await startErrand(otlp.settings);
  await using receiver = await startReceiver();
  const workflow = await errand.workflow(
    `export default async ({ $ }) => { await (await fetch('${gate.url}/a')).text(); $.send.emit(1); };`,
    { settings: { concurrency: 1 } },
  );
  await webhookOf(errand, workflow.id, receiver.url);
  await send(workflow, {}, { traceparent: TRACEPARENT });
  await gate.wait(1);
  // The second is accepted here, and run by the next process only.
  const other = TRACEPARENT.replace('4bf9', 'ffff');
  await send(workflow, {}, { traceparent: other });
  const stopping = errand.restart();
  gate.open();
  await stopping;
  await errand.settled();
  const spans = await until('all spans of the second', () => {
    const all = otlp.spans().filter(({ traceId }) => traceId.startsWith('ffff'));
    return all.length >= 5 && all;
  });
  const accept = named(spans, 'accept HTTP');
  const run = named(spans, 'run test');
  assert.deepEqual([accept.parentSpanId, run.parentSpanId], [PARENT.spanId, accept.spanId]);
  assert.equal(named(spans, 'deliver webhook').parentSpanId, run.spanId);
});

test('a run that waits is one span', async () => {
  await using otlp = await startOtlp();
  await using errand = await startErrand(otlp.settings);
  const steps = [
    { namespace: 'first', code: `export default ({ $ }) => $.flow.delay(60_000);` },
    { namespace: 'second', code: `export default () => 2;` },
  ];
  const workflow = await errand.workflow('', { steps });
  await send(workflow, {});
  await until('the wait', async () => {
    const { data } = await errand.client.get(`/v1/workflows/${workflow.id}/runs?state=waiting`);
    return data.length === 1;
  });
  await errand.restart();
  errand.forward(61_000);
  await errand.runs(workflow.id, 1);
  const spans = await otlp.wait(4);
  const run = named(spans, 'run test');
  assert.deepEqual(
    ['step first', 'step second'].map((name) => named(spans, name).parentSpanId),
    [run.spanId, run.spanId],
  );
  assert.equal(run.parentSpanId, named(spans, 'accept HTTP').spanId);
});

test('a replay stays in the trace of its event', async () => {
  await using otlp = await startOtlp();
  await using errand = await startErrand(otlp.settings);
  const workflow = await errand.workflow(FAIL, { settings: { notify: false } });
  await send(workflow, {}, { traceparent: TRACEPARENT });
  const [error] = await errand.errors(workflow.id, 1);
  const first = named(await otlp.wait(3), 'run test');
  const other = TRACEPARENT.replace('4bf9', 'ffff');
  const path = `/v1/workflows/${workflow.id}/$errors/${error.id}/replay`;
  assert.equal((await errand.client.request('POST', path, undefined, { traceparent: other })).status, 200);
  await errand.errors(workflow.id, 2);
  const spans = (await otlp.wait(6)).slice(3);
  assert.ok(spans.every(({ traceId }) => traceId === PARENT.traceId));
  assert.equal(named(spans, 'run test').parentSpanId, first.spanId);
  const [link] = spans.flatMap(({ links }) => links);
  assert.equal(link?.traceId.slice(0, 4), 'ffff');
});

test('an unsampled caller is obeyed, and a malformed header is not', async () => {
  await using otlp = await startOtlp();
  await using errand = await startErrand(otlp.settings);
  await using receiver = await startReceiver();
  const workflow = await errand.workflow(EMIT);
  await webhookOf(errand, workflow.id, receiver.url);
  await send(workflow, {}, { traceparent: TRACEPARENT.replace(/01$/, '00') });
  const [unsampled] = await receiver.wait(1);
  assert.match(String(unsampled?.headers.traceparent), new RegExp(`^00-${PARENT.traceId}-[0-9a-f]{16}-00$`));
  const malformed = [
    '',
    'x',
    `01`,
    TRACEPARENT.toUpperCase(),
    `00-${'0'.repeat(32)}-${PARENT.spanId}-01`,
    `${TRACEPARENT}-x`,
  ];
  for (const traceparent of [...malformed, 'a'.repeat(4000)]) await send(workflow, {}, { traceparent });
  const spans = await otlp.wait(7 * 5);
  assert.ok(spans.every(({ traceId }) => traceId !== PARENT.traceId && /^[0-9a-f]{32}$/.test(traceId)));
  assert.equal(new Set(spans.map(({ traceId }) => traceId)).size, 7);
});

test('nothing is traced without an endpoint', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  const workflow = await errand.workflow(EMIT);
  await webhookOf(errand, workflow.id, receiver.url);
  const response = await send(workflow, { n: 1 }, { traceparent: TRACEPARENT });
  const [got] = await receiver.wait(1);
  assert.deepEqual([got?.headers.traceparent, response.headers.get('traceresponse')], [undefined, null]);
});

test('a receiver that is away or slow harms nothing', async () => {
  await using otlp = await startOtlp();
  const settings = { ...otlp.settings, OTEL_BSP_MAX_QUEUE_SIZE: '10', OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '5' };
  await using gate = await startGate();
  await using errand = await startErrand({ ...settings, OTEL_EXPORTER_OTLP_ENDPOINT: gate.url });
  const workflow = await errand.workflow(`export default () => 1;`);
  for (let n = 0; n < 40; n++) await errand.send(workflow, { n });
  await errand.runs(workflow.id, 40);
  const metrics = await errand.client.request('GET', '/metrics');
  const dropped = Number(/errand_trace_spans_total\{result="dropped"\} (\d+)/.exec(metrics.text)?.[1]);
  assert.ok(dropped >= 40 * 3 - 10 - 5, `${dropped} dropped`);
  const again = async () => (await errand.client.get(`/v1/workflows/${workflow.id}`)).data;
  otlp.requests.answer(400);
  await errand.restart(settings);
  await errand.send(await again(), {});
  await until('the failure in the log', () =>
    errand.logged.some(({ name }) => name.startsWith('traces cannot be sent')),
  );
  await errand.restart({ ...settings, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' });
  await errand.send(await again(), {});
  await errand.runs(workflow.id, 42);
});
