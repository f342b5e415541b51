// A workflow that is saved often: old deployments go, and whatever still needs one has it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../support/client.ts';
import { type Errand, startErrand } from '../../support/errand.ts';
import { assertProblem } from '../../support/problem.ts';
import { until } from '../../support/wait.ts';
import { overRun, stepped, urlsOf, waitingRun } from '../../support/waits.ts';

const HOUR_MS = 3_600_000;
const SAVES = 30;
const KEPT = 20;

async function deploymentsOf(errand: Errand, workflow: Json): Promise<Json[]> {
  const { data } = await errand.client.get(`/v1/workflows/${workflow.id}/deployments?limit=100`);
  return data;
}

const named = (code: string): Json => ({ steps: [{ namespace: 'said', code: `export default () => '${code}';` }] });

test('a run that waits ends with the code that it began with', async () => {
  await using errand = await startErrand();
  const ask = `$.export('urls', $.flow.suspend());`;
  const workflow = await stepped(errand, { ask, said: `return 'first';` });
  await errand.send(workflow, {});
  const waiting = await waitingRun(errand, workflow);
  const path = `/v1/workflows/${workflow.id}`;
  for (let n = 1; n <= SAVES; n++) await errand.client.put(path, named(`save ${n}`));
  assert.equal((await deploymentsOf(errand, workflow)).length, SAVES + 1);
  errand.forward(2 * HOUR_MS);
  // A start looks through them.
  await errand.restart();
  const left = await until('most are gone', async () => {
    const all = await deploymentsOf(errand, workflow);
    return all.length === KEPT + 1 && all;
  });
  assert.equal(left.at(-1)?.id, waiting.deployment_id);
  const { pathname } = new URL(urlsOf(waiting).resume_url);
  const sent = await fetch(new URL(pathname, errand.url), { method: 'POST' });
  assert.equal(sent.status, 200);
  const over = await overRun(errand, waiting.id);
  assert.deepEqual([over.state, over.steps.at(-1).return_value], ['succeeded', 'first']);
  errand.forward(2 * HOUR_MS);
  await errand.restart();
  await until('the last of them', async () => (await deploymentsOf(errand, workflow)).length === KEPT);
  const url = `${path}/deployments/${waiting.deployment_id}/activate`;
  assertProblem(await errand.client.request('POST', url), 404);
  const { data: shown } = await errand.client.get(`/v1/runs/${waiting.id}`);
  assert.deepEqual(shown, over);
  await errand.send((await errand.client.get(path)).data, {});
  const { data: runs } = await until('the newest code', async () => {
    const page = await errand.client.get(`${path}/runs?state=succeeded`);
    return page.data.length === 2 && page;
  });
  assert.equal((await overRun(errand, runs[0].id)).steps[0].return_value, `save ${SAVES}`);
});
