// Requests that code asks for with `$.send.http`: what goes out, and who sees it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../support/client.ts';
import { askedFor, requestsOf, SEND_BODY, wholeOf } from '../../support/data/requests.ts';
import { startErrand } from '../../support/errand.ts';
import { createOwner, withScopes } from '../../support/owners.ts';
import { startReceiver } from '../../support/receiver.ts';
import { shareErrand } from '../../support/shared-errand.ts';
import { attempted } from '../../support/webhooks.ts';

const newErrand = shareErrand();

const SECRET = 'Bearer very-private';

test('a request goes out as the code says', async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  const { workflow, delivery } = await askedFor(errand, {
    method: 'patch',
    url: `${receiver.url}?a=1`,
    params: { b: ['x', 'y'] },
    headers: { Authorization: SECRET, 'X-Own': 'é' },
    data: { order: 7 },
  });
  const [request] = await receiver.wait(1);
  assert.ok(request);
  assert.equal(request.method, 'PATCH');
  assert.equal(request.path, '/hook?a=1&b%5B%5D=x&b%5B%5D=y');
  assert.equal(request.body.toString(), '{"order":7}');
  const { headers } = request;
  assert.deepEqual(
    [headers.authorization, headers['x-own'], headers['content-type']],
    [SECRET, 'é', 'application/json'],
  );
  assert.match(headers['user-agent'] ?? '', /^errand\/\d/);
  assert.equal(headers['idempotency-key'], delivery.emission_id);
  assert.deepEqual(
    Object.keys(headers).filter((name) => /^(webhook|errand)-/.test(name)),
    [],
    'nothing is signed',
  );
  const done = await attempted(errand, delivery.id, 1);
  assert.deepEqual(
    [done.state, done.kind, done.webhook_id, done.event_name, done.emitter_id, done.origin],
    ['delivered', 'http', null, '$http', workflow.id, new URL(receiver.url).origin],
  );
  assert.deepEqual([done.attempts[0].status, done.attempts[0].response_body], [200, 'answered 200']);
  const [run] = await errand.runs(workflow.id, 1);
  const { causes } = (await errand.client.get(`/v1/runs/${run.id}`)).data;
  assert.deepEqual(
    causes.map((c: Json) => [c.kind, c.id, c.listener_id, c.state]),
    [['delivery', done.id, `http:${done.origin}`, 'delivered']],
  );
  const ledger = (await errand.client.get('/v1/ledger')).data;
  assert.equal(ledger.deliveries.delivered, 1);
});

test('bytes and headers of the code stay as they are', async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  const workflow = await errand.workflow(`export default ({ steps, $ }) => $.send.http({
    url: steps.trigger.event.body.url,
    headers: { 'user-agent': 'mine', 'idempotency-key': 'k1', 'content-type': 'image/png', cookie: 'a=b' },
    data: Buffer.from([0, 255, 10]),
  });`);
  await errand.send(workflow, { url: receiver.url });
  const [request] = await receiver.wait(1);
  assert.deepEqual([...(request?.body ?? [])], [0, 255, 10]);
  const { headers } = request as { headers: Json };
  assert.deepEqual(
    [headers['user-agent'], headers['idempotency-key'], headers['content-type'], headers.cookie],
    ['mine', 'k1', 'image/png', 'a=b'],
  );
});

test('a request without data has no body', async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  await askedFor(errand, { url: receiver.url });
  const [request] = await receiver.wait(1);
  assert.deepEqual([request?.method, request?.body.length, request?.headers['content-length']], ['GET', 0, undefined]);
});

test('what was asked for before an error goes out', async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  const workflow = await errand.workflow(
    `${SEND_BODY.slice(0, -1).replace('=> ', '=> { ')}; throw new Error('after'); };`,
  );
  await errand.send(workflow, { url: receiver.url });
  await errand.errors(workflow.id, 1);
  assert.equal((await receiver.wait(1)).length, 1);
  const [request] = await requestsOf(errand, '&state=delivered');
  assert.equal(request.emitter_id, workflow.id);
});

test('only keys that write see what was sent', async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  const asked = { method: 'POST', url: `${receiver.url}?key=1`, headers: { authorization: SECRET }, data: 'text' };
  const { workflow, delivery } = await askedFor(errand, asked);
  await receiver.wait(1);
  const { client: reader } = await withScopes(errand.client, ['read']);
  const headers = { authorization: SECRET, 'content-type': 'text/plain; charset=utf-8' };
  const events = `/v1/workflows/${workflow.id}/event_summaries?event_name=%24http&expand=event`;
  assert.deepEqual((await wholeOf(errand, delivery)).request, {
    method: 'POST',
    url: asked.url,
    headers,
    body: 'text',
  });
  assert.equal((await errand.client.get(events)).data[0].event.headers.authorization, SECRET);
  const hidden = {
    method: 'POST',
    url: `${new URL(receiver.url).origin}/(hidden)`,
    headers: { authorization: '(hidden)', 'content-type': '(hidden)' },
    body: '(hidden)',
  };
  assert.deepEqual((await wholeOf({ client: reader }, delivery)).request, hidden);
  assert.deepEqual((await reader.get(events)).data[0].event, hidden);

  const stream = await fetch(`${errand.url}/v1/emitters/${workflow.id}/events?event_name=%24http`, {
    headers: { authorization: `Bearer ${errand.client.key}` },
  });
  await errand.send(workflow, asked);
  let frames = '';
  for await (const part of stream.body as ReadableStream<Uint8Array>) {
    frames += Buffer.from(part).toString();
    if (frames.includes('"metadata"')) break;
  }
  assert.match(frames, /"url":"http:\/\/127\.0\.0\.1:\d+\/\(hidden\)"/);
  assert.doesNotMatch(frames, /very-private/);
});

test('another owner sees nothing of it', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  const { delivery } = await askedFor(errand, { url: receiver.url });
  await receiver.wait(1);
  const other = await createOwner(errand);
  const mine = await other.workflow(SEND_BODY);
  await other.send(mine, { url: receiver.url });
  await receiver.wait(2);
  const [own] = await requestsOf(other);
  assert.equal(own.emitter_id, mine.id);
  assert.equal((await other.client.get('/v1/deliveries?kind=http')).data.length, 1);
  for (const [method, path] of [
    ['GET', `/v1/deliveries/${delivery.id}`],
    ['POST', `/v1/deliveries/${delivery.id}/resend`],
  ] as const) {
    assert.equal((await other.client.request(method, path)).status, 404);
  }
});

test('lists tell requests, mails and webhooks apart', async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  await askedFor(errand, { url: receiver.url });
  assert.equal((await errand.client.get('/v1/deliveries?kind=mail')).data.length, 0);
  assert.equal((await errand.client.get('/v1/deliveries')).data.length, 1);
  const both = await errand.client.request('GET', '/v1/deliveries?kind=http&webhook_id=wh_0000000000000000');
  assert.equal(both.status, 400);
  assert.match(both.text, /kind=http and webhook_id exclude each other/);
  assert.equal((await errand.client.get('/v1/deliveries?kind=webhook')).data.length, 0);
  const unknown = await errand.client.request('GET', '/v1/deliveries?kind=post');
  assert.equal(unknown.status, 400);
  assert.match(unknown.text, /mail.*http/);
});

test('a run that waits has sent its request', async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  const workflow = await errand.workflow(`export default ({ steps, $ }) => {
    $.send.http({ url: steps.trigger.event.body.url, data: { resume: $.flow.suspend().resume_url } });
  };`);
  await errand.send(workflow, { url: receiver.url });
  const [request] = await receiver.wait(1);
  const { resume } = JSON.parse(request?.body.toString() ?? '');
  const [waiting] = (await errand.client.get(`/v1/workflows/${workflow.id}/runs`)).data;
  assert.equal(waiting.state, 'waiting');
  assert.equal((await fetch(resume, { method: 'POST' })).status, 200);
  const [run] = await errand.runs(workflow.id, 1);
  assert.equal(run.state, 'succeeded');
  assert.equal((await requestsOf(errand)).length, 1);
});
