// Runs that wait, resumed by who may change them, without the address.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withScopes } from '../../support/owners.ts';
import { shareErrand } from '../../support/shared-errand.ts';
import { onlyRun, overRun, stepped, waitingRun } from '../../support/waits.ts';

const newErrand = shareErrand();

const ASK = { ask: '$.flow.suspend();', done: 'return [steps.ask.$resume_data, $.context.run.callback_request];' };

test('a run that waits is resumed by its owner', async () => {
  await using errand = await newErrand();
  await using other = await newErrand();
  const workflow = await stepped(errand, ASK);
  await errand.send(workflow, {});
  const { id } = await waitingRun(errand, workflow);
  const path = `/v1/runs/${id}/resume`;
  const { client: reader } = await withScopes(errand.client, ['read']);
  assert.equal((await other.client.request('POST', path, {})).status, 404, 'another owner');
  assert.equal((await reader.request('POST', path, {})).status, 403);
  assert.equal((await errand.client.request('POST', '/v1/runs/r_nothing/resume', {})).status, 404);
  const answer = await errand.client.post(path, { data: { approved: true } });
  assert.equal(answer.id, id);
  const run = await overRun(errand, id);
  const [data, request] = run.steps.find(({ namespace }: { namespace: string }) => namespace === 'done').return_value;
  assert.deepEqual(data, { approved: true });
  assert.deepEqual([request.method, request.path, request.headers], ['POST', path, {}]);
  assert.doesNotMatch(JSON.stringify(run), new RegExp(errand.client.key), 'the key reaches no code');
  assert.equal((await errand.client.request('POST', path, {})).status, 409, 'it is over');
});

test('a resume without data gives null, and of two one counts', async () => {
  await using errand = await newErrand();
  const workflow = await stepped(errand, ASK);
  await errand.send(workflow, {});
  const { id } = await waitingRun(errand, workflow);
  const answers = await Promise.all([1, 2].map(() => errand.client.request('POST', `/v1/runs/${id}/resume`, {})));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409]);
  const run = await onlyRun(errand, workflow);
  assert.equal(run.steps.find(({ namespace }: { namespace: string }) => namespace === 'done').return_value[0], null);
});
