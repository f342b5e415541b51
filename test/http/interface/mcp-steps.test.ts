// The Model Context Protocol at /mcp: the code of workflows that were made over the API.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectMcp, overHttp } from '../../support/mcp/client.ts';
import { shareErrand } from '../../support/shared-errand.ts';

const newErrand = shareErrand();
const THROWS = `export default ({ steps }) => {
  const { n } = steps.trigger.event.body;
  if (n !== 'good') throw Object.assign(new Error('no card ' + n), { code: 'NoCard' });
};`;

const FILE = `import { defineWorkflow } from 'errand/workflow';

export default defineWorkflow({
  name: 'Orders',
  triggers: [{ type: 'http' }],
  steps: (flow) =>
    flow.step('check', ({ event }) => {
      if ((event.body as { n: number }).n > 1) throw new RangeError('too many');
    }),
});
`;

test('a workflow that was not deployed from a file is corrected by its steps', async () => {
  await using errand = await newErrand();
  await using mcp = await connectMcp(overHttp(errand.client.url, errand.client.key));
  const code = 'export default { props: { word: "string" }, run() { return this.word; } };';
  const steps = [
    { namespace: 'first', code, configured_props: { word: 'kept' } },
    { namespace: 'step', code: THROWS },
  ];
  const made = await errand.client.post('/v1/workflows', { name: 'Orders', steps, triggers: [{ type: 'http' }] });
  const read = await mcp.call('read_workflow', { id: made.id });
  assert.deepEqual([read.path, /^change_step/.test(read.to_change)], [null, true]);
  // No second one of its name, unless it is asked for.
  const file = { path: 'shop/order.ts', source: FILE };
  const second = await mcp.refused('deploy_workflow', file);
  assert.match(second, new RegExp(`second workflow with the name "Orders": ${made.id} has it, .*not made from a file`));
  assert.match(second, /change_step changes it\. Give second: true only/);
  const named = async () => (await errand.client.get('/v1/workflows?name=Orders')).data.length;
  assert.equal(await named(), 1);

  const change = (code: string, more: object = {}) => ({ workflow_id: made.id, namespace: 'step', code, ...more });
  assert.match(await mcp.refused('change_step', change('export default () => {')), /step\.ts:1:\d+/);
  assert.match(
    await mcp.refused('change_step', change('1', { namespace: 'other' })),
    /no step "other"; it has first, step/,
  );
  const changed = await mcp.call('change_step', change('export default ({ steps }) => steps.first.$return_value;'));
  assert.deepEqual(
    [changed.result, changed.workflow_id, changed.endpoints],
    ['changed', made.id, [made.triggers[0].endpoint_url]],
  );
  assert.equal(
    (await mcp.call('change_step', change('export default ({ steps }) => steps.first.$return_value;'))).result,
    'same',
  );
  await errand.send(made, { n: 1 });
  const [run] = await errand.runs(made.id, 1);
  const { data } = await errand.client.get(`/v1/runs/${run.id}`);
  assert.deepEqual([data.state, data.steps[1].return_value], ['succeeded', 'kept']);

  const both = await mcp.call('deploy_workflow', { ...file, second: true });
  assert.deepEqual([both.result, await named()], ['made', 2]);
  assert.equal((await mcp.call('deploy_workflow', file)).result, 'same', 'it is not new any more');
  assert.match(
    await mcp.refused('change_step', { workflow_id: both.workflow_id, namespace: 'check', code: 'x' }),
    /was deployed from the file shop\/order\.ts: change it with deploy_workflow/,
  );
  await errand.client.put(`/v1/workflows/${made.id}`, { active: false });
  const third = await mcp.refused('deploy_workflow', { ...file, path: 'other.ts' });
  assert.match(third, new RegExp(`${both.workflow_id} has it, is active, and was deployed from shop/order\\.ts`));
});
