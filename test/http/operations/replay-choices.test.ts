// Which errors a replay of many takes, beside those of a group, of a workflow and those that are named: of a source, of a step,
// of a deployment.

import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../support/client.ts';
import { sharedErrand } from '../../support/owners.ts';
import { assertProblem } from '../../support/problem.ts';
import { until } from '../../support/wait.ts';

const newOwner = sharedErrand();

const FAIL = `export default ({ steps }) => { throw new Error('lost') }`;
const FIRST = {
  namespace: 'first',
  code: `export default ({ steps }) => { if (steps.trigger.event.body.n < 2) throw new Error('low') }`,
};
const SECOND = { namespace: 'second', code: FAIL };
const SOURCE = `export default {
  props: { http: '$.interface.http' },
  run(event) { if (event.body.n) throw new Error('lost'); this.$emit(event.body); },
};`;

type On = Awaited<ReturnType<typeof newOwner>>;

const done = (errand: On, id: string): Promise<Json> =>
  until(`operation ${id} to be done`, async () => {
    const { data } = await errand.client.get(`/v1/operations/${id}`);
    return data.state === 'done' && data;
  });

test('errors of a step, and of a deployment, are replayed', async () => {
  const errand = await newOwner();
  const workflow = await errand.client.post('/v1/workflows', {
    ...{ name: 'Two steps', steps: [FIRST, SECOND], triggers: [{ type: 'http' }], settings: { notify: false } },
  });
  for (const n of [0, 1, 2, 3, 4]) await errand.send(workflow, { n });
  await errand.errors(workflow.id, 5);
  const changed = { ...SECOND, code: `${FAIL} // again` };
  const next = await errand.client.put(`/v1/workflows/${workflow.id}`, { steps: [FIRST, changed] });
  await errand.send(workflow, { n: 5 });
  await errand.errors(workflow.id, 6);
  const of = { workflow_id: workflow.id };
  const countOf = async (limits: Json): Promise<number> => {
    const { count, to_replay: toReplay } = await errand.client.post('/v1/replays', { ...of, ...limits, dry_run: true });
    equal(toReplay, count);
    return count;
  };
  equal(await countOf({ step: 'first' }), 2);
  equal(await countOf({ step: 'second' }), 4);
  equal(await countOf({ step: 'second', failed_deployment_id: next.deployment_id }), 1);
  equal(await countOf({ failed_deployment_id: workflow.deployment_id }), 5);
  equal(await countOf({ step: 'third' }), 0);
  const { id } = await errand.client.post('/v1/replays', { ...of, step: 'first', canary: 0 });
  const { replay, total } = await done(errand, id);
  deepEqual([total, replay.replayed, replay.step, replay.failed_deployment_id], [2, 2, 'first', null]);
});

test('errors of a source are replayed', async () => {
  const errand = await newOwner();
  const source = await errand.client.post('/v1/sources', { name: 'Feed', component_code: SOURCE });
  for (const n of [1, 2]) {
    await fetch(source.endpoint_url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ n }),
    });
  }
  await until('two errors', async () => {
    return (await errand.client.get(`/v1/errors?emitter_id=${source.id}`)).data.length === 2;
  });
  await errand.client.put(`/v1/sources/${source.id}`, {
    component_code: SOURCE.replace("if (event.body.n) throw new Error('lost');", ''),
  });
  const { id } = await errand.client.post('/v1/replays', { source_id: source.id });
  const { replay } = await done(errand, id);
  deepEqual([replay.source_id, replay.workflow_id, replay.fixed], [source.id, null, 2]);
  const { data } = await errand.client.get(`/v1/sources/${source.id}/event_summaries`);
  equal(data.length, 2);
  const stranger = await newOwner();
  for (const body of [{ source_id: source.id }, { source_id: source.id, step: 'x', dry_run: true }]) {
    assertProblem(await stranger.client.request('POST', '/v1/replays', body), 404, source.id);
  }
});

test('choices that contradict each other are refused by name', async () => {
  const errand = await newOwner();
  const workflow = await errand.workflow(FAIL);
  const of = { workflow_id: workflow.id };
  for (const [body, status, ...named] of [
    [{ ...of, source_id: 'dc_0000000000000000' }, 400, 'exactly one of group_id, workflow_id, source_id, error_ids'],
    [{ error_ids: ['1-0'], step: 'x' }, 400, 'step must not be given with error_ids'],
    [{ error_ids: ['1-0'], failed_deployment_id: workflow.deployment_id }, 400, 'failed_deployment_id'],
    [{ ...of, failed_deployment_id: 'current' }, 400, 'failed_deployment_id'],
    [{ ...of, step: '' }, 400, 'step'],
    [{ ...of, step: 'a\u0000' }, 400, 'step must be 1 to 64 characters, without control characters'],
    [{ ...of, code: '\u0007' }, 400, 'code'],
    [{ source_id: workflow.id }, 404, workflow.id],
    [{ source_id: 'dc_0000000000000000' }, 404, 'there is no source'],
    [{ workflow_id: 'dc_0000000000000000' }, 404, 'there is no workflow'],
  ] as const) {
    assertProblem(await errand.client.request('POST', '/v1/replays', body), status, ...named);
  }
});
