// What a delivery shows of the requests that were made for it: no more and no other than the receiver got, and no secret.

import { deepEqual, doesNotMatch, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../support/client.ts';
import { withScopes } from '../../support/owners.ts';
import { type Received, startReceiver } from '../../support/receiver.ts';
import { shareErrand } from '../../support/shared-errand.ts';
import { createWebhook, deliveries, EMIT_BODY, emitterWithWebhook } from '../../support/webhooks.ts';

const newErrand = shareErrand();

/** The connection's own are not shown. */
const OF_CONNECTION = ['host', 'connection', 'content-length'];
const NOT_KEPT = ['webhook-signature', 'authorization', 'x-team'];

const shown = ({ request }: Json): Record<string, string | null> =>
  Object.fromEntries(request.headers.map(({ name, value }: Json) => [name, value]));

function arrived({ headers }: Received): Record<string, unknown> {
  const all = Object.entries(headers).filter(([name]) => !OF_CONNECTION.includes(name));
  return Object.fromEntries(all.map(([name, value]) => [name, NOT_KEPT.includes(name) ? null : value]));
}

test('each attempt shows the request that came', async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  await using moved = await startReceiver();
  receiver.answer(503);
  const emitter = await errand.workflow(`export default ({ steps, $ }) => {
    $.send.emit(steps.trigger.event.body, 'größer als 100 %');
  };`);
  const headers = { authorization: 'Bearer hunter2', 'x-team': 'hunter2' };
  const retry = { delays_ms: [3_600_000] };
  const webhook = await createWebhook(errand, receiver, { headers, retry });
  await errand.subscribe(emitter.id, webhook.id, '*');
  await errand.send(emitter, { a: [1, 'é\u2028', null], n: 1e21 });
  const [first] = await deliveries(errand, webhook.id, 'retrying');
  await errand.client.put(`/v1/webhooks/${webhook.id}`, {
    url: `${moved.url}?to=here`,
    headers: { 'x-new': 'hunter2' },
  });
  await errand.client.post(`/v1/deliveries/${first.id}/resend`);
  const [whole] = await deliveries(errand, webhook.id, 'delivered');
  const { text } = await errand.client.request('GET', `/v1/deliveries/${whole.id}`);
  doesNotMatch(text, /hunter2/);
  const [before, after] = whole.attempts;
  deepEqual([before.request.method, before.request.url], ['POST', receiver.url]);
  deepEqual([after.request.method, after.request.url], ['POST', `${moved.url}?to=here`]);
  const [got, later] = [receiver.received[0] as Received, moved.received[0] as Received];
  ok(text.includes(`"event":${got.body},`), text);
  deepEqual(shown(before), arrived(got));
  deepEqual({ ...shown(after), 'x-new': null }, { ...arrived(later), 'x-new': null });
  equal(shown(after)['x-new'], null);
  deepEqual([shown(after)['errand-attempt'], shown(after)['errand-trigger']], ['2', 'resend']);
});

test('an attempt that was put off does not count in what is shown', async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  receiver.answer((n) => (n === 0 ? 429 : 200), { 'retry-after': '1' });
  const { emitter, webhook } = await emitterWithWebhook(errand, receiver);
  await errand.send(emitter, { n: 1 });
  const [{ attempts }] = await deliveries(errand, webhook.id, 'delivered');
  deepEqual(
    attempts.map((one: Json) => [one.n, shown(one)['errand-attempt']]),
    [
      [1, '1'],
      [2, '1'],
    ],
  );
  deepEqual(attempts.map(shown), receiver.received.map(arrived));
});

test('where nothing was sent, nothing is shown', async () => {
  await using errand = await newErrand();
  const emitter = await errand.workflow(EMIT_BODY);
  const closed = await startReceiver();
  await closed[Symbol.asyncDispose]();
  const unreached = await createWebhook(errand, closed, { retry: { delays_ms: [] } });
  await errand.subscribe(emitter.id, unreached.id);
  await errand.send(emitter, { n: 1 });
  const [{ attempts, event }] = await deliveries(errand, unreached.id, 'exhausted');
  deepEqual(event, { n: 1 });
  deepEqual([attempts[0].outcome, attempts[0].request.url], ['refused', closed.url]);
  await errand.workflow('export default () => { throw new Error("no"); };').then((failing) => errand.send(failing, {}));
  await errand.settled();
  const [mail] = (await errand.client.get('/v1/deliveries?kind=mail')).data;
  const whole = (await errand.client.get(`/v1/deliveries/${mail.id}`)).data;
  equal('event' in whole, false);
  ok(whole.attempts.every((one: Json) => !('request' in one)));
});

test('headers of an answer are bounded, and those with secrets hidden', async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  const secrets = {
    'set-cookie': 'sid=hunter2',
    'x-api-key': 'hunter2',
    authorization: 'hunter2',
    'x-csrf-token': 'hunter2',
  };
  receiver.answer(500, { ...secrets, 'x-long': 'x'.repeat(9000), 'x-longer': 'y'.repeat(12_000), 'x-short': 'yes' });
  const { emitter, webhook } = await emitterWithWebhook(errand, receiver);
  await errand.send(emitter, { n: 1 });
  const [{ attempts }] = await deliveries(errand, webhook.id, 'retrying');
  const { response_headers: headers, detail } = attempts[0];
  for (const name of Object.keys(secrets)) equal(headers[name], '(hidden)', name);
  deepEqual([headers['x-short'], headers['content-type'], headers['x-longer']], ['yes', 'text/plain', undefined]);
  equal(Object.entries(headers).flat().join('').length, 4096);
  equal(detail, 'The receiver answered 500; of its headers, 4 KiB are kept.');
});

test('who may not see an event does not see it in its delivery', async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  const { emitter, webhook } = await emitterWithWebhook(errand, receiver);
  await errand.send(emitter, { password: 'hunter2', order: 8 });
  const [{ id }] = await deliveries(errand, webhook.id, 'delivered');
  const { client: reader } = await withScopes(errand.client, ['read']);
  deepEqual((await reader.get(`/v1/deliveries/${id}`)).data.event, { password: 'hunter2', order: 8 });
  await errand.client.put('/v1/users/me/redaction', { keys: ['password'] });
  const { data } = await errand.client.get(`/v1/deliveries/${id}`);
  deepEqual(data.event, { password: '[redacted]', order: 8 });
  const other = await newErrand();
  equal((await other.client.request('GET', `/v1/deliveries/${id}`)).status, 404);
});
