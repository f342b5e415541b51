// An error as a file for a user's own test.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Fixture, runFixture } from '../../src/sdk/testing.ts';
import type { Json } from '../support/client.ts';
import { startErrand } from '../support/errand.ts';
import { createOwner } from '../support/owners.ts';

const THROWS = `export default ({ steps }) => {
  throw Object.assign(new Error('no ' + steps.trigger.event.body.b), { code: 'Thrown' });
};`;

test('a fixture fails as the workflow did, from the same bytes', async () => {
  await using errand = await startErrand();
  const workflow = await errand.workflow(THROWS);
  const body = '{ "b":12345678901234567890,\n "z":"\\u0000é" }';
  const path = new URL(workflow.triggers[0].endpoint_url).pathname;
  await errand.client.request('POST', path, body, { 'content-type': 'application/json' });
  const [record] = await errand.errors(workflow.id, 1);
  await errand.restart();
  const answer = await errand.client.request('GET', `/v1/errors/${record.id}/fixture`);
  assert.equal(answer.status, 200, answer.text);
  assert.match(answer.headers.get('content-disposition') ?? '', /^attachment; filename="error-\d+-\d+\.json"$/);
  const fixture = answer.json as Fixture;
  assert.ok(fixture.original_event_text?.includes(`"body":${body}`));
  assert.deepEqual(fixture.original_context, record.event.original_context);
  assert.deepEqual(fixture.error, record.event.error);
  assert.deepEqual([fixture.id, fixture.emitter_id], [record.id, workflow.id]);
  assert.deepEqual(fixture.step, { namespace: record.event.error.namespace, id: record.event.error.cellId });
  const { default: code } = await import(`data:text/javascript,${encodeURIComponent(THROWS)}`);
  const run = await runFixture(code, fixture);
  const { msg } = fixture.error;
  assert.deepEqual([run.step, run.error], [fixture.step.namespace, { code: 'Thrown', msg }]);
  for (const id of ['x', '17-0', '1782000000123-4096', record.event.original_context.id]) {
    assert.equal((await errand.client.request('GET', `/v1/errors/${id}/fixture`)).status, 404, id);
  }
});

test('a step is given the same by the service and by a fixture', async () => {
  const code = `export default ({ event, context, ...more }) => {
    throw new Error([event.body.b, context.source_type, Object.keys(more)].join(' '));
  };`;
  await using errand = await startErrand();
  const workflow = await errand.workflow(code);
  await errand.send(workflow, { b: 7 });
  const [record] = await errand.errors(workflow.id, 1);
  assert.equal(record.event.error.msg, '7 HTTP steps,$');
  const fixture = (await errand.client.request('GET', `/v1/errors/${record.id}/fixture`)).json as Fixture;
  const { default: exported } = await import(`data:text/javascript,${encodeURIComponent(code)}`);
  assert.equal((await runFixture(exported, fixture)).error?.msg, record.event.error.msg);
});

test('a fixture is its owner’s alone', async () => {
  await using errand = await startErrand();
  const workflow = await errand.workflow(THROWS);
  await errand.send(workflow, { b: 1 });
  const [record] = await errand.errors(workflow.id, 1);
  const other = await createOwner(errand, 'Bea');
  assert.equal((await other.client.request('GET', `/v1/errors/${record.id}/fixture`)).status, 404);
  assert.equal((await errand.client.request('GET', `/v1/errors/${record.id}/fixture`)).status, 200);
});

test('a fixture of a redacted event says so', async () => {
  await using errand = await startErrand();
  const read = async (workflow: Json): Promise<Fixture> => {
    const [record] = await errand.errors(workflow.id, 1);
    return (await errand.client.request('GET', `/v1/errors/${record.id}/fixture`)).json as Fixture;
  };
  const workflow = await errand.workflow(THROWS);
  await errand.send(workflow, { b: 1, card: '4111' });
  assert.equal((await read(workflow)).redacted, false);
  await errand.client.put('/v1/users/me/redaction', { keys: ['password'] });
  assert.equal((await read(workflow)).redacted, false, 'nothing of it is hidden');
  await errand.client.put('/v1/users/me/redaction', { keys: ['card'] });
  const shown = await read(workflow);
  assert.equal(shown.redacted, true);
  assert.match(shown.original_event_text ?? '', /"card":"\[redacted\]"/);
  const run = await runFixture(({ event }: { event: Json }) => event.body.card, shown);
  assert.deepEqual([run.redacted, run.steps[shown.step.namespace]?.$return_value], [true, '[redacted]']);
  await errand.client.put('/v1/users/me/redaction', { keys: [], patterns: [] });
  assert.equal((await read(workflow)).redacted, false, 'what is stored is whole');
  // Also of the message alone, and of what was redacted before it was stored, whatever the rules are by now.
  await errand.client.put(`/v1/workflows/${workflow.id}/redaction`, { patterns: ['no \\d'] });
  assert.equal((await read(workflow)).redacted, true);
  const before = await errand.workflow(THROWS);
  const rules = `/v1/workflows/${before.id}/redaction`;
  await errand.client.put(rules, { keys: ['card'], before_storing: true });
  await errand.send(before, { b: 1, card: '4111' });
  await errand.settled();
  await errand.client.put(rules, { keys: [], before_storing: false });
  await errand.restart();
  const stored = await read(before);
  assert.equal(stored.redacted, true);
  assert.equal((await runFixture(() => 1, stored)).redacted, true);
});

test('bytes, texts and nothing come with a fixture as they came to the code', async () => {
  await using errand = await startErrand();
  const code = `export default ({ steps }) => { throw new Error(JSON.stringify(steps.trigger.event.body) + steps.trigger.raw.length); };`;
  const { default: here } = await import(`data:text/javascript,${encodeURIComponent(code)}`);
  const bodies: [type: string, body: Uint8Array | string][] = [
    ['application/octet-stream', new Uint8Array([0, 255, 254, 65])],
    ['application/json', new Uint8Array([123, 34, 97, 34, 58, 34, 255, 34, 125])],
    ['application/json', '\ufeff{"a":1}'],
    ['application/json', '{"a":'],
    ['text/plain', 'é\u2028\0'],
    ['application/x-www-form-urlencoded', 'a=1&a=2&b=%ff'],
    [
      'multipart/form-data; boundary=x',
      '--x\r\ncontent-disposition: form-data; name="f"; filename="f"\r\n\r\n\xff\r\n--x--\r\n',
    ],
    ['application/json', ''],
  ];
  for (const [type, body] of bodies) {
    const workflow = await errand.workflow(code);
    const sent = await fetch(workflow.triggers[0].endpoint_url, {
      method: 'POST',
      headers: { 'content-type': type },
      body: body as string,
    });
    assert.equal(sent.status, 200);
    const [record] = await errand.errors(workflow.id, 1);
    const fixture = (await errand.client.request('GET', `/v1/errors/${record.id}/fixture`)).json as Fixture;
    const run = await runFixture(here, JSON.parse(JSON.stringify(fixture)));
    assert.deepEqual(run.error, { code: 'Error', msg: record.event.error.msg }, type);
  }
});
