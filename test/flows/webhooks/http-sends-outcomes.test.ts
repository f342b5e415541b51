// What becomes of requests that code asks for: tried again, put off, refused, exhausted, sent again.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import type { Json } from '../../support/client.ts';
import { askedFor, requestsOf, wholeOf } from '../../support/data/requests.ts';
import { startErrand } from '../../support/errand.ts';
import { freePort } from '../../support/port.ts';
import { startReceiver } from '../../support/receiver.ts';
import { until } from '../../support/wait.ts';
import { attempted } from '../../support/webhooks.ts';

const DAY_MS = 24 * 3_600_000;
const SECRET = 'Bearer very-private';

/** Takes connections and never answers. */
async function startSilent(): Promise<AsyncDisposable & { readonly url: string; connections(): number }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => void sockets.add(socket.on('error', () => undefined)));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    connections: () => sockets.size,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

test('a request that fails is tried again', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  receiver.answer((n) => (n < 2 ? 500 : 201));
  const { delivery } = await askedFor(errand, { url: receiver.url, data: 'x' });
  const first = await attempted(errand, delivery.id, 1);
  assert.match(first.why, /Attempt 1 failed: .*answered 500.*5 s in the schedule of retries/);
  for (const n of [2, 3]) {
    errand.forward(DAY_MS);
    await attempted(errand, delivery.id, n);
  }
  const done = await wholeOf(errand, delivery);
  assert.deepEqual(
    [done.state, done.attempts_made, done.attempts.map((a: Json) => a.status)],
    ['delivered', 3, [500, 500, 201]],
  );
  const keys = receiver.received.map(({ headers }) => headers['idempotency-key']);
  assert.deepEqual(new Set(keys).size, 1);
});

test('Retry-After puts off all to that place alone', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  await using other = await startReceiver();
  receiver.answer((n) => (n === 0 ? 429 : 200), { 'retry-after': '600' });
  const { workflow, delivery } = await askedFor(errand, { url: receiver.url });
  const first = await attempted(errand, delivery.id, 1);
  assert.deepEqual([first.state, first.attempts_made, first.attempts[0].retry_after_ms], ['retrying', 0, 600_000]);
  await errand.send(workflow, { url: receiver.url });
  await errand.send(workflow, { url: other.url });
  await other.wait(1);
  assert.equal(receiver.received.length, 1);
  const [waiting] = await requestsOf(errand, '&state=pending');
  assert.match(
    (await wholeOf(errand, waiting)).why,
    /^It waits for its first attempt\. The place that it goes to is paused \(Retry-After\): nothing goes there before /,
  );
  errand.forward(601_000);
  await receiver.wait(3);
  assert.equal((await requestsOf(errand, '&state=delivered', 3)).length, 3);
});

test('an exhausted request is an error without secrets', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  receiver.answer(503);
  const { workflow, delivery } = await askedFor(errand, {
    method: 'PUT',
    url: `${receiver.url}/path-token?key=query-token`,
    headers: { authorization: SECRET },
    data: { password: 'body-token' },
  });
  for (let n = 1; n <= 11; n++) {
    await attempted(errand, delivery.id, n);
    errand.forward(2 * DAY_MS);
  }
  const [error] = await errand.errors(workflow.id, 1);
  assert.equal((await wholeOf(errand, delivery)).state, 'exhausted');
  const { error: told, original_event: event, original_context: context } = error.event;
  assert.equal(told.code, 'DeliveryExhausted');
  assert.deepEqual([context.workflow_id, context.workflow_name], [workflow.id, workflow.name]);
  const { host } = new URL(receiver.url);
  assert.match(
    told.msg,
    new RegExp(`^Request PUT ${host} \\(${delivery.emission_id}\\) not delivered after 11 attempts: `),
  );
  assert.deepEqual(event, {
    method: 'PUT',
    url: `http://${host}/(hidden)`,
    headers: { authorization: '(hidden)', 'content-type': '(hidden)' },
    body: '(hidden)',
  });
  const mails = await until('the mail about it', async () => {
    const all = await errand.outbox();
    return all.length > 0 && all;
  });
  for (const text of [JSON.stringify(error), JSON.stringify(errand.logged), mails.join('\n')]) {
    assert.doesNotMatch(text, /very-private|path-token|query-token|body-token/);
  }
});

test('a forbidden address is refused at once', async () => {
  await using errand = await startErrand({ ERRAND_ALLOW_TARGETS: '127.0.0.2/32' });
  await using receiver = await startReceiver();
  const { workflow, delivery } = await askedFor(errand, { url: receiver.url });
  const [error] = await errand.errors(workflow.id, 1);
  assert.equal(error.event.error.code, 'DeliveryRefused');
  assert.match(error.event.error.msg, /^Request GET 127\.0\.0\.1:\d+ /);
  const over = await wholeOf(errand, delivery);
  assert.deepEqual([over.state, over.attempts[0].outcome], ['exhausted', 'forbidden']);
  assert.equal(receiver.received.length, 0);
});

test('redirects are not followed', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  await using other = await startReceiver();
  receiver.answer(302, { location: other.url });
  const { delivery } = await askedFor(errand, { url: receiver.url });
  const { state, attempts } = await attempted(errand, delivery.id, 1);
  assert.deepEqual([state, attempts[0].status], ['retrying', 302]);
  assert.match(attempts[0].detail, /redirects are not followed/);
  assert.equal(other.received.length, 0);
});

test('a waiting request outlives a restart', async () => {
  const port = await freePort();
  await using errand = await startErrand();
  const { delivery } = await askedFor(errand, { url: `http://127.0.0.1:${port}/`, headers: { authorization: SECRET } });
  assert.equal((await attempted(errand, delivery.id, 1)).attempts[0].outcome, 'refused');
  await errand.restart();
  await using receiver = await startReceiver(port);
  errand.forward(60_000);
  const [request] = await receiver.wait(1);
  assert.equal(request?.headers.authorization, SECRET);
  assert.equal((await attempted(errand, delivery.id, 2)).state, 'delivered');
});

test('a request is sent again by hand', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  receiver.answer((n) => (n === 0 ? 410 : 200));
  const { workflow, delivery } = await askedFor(errand, { url: receiver.url, data: 'once more' });
  const [error] = await errand.errors(workflow.id, 1);
  assert.equal(error.event.error.code, 'DeliveryExhausted', 'what is gone is gone');
  const resent = await errand.client.post(`/v1/deliveries/${delivery.id}/resend`);
  assert.deepEqual([resent.state, resent.kind], ['retrying', 'http']);
  const done = await attempted(errand, delivery.id, 2);
  assert.deepEqual([done.state, done.attempts[1].trigger], ['delivered', 'resend']);
  assert.deepEqual(
    receiver.received.map(({ body }) => body.toString()),
    ['once more', 'once more'],
  );
});

test('a place that is dead holds up no other', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  await using silent = await startSilent();
  const workflow = await errand.workflow(`export default ({ steps, $ }) => {
    const { dead, alive } = steps.trigger.event.body;
    for (let n = 0; n < 100; n++) $.send.http({ url: dead });
    for (let n = 0; n < 9; n++) $.send.http({ url: alive + n });
    $.send.email({ subject: 'through' });
  };`);
  await errand.send(workflow, { dead: silent.url, alive: receiver.url });
  await receiver.wait(9);
  await until('the mail', async () => (await errand.outbox()).length > 0);
  await until('a connection', () => silent.connections() > 0);
  const waiting = await errand.client.get('/v1/deliveries?kind=http&state=pending');
  assert.ok(waiting.page_info.total_count > 50, 'the dead one still has its own in line');
});
