// An error as a file for a user's own test.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Fixture, runFixture } from '../../src/sdk/testing.ts';
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

test('a fixture is its owner’s alone', async () => {
  await using errand = await startErrand();
  const workflow = await errand.workflow(THROWS);
  await errand.send(workflow, { b: 1 });
  const [record] = await errand.errors(workflow.id, 1);
  const other = await createOwner(errand, 'Bea');
  assert.equal((await other.client.request('GET', `/v1/errors/${record.id}/fixture`)).status, 404);
  assert.equal((await errand.client.request('GET', `/v1/errors/${record.id}/fixture`)).status, 200);
});
