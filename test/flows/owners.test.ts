// Two owners on one store: neither hears, triggers, counts or is told anything of the other.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answer, Json } from '../support/client.ts';
import { type Errand, startErrand } from '../support/errand.ts';
import { createOwner } from '../support/owners.ts';
import { startReceiver } from '../support/receiver.ts';
import { createSource, ECHO_SOURCE, emissions, post } from '../support/sources/sources.ts';
import { EMIT_BODY } from '../support/webhooks.ts';

const THROW = `export default () => { throw new Error('it failed'); };`;

test('a new owner has what the first has', async () => {
  await using errand = await startErrand();
  const { id, data, client } = await createOwner(errand, 'zweite');
  assert.match(id, /^u_/);
  assert.equal(data.name, 'zweite');
  assert.ok(data.api_key.length >= 24);
  const me = (await client.get('/v1/users/me')).data;
  assert.equal(me.id, id);
  assert.equal(me.email, 'zweite@example.com');
  assert.match(me.global_error_workflow_id, /^p_/);
  const workflows = (await client.get('/v1/workflows')).data.map((w: Json) => w.id);
  assert.ok(workflows.length === 0 || (workflows.length === 1 && workflows[0] === me.global_error_workflow_id));
  const first = (await errand.client.get('/v1/users/me')).data;
  assert.notEqual(first.id, me.id);
  assert.notEqual(first.global_error_workflow_id, me.global_error_workflow_id);
});

test('errors go to the own global workflow', async () => {
  await using errand = await startErrand();
  const b = await createOwner(errand, 'b');
  const [ofA, ofB] = [await errand.workflow(THROW, { name: 'of a' }), await b.workflow(THROW, { name: 'of b' })];
  await errand.send(ofA, { n: 1 });
  await b.send(ofB, { n: 2 });
  const globalOf = async (client: typeof b.client): Promise<string> =>
    (await client.get('/v1/users/me')).data.global_error_workflow_id;
  const [toldA] = await errand.runs(await globalOf(errand.client), 1);
  const [toldB] = await b.runs(await globalOf(b.client), 1);
  await errand.settled();
  await b.settled();
  const eventOf = async (client: typeof b.client, run: Json): Promise<Json> =>
    (await client.get(`/v1/runs/${run.id}`)).data.event;
  assert.equal((await eventOf(errand.client, toldA)).original_context.workflow_id, ofA.id);
  assert.equal((await eventOf(b.client, toldB)).original_context.workflow_id, ofB.id);
  assert.equal((await errand.runs(await globalOf(errand.client), 1)).length, 1);
  const mails = await errand.outbox();
  assert.equal(mails.length, 2);
  const mailToB = mails.filter((mail) => /^To:.*b@example\.com/im.test(mail));
  assert.equal(mailToB.length, 1, 'each mail goes to its owner');
  assert.ok(mailToB[0]?.includes('of b') && !mailToB[0].includes('of a'));
});

test('wildcards hear nothing of other owners', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  const b = await createOwner(errand);
  const ear = await b.workflow('export default () => 1;', { name: 'ear', triggers: [] });
  const webhook = await b.client.post('/v1/webhooks', { url: receiver.url });
  for (const emitter of ['*', 'p_*', 'dc_*', b.id]) {
    for (const name of [undefined, '*', '$errors', 'orders']) {
      await b.subscribe(emitter, webhook.id, name);
      await b.subscribe(emitter, ear.id, name);
    }
  }
  await b.client.post(`/v1/auto_subscriptions?event_name=%24errors&listener_id=${webhook.id}`);
  const both = `export default ({ steps, $ }) => { $.send.emit({ of: 'a' }); $.send.emit({ of: 'a' }, 'orders'); };`;
  for (const code of [both, THROW]) await errand.send(await errand.workflow(code), {});
  const source = await createSource(errand, ECHO_SOURCE);
  await post(source, { of: 'a' });
  await emissions(errand, source.id, 1);
  await errand.settled();
  const mine = await b.workflow(EMIT_BODY);
  await b.send(mine, { of: 'b' });
  const [got] = await receiver.wait(1);
  await b.runs(ear.id, 1);
  await b.settled();
  assert.equal(String(got?.body), '{"of":"b"}');
  const foreign = receiver.received.filter(
    (r) => String(r.body).includes('"a"') || String(r.body).includes('it failed'),
  );
  assert.deepEqual(
    foreign.map((r) => String(r.body)),
    [],
  );
  const runs = await b.runs(ear.id, 1);
  const events = await Promise.all(
    runs.map(
      async (run) =>
        (await b.client.get(`/v1/runs/${run.id}`)).text ??
        JSON.stringify((await b.client.get(`/v1/runs/${run.id}`)).data.event),
    ),
  );
  assert.ok(
    events.every((event) => !event.includes('"a"') && !event.includes('it failed')),
    events.join(),
  );
});

test('foreign emitters and listeners do not exist', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  const b = await createOwner(errand);
  const theirs = await errand.workflow(EMIT_BODY);
  const theirSource = await createSource(errand, ECHO_SOURCE);
  const theirWebhook = await errand.client.post('/v1/webhooks', { url: receiver.url });
  const mine = await b.workflow(EMIT_BODY);
  const webhook = await b.client.post('/v1/webhooks', { url: receiver.url });
  const firstId = (await errand.client.get('/v1/users/me')).data.id;
  const subscribe = (emitter: string, listener: string): Promise<Answer> =>
    b.client.request('POST', `/v1/subscriptions?emitter_id=${encodeURIComponent(emitter)}&listener_id=${listener}`);
  for (const emitter of [theirs.id, theirSource.id, theirWebhook.id, theirs.triggers[0].id, firstId]) {
    const answer = await subscribe(emitter, webhook.id);
    assert.equal(answer.status, 404, `${emitter}: ${answer.text}`);
    assert.match(answer.json.error, /emitter/);
    const unknown = await subscribe(emitter.replace(/_.*/, '_00000000000000'), webhook.id);
    assert.equal(answer.text.replaceAll(emitter, emitter.replace(/_.*/, '_00000000000000')), unknown.text);
  }
  for (const listener of [theirs.id, theirSource.id, theirWebhook.id]) {
    const answer = await subscribe(mine.id, listener);
    assert.equal(answer.status, 404, `${listener}: ${answer.text}`);
    assert.match(answer.json.error, /listener/);
    assert.equal((await b.client.request('POST', `/v1/auto_subscriptions?listener_id=${listener}`)).status, 404);
  }
  assert.deepEqual(
    (await b.client.get('/v1/subscriptions')).data.filter((s: Json) => s.listener_id !== mine.id),
    [],
  );
});

test('foreign triggers are refused like unknown ones', async () => {
  await using errand = await startErrand();
  const b = await createOwner(errand);
  const theirs = await errand.workflow(EMIT_BODY);
  const theirSource = await createSource(errand, ECHO_SOURCE);
  const before = (await b.client.get('/v1/workflows')).page_info.total_count;
  const attempts: [Json, string][] = [
    [{ type: 'emitter', emitter_id: theirs.id }, theirs.id],
    [{ type: 'emitter', emitter_id: theirs.id, event_name: '$errors' }, theirs.id],
    [{ type: 'source', source_id: theirSource.id }, theirSource.id],
  ];
  for (const [trigger, id] of attempts) {
    const invented = id.replace(/_.*/, '_00000000000000');
    const create = (text: string): Promise<Answer> => b.client.request('POST', '/v1/workflows', text);
    const body = JSON.stringify({
      name: 'x',
      steps: [{ namespace: 's', code: 'export default () => 1' }],
      triggers: [trigger],
    });
    const [foreign, unknown] = [await create(body), await create(body.replace(id, invented))];
    assert.ok([404, 422].includes(foreign.status), foreign.text);
    assert.equal(foreign.status, unknown.status);
    assert.equal(foreign.text.replaceAll(id, invented), unknown.text);
  }
  assert.equal((await b.client.get('/v1/workflows')).page_info.total_count, before, 'nothing half made');
});

test('a foreign global error workflow is refused', async () => {
  await using errand = await startErrand();
  const b = await createOwner(errand);
  const theirs = await errand.workflow(EMIT_BODY);
  const before = (await b.client.get('/v1/users/me')).data;
  const answer = await b.client.request('PUT', '/v1/users/me', { global_error_workflow_id: theirs.id });
  assert.ok([404, 422].includes(answer.status), answer.text);
  assert.equal((await b.client.get('/v1/users/me')).data.global_error_workflow_id, before.global_error_workflow_id);
});

test('code cannot trigger workflows of other owners', async () => {
  await using errand = await startErrand();
  const b = await createOwner(errand);
  const theirs = await errand.workflow('export default () => 1;');
  const code = `export default async ({ steps, $ }) => { await $.flow.trigger(steps.trigger.event.body.id, { from: 'b' }); };`;
  const mine = await b.workflow(code);
  await b.send(mine, { id: theirs.id });
  await b.runs(mine.id, 1);
  await b.settled();
  await errand.send(theirs, { from: 'a' });
  const runs = await errand.runs(theirs.id, 1);
  await errand.settled();
  assert.equal(runs.length, 1);
  assert.equal((await errand.client.get(`/v1/workflows/${theirs.id}/runs`)).page_info.total_count, 1);
});

test('each owner has a ledger of its own', async () => {
  await using errand = await startErrand();
  const workflow = await errand.workflow(THROW);
  await errand.send(workflow, {});
  await errand.errors(workflow.id, 1);
  await errand.settled();
  const b = await createOwner(errand);
  const { data } = await b.client.get('/v1/ledger');
  assert.deepEqual([data.emissions, data.runs.total, data.deliveries.total, data.errors.captured], [0, 0, 0, 0]);
});

test('ids of one owner never match another', async () => {
  await using errand = await startErrand();
  const b = await createOwner(errand);
  const [one, two] = [await errand.workflow(THROW, { name: 'same' }), await b.workflow(THROW, { name: 'same' })];
  const listed = async (one: Errand['client']): Promise<string[]> =>
    (await one.get('/v1/workflows?name=same')).data.map((w: Json) => w.id);
  assert.deepEqual(await listed(errand.client), [one.id]);
  assert.deepEqual(await listed(b.client), [two.id]);
});
