// What a step is configured with may be taken from its run, as callers of the hosted original write it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tryStep } from '../../support/actions.ts';
import type { Json } from '../../support/client.ts';
import { type Errand, startErrand } from '../../support/errand.ts';

const action = (props: string, run = 'return { ...this };'): string =>
  `export default { type: 'action', props: ${props}, async run() { ${run} } };`;

/** The end of a run of a step behind another one, with this event. */
async function ranWith(errand: Errand, step: { code: string; configured_props: Json }, event: Json): Promise<Json> {
  const steps = [
    { namespace: 'before', code: 'export default () => ({ id: 7 });' },
    { namespace: 'act', ...step },
  ];
  const settings = { env: { PLACE: 'Oslo' } };
  const workflow = await errand.client.post('/v1/workflows', { name: 'test', steps, settings });
  await errand.restart();
  await errand.client.post(`/v1/workflows/${workflow.id}/runs`, { event });
  const [{ id }] = await errand.runs(workflow.id, 1);
  return (await errand.client.get(`/v1/runs/${id}`)).data;
}

test('expressions give what the run has', async () => {
  await using errand = await startErrand();
  const code = action(`{
    title: 'string', count: 'integer', tags: 'string[]', all: 'string[]', meta: 'object', loud: 'boolean',
    where: { type: 'string', default: 'nowhere' }, template: 'string',
  }`);
  const configured_props = {
    title: 'Order {{steps.trigger.event.name}} of {{ steps.before.$return_value.id + 1 }} {{steps.trigger.event.meta}}',
    count: '{{steps.trigger.event.count}}',
    tags: ['{{steps.trigger.event.name}}', 'new'],
    all: '{{steps.trigger.event.tags.map((tag) => tag.toUpperCase())}}',
    meta: { place: '{{process.env.PLACE}}', deep: [{ id: '{{steps.before.$return_value.id}}' }] },
    loud: '{{steps.trigger.event.loud}}',
    where: '{{steps.trigger.event.none}}',
    template: 'Dear {{name}}',
  };
  const event = { name: 'A-1', count: '3', tags: ['a', 'b'], meta: { x: 1 }, loud: true };
  const run = await ranWith(errand, { code, configured_props }, event);
  assert.equal(run.state, 'succeeded', JSON.stringify(run.error));
  assert.deepEqual(run.steps[1].return_value, {
    title: 'Order A-1 of 8 {"x":1}',
    count: 3,
    tags: ['A-1', 'new'],
    all: ['A', 'B'],
    meta: { place: 'Oslo', deep: [{ id: 7 }] },
    loud: true,
    where: 'nowhere',
    template: 'Dear {{name}}',
  });
  const shown = (await errand.client.get(`/v1/workflows/${run.workflow_id}`)).data;
  assert.equal(shown.steps[1].configured_props.count, '{{steps.trigger.event.count}}');
});

test('expressions in defaults give what the run has', async () => {
  await using errand = await startErrand();
  const code = `export default {
    type: 'action',
    props: {
      ip: { type: 'string', default: '{{steps.trigger.event.ip}}' },
      none: { type: 'string', optional: true, default: '{{steps.trigger.event.none}}' },
      by: { type: 'string', default: 'Errand - {{steps.trigger.context.workflow_name}}' },
      list: { type: 'string[]', default: ['{{steps.before.$return_value.id}}', 'b'] },
      set: { type: 'string', default: '{{steps.gone.$return_value}}' },
      query: { type: 'sql', default: { value: 'SELECT $1', params: ['{{steps.trigger.event.ip}}'] } },
      more: { type: 'boolean', default: true, reloadProps: true },
    },
    additionalProps: () => ({ added: { type: 'integer', default: '{{steps.trigger.event.count}}' } }),
    run() { return { ...this, query: this.query.params, none: typeof this.none }; },
  };`;
  const run = await ranWith(errand, { code, configured_props: { set: 'here' } }, { ip: '10.0.0.1', count: '4' });
  assert.equal(run.state, 'succeeded', JSON.stringify(run.error));
  assert.deepEqual(run.steps[1].return_value, {
    ip: '10.0.0.1',
    none: 'undefined',
    by: 'Errand - test',
    list: [7, 'b'],
    set: 'here',
    query: ['10.0.0.1'],
    more: true,
    added: 4,
  });
});

test('an expression that throws names its prop', async () => {
  await using errand = await startErrand();
  const configured_props = { title: '{{steps.nothing.$return_value}}' };
  const run = await ranWith(errand, { code: action(`{ title: 'string' }`), configured_props }, {});
  assert.equal(run.state, 'failed');
  assert.equal(run.error.code, 'ConfigurationError');
  assert.match(run.error.msg, /^prop "title": \{\{steps\.nothing\.\$return_value\}\} cannot be evaluated: Cannot read/);
});

test('queries, data stores and accounts take none', async () => {
  await using errand = await startErrand();
  const expression = '{{steps.trigger.event.x}}';
  for (const [type, value] of [
    ['sql', `SELECT ${expression}`],
    ['sql', { value: 'SELECT 1', query: `SELECT ${expression}` }],
    ['data_store', expression],
  ]) {
    const { status, json } = await tryStep(errand, action(`{ it: '${type}' }`), { it: value });
    assert.equal(status, 422);
    assert.equal(json.errors[0].parameter, 'steps.act.configured_props.it');
  }
  const account = { app: { authProvisionId: expression } };
  const named = await tryStep(errand, action(`{ app: { type: 'app', app: 'x' } }`), account);
  assert.equal(named.status, 422);
  const source = {
    component_code: `export default { props: { n: 'integer' }, run() {} };`,
    configured_props: { n: expression },
  };
  assert.equal((await errand.client.request('POST', '/v1/sources', source)).status, 422, 'a source has no steps');
  const sql = { value: 'SELECT $1', params: [expression] };
  const run = await ranWith(
    errand,
    { code: action(`{ it: 'sql' }`, 'return this.it.params;'), configured_props: { it: sql } },
    { x: 'a' },
  );
  assert.deepEqual(run.steps[1].return_value, ['a']);
});
