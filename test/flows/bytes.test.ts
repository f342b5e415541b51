// An event is kept byte for byte: through the listing, a forward, a webhook and a replay, whatever JSON it is.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import type { Json } from '../support/client.ts';
import { EXTREMES, hardJson } from '../support/data/hard-json.ts';
import { type Errand, startErrand } from '../support/errand.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { createSource, post } from '../support/sources/sources.ts';
import { until } from '../support/wait.ts';
import { createWebhook } from '../support/webhooks.ts';

const RUNS = 40;
const THROW = `export default () => { throw new Error('always'); };`;

let errand: Errand;
let receiver: Receiver;
let failing: Json;
let listener: Json;
let fixed: Json;

before(async () => {
  errand = await startErrand();
  receiver = await startReceiver();
  const webhookAt = (path: string): Promise<Json> => createWebhook(errand, { url: new URL(path, receiver.url).href });
  failing = await errand.workflow(THROW, { name: 'failing' });
  listener = await errand.workflow(THROW, { name: 'listener', triggers: [] });
  fixed = await errand.workflow(THROW, { name: 'fixed' });
  await errand.client.put('/v1/users/me', { digest_window_ms: 86_400_000 });
  await errand.subscribe(failing.id, listener.id, '$errors');
  await errand.subscribe(failing.id, (await webhookAt('/failing')).id, '$errors');
  await errand.subscribe(listener.id, (await webhookAt('/listener')).id, '$errors');
  await errand.subscribe(failing.triggers[0].id, (await webhookAt('/trigger')).id);
});

after(async () => {
  await errand[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
});

/** Waits for the request at a path that came after `count` others there; returns its body as text. */
function bodyAt(path: string, count: number): Promise<string> {
  return until(`request ${count} at ${path}`, () => {
    const got = receiver.received.filter((r) => r.path === path)[count];
    return got === undefined ? undefined : String(got.body);
  });
}

/** Asserts that `json` stands in `text`, where the event's body is. */
function assertHolds(text: string, json: string, where: string): void {
  const shown = json.length > 500 ? `${json.slice(0, 500)}…` : json;
  assert.ok(text.includes(`"body":${json}`), `${where} changed the bytes of ${shown}: ${text.slice(0, 2000)}`);
}

async function newestError(id: string, more = ''): Promise<{ record: Json; text: string }> {
  const path = `/v1/workflows/${id}/$errors/event_summaries?limit=1&expand=event${more}`;
  const answer = await errand.client.request('GET', path);
  assert.equal(answer.status, 200, answer.text.slice(0, 500));
  return { record: answer.json.data[0], text: answer.text };
}

async function assertKept(json: string): Promise<void> {
  const counts = ['/trigger', '/failing', '/listener'].map(
    (path) => receiver.received.filter((r) => r.path === path).length,
  );
  await errand.send(failing, json);
  const trigger = await bodyAt('/trigger', counts[0] ?? 0);
  assertHolds(trigger, json, 'the delivery of the event itself');
  const told = await bodyAt('/failing', counts[1] ?? 0);
  assertHolds(told, json, 'the delivery of the error');
  assert.ok(told.includes(`"original_event":${trigger}`), 'the error carries the whole event as it was delivered');
  const { record, text } = await newestError(failing.id);
  assert.ok(text.includes(`"event":${told}`), 'listed as delivered');
  const one = await errand.client.request(
    'GET',
    `/v1/workflows/${failing.id}/$errors/event_summaries/${record.id}?expand=event`,
  );
  assert.ok(one.text.includes(told), 'and so by itself');
  const forwarded = await bodyAt('/listener', counts[2] ?? 0);
  assert.ok(forwarded.includes(`"original_event":${told}`), 'the listener ran with the whole error');
  assertHolds(forwarded, json, 'the forward');
}

/** A body as JSON text without whitespace around it, which no JSON value has. */
const trimmed = (json: string): string => json.replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, '');

test('every extreme survives each way through', async () => {
  for (const json of EXTREMES) await assertKept(trimmed(json));
});

test('any event survives listing, forward and webhook', async () => {
  await fc.assert(fc.asyncProperty(hardJson, assertKept), { numRuns: RUNS });
});

test('whitespace around the body changes nothing', async () => {
  const count = receiver.received.filter((r) => r.path === '/trigger').length;
  await errand.send(failing, ' \r\n{"a" : 1}\t\n');
  const event = await bodyAt('/trigger', count);
  assert.match(event, /"body":\s*\{"a" : 1\}/);
});

test('any event survives a replay and another', async () => {
  await fc.assert(
    fc.asyncProperty(hardJson, async (json) => {
      await errand.send(fixed, json);
      await errand.settled();
      const first = await newestError(fixed.id);
      assertHolds(first.text, json, 'the listing');
      await errand.client.post(`/v1/workflows/${fixed.id}/$errors/${first.record.id}/replay`);
      await errand.settled();
      const second = await newestError(fixed.id, `&before=${first.record.id}`);
      assert.notEqual(second.record.id, first.record.id);
      assertHolds(second.text, json, 'the replay');
      const { run_id } = await errand.client.post(`/v1/workflows/${fixed.id}/$errors/${second.record.id}/replay`);
      await errand.settled();
      const run = await errand.client.request('GET', `/v1/runs/${run_id}`);
      assertHolds(run.text, json, 'the replay of the replay');
    }),
    { numRuns: RUNS },
  );
});

test('any event survives a run by the API', async () => {
  const workflow = await errand.workflow(`export default ({ steps }) => steps.trigger.raw;`, { triggers: [] });
  await fc.assert(
    fc.asyncProperty(hardJson, async (json) => {
      const { run_id } = await errand.client.post(`/v1/workflows/${workflow.id}/runs`, `{ "event" :${json} }`);
      const run = await until(`the end of ${run_id}`, async () => {
        const answer = await errand.client.request('GET', `/v1/runs/${run_id}`);
        return ['succeeded', 'failed'].includes(answer.json.data.state) && answer;
      });
      assert.equal(run.json.data.state, 'succeeded', JSON.stringify(run.json.data.error));
      assert.ok(run.text.includes(`"event":${json}`), `changed: ${json.slice(0, 500)}`);
      assert.equal(run.json.data.steps[0].return_value, json, 'steps.trigger.raw is the exact text');
    }),
    { numRuns: RUNS },
  );
});

test('an edited replay keeps the edited bytes', async () => {
  await errand.send(fixed, '{}');
  await errand.settled();
  const { record } = await newestError(fixed.id);
  await fc.assert(
    fc.asyncProperty(hardJson, async (json) => {
      const path = `/v1/workflows/${fixed.id}/$errors/${record.id}/replay`;
      const { run_id } = await errand.client.post(path, `{"event":\n${json}}`);
      const run = await errand.client.request('GET', `/v1/runs/${run_id}`);
      assert.ok(run.text.includes(`"event":${json}`), `changed: ${json.slice(0, 500)}`);
    }),
    { numRuns: RUNS },
  );
});

test('bodyRaw of a source is the exact text', async () => {
  const code = `export default { props: { http: '$.interface.http' }, run(event) { this.$emit({ raw: event.bodyRaw }); } };`;
  const source = await createSource(errand, code);
  let count = 0;
  await fc.assert(
    fc.asyncProperty(hardJson, async (json) => {
      await post(source, json);
      count += 1;
      const { data } = await until(`emission ${count}`, async () => {
        const page = await errand.client.get(`/v1/sources/${source.id}/event_summaries?expand=event`);
        return page.page_info.total_count >= count && page;
      });
      assert.equal(data[0].event.raw, json);
    }),
    { numRuns: RUNS },
  );
});
