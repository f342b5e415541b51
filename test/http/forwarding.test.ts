// Which listeners get an error, and what they get.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../support/client.ts';
import type { Errand } from '../support/errand.ts';
import { startReceiver } from '../support/receiver.ts';
import { shareErrand } from '../support/shared-errand.ts';
import { createSource, post } from '../support/sources/sources.ts';

const newErrand = shareErrand();

const FAIL = `export default ({ steps }) => { throw new Error('error ' + steps.trigger.event.body.n) }`;
const ECHO = 'export default ({ steps }) => steps.trigger.event';

const listening = (errand: Errand, code = ECHO): Promise<Json> => errand.workflow(code, { triggers: [] });

async function heard(errand: Errand, listener: Json, count: number): Promise<Json[]> {
  const runs = await errand.runs(listener.id, count);
  const found = await Promise.all(runs.map((run) => errand.client.get(`/v1/runs/${run.id}`)));
  return found.map(({ data }) => data.event).reverse();
}

/** Numbers of the failing events that a listener was told of. */
async function numbers(errand: Errand, listener: Json, count: number): Promise<number[]> {
  const events = await heard(errand, listener, count);
  return events.map((event) => event.original_event.body.n);
}

function webhook(errand: Errand, url: string): Promise<Json> {
  return errand.client.post(`/v1/webhooks?url=${encodeURIComponent(url)}`);
}

async function countRuns(errand: Errand, workflow: Json): Promise<number> {
  await errand.settled();
  return (await errand.client.get(`/v1/workflows/${workflow.id}/runs`)).page_info.total_count;
}

test('a listener gets error, event and context', async () => {
  await using errand = await newErrand();
  const [failing, listener] = [await errand.workflow(FAIL), await listening(errand)];
  await errand.subscribe(failing.id, listener.id, '$errors');
  await errand.send(failing, { n: 1 });
  const [event] = await heard(errand, listener, 1);
  const [record] = await errand.errors(failing.id, 1);
  assert.deepEqual(Object.keys(event).toSorted(), ['error', 'original_context', 'original_event']);
  assert.deepEqual(event, record.event);
});

test('steps read the error from the trigger', async () => {
  await using errand = await newErrand();
  const code = `export default ({ steps }) => {
    const { error, original_event, original_context } = steps.trigger.event;
    return [error.code, error.msg, original_event.body.n, original_context.workflow_name];
  }`;
  const [failing, listener] = [await errand.workflow(FAIL, { name: 'Orders' }), await listening(errand, code)];
  await errand.subscribe(failing.id, listener.id, '$errors');
  await errand.send(failing, { n: 5 });
  const [run] = await errand.runs(listener.id, 1);
  const { data } = await errand.client.get(`/v1/runs/${run.id}`);
  assert.deepEqual(data.steps[0].return_value, ['Error', 'error 5', 5, 'Orders']);
  assert.deepEqual([run.emitter_id, run.event_name], [failing.id, '$errors']);
});

test('a forwarded trigger is not shown as one', async () => {
  await using errand = await newErrand();
  const failing = await errand.workflow(FAIL);
  const listener = await errand.workflow(ECHO);
  const [subscription] = await errand.subscribe(failing.id, listener.id, '$errors');
  const { data } = await errand.client.get(`/v1/workflows/${listener.id}`);
  assert.deepEqual(data.triggers, listener.triggers);
  const found = await errand.client.get(`/v1/subscriptions?listener_id=${listener.id}&event_name=$errors`);
  assert.deepEqual(
    found.data.map((each: Json) => each.id),
    [subscription.id],
  );
});

test('every listener of an error hears it', async () => {
  await using errand = await newErrand();
  const failing = await errand.workflow(FAIL);
  const listeners = [await listening(errand), await listening(errand), await listening(errand)];
  for (const listener of listeners) await errand.subscribe(failing.id, listener.id, '$errors');
  for (const n of [1, 2]) await errand.send(failing, { n });
  for (const listener of listeners) assert.deepEqual((await numbers(errand, listener, 2)).toSorted(), [1, 2]);
});

test('a workflow keeps its own triggers too', async () => {
  await using errand = await newErrand();
  const failing = await errand.workflow(FAIL);
  const listener = await errand.workflow('export default ({ steps }) => Object.keys(steps.trigger.event)');
  await errand.subscribe(failing.id, listener.id, '$errors');
  await errand.send(listener, { plain: 1 });
  await errand.send(failing, { n: 1 });
  const runs = await errand.runs(listener.id, 2);
  assert.deepEqual(runs.map((run) => run.event_name).toSorted(), ['', '$errors']);
});

test('a webhook gets the flat object', async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  const failing = await errand.workflow(FAIL);
  const hook = await webhook(errand, receiver.url);
  await errand.subscribe(failing.id, hook.id, '$errors');
  const body = '{"n":1,"big":12345678901234567890,"n":2,"u":"\\ud800"}';
  await errand.send(failing, body);
  const [request] = await receiver.wait(1);
  const [record] = await errand.errors(failing.id, 1);
  const text = request?.body.toString() ?? '';
  assert.deepEqual(JSON.parse(text), record.event);
  assert.ok(text.includes(`"body":${body}`), text);
  assert.deepEqual(
    [request?.method, request?.headers['content-type'], request?.headers['errand-event-name']],
    ['POST', 'application/json', '$errors'],
  );
  assert.equal(request?.headers['errand-emitter-id'], failing.id);
});

test('one failing emitter reaches several webhooks', async () => {
  await using errand = await newErrand();
  await using first = await startReceiver();
  await using second = await startReceiver();
  const failing = await errand.workflow(FAIL);
  for (const { url } of [first, second]) {
    const hook = await webhook(errand, url);
    await errand.subscribe(failing.id, hook.id, '$errors');
  }
  await errand.send(failing, { n: 1 });
  const [[one], [two]] = [await first.wait(1), await second.wait(1)];
  assert.deepEqual(one?.body, two?.body);
});

test('a webhook hears a source without a name', async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  const source = await createSource(
    errand,
    `export default {
      props: { http: '$.interface.http' },
      run(event) { this.$emit(event.body, event.body.name ? { name: event.body.name } : {}); },
    };`,
  );
  const hook = await webhook(errand, receiver.url);
  await errand.subscribe(source.id, hook.id);
  await post(source, '{"n":1,"name":"named"}');
  await post(source, '{"n":2}');
  const [request] = await receiver.wait(1);
  assert.deepEqual(JSON.parse(request?.body.toString() ?? ''), { n: 2 });
  await errand.settled();
  assert.equal(receiver.received.length, 1);
});

test('a name decides which emissions are heard', async () => {
  await using errand = await newErrand();
  const emitter = await errand.workflow(`export default async ({ steps, $ }) => {
    const { channel, n, fail } = steps.trigger.event.body;
    if (fail) throw new Error('asked for');
    await $.send.emit({ n, channel: channel ?? null }, ...(channel === undefined ? [] : [channel]));
  };`);
  const names = [undefined, 'paid', '*', '$errors'];
  const listeners = await Promise.all(names.map(() => listening(errand)));
  const [unnamed, paid, every, errors] = listeners;
  for (const [n, listener] of listeners.entries()) await errand.subscribe(emitter.id, listener.id, names[n]);
  await errand.send(emitter, { n: 1 });
  await errand.send(emitter, { n: 2, channel: 'paid' });
  await errand.send(emitter, { n: 3, channel: 'other' });
  await errand.send(emitter, { n: 4, fail: true });
  await errand.runs(emitter.id, 4);
  await errand.settled();
  const told = async (listener: Json, count: number) =>
    (await heard(errand, listener, count)).map((event) => event.n ?? event.original_event.body.n).toSorted();
  assert.deepEqual(await told(every, 3), [1, 2, 3]);
  assert.deepEqual(await told(unnamed, 1), [1]);
  assert.deepEqual(await told(paid, 1), [2]);
  assert.deepEqual(await told(errors, 1), [4]);
});

test('wildcard emitters include what comes later', async () => {
  await using errand = await newErrand();
  const { data: me } = await errand.client.get('/v1/users/me');
  const wildcards = ['p_*', '*', me.id, 'dc_*'];
  const listeners = await Promise.all(wildcards.map(() => listening(errand)));
  for (const [n, listener] of listeners.entries()) await errand.subscribe(wildcards[n] ?? '', listener.id, '$errors');
  const [workflows, all, owner, sources] = listeners;
  const failing = await errand.workflow(FAIL);
  const source = await createSource(
    errand,
    `export default { props: { http: '$.interface.http' }, run() { throw new Error('of a source'); } };`,
  );
  await errand.send(failing, { n: 1 });
  await errand.errors(failing.id, 1);
  await post(source, '{"n":2}');
  await errand.errors(source.id, 1);
  await errand.settled();
  const told = async (listener: Json, count: number) =>
    (await heard(errand, listener, count)).map((event) => event.error.msg).toSorted();
  assert.deepEqual(await told(workflows, 1), ['error 1']);
  assert.deepEqual(await told(sources, 1), ['of a source']);
  assert.deepEqual(await told(all, 2), ['error 1', 'of a source']);
  assert.deepEqual(await told(owner, 2), ['error 1', 'of a source']);
});

test('an automatic subscription hears every error', async () => {
  await using errand = await newErrand();
  const listener = await listening(errand);
  await errand.client.post(`/v1/auto_subscriptions?event_name=$errors&listener_id=${listener.id}`);
  const [one, two] = [await errand.workflow(FAIL), await errand.workflow(FAIL)];
  await errand.send(one, { n: 1 });
  await errand.send(two, { n: 2 });
  assert.deepEqual((await numbers(errand, listener, 2)).toSorted(), [1, 2]);
});

test('two ways to one listener tell it once each', async () => {
  await using errand = await newErrand();
  const [failing, listener, witness] = [await errand.workflow(FAIL), await listening(errand), await listening(errand)];
  await errand.subscribe(failing.id, listener.id, '$errors');
  await errand.subscribe(failing.id, listener.id, '$errors');
  await errand.subscribe(failing.id, witness.id, '$errors');
  await errand.send(failing, { n: 1 });
  await errand.runs(witness.id, 1);
  assert.equal(await countRuns(errand, listener), 1);
});

test('who is unsubscribed hears nothing more', async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  const [failing, listener, witness] = [await errand.workflow(FAIL), await listening(errand), await listening(errand)];
  const hook = await webhook(errand, receiver.url);
  for (const { id } of [listener, witness, hook]) await errand.subscribe(failing.id, id, '$errors');
  await errand.send(failing, { n: 1 });
  for (const each of [listener, witness]) await errand.runs(each.id, 1);
  await receiver.wait(1);
  for (const { id } of [listener, hook]) {
    const triple = new URLSearchParams({ emitter_id: failing.id, listener_id: id, event_name: '$errors' });
    await errand.client.delete(`/v1/subscriptions?${triple}`);
  }
  await errand.send(failing, { n: 2 });
  await errand.runs(witness.id, 2);
  assert.equal(await countRuns(errand, listener), 1);
  assert.equal(receiver.received.length, 1);
});

test('an error is not led in circles', async () => {
  await using errand = await newErrand();
  const bad = `export default () => { throw new Error('again') }`;
  const [one, two] = [await errand.workflow(bad), await errand.workflow(bad, { triggers: [] })];
  await errand.subscribe(one.id, two.id, '$errors');
  await errand.subscribe(two.id, one.id, '$errors');
  await errand.send(one, {});
  const [second] = await errand.errors(two.id, 1);
  await errand.settled();
  assert.deepEqual([await countRuns(errand, one), await countRuns(errand, two)], [1, 1]);
  const { data } = await errand.client.get(`/v1/workflows/${two.id}/$errors/event_summaries/${second.id}`);
  const withheld = data.receipts.filter((receipt: Json) => receipt.kind === 'withheld');
  assert.deepEqual(
    withheld.map((receipt: Json) => receipt.listener_id),
    [one.id],
  );
  assert.match(withheld[0].reason, /\w/);
});
