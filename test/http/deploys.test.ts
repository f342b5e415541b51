// Deploys while runs are in flight: each ends once, with the code that it began with.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startErrand } from '../support/errand.ts';

const DEPLOYS = 10;
const RUNS_EACH = 30;

/** Says which it is, after a moment in which the next one is deployed. */
const codeOf = (version: number): string => `export default async ({ steps }) => {
  await new Promise((resolve) => setTimeout(resolve, steps.trigger.event.body.n % 40));
  return ${version};
}`;

test('deploys lose none of the runs in flight', async () => {
  await using errand = await startErrand();
  const idsOf = async (workflowId: string): Promise<string[]> => {
    const ids: string[] = [];
    for (let after = ''; ; after = `&after=${ids.at(-1)}`) {
      const { data } = await errand.client.get(`/v1/workflows/${workflowId}/runs?limit=100${after}`);
      if (data.length === 0) return ids;
      ids.push(...data.map(({ id }: { id: string }) => id));
    }
  };
  const made = await errand.workflow(codeOf(0), { settings: { concurrency: 100 } });
  const deployments = new Map<string, number>();
  const sent: Promise<unknown>[] = [];
  for (let version = 0; version < DEPLOYS; version++) {
    const { deployment_id } = (await errand.client.get(`/v1/workflows/${made.id}`)).data;
    deployments.set(deployment_id, version);
    const batch = Array.from({ length: RUNS_EACH }, (_, n) => errand.send(made, { n }));
    sent.push(...batch);
    await batch[0];
    // Also what replaces a process without new code.
    const changed = version % 3 === 2 ? { settings: { env: { VERSION: String(version) } } } : {};
    const steps = [{ namespace: 'step', code: codeOf(version + 1) }];
    await errand.client.put(`/v1/workflows/${made.id}`, { steps, ...changed });
  }
  const last = (await errand.client.get(`/v1/workflows/${made.id}`)).data;
  deployments.set(last.deployment_id, DEPLOYS);
  await Promise.all(sent);
  await errand.settled();
  for (const id of await idsOf(made.id)) {
    const { data: run } = await errand.client.get(`/v1/runs/${id}`);
    assert.equal(run.state, 'succeeded', JSON.stringify(run.error));
    assert.equal(run.steps[0].return_value, deployments.get(run.deployment_id), 'with the code that it began with');
  }
  const { data: ledger } = await errand.client.get('/v1/ledger');
  assert.deepEqual([ledger.runs.total, ledger.runs.failed, ledger.errors.captured], [DEPLOYS * RUNS_EACH, 0, 0]);
});
