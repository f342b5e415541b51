// Replays of many errors from the step that failed: what the steps before it have done is not done again.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../support/client.ts';
import { startErrand } from '../../support/errand.ts';
import type { ErrandActions } from '../../support/flows.ts';
import { type OwnerOn, sharedErrand } from '../../support/owners.ts';
import { assertProblem } from '../../support/problem.ts';
import { until } from '../../support/wait.ts';

const newOwner = sharedErrand();

type On = Pick<OwnerOn, 'client'> & ErrandActions;

// What was charged, with a mark of its own each time that it is executed.
const CHARGE = `export default ({ steps, $ }) => {
  $.export('at', Math.random());
  return steps.trigger.event.body.n;
}`;
const LOST = `export default () => { throw new Error('lost') }`;
const SHIPPED =
  'export default ({ steps, $ }) => [steps.charge.$return_value, steps.charge.at, $.context.attempt, $.context.replay]';

const cells = (...named: readonly (readonly [string, string])[]) =>
  named.map(([namespace, code]) => ({ namespace, code }));

/** A workflow of which the second step has failed so many times. */
async function failed(errand: On, count: number): Promise<{ workflow: Json; runs: Json[] }> {
  const workflow = await errand.client.post('/v1/workflows', {
    name: 'Orders',
    triggers: [{ type: 'http' }],
    settings: { notify: false },
    steps: cells(['charge', CHARGE], ['ship', LOST]),
  });
  for (let n = 0; n < count; n++) await errand.send(workflow, { n });
  const runs = await errand.runs(workflow.id, count);
  return { workflow, runs: await Promise.all(runs.map(({ id }) => whole(errand, id))) };
}

const whole = async (errand: On, id: string): Promise<Json> => (await errand.client.get(`/v1/runs/${id}`)).data;

const deploy = (errand: On, { id }: Json, ...named: readonly (readonly [string, string])[]): Promise<Json> =>
  errand.client.put(`/v1/workflows/${id}`, { steps: cells(...named) });

function done(errand: On, id: string, state = 'done'): Promise<Json> {
  return until(`operation ${id} to be ${state}`, async () => {
    const { data } = await errand.client.get(`/v1/operations/${id}`);
    return data.state === state && data.replay.under_way === 0 && data;
  });
}

const results = async (errand: On, id: string): Promise<Json[]> =>
  (await errand.client.get(`/v1/operations/${id}/results?limit=100`)).data;

test('the steps before the one that failed are not executed again', async () => {
  const errand = await newOwner();
  const { workflow, runs } = await failed(errand, 3);
  const { deployment_id: deployment } = await deploy(errand, workflow, ['charge', LOST], ['ship', SHIPPED]);
  const begun = await errand.client.post('/v1/replays', { workflow_id: workflow.id, from: 'failed_step' });
  deepEqual([begun.replay.from, begun.replay.canary], ['failed_step', 1]);
  const { replay } = await done(errand, begun.id);
  equal(replay.fixed, 3);
  const charged = new Map(runs.map((run) => [run.event.body.n, run.steps[0].exports.at]));
  for (const { run_id: id } of await results(errand, begun.id)) {
    const run = await whole(errand, id);
    const { n } = run.event.body;
    deepEqual(run.steps[1].return_value, [n, charged.get(n), 2, true]);
    deepEqual([run.deployment_id, run.attempt, run.steps[0].exports.at], [deployment, 2, charged.get(n)]);
    match(run.caused_by.summary, /^replay of /);
  }
  const { data: groups } = await errand.client.get(`/v1/error_groups?emitter_id=${workflow.id}`);
  deepEqual(
    groups.map(({ state }: Json) => state),
    ['resolved'],
  );
});

test('without it all steps are executed, and the operation says so', async () => {
  const errand = await newOwner();
  const { workflow, runs } = await failed(errand, 1);
  await deploy(errand, workflow, ['charge', CHARGE], ['ship', SHIPPED]);
  for (const from of [{}, { from: 'first_step', again: true }]) {
    const begun = await errand.client.post('/v1/replays', { workflow_id: workflow.id, ...from });
    equal(begun.replay.from, 'first_step');
    await done(errand, begun.id);
    const run = await whole(errand, (await results(errand, begun.id))[0]?.run_id);
    ok(run.steps[0].exports.at !== runs[0]?.steps[0].exports.at, 'charged again');
    equal(run.attempt, 1);
  }
});

test('it needs the same steps before the one that failed, and a dry run shows what lacks them', async () => {
  const errand = await newOwner();
  const { workflow, runs } = await failed(errand, 2);
  await deploy(errand, workflow, ['bill', CHARGE], ['ship', SHIPPED]);
  const asked = { workflow_id: workflow.id, from: 'failed_step' };
  const why = /^r_\w+ failed behind the steps charge, and the deployment d_\w+ has the steps bill, ship/;
  const { sample } = await errand.client.post('/v1/replays', { ...asked, dry_run: true });
  equal(sample.length, 2);
  for (const { reason } of sample) match(reason, why);
  const begun = await errand.client.post('/v1/replays', asked);
  equal((await done(errand, begun.id)).replay.not_replayed, 2);
  for (const { reason } of await results(errand, begun.id)) match(reason, why);
  const { data: groups } = await errand.client.get(`/v1/error_groups?emitter_id=${workflow.id}`);
  deepEqual(
    groups.map(({ state }: Json) => state),
    ['open'],
  );
  // The deployment that failed has them, and fails in the same way.
  const deployment = runs[0]?.deployment_id;
  const again = await errand.client.post('/v1/replays', { ...asked, deployment });
  const { replay } = await done(errand, again.id, 'paused');
  deepEqual([replay.failed_same, replay.deployment], [1, deployment]);
  const [first] = await results(errand, again.id);
  const retried = await whole(errand, first?.run_id);
  equal(
    retried.steps[0].exports.at,
    runs.find((run) => run.event.body.n === retried.event.body.n)?.steps[0].exports.at,
  );
});

test('what failed in its first step runs from there', async () => {
  const errand = await newOwner();
  const workflow = await errand.workflow(LOST, { settings: { notify: false } });
  await errand.send(workflow, { n: 5 });
  await errand.errors(workflow.id, 1);
  await deploy(errand, workflow, ['renamed', 'export default ({ steps }) => steps.trigger.event.body.n']);
  const begun = await errand.client.post('/v1/replays', { workflow_id: workflow.id, from: 'failed_step' });
  equal((await done(errand, begun.id)).replay.fixed, 1);
  const run = await whole(errand, (await results(errand, begun.id))[0]?.run_id);
  deepEqual([run.steps[0].return_value, run.attempt], [5, 2]);
});

test('it goes on after a restart with what was kept', async () => {
  await using errand = await startErrand();
  const { workflow, runs } = await failed(errand, 12);
  await deploy(errand, workflow, ['charge', LOST], ['ship', SHIPPED]);
  const { id } = await errand.client.post('/v1/replays', { workflow_id: workflow.id, from: 'failed_step', rate: 4 });
  await until('some replays', async () => (await errand.client.get(`/v1/operations/${id}`)).data.replay.fixed > 1);
  await errand.restart();
  const { replay } = await done(errand, id);
  deepEqual([replay.from, replay.fixed], ['failed_step', 12]);
  const charged = new Map(runs.map((run) => [run.event.body.n, run.steps[0].exports.at]));
  for (const { run_id: run } of await results(errand, id)) {
    const { event, steps } = await whole(errand, run);
    equal(steps[0].exports.at, charged.get(event.body.n));
  }
});

test('another word than the two is refused', async () => {
  const errand = await newOwner();
  for (const from of ['second_step', 'charge', '', null, 2, true]) {
    const refused = await errand.client.request('POST', '/v1/replays', { workflow_id: 'p_0000000000000000', from });
    assertProblem(refused, 400);
  }
});
