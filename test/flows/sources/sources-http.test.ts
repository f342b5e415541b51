// Sources that take HTTP requests: what their code sees, what it emits, and who hears of it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../support/client.ts';
import { startErrand } from '../../support/errand.ts';
import { assertProblem } from '../../support/problem.ts';
import { startReceiver } from '../../support/receiver.ts';
import { shareErrand } from '../../support/shared-errand.ts';
import { createSource, ECHO_SOURCE, emissions, eventsOf, post } from '../../support/sources/sources.ts';
import { until } from '../../support/wait.ts';

const newErrand = shareErrand();

test('a source with http gets an address', async () => {
  await using errand = await newErrand();
  const source = await createSource(errand, ECHO_SOURCE, { name: 'My First Source' });
  assert.match(source.id, /^dc_/);
  assert.equal(source.name, 'My First Source');
  assert.equal(source.name_slug, 'my-first-source');
  assert.equal(source.active, true);
  assert.ok(Number.isInteger(source.created_at) && source.created_at < 1e11, 'epoch seconds');
  assert.ok(Number.isInteger(source.updated_at));
  assert.ok(source.endpoint_url.startsWith(`${errand.url}/e/`), source.endpoint_url);
  const key = source.endpoint_url.slice(`${errand.url}/e/`.length);
  assert.ok(key.length >= 22, 'at least 128 random bits');
  const { configured_props: shown } = await errand.client.get(`/v1/sources/${source.id}`).then(({ data }) => data);
  assert.equal(shown.http.endpoint_url, source.endpoint_url);
  const [listed] = (await errand.client.get('/v1/sources')).data;
  assert.deepEqual([listed.endpoint_url, listed.configured_props], [source.endpoint_url, shown]);
  const again = await errand.client.put(`/v1/sources/${source.id}`, { configured_props: shown });
  assert.deepEqual(again.configured_props, shown);
});

test('what belongs elsewhere is no source', async () => {
  await using errand = await newErrand();
  for (const [code, why] of [
    ['{ type: "action", run() {} }', 'of type action, which is a step of a workflow; a source has no type'],
    ['() => 1', 'a function, which is a step of a workflow; a source is an object with props and run(event)'],
  ]) {
    const body = { component_code: `export default ${code}` };
    assertProblem(await errand.client.request('POST', '/v1/sources', body), 422, `the component is ${why}`);
  }
});

test('run sees request with its raw body', async () => {
  await using errand = await newErrand();
  const source = await createSource(
    errand,
    `export default { props: { http: '$.interface.http' }, async run(event) { this.$emit(event); } };`,
  );
  const body = '{ "n" : 12345678901234567890,  "a": "\\u00e9" }';
  const response = await fetch(`${source.endpoint_url}/deep/er?q=1&q=2&x=y`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json', 'X-Signature': 'abc' },
    body,
  });
  assert.equal(response.status, 200);
  const [{ event }] = await emissions(errand, source.id, 1);
  assert.equal(event.method, 'PUT');
  assert.equal(event.path, '/deep/er');
  assert.deepEqual(event.query, { q: ['1', '2'], x: 'y' });
  assert.equal(event.headers['x-signature'], 'abc');
  assert.equal(event.client_ip, '127.0.0.1');
  assert.equal(event.url, `${source.endpoint_url}/deep/er?q=1&q=2&x=y`);
  assert.equal(event.bodyRaw, body);
  assert.deepEqual(event.body, JSON.parse(body));
});

test('a body that is text stays text', async () => {
  await using errand = await newErrand();
  const source = await createSource(errand, ECHO_SOURCE);
  await post(source, 'plain words', { 'content-type': 'text/plain' });
  const [{ event }] = await emissions(errand, source.id, 1);
  assert.equal(event, 'plain words');
});

test('a source without run emits its event', async () => {
  await using errand = await newErrand();
  const source = await createSource(errand, `export default { props: { http: '$.interface.http' } };`);
  await post(source, { a: 1 });
  const [{ event }] = await emissions(errand, source.id, 1);
  assert.equal(event.method, 'POST');
  assert.deepEqual(event.body, { a: 1 });
});

test('a component as module.exports runs unchanged', async () => {
  await using errand = await newErrand();
  const source = await createSource(
    errand,
    `module.exports = {
      key: 'cjs', version: '0.0.1', props: { http: '$.interface.http' },
      methods: { wrap(x) { return { wrapped: x, key: this.key ?? null }; } },
      async run(event) { const { wrap, $emit } = this; $emit(wrap(event.body)); },
    };`,
  );
  await post(source, 7);
  const [{ event }] = await emissions(errand, source.id, 1);
  assert.equal(event.wrapped, 7);
});

test('custom response answers the caller from run', async () => {
  await using errand = await newErrand();
  const source = await createSource(
    errand,
    `export default {
      props: { http: { type: '$.interface.http', customResponse: true } },
      async run(event) {
        this.http.respond({ status: '201', headers: { 'x-mine': 'yes' }, body: { challenge: event.body.challenge } });
        this.$emit({ endpoint: this.http.endpoint });
      },
    };`,
  );
  const response = await fetch(source.endpoint_url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"challenge":"c-1"}',
  });
  assert.equal(response.status, 201);
  assert.equal(response.headers.get('x-mine'), 'yes');
  assert.deepEqual(await response.json(), { challenge: 'c-1' });
  const [{ event }] = await emissions(errand, source.id, 1);
  assert.equal(event.endpoint, source.endpoint_url);
});

test('an object sent as text is an object', async () => {
  await using errand = await newErrand();
  const source = await createSource(
    errand,
    `export default { props: { http: '$.interface.http' }, run({ body, bodyRaw }) { this.$emit({ body, bodyRaw }); } };`,
  );
  const deep = '['.repeat(300) + ']'.repeat(300);
  const sent: [type: string, text: string, body: unknown][] = [
    ['text/plain; charset=UTF-8', ' {"Type": "Notification"}', { Type: 'Notification' }],
    ['text/plain', '[1]', [1]],
    ['text/plain', '{"cut": ', '{"cut": '],
    ['text/plain', '7', '7'],
    ['text/plain', deep, deep],
    ['application/x-www-form-urlencoded', '{"a":1}', { '{"a":1}': '' }],
  ];
  for (const [type, text] of sent) {
    const response = await fetch(source.endpoint_url, {
      method: 'POST',
      headers: { 'content-type': type },
      body: text,
    });
    assert.equal(response.status, 200);
  }
  const events = eventsOf(await emissions(errand, source.id, sent.length));
  assert.deepEqual(
    events,
    sent.map(([, bodyRaw, body]) => ({ body, bodyRaw })),
  );
});

test('a source that answers nothing answers 200 unless it fails', async () => {
  await using errand = await newErrand();
  const http = `{ type: '$.interface.http', customResponse: true }`;
  const source = await createSource(
    errand,
    `export default { props: { http: ${http} }, run({ query }) { if (query.fails) throw new Error('no'); this.$emit(1); } };`,
  );
  const call = async (query = ''): Promise<[status: number, json: Json]> => {
    const headers = { 'idempotency-key': `key${query}` };
    const response = await fetch(source.endpoint_url + query, { method: 'POST', headers });
    return [response.status, (await response.json()) as Json];
  };
  const [status, { id }] = await call();
  assert.deepEqual([status, typeof id], [200, 'string']);
  assert.deepEqual(await call(), [200, { id }], 'a repeat');
  const [failed, { detail }] = await call('?fails=1');
  assert.equal(failed, 400);
  assert.match(detail, /^The run of the source failed without respond\(\)/);
  assert.equal((await emissions(errand, source.id, 1)).length, 1);
});

test('an answer that a source gives no caller is told in its log', async () => {
  await using errand = await newErrand();
  const code = `export default { props: { http: '$.interface.http' }, run() { this.http.respond({ status: 201 }); this.$emit(1); } };`;
  const source = await createSource(errand, code);
  await post(source, {});
  await emissions(errand, source.id, 1);
  const { data } = await errand.client.get(`/v1/sources/${source.id}/logs`);
  assert.match(JSON.stringify(data), /respond has no effect.*the http prop has no customResponse/);
});

test('emissions carry id, summary, ts and name', async () => {
  await using errand = await newErrand();
  const source = await createSource(
    errand,
    `export default { props: { http: '$.interface.http' }, run() {
      this.$emit({ n: 1 }, { id: 41, summary: 'first of all', ts: 1700000000000 });
      this.$emit({ n: 2 }, { id: 'x', name: 'orders', summary: 'an order' });
    } };`,
  );
  await post(source, {});
  const [plain] = await emissions(errand, source.id, 1);
  const [named] = await emissions(errand, source.id, 1, 'orders');
  assert.deepEqual(plain.event, { n: 1 });
  assert.equal(plain.metadata.emitter_id, source.id);
  assert.equal(plain.metadata.summary, 'first of all');
  assert.equal(String(plain.metadata.id), '41');
  assert.equal(plain.metadata.ts, 1700000000000);
  assert.equal(plain.metadata.name, '');
  assert.deepEqual(named.event, { n: 2 });
  assert.equal(named.metadata.name, 'orders');
  assert.equal(named.metadata.id, 'x');
  assert.notEqual(named.metadata.emit_id, plain.metadata.emit_id);
  assert.match(plain.id, /^\d+-\d+$/);
});

test('event_name alone selects a named channel', async () => {
  await using errand = await newErrand();
  const source = await createSource(
    errand,
    `export default { props: { http: '$.interface.http' }, run(event) {
      this.$emit({ default: true });
      for (const name of ['a', 'b']) this.$emit({ in: name }, { name });
    } };`,
  );
  await post(source, {});
  assert.deepEqual(eventsOf(await emissions(errand, source.id, 1, 'a')), [{ in: 'a' }]);
  assert.deepEqual(eventsOf(await emissions(errand, source.id, 1, 'b')), [{ in: 'b' }]);
  const none = await errand.client.get(`/v1/sources/${source.id}/event_summaries?event_name=c`);
  assert.deepEqual(none.data, []);
  assert.equal(none.page_info.start_cursor, null);
});

test('emissions with ts are sorted oldest first', async () => {
  await using errand = await newErrand();
  const source = await createSource(
    errand,
    `export default { props: { http: '$.interface.http' }, run() {
      for (const ts of [3000, 1000, 2000]) this.$emit({ ts }, { ts });
    } };`,
  );
  await post(source, {});
  assert.deepEqual(eventsOf(await emissions(errand, source.id, 3)), [{ ts: 1000 }, { ts: 2000 }, { ts: 3000 }]);
});

test('a source triggers workflows and webhooks alike', async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  const source = await createSource(errand, ECHO_SOURCE);
  const workflow = await errand.workflow(
    `export default async ({ steps, $ }) => ({ event: steps.trigger.event, context: $.context });`,
    {
      triggers: [{ type: 'source', source_id: source.id }],
    },
  );
  const webhook = await errand.client.post(`/v1/webhooks?url=${encodeURIComponent(receiver.url)}`);
  const subscriptions = await errand.subscribe(source.id, webhook.id);
  assert.equal(subscriptions.length, 1);
  assert.equal(subscriptions[0].event_name, '');
  await post(source, { order: 5, text: 'é' });
  const [run] = await errand.runs(workflow.id, 1);
  const whole = await errand.client.get(`/v1/runs/${run.id}`);
  const { event, context } = whole.data.steps[0].return_value;
  assert.deepEqual(event, { order: 5, text: 'é' });
  assert.equal(context.source_type, 'SOURCE');
  assert.equal(context.emitter_id, source.id);
  const [got] = await receiver.wait(1);
  assert.deepEqual(JSON.parse(String(got?.body)), { order: 5, text: 'é' });
  assert.equal(got?.headers['errand-emitter-id'], source.id);
});

test('a webhook hears only the channel it follows', async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  const source = await createSource(
    errand,
    `export default { props: { http: '$.interface.http' }, run(event) {
      this.$emit({ channel: event.body.name ?? '' }, { name: event.body.name });
    } };`,
  );
  const subscribed: Record<string, string | undefined> = { '/default': undefined, '/orders': 'orders', '/star': '*' };
  for (const [path, name] of Object.entries(subscribed)) {
    const url = new URL(path, receiver.url).href;
    const webhook = await errand.client.post('/v1/webhooks', { url });
    await errand.subscribe(source.id, webhook.id, name);
  }
  await post(source, { name: 'orders' });
  await post(source, { name: 'refunds' });
  await post(source, {});
  await receiver.wait(5);
  await errand.settled();
  const heard = receiver.received.map((r) => `${r.path} ${JSON.parse(String(r.body)).channel}`).sort();
  assert.deepEqual(heard, ['/default ', '/orders orders', '/star ', '/star orders', '/star refunds']);
});

test('errors of a source reach the global workflow', async () => {
  await using errand = await startErrand();
  const me = (await errand.client.get('/v1/users/me')).data;
  const source = await createSource(
    errand,
    `export default { props: { http: '$.interface.http' }, run(event) {
      this.$emit({ never: 'seen' });
      throw Object.assign(new Error('the source fell over'), { code: 'ESOURCE' });
    } };`,
  );
  await post(source, '{"a": 1e2}');
  const [record] = await errand.errors(source.id, 1);
  assert.equal(record.metadata.emitter_id, source.id);
  assert.equal(record.metadata.name, '$errors');
  assert.equal(record.event.error.code, 'ESOURCE');
  assert.equal(record.event.error.msg, 'the source fell over');
  assert.deepEqual(record.event.original_event.body, { a: 100 });
  assert.match(record.event.original_context.emitter_id, /^hi_/);
  await errand.runs(me.global_error_workflow_id, 1);
  const mails = await until('a mail', async () => {
    const all = await errand.outbox();
    return all.length > 0 && all;
  });
  assert.match(mails[0] ?? '', /the source fell over/);
  const page = await errand.client.get(`/v1/sources/${source.id}/event_summaries`);
  assert.deepEqual(page.data, [], 'emissions of a failed run commit not at all');
});

test('code that does not parse is refused', async () => {
  await using errand = await newErrand();
  const answer = await errand.client.request('POST', '/v1/sources', {
    component_code: 'export default {\n  run( {\n};',
  });
  assert.equal(answer.status, 422);
  assert.equal(answer.json.errors[0].line, 3);
  assert.ok(Number.isInteger(answer.json.errors[0].column));
  assert.deepEqual((await errand.client.get('/v1/sources')).data, []);
});
