// Runs that wait: found, looked at, and brought to their time.

import assert from 'node:assert/strict';
import type { Json } from './client.ts';
import type { Errand } from './errand.ts';
import { until } from './wait.ts';

/** A workflow with these steps, `{name: code of a function body}`, and an HTTP trigger. */
export function stepped(
  errand: Pick<Errand, 'workflow'>,
  steps: Record<string, string>,
  more: Json = {},
): Promise<Json> {
  const list = Object.entries(steps).map(([namespace, body]) => ({
    namespace,
    code: `export default async ({ steps, $ }) => { ${body} };`,
  }));
  return errand.workflow('', { steps: list, ...more });
}

/** Waits until a run of the workflow waits; returns it whole. */
export async function waitingRun(errand: Pick<Errand, 'client'>, workflow: Json, kind?: string): Promise<Json> {
  const found = await until(`a run of ${workflow.id} that waits`, async () => {
    const { data } = await errand.client.get(`/v1/workflows/${workflow.id}/runs?state=waiting`);
    return data.find((run: Json) => kind === undefined || run.waiting.kind === kind);
  });
  return (await errand.client.get(`/v1/runs/${found.id}`)).data;
}

/** Waits until the run is over; returns it whole. */
export function overRun(errand: Pick<Errand, 'client'>, id: string): Promise<Json> {
  return until(`the end of ${id}`, async () => {
    const { data } = await errand.client.get(`/v1/runs/${id}`);
    return ['succeeded', 'failed', 'cancelled'].includes(data.state) && data;
  });
}

/** The single run of the workflow, once it is over. */
export async function onlyRun(errand: Errand, workflow: Json): Promise<Json> {
  const [run, ...others] = await errand.runs(workflow.id, 1);
  assert.equal(others.length, 0);
  return overRun(errand, run.id);
}

/** Sets the clock forward, and has what is due then happen now. */
export async function pass(errand: Errand, ms: number): Promise<void> {
  errand.forward(ms);
  // A changed workflow may have a changed schedule: whoever waits for the time looks again.
  const me = (await errand.client.get('/v1/users/me')).data;
  await errand.client.put(`/v1/workflows/${me.global_error_workflow_id}`, { active: true });
}

/** The addresses that a step has exported as `urls`. */
export function urlsOf(run: Json, namespace = 'ask'): { resume_url: string; cancel_url: string } {
  return run.steps.find((step: Json) => step.namespace === namespace).exports.urls;
}

/** The ledger, which must add up, and agree with what is expected of it. */
export async function expectLedger(errand: Errand, runs: Json, errors = 0): Promise<void> {
  const { data } = await errand.client.get('/v1/ledger');
  const { total, ...states } = data.runs;
  assert.equal(
    total,
    Object.values<number>(states).reduce((sum, count) => sum + count, 0),
    JSON.stringify(data.runs),
  );
  const counted = Object.fromEntries(Object.keys(runs).map((state) => [state, data.runs[state]]));
  assert.deepEqual([counted, data.errors.captured], [runs, errors]);
}
