// What the list of workflows tells of their newest runs.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../support/client.ts';
import { type Errand, startErrand } from '../../support/errand.ts';
import { createOwner } from '../../support/owners.ts';
import { assertProblem } from '../../support/problem.ts';

const CODE = `export default ({ steps }) => { if (steps.trigger.event.body.fails) throw new Error('no'); };`;

async function healthOf({ client }: Pick<Errand, 'client'>, id: string): Promise<Json> {
  const { data } = await client.get('/v1/workflows?expand=health');
  return data.find((one: Json) => one.id === id)?.health;
}

test('workflows are listed with what their newest runs tell', async () => {
  await using errand = await startErrand();
  const other = await createOwner(errand);
  const [workflow, idle] = [await errand.workflow(CODE), await errand.workflow(CODE)];
  for (const fails of [false, true, false, false]) await errand.send(workflow, { fails });
  const runs = await errand.runs(workflow.id, 4);
  const health = await healthOf(errand, workflow.id);
  assert.deepEqual([health.runs, health.failed, health.error_ratio], [4, 1, 0.25]);
  const [newest, oldest] = [runs[0], runs.at(-1)];
  const { id, state, created_at_ms, created_at_iso } = newest;
  assert.deepEqual(health.last_run, { id, state, created_at_ms, created_at_iso });
  assert.deepEqual([health.since_ms, health.since_iso], [oldest.created_at_ms, oldest.created_at_iso]);
  const took = runs.map((run: Json) => run.ended_at_ms - run.started_at_ms);
  assert.equal(health.p95_ms, Math.max(...took));
  const none = { last_run: null, runs: 0, since_ms: null, since_iso: null, failed: 0, error_ratio: null, p95_ms: null };
  assert.deepEqual(await healthOf(errand, idle.id), none);
  assert.equal(await healthOf(other, workflow.id), undefined, 'another owner');

  const { data: plain } = await errand.client.get('/v1/workflows');
  assert.ok(
    plain.every((one: Json) => !('health' in one)),
    'it is told when it is asked for',
  );
  const { data: chosen } = await errand.client.get('/v1/workflows?expand=health&include=health&limit=1');
  assert.deepEqual(chosen, [{ health: none }]);
  assertProblem(await errand.client.request('GET', '/v1/workflows?expand=runs'), 400, 'expand');

  await errand.restart();
  assert.deepEqual(await healthOf(errand, workflow.id), health, 'after a restart');
  await errand.client.delete(`/v1/workflows/${workflow.id}`);
  assert.equal(await healthOf(errand, workflow.id), undefined);
});
