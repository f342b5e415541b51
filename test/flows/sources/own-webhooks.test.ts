// The sources `github-webhook`, `stripe-webhook` and `standard-webhook`: what is signed right is an event, and nothing else.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../support/client.ts';
import { call, SIGNED } from '../../support/data/signed.ts';
import { type Errand, startErrand } from '../../support/errand.ts';
import { createOwner } from '../../support/owners.ts';
import { assertProblem } from '../../support/problem.ts';
import { shareErrand } from '../../support/shared-errand.ts';
import { createOwn, tryOwn } from '../../support/sources/own-sources.ts';
import { createSource, emissions } from '../../support/sources/sources.ts';

const newErrand = shareErrand();

const SECRET = 'github’s secret';
const WHSEC = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const PUSH = '{ "ref": "refs/heads/main", "repository": {"id": 12345678901234567890, "full_name": "acme/shop"} }\n';
const PAID = '{"id": "evt_1", "object": "event", "type": "invoice.paid", "created": 1767225600, "data": {"n": 1.0}}';
const CREATED = '{"type": "user.created", "timestamp": "2026-01-01T00:00:00Z", "data": {"id": 7}}';

/** A workflow that returns what it is told of an event. */
const TOLD = 'export default ({ steps }) => [steps.trigger.event, steps.trigger.context.verified];';

async function told(errand: Errand, workflow: Json, count: number): Promise<Json[]> {
  const runs = await errand.runs(workflow.id, count);
  const whole = await Promise.all(runs.map(({ id }) => errand.client.get(`/v1/runs/${id}`)));
  return whole.map(({ data }) => data.steps[0].return_value).reverse();
}

const THROWS = `export default {
  props: { secret: { type: 'string', secret: true }, http: '$.interface.http' },
  run() { throw new Error('not yet') },
};`;

/** What it logged. */
async function texts(errand: Errand, source: Json): Promise<string[]> {
  const { data } = await errand.client.get(`/v1/sources/${source.id}/logs?limit=100`);
  return data.map(({ text }: Json) => text);
}

/** What it logged of requests that it refused; and that there is no error. */
async function refusals(errand: Errand, source: Json): Promise<string[]> {
  await errand.settled();
  const errors = await errand.client.get(`/v1/sources/${source.id}/$errors/event_summaries`);
  assert.equal(errors.page_info.total_count, 0);
  return (await texts(errand, source)).filter((text) => text.startsWith('refused'));
}

test('what GitHub signs is a verified event', async () => {
  await using errand = await newErrand();
  const source = await createOwn(errand, 'github-webhook', { secret: SECRET });
  assert.equal(source.configured_props.secret, undefined);
  const triggers = [{ type: 'emitter', emitter_id: source.id, event_name: 'push' }];
  const workflow = await errand.workflow(TOLD, { triggers });
  const signed = (id: string) => SIGNED.github({ secret: SECRET, body: PUSH, id });
  assert.deepEqual(await call(source, PUSH, signed('d-1')), { status: 200, text: '' });
  // Again, and in the other form that GitHub has.
  assert.equal((await call(source, PUSH, signed('d-1'))).status, 200);
  const form = new URLSearchParams({ payload: PUSH }).toString();
  const type = { 'content-type': 'application/x-www-form-urlencoded' };
  const formed = SIGNED.github({ secret: SECRET, body: form, id: 'd-2', more: type });
  assert.equal((await call(source, form, formed)).status, 200);
  await errand.settled();
  const [second, first, ...others] = await emissions(errand, source.id, 2, 'push');
  assert.equal(others.length, 0);
  assert.deepEqual(
    [first.metadata.id, first.metadata.name, first.metadata.summary],
    ['d-1', 'push', 'push in acme/shop'],
  );
  assert.deepEqual(second.event, { ...first.event, delivery: 'd-2' });
  const [[event, verified]] = await told(errand, workflow, 2);
  assert.deepEqual([event.event, event.delivery, event.payload.ref], ['push', 'd-1', 'refs/heads/main']);
  assert.equal(verified, true);
  // The number is as it came.
  const path = `/v1/sources/${source.id}/event_summaries?event_name=push&expand=event`;
  const { text } = await errand.client.request('GET', path);
  assert.match(text, /"id":12345678901234567890/);
});

test('pings and events that nobody wants are taken', async () => {
  await using errand = await newErrand();
  const source = await createOwn(errand, 'github-webhook', { secret: SECRET, events: ['issues', 'release'] });
  const send = (name: string, body: string) =>
    call(source, body, SIGNED.github({ secret: SECRET, body, id: name, more: { 'x-github-event': name } }));
  assert.equal((await send('ping', '{"zen": "Speak like a human."}')).status, 200);
  assert.equal((await send('push', PUSH)).status, 200);
  assert.equal((await send('issues', '{"action": "opened"}')).status, 200);
  const [record] = await emissions(errand, source.id, 1, 'issues');
  assert.equal(record.metadata.summary, 'issues opened');
  assert.deepEqual(await emissions(errand, source.id, 0, 'push'), []);
  const { data } = await errand.client.get(`/v1/sources/${source.id}/logs`);
  const texts = data.map(({ text }: Json) => text);
  assert.ok(texts.includes('passed over: ping, Speak like a human.') && texts.includes('passed over: push'), texts);
});

test('what proves nothing is refused and counted', async () => {
  await using errand = await startErrand();
  const source = await createOwn(errand, 'github-webhook', { secret: SECRET });
  const signed = SIGNED.github({ secret: SECRET, body: PUSH, id: 'd-1' });
  const { 'x-hub-signature-256': _signature, ...unsigned } = signed;
  assert.equal((await call(source, PUSH, unsigned)).status, 401);
  const other = await call(source, PUSH, SIGNED.github({ secret: 'another', body: PUSH, id: 'd-1' }));
  assert.deepEqual(other, { status: 401, text: '{"error":"the signature does not match"}' });
  assert.equal((await call(source, `${PUSH} `, signed)).status, 401);
  assert.equal((await call(source, new Uint8Array([0xff, 0xfe]), signed)).status, 401);
  assert.equal((await call(source, '', signed)).status, 401);
  await errand.restart();
  const { data: again } = await errand.client.get(`/v1/sources/${source.id}`);
  const none = SIGNED.github({ secret: SECRET, body: 'no JSON', id: 'd-1' });
  assert.equal((await call(again, 'no JSON', none)).status, 400);
  const named = SIGNED.github({ secret: SECRET, body: PUSH, id: 'd-1', more: { 'x-github-event': '$errors' } });
  assert.equal((await call(again, PUSH, named)).status, 400);
  const refused = await refusals(errand, source);
  assert.equal(refused.length, 7);
  assert.ok(refused.some((text) => /^refused request 7, from 127\.0\.0\.1: it is no event of GitHub$/.test(text)));
  assert.equal((await call(again, PUSH, signed)).status, 200);
  assert.equal((await emissions(errand, source.id, 1, 'push')).length, 1);
});

test('what Stripe signs is a verified event', async () => {
  await using errand = await newErrand();
  const source = await createOwn(errand, 'stripe-webhook', { secret: WHSEC, types: ['invoice.*'] });
  const workflow = await errand.workflow(TOLD, { triggers: [{ type: 'source', source_id: source.id }] });
  const sign = (body: string, atS?: number) => SIGNED.stripe({ secret: WHSEC, body, id: '' }, atS);
  for (let i = 0; i < 2; i++) assert.equal((await call(source, PAID, sign(PAID))).status, 200);
  const unwanted = PAID.replace('evt_1', 'evt_2').replace('invoice', 'customer');
  assert.equal((await call(source, unwanted, sign(unwanted))).status, 200);
  const old = await call(source, PAID, sign(PAID, Math.floor(Date.now() / 1000) - 400));
  assert.deepEqual(old, {
    status: 400,
    text: '{"error":"it was signed more than 300 seconds before or after it arrived"}',
  });
  assert.equal((await call(source, PAID, SIGNED.stripe({ secret: 'x', body: PAID, id: '' }))).status, 400);
  assert.equal((await call(source, '{}', sign('{}'))).status, 400);
  assert.equal((await refusals(errand, source)).length, 3);
  const [record, ...others] = await emissions(errand, source.id, 1);
  assert.equal(others.length, 0);
  assert.deepEqual([record.metadata.id, record.metadata.ts], ['evt_1', 1767225600_000]);
  assert.deepEqual(await told(errand, workflow, 1), [[JSON.parse(PAID), true]]);
});

test('Standard Webhooks of several secrets are verified', async () => {
  await using errand = await newErrand();
  const older = `whsec_${Buffer.alloc(24, 1).toString('base64')}`;
  const source = await createOwn(errand, 'standard-webhook', { secrets: [WHSEC, older] });
  const workflow = await errand.workflow(TOLD, { triggers: [{ type: 'source', source_id: source.id }] });
  const sign = (id: string, secret: string) => SIGNED.standard({ secret, body: CREATED, id });
  assert.equal((await call(source, CREATED, sign('msg_1', older))).status, 200);
  assert.equal((await call(source, CREATED, sign('msg_2', WHSEC))).status, 200);
  assert.equal((await call(source, CREATED, sign('msg_1', WHSEC))).status, 200);
  const unknown = `whsec_${Buffer.alloc(24, 2).toString('base64')}`;
  assert.equal((await call(source, CREATED, sign('msg_3', unknown))).status, 401);
  assert.equal((await call(source, CREATED, {})).status, 400);
  assert.equal((await refusals(errand, source)).length, 2);
  const [[event, verified], [second]] = await told(errand, workflow, 2);
  assert.deepEqual([event.id, event.payload, verified], ['msg_1', JSON.parse(CREATED), true]);
  assert.equal(second.id, 'msg_2');
  assert.equal((await emissions(errand, source.id, 2)).length, 2);
});

test('what arrived in time is verified when it is replayed', async () => {
  // The code's own clock is the machine's: what arrives ten minutes ago is too old for it now.
  let aheadMs = -600_000;
  const clock = { nowMs: () => Date.now() + aheadMs };
  await using errand = await startErrand({}, { clock, databaseClock: clock });
  const source = await createSource(errand, THROWS, { configured_props: { secret: WHSEC } });
  const sentS = Math.floor(clock.nowMs() / 1000);
  assert.equal((await call(source, PAID, SIGNED.stripe({ secret: WHSEC, body: PAID, id: '' }, sentS))).status, 200);
  const early = Math.floor(Date.now() / 1000);
  assert.equal((await call(source, PAID, SIGNED.stripe({ secret: WHSEC, body: PAID, id: '' }, early))).status, 200);
  const [tooEarly, inTime] = await errand.errors(source.id, 2);
  assert.ok(inTime && tooEarly);
  aheadMs = 0;
  await errand.client.put(`/v1/sources/${source.id}`, { component: 'stripe-webhook' });
  const replay = `/v1/sources/${source.id}/$errors/${inTime.id}/replay`;
  const { run_id: id } = await errand.client.post(replay);
  await errand.settled();
  const [record] = await emissions(errand, source.id, 1);
  assert.equal(record.metadata.id, 'evt_1');
  const { data: run } = await errand.client.get(`/v1/runs/${id}`);
  assert.deepEqual([run.state, run.replay], ['succeeded', true]);
  assert.ok(JSON.stringify(run.event).includes(String(sentS)));
  // What was no good when it arrived does not become so later.
  await errand.client.post(`/v1/sources/${source.id}/$errors/${tooEarly.id}/replay`);
  await errand.settled();
  assert.deepEqual(await texts(errand, source), [
    'refused request 1, from 127.0.0.1: it was signed more than 300 seconds before or after it arrived',
  ]);
  assert.equal((await emissions(errand, source.id, 1)).length, 1);
});

test('webhooks of Errand itself are verified events', async () => {
  await using receiving = await startErrand();
  await using errand = await startErrand();
  const source = await createOwn(receiving, 'standard-webhook', { secrets: [WHSEC] });
  const webhook = await errand.client.post('/v1/webhooks', { url: source.endpoint_url });
  await receiving.client.put(`/v1/sources/${source.id}`, { configured_props: { secrets: [webhook.secret] } });
  const workflow = await errand.workflow(
    'export default ({ steps, $ }) => $.send.emit({ n: steps.trigger.event.body.n });',
  );
  await errand.subscribe(workflow.id, webhook.id);
  await errand.send(workflow, { n: 7 });
  const [{ event }] = await emissions(receiving, source.id, 1);
  assert.deepEqual(event.payload, { n: 7 });
});

test('secrets that cannot be are refused, unrepeated', async () => {
  await using errand = await startErrand();
  for (const [component, props, why] of [
    ['github-webhook', { secret: '' }, /empty|secret/],
    ['github-webhook', {}, /secret/],
    ['stripe-webhook', { secret: '' }, /empty|secret/],
    ['standard-webhook', { secrets: [] }, /secret/],
    ['standard-webhook', { secrets: ['whsec_not base64'] }, /base64/],
    ['standard-webhook', { secrets: 'whsec_AAAA' }, /secrets/],
  ] as const) {
    const refused = await tryOwn(errand, component, props);
    assertProblem(refused, 422);
    assert.match(refused.json.detail, why);
    assert.doesNotMatch(JSON.stringify(refused.json), /not base64/);
  }
  assert.equal((await errand.client.get('/v1/sources')).data.length, 0);
  const source = await createOwn(errand, 'stripe-webhook', { secret: WHSEC });
  const other = await createOwner(errand);
  assertProblem(await other.client.request('GET', `/v1/sources/${source.id}`), 404);
});

test('only the word true makes an event verified', async () => {
  await using errand = await startErrand();
  const source = await errand.client.post('/v1/sources', {
    name: 'claims',
    component_code: `export default { props: { http: '$.interface.http' }, run({ body }) {
      for (const verified of [true, 'yes', 1, undefined]) this.$emit({ verified: String(verified) }, { verified });
      this.$emit({ verified: 'later' }, { verified: true, delivery_ts: Date.now() + 60000 });
    } };`,
  });
  const workflow = await errand.workflow(TOLD, { triggers: [{ type: 'source', source_id: source.id }] });
  assert.equal((await call(source, '{}', {})).status, 200);
  const now = (await told(errand, workflow, 4)).map(([{ verified }, is]) => [verified, is]);
  assert.deepEqual(now.toSorted(), [
    ['1', false],
    ['true', true],
    ['undefined', false],
    ['yes', false],
  ]);
  errand.forward(61_000);
  const later = (await told(errand, workflow, 5)).find(([event]) => event.verified === 'later');
  assert.equal(later?.[1], true);
});
