// Replays of many errors over HTTP: what can be asked for, their progress, and what became of each error.

import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../support/client.ts';
import { startErrand } from '../support/errand.ts';
import type { ErrandActions } from '../support/flows.ts';
import { type OwnerOn, sharedErrand, withScopes } from '../support/owners.ts';
import { assertProblem } from '../support/problem.ts';
import { startReceiver } from '../support/receiver.ts';
import { until } from '../support/wait.ts';
import { withoutIso } from '../support/wire/iso-times.ts';

const newOwner = sharedErrand();

const FAIL = `export default ({ steps }) => { throw new Error('lost') }`;
const FIXED = 'export default ({ steps }) => steps.trigger.event.body.n';

type On = Pick<OwnerOn, 'client'> & ErrandActions;

/** A workflow with so many errors. */
async function failed(errand: On, count: number): Promise<{ workflow: Json; groupId: string; ids: string[] }> {
  const workflow = await errand.workflow(FAIL, { settings: { notify: false } });
  for (let n = 0; n < count; n++) await errand.send(workflow, `{"n":${n}, "big": 12345678901234567890}`);
  const errors = await errand.errors(workflow.id, count);
  const { data: found } = await errand.client.get(`/v1/errors?emitter_id=${workflow.id}&limit=1`);
  return { workflow, groupId: found[0]?.metadata.group_id, ids: errors.map(({ id }) => id).reverse() };
}

const deploy = (errand: On, { id }: Json, code = FIXED): Promise<Json> =>
  errand.client.put(`/v1/workflows/${id}`, { steps: [{ namespace: 'step', code }] });

/** Waits until an operation is in that state, and no replay is under way. */
function operation(errand: On, id: string, state = 'done'): Promise<Json> {
  return until(`operation ${id} to be ${state}`, async () => {
    const { data } = await errand.client.get(`/v1/operations/${id}`);
    return data.state === state && data.replay.under_way === 0 && data;
  });
}

const results = async (errand: On, id: string, query = ''): Promise<Json[]> =>
  (await errand.client.get(`/v1/operations/${id}/results${query}`)).data;

const counted = ({ replay }: Json): Json =>
  Object.fromEntries(
    ['fixed', 'failed_same', 'failed_differently', 'cancelled', 'unknown', 'not_replayed', 'replayed_before']
      .filter((name) => replay[name] > 0)
      .map((name) => [name, replay[name]]),
  );

test('a group is replayed once its workflow is repaired', async () => {
  const errand = await newOwner();
  const { workflow, groupId, ids } = await failed(errand, 3);
  const { deployment_id: deploymentId } = await deploy(errand, workflow);
  const begun = await errand.client.post('/v1/replays', { group_id: groupId });
  match(begun.id, /^op_/);
  deepEqual(
    [begun.kind, begun.state, begun.webhook_id, begun.total, begun.replay.group_id, begun.replay.canary],
    ['replay', 'running', null, null, groupId, 1],
  );
  const done = await operation(errand, begun.id);
  deepEqual([done.total, done.progress, done.reason, counted(done)], [3, 1, null, { fixed: 3 }]);
  deepEqual([done.replay.replayed, done.replay.canary_over], [3, true]);
  const all = await results(errand, begun.id);
  deepEqual(
    all.map(({ id, outcome, emitter_id: of }) => [id, outcome, of]),
    ids.toReversed().map((id) => [id, 'fixed', workflow.id]),
  );
  equal((await errand.client.get(`/v1/error_groups/${groupId}`)).data.state, 'resolved');
  for (const { id, run_id: runId } of all) {
    const { data: run } = await errand.client.get(`/v1/runs/${runId}`);
    deepEqual([run.replay, run.state, run.deployment_id], [true, 'succeeded', deploymentId]);
    equal(run.caused_by.summary, `replay of ${id}`);
    match(JSON.stringify(run.event), /"n":/);
    const path = `/v1/workflows/${workflow.id}/$errors/event_summaries/${id}`;
    const { data: error } = await errand.client.get(path);
    const { created_at_ms, ended_at_ms } = run;
    deepEqual(error.replays.map(withoutIso), [
      {
        ...{ kind: 'replay', run_id: runId, state: 'succeeded', edited: false, operation_id: begun.id },
        ...{ outcome: 'fixed', error_id: null, created_at_ms, ended_at_ms },
      },
    ]);
    deepEqual([error.run_id, error.run_retained], [run.caused_by.run_id, true]);
    equal((await errand.client.get(`/v1/runs/${run.caused_by.run_id}`)).data.retried_by, runId);
  }
  deepEqual((await errand.client.get('/v1/operations?kind=replay')).data, [done]);
  deepEqual((await errand.client.get('/v1/operations?kind=resend')).data, []);
  deepEqual((await errand.client.get('/v1/operations?webhook_id=wh_x')).data, []);
});

test('a dry run tells how many, and makes nothing', async () => {
  const errand = await newOwner();
  const { workflow, groupId, ids } = await failed(errand, 7);
  const told = await errand.client.post('/v1/replays', { group_id: groupId, dry_run: true });
  deepEqual([told.dry_run, told.count, told.at_least], [true, 7, false]);
  deepEqual([told.to_replay, told.passed_over, told.reasons], [7, 0, []]);
  deepEqual(told.by_workflow, [{ id: workflow.id, count: 7 }]);
  deepEqual(
    told.sample,
    ids.slice(0, 5).map((id) => ({ id, emitter_id: workflow.id, code: 'Error', msg: 'lost', reason: null })),
  );
  const named = await errand.client.post('/v1/replays', { error_ids: ['1-0', ids[0]], dry_run: true });
  deepEqual([named.count, named.sample[0].id, named.sample[0].emitter_id], [2, '1-0', null]);
  match(named.sample[0].reason, /no such error/);
  const other = { workflow_id: workflow.id, code: 'Other', dry_run: true };
  equal((await errand.client.post('/v1/replays', other)).count, 0);
  deepEqual((await errand.client.get('/v1/operations')).data, []);
  equal((await errand.client.get('/v1/ledger')).data.runs.total, 7);
});

test('a dry run counts as the replay does', async () => {
  const errand = await newOwner();
  const { workflow, ids } = await failed(errand, 6);
  const gone = await failed(errand, 1);
  await errand.client.request('DELETE', `/v1/workflows/${gone.workflow.id}`);
  await operation(errand, (await errand.client.post('/v1/replays', { error_ids: ids[0] })).id);
  await deploy(errand, workflow);
  await operation(errand, (await errand.client.post('/v1/replays', { error_ids: ids.slice(1, 4) })).id);
  const named = { error_ids: ['1-0', ...ids, ...gone.ids] };
  const dry = await errand.client.post('/v1/replays', { ...named, dry_run: true });
  deepEqual([dry.count, dry.at_least, dry.to_replay, dry.passed_over], [8, false, 2, 6]);
  deepEqual(dry.reasons.map(({ outcome, count, reason }: Json) => `${count} ${outcome}: ${reason}`).toSorted(), [
    `1 not_replayed: there is no ${gone.workflow.id} any more`,
    '1 not_replayed: there is no such error, or its event is no longer stored',
    '1 replayed_before: its event was run again, and failed: the error of that run is listed itself',
    '3 replayed_before: its event was run again, and succeeded',
  ]);
  equal(dry.reasons[0].count, 3, 'the reason of most comes first');
  const again = await errand.client.post('/v1/replays', { ...named, again: true, dry_run: true });
  deepEqual([again.to_replay, again.passed_over], [6, 2]);
  const { id } = await errand.client.post('/v1/replays', named);
  deepEqual(counted(await operation(errand, id)), { fixed: 2, not_replayed: 2, replayed_before: 4 });
});

test('a canary that fails stops the rest', async () => {
  const errand = await newOwner();
  const { workflow, groupId } = await failed(errand, 4);
  const { id } = await errand.client.post('/v1/replays', { group_id: groupId });
  const paused = await operation(errand, id, 'paused');
  deepEqual([counted(paused), paused.total], [{ failed_same: 1 }, 4]);
  match(paused.reason, /did not end well/);
  const [{ error_id: errorId, outcome }] = await results(errand, id);
  equal(outcome, 'failed_same');
  equal((await errand.errors(workflow.id, 5))[0]?.id, errorId);
  await deploy(errand, workflow);
  const resumed = await errand.client.post(`/v1/operations/${id}/resume`);
  deepEqual([resumed.state, resumed.reason], ['running', null]);
  deepEqual(counted(await operation(errand, id)), { fixed: 3, failed_same: 1 });
  deepEqual((await results(errand, id, '?outcome=failed_same'))[0].error, { code: 'Error', msg: 'lost' });
  deepEqual(new Set((await results(errand, id, '?outcome=fixed')).map(({ error }) => error)), new Set([null]));
  deepEqual((await results(errand, id, '?outcome=fixed&limit=2')).length, 2);
  equal((await errand.client.get(`/v1/error_groups/${groupId}`)).data.state, 'open');
  // What is left is the error of the canary: no event that is fixed runs again.
  const second = await errand.client.post('/v1/replays', { group_id: groupId });
  deepEqual(counted(await operation(errand, second.id)), { fixed: 1, replayed_before: 4 });
  equal((await errand.client.get(`/v1/error_groups/${groupId}`)).data.state, 'resolved');
});

test('replays go with an older deployment', async () => {
  const errand = await newOwner();
  const workflow = await errand.workflow(FIXED, { settings: { notify: false } });
  await deploy(errand, workflow, FAIL);
  await errand.send(workflow, { n: 1 });
  const [error] = await errand.errors(workflow.id, 1);
  const { id } = await errand.client.post('/v1/replays', {
    error_ids: error?.id,
    deployment: workflow.deployment_id,
    canary: 0,
  });
  const done = await operation(errand, id);
  deepEqual([counted(done), done.replay.deployment, done.replay.error_ids], [{ fixed: 1 }, workflow.deployment_id, 1]);
  const [result] = await results(errand, id);
  const { data: run } = await errand.client.get(`/v1/runs/${result?.run_id}`);
  deepEqual([run.deployment_id, run.attempt, run.steps.length], [workflow.deployment_id, 1, 1]);
});

test('what cannot be replayed is listed with its reason', async () => {
  const errand = await newOwner();
  await using receiver = await startReceiver();
  receiver.answer(410);
  const { workflow, ids } = await failed(errand, 2);
  const emitter = await errand.workflow('export default ({ $ }) => $.send.emit({ n: 1 })');
  const webhook = await errand.client.post('/v1/webhooks', { url: receiver.url });
  await errand.subscribe(emitter.id, webhook.id);
  await errand.send(emitter, {});
  const [webhookError] = await errand.errors(webhook.id, 1);
  await errand.client.delete(`/v1/workflows/${workflow.id}`);
  const errorIds = [...ids, webhookError?.id, '1-0'].join(',');
  const { id } = await errand.client.post('/v1/replays', { error_ids: errorIds });
  const done = await operation(errand, id);
  deepEqual([done.total, counted(done)], [4, { not_replayed: 4 }]);
  const all = await results(errand, id);
  deepEqual(
    all.map((one) => [one.id, one.emitter_id, one.outcome, one.run_id]),
    [
      [webhookError?.id, webhook.id, 'not_replayed', null],
      [ids[1], workflow.id, 'not_replayed', null],
      [ids[0], workflow.id, 'not_replayed', null],
      ['1-0', null, 'not_replayed', null],
    ],
  );
  const gone = `there is no ${workflow.id} any more`;
  deepEqual([all[1]?.reason, all[2]?.reason], [gone, gone]);
  match(all[0]?.reason, /of a webhook/);
  match(all[3]?.reason, /no longer stored/);
  const ofDeleted = await errand.client.post('/v1/replays', { workflow_id: workflow.id });
  deepEqual(counted(await operation(errand, ofDeleted.id)), { not_replayed: 2 });
});

test('bad orders are refused by name', async () => {
  const errand = await newOwner();
  const { workflow, groupId, ids } = await failed(errand, 1);
  const other = await errand.workflow(FIXED);
  const group = { group_id: groupId };
  const refused: readonly [body: unknown, status: number, ...named: string[]][] = [
    [{}, 400, 'exactly one'],
    [{ ...group, workflow_id: workflow.id }, 400, 'exactly one'],
    [{ error_ids: [] }, 400, 'error_ids'],
    [{ error_ids: ['x'] }, 400, 'error_ids'],
    [{ error_ids: 'x'.repeat(9) }, 400, 'error_ids'],
    [{ error_ids: Array(1001).fill(ids[0]) }, 400, 'error_ids'],
    [{ error_ids: ids, code: 'Error' }, 400, 'code'],
    [{ error_ids: ids, since: 0 }, 400, 'since'],
    [{ ...group, since: 5, until: 5 }, 400, 'until'],
    [{ ...group, since: 'yesterday' }, 400, 'since'],
    [{ ...group, rate: 0 }, 400, 'rate must be a number from 0.001 to 1000'],
    [{ ...group, rate: 1e9 }, 400, 'rate'],
    [{ ...group, canary: -1 }, 400, 'canary'],
    [{ ...group, canary: 1.5 }, 400, 'canary'],
    [{ ...group, stop_on_failures: 0 }, 400, 'stop_on_failures'],
    [{ ...group, stop_on_failures: 1e99 }, 400, 'stop_on_failures'],
    [{ ...group, dry_run: 'maybe' }, 400, 'dry_run'],
    [{ ...group, deployment: 'newest' }, 400, 'deployment'],
    [{ ...group, colour: 'red' }, 400, 'colour'],
    ['{', 400],
    [{ group_id: 'eg_0000000000000000' }, 404, 'eg_0000000000000000'],
    [{ group_id: "eg_' OR 1=1 --\u0000" }, 404],
    [{ workflow_id: 'p_0000000000000000' }, 404, 'p_0000000000000000'],
    [{ workflow_id: 'wh_0000000000000000' }, 404],
    [{ ...group, deployment: 'd_0000000000000000' }, 404, 'd_0000000000000000'],
    [{ ...group, deployment: other.deployment_id }, 422, other.deployment_id],
    [{ error_ids: ids, deployment: other.deployment_id }, 422, other.deployment_id],
  ];
  for (const [body, status, ...named] of refused) {
    assertProblem(await errand.client.request('POST', '/v1/replays', body), status, ...named);
  }
  const { client: reader } = await withScopes(errand.client, ['read']);
  assertProblem(await reader.request('POST', '/v1/replays', group), 403);
  deepEqual((await errand.client.get('/v1/operations')).data, []);
  assertProblem(await errand.client.request('GET', '/v1/operations/op_0000000000000000/results'), 404);
  const { id, replay } = await errand.client.post(`/v1/replays?group_id=${groupId}&rate=0.5&ordered=true`);
  deepEqual([replay.rate, replay.ordered], [0.5, true], 'in the query');
  for (const query of ['after=x', 'outcome=good', 'limit=0']) {
    assertProblem(await errand.client.request('GET', `/v1/operations/${id}/results?${query}`), 400);
  }
});

test('two operations over the same errors run each event once', async () => {
  const errand = await newOwner();
  const { workflow, groupId } = await failed(errand, 20);
  await deploy(errand, workflow, 'export default () => new Promise((resolve) => setTimeout(resolve, 20))');
  const asked = { group_id: groupId, canary: 0 };
  const begun = await Promise.all([1, 2, 3].map(() => errand.client.post('/v1/replays', asked)));
  const runs = new Set<string>();
  for (const { id } of begun) {
    const { total, replay } = await operation(errand, id);
    deepEqual([total, replay.fixed + replay.replayed_before], [20, 20]);
    for (const one of await results(errand, id)) runs.add(one.run_id);
  }
  equal(runs.size, 20);
  equal((await errand.client.get('/v1/ledger')).data.runs.total, 40);
  equal((await errand.client.get(`/v1/error_groups/${groupId}`)).data.state, 'resolved');
});

test('a replay by hand beside an operation is refused', async () => {
  const errand = await newOwner();
  const { workflow, groupId, ids } = await failed(errand, 1);
  await deploy(errand, workflow, `export default async ({ $ }) => { await $.flow.delay(600_000) }`);
  const begun = await errand.client.post('/v1/replays', { group_id: groupId });
  const [{ run_id: run }] = await until('the replay', async () => {
    const found = await results(errand, begun.id);
    return found.length === 1 && found;
  });
  const path = `/v1/workflows/${workflow.id}/$errors/${ids[0]}/replay`;
  const refused = await errand.client.request('POST', path, {});
  assertProblem(refused, 409, `run again by ${run} of ${begun.id}`);
  const edited = await errand.client.post(path, { event: { n: 7 } });
  match(edited.run_id, /^r_/, 'another event runs in any case');
  await errand.client.post(`/v1/runs/${run}/cancel`, {});
  await operation(errand, begun.id);
  const started = await errand.client.post(path, {});
  notEqual(started.run_id, run);
});

test('the audit log says who replayed what', async () => {
  await using errand = await startErrand();
  const { groupId } = await failed(errand, 2);
  const { client, key } = await withScopes(errand.client, ['write']);
  await client.post('/v1/replays', { group_id: groupId, dry_run: true });
  const { id } = await client.post('/v1/replays', { group_id: groupId });
  await client.post(`/v1/operations/${id}/cancel`);
  equal((await client.request('POST', '/v1/replays', { group_id: 'eg_0000000000000000' })).status, 404);
  const { data: records } = await errand.client.get(`/v1/audit?key=${key.id}`);
  deepEqual(records.map((one: Json) => [one.operation, one.method, one.path, one.target_id, one.status]).reverse(), [
    ['replayErrors', 'POST', '/v1/replays', null, 200],
    ['replayErrors', 'POST', '/v1/replays', id, 200],
    ['cancelOperation', 'POST', `/v1/operations/${id}/cancel`, id, 200],
    ['replayErrors', 'POST', '/v1/replays', null, 404],
  ]);
  equal((await errand.client.get(`/v1/operations/${id}`)).data.replay.group_id, groupId);
});

test('another owner sees and replays nothing of it', async () => {
  const [errand, stranger] = [await newOwner(), await newOwner()];
  const { workflow, groupId, ids } = await failed(errand, 2);
  const { id } = await errand.client.post('/v1/replays', { group_id: groupId });
  await operation(errand, id, 'paused');
  for (const body of [{ group_id: groupId }, { workflow_id: workflow.id }]) {
    assertProblem(await stranger.client.request('POST', '/v1/replays', body), 404);
    assertProblem(await stranger.client.request('POST', '/v1/replays', { ...body, dry_run: true }), 404);
  }
  const deployment = workflow.deployment_id;
  assertProblem(await stranger.client.request('POST', '/v1/replays', { error_ids: ids, deployment }), 404);
  assertProblem(await stranger.client.request('GET', `/v1/operations/${id}/results`), 404);
  for (const order of ['pause', 'resume', 'cancel']) {
    assertProblem(await stranger.client.request('POST', `/v1/operations/${id}/${order}`), 404);
  }
  const theirs = await stranger.client.post('/v1/replays', { error_ids: ids });
  const done = await operation(stranger, theirs.id);
  deepEqual(counted(done), { not_replayed: 2 });
  ok((await results(stranger, theirs.id)).every((one) => one.emitter_id === null && one.run_id === null));
  equal((await errand.runs(workflow.id, 3)).length, 3, 'two failed, one canary');
});

test('replays go on after a restart, each once', async () => {
  await using errand = await startErrand();
  const { workflow, groupId } = await failed(errand, 30);
  await deploy(errand, workflow);
  // Slowly enough that some are left after a restart on a busy machine.
  const { id } = await errand.client.post('/v1/replays', { group_id: groupId, rate: 8 });
  await until('some replays', async () => (await errand.client.get(`/v1/operations/${id}`)).data.replay.fixed > 3);
  await errand.restart();
  const between = (await errand.client.get(`/v1/operations/${id}`)).data;
  ok(between.replay.replayed < 30, `${between.replay.replayed} at once`);
  const done = await operation(errand, id);
  deepEqual([done.total, counted(done)], [30, { fixed: 30 }]);
  equal(new Set((await results(errand, id)).map((one) => one.run_id)).size, 30);
  equal((await errand.client.get('/v1/ledger')).data.runs.total, 60);
});
