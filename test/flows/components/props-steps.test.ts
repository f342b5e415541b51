// Actions of the component API as steps of a workflow: what they are configured with, and what their code sees of it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { action, createStep, runStep, tryStep } from '../../support/actions.ts';
import type { Answer } from '../../support/client.ts';
import { startErrand } from '../../support/errand.ts';
import { createOwner } from '../../support/owners.ts';
import { startReceiver } from '../../support/receiver.ts';
import { shareErrand } from '../../support/shared-errand.ts';

const newErrand = shareErrand();

const ACT = action(`
  props: {
    shop,
    city: { propDefinition: [shop, 'city', (c) => ({ country: c.country })] },
    country: { type: 'string', default: 'Norway' },
    count: { type: 'integer', min: 1, max: 10 },
    pass: { type: 'string', secret: true, optional: true },
  },
  methods: { say() { return [this.city, this.country, this.count, this.pass ?? null, this.shop.where(this.country)]; } },
  async run({ steps, $ }) { const { say } = this; $.export('$summary', 'said'); return say(); },
`);
const GIVEN = { shop: { $auth: { token: 'hush-4711' } }, city: 'osl', count: 3 };

function assertRefused(answer: Answer, parameter: string, message: RegExp): void {
  assert.equal(answer.status, 422, answer.text);
  assert.equal(answer.json.errors[0].parameter, parameter, answer.text);
  assert.match(answer.json.error, message);
}

test('an action runs as a step unchanged', async () => {
  await using errand = await startErrand();
  const workflow = await createStep(errand, ACT, GIVEN);
  assert.deepEqual(await runStep(errand, workflow), ['osl', 'Norway', 3, null, 'hush-4711 in Norway']);
  await errand.restart();
  const kept = (await errand.client.get(`/v1/workflows/${workflow.id}`)).data;
  assert.deepEqual(kept.steps[0].configured_props, { city: 'osl', count: 3 });
  assert.deepEqual(await runStep(errand, kept, 2), ['osl', 'Norway', 3, null, 'hush-4711 in Norway']);
});

test('other code of a step keeps the values of the props that it has', async () => {
  await using errand = await newErrand();
  const code = (props: string) =>
    `export default { type: 'action', props: { ${props} }, run() { return this.city; } };`;
  const city = "city: 'string'";
  const workflow = await createStep(errand, code(`${city}, more: { type: 'string', optional: true }`), {
    ...{ city: 'osl', more: 'lots' },
  });
  const [{ namespace }] = workflow.steps;
  await errand.client.put(`/v1/workflows/${workflow.id}`, { steps: [{ namespace, code: code(city) }] });
  const { steps } = (await errand.client.get(`/v1/workflows/${workflow.id}`)).data;
  assert.deepEqual(steps[0].configured_props, { city: 'osl' });
});

test('what is no action is no step', async () => {
  await using errand = await newErrand();
  for (const [code, message] of [
    [
      `export default { type: 'source', run() { this.$emit(1); } };`,
      /^step act is a source, since its type says so: POST \/v1\/sources takes it/,
    ],
    [
      `export default 'hello';`,
      /^step act cannot be loaded: The default export is neither a component nor a function: string/,
    ],
    [`const a = 5; export default a;`, /^step act cannot be loaded: The default export is neither/],
    [`export default {};`, /^step act is a component without run/],
    [`export default { type: 'app', app: 'shop', methods: {} };`, /^step act is an app/],
    [
      `export default { props: { timer: '$.interface.timer' }, run() {} };`,
      /"timer" is an interface: POST \/v1\/sources/,
    ],
    [`export default { props: { name: { type: 'string', optional: true } } };`, /without run\(\)$/],
  ] as const) {
    const answer = await tryStep(errand, code);
    assertRefused(answer, 'steps.act.code', message);
  }
});

test('a wrong prop names its step', async () => {
  await using errand = await newErrand();
  const wrong: [given: object | undefined, prop: string, message: RegExp][] = [
    [undefined, 'shop', /required/],
    [{ ...GIVEN, city: { id: 5 } }, 'city', /"city" is {"id":5}; a value of type string/],
    [{ ...GIVEN, count: [5] }, 'count', /"count" is \[5\]; a value of type integer/],
    [{ ...GIVEN, count: 11 }, 'count', /at most 10/],
    [{ ...GIVEN, cuont: 1 }, 'cuont', /no prop "cuont"; it has [a-z, ]*count/],
    [{ ...GIVEN, shop: 'x' }, 'shop', /authProvisionId/],
    [
      { ...GIVEN, shop: { authProvisionId: 'apn_0Vj3aBc9dEfGhIjK' } },
      'shop',
      /apn_0Vj3aBc9dEfGhIjK, which does not exist/,
    ],
  ];
  for (const [given, prop, message] of wrong) {
    assertRefused(await tryStep(errand, ACT, given), `steps.act.configured_props.${prop}`, message);
  }
  const pages = await errand.client.get('/v1/workflows?name=test');
  assert.deepEqual(pages.data, []);
});

test('a function takes no configured props', async () => {
  await using errand = await newErrand();
  const code = 'export default ({ steps }) => steps.trigger.event.method;';
  assertRefused(await tryStep(errand, code, { a: 1 }), 'steps.act.configured_props.a', /no prop "a"/);
  assert.equal(await runStep(errand, await createStep(errand, code, {})), 'POST');
});

test('code that cannot be loaded refuses its props', async () => {
  await using errand = await newErrand();
  const answer = await tryStep(errand, 'throw new Error("at load"); export default {};', { a: 1 });
  assertRefused(answer, 'steps.act.code', /step act cannot be loaded: at load/);
});

test('changed props make a deployment, others do not', async () => {
  await using errand = await newErrand();
  const workflow = await createStep(errand, ACT, { ...GIVEN, pass: 'k-1' });
  const path = `/v1/workflows/${workflow.id}`;
  const step = { namespace: 'act', code: ACT };
  const shown = (await errand.client.get(path)).data.steps[0].configured_props;
  for (const more of [{}, { configured_props: shown }]) {
    const same = await errand.client.put(path, { steps: [{ ...step, ...more }] });
    assert.equal(same.deployment_id, workflow.deployment_id, JSON.stringify(more));
  }
  const changed = await errand.client.put(path, { steps: [{ ...step, configured_props: { ...shown, count: 4 } }] });
  assert.notEqual(changed.deployment_id, workflow.deployment_id);
  assert.equal(changed.steps[0].id, workflow.steps[0].id);
  assert.deepEqual(await runStep(errand, workflow), ['osl', 'Norway', 4, 'k-1', 'hush-4711 in Norway']);
  const other = await errand.client.put(path, {
    steps: [{ ...step, configured_props: { ...shown, pass: 'k-2', shop: { $auth: { token: 'new' } } } }],
  });
  assert.notEqual(other.deployment_id, changed.deployment_id);
  assert.deepEqual(await runStep(errand, workflow, 2), ['osl', 'Norway', 3, 'k-2', 'new in Norway']);
  await errand.client.post(`${path}/deployments/${workflow.deployment_id}/activate`);
  assert.deepEqual(await runStep(errand, workflow, 3), ['osl', 'Norway', 3, 'k-1', 'hush-4711 in Norway']);
});

test('a changed code keeps what was configured', async () => {
  await using errand = await newErrand();
  const workflow = await createStep(errand, ACT, { ...GIVEN, pass: 'k-1' });
  const path = `/v1/workflows/${workflow.id}`;
  const code = ACT.replace("'said'", "'said again'");
  await errand.client.put(path, { steps: [{ namespace: 'act', code }] });
  assert.deepEqual(await runStep(errand, workflow), ['osl', 'Norway', 3, 'k-1', 'hush-4711 in Norway']);
  const refused = await errand.client.request('PUT', path, {
    steps: [{ namespace: 'act', code: code.replace("type: 'integer', min: 1", "type: 'object', min: 1") }],
  });
  assertRefused(refused, 'steps.act.configured_props.count', /type object/);
  // A secret that the code asks for no more is let go.
  const without = action(
    `props: { city: 'string', count: 'integer' }, run() { return [this.city, this.pass ?? null]; }`,
  );
  const steps = [{ namespace: 'act', code: without, configured_props: { city: 'b', count: 1 } }];
  const { steps: shown } = await errand.client.put(path, { steps });
  assert.deepEqual(shown[0].configured_props, { city: 'b', count: 1 });
  assert.deepEqual(await runStep(errand, workflow, 2), ['b', null]);
});

test('secrets are in no answer', async () => {
  await using errand = await newErrand();
  const workflow = await createStep(errand, ACT, { ...GIVEN, pass: 'hush-4711' });
  const path = `/v1/workflows/${workflow.id}`;
  for (const at of [path, '/v1/workflows', `${path}/deployments`]) {
    const { text } = await errand.client.request('GET', at);
    assert.ok(!text.includes('hush-4711'), at);
  }
  const wrong = await tryStep(errand, ACT, { ...GIVEN, shop: 'hush-4711', pass: ['hush-4711'] });
  assert.equal(wrong.status, 422);
  assert.ok(!wrong.text.includes('hush-4711'), wrong.text);
});

test('steps each have props of their own', async () => {
  await using errand = await newErrand();
  const code = (back: string): string => action(`props: { n: 'integer' }, run({ steps }) { return ${back}; }`);
  const workflow = await errand.client.post('/v1/workflows', {
    name: 'several',
    triggers: [{ type: 'http' }],
    steps: [
      { namespace: 'one', code: code('this.n'), configured_props: { n: 1 } },
      { namespace: 'plain', code: 'export default () => 0;' },
      { namespace: 'two', code: code('[steps.one.$return_value, this.n]'), configured_props: { n: 2 } },
    ],
  });
  await errand.send(workflow, {});
  const [run] = await errand.runs(workflow.id, 1);
  const { data } = await errand.client.get(`/v1/runs/${run.id}`);
  assert.deepEqual(
    data.steps.map((step: { return_value: unknown }) => step.return_value),
    [1, 0, [1, 2]],
  );
});

test('additional props of a step are kept with it', async () => {
  await using errand = await newErrand();
  const code = action(`
    props: { shop, headers: { type: 'string', options: ['Yes', 'No'], reloadProps: true } },
    async additionalProps(previous) {
      console.log(Object.keys(previous));
      if (this.headers !== 'Yes') return { all: { type: 'string[]' } };
      return { col_1: { type: 'string', label: await this.shop.where('A') }, col_2: { type: 'integer', default: 2 } };
    },
    run() { return [this.col_1 ?? null, this.col_2 ?? null, this.all ?? null]; },
  `);
  const auth = { shop: { $auth: { token: 't' } } };
  assertRefused(
    await tryStep(errand, code, { ...auth, headers: 'Yes' }),
    'steps.act.configured_props.col_1',
    /"col_1" \(string\) is required/,
  );
  assertRefused(
    await tryStep(errand, code, { ...auth, headers: 'No', col_1: 'x', all: [] }),
    'steps.act.configured_props.col_1',
    /no prop "col_1"/,
  );
  const workflow = await createStep(errand, code, { ...auth, headers: 'Yes', col_1: 'x' });
  assert.deepEqual(await runStep(errand, workflow), ['x', 2, null]);
  const steps = [{ namespace: 'act', code, configured_props: { headers: 'No', all: ['y'] } }];
  await errand.client.put(`/v1/workflows/${workflow.id}`, { steps });
  assert.deepEqual(await runStep(errand, workflow, 2), [null, null, ['y']]);
});

test('additionalProps that throws says so', async () => {
  await using errand = await newErrand();
  const code = action(`props: { n: 'integer' }, additionalProps() { throw new Error('no headers'); }, run() {}`);
  const answer = await tryStep(errand, code, { n: 1 });
  assertRefused(answer, 'steps.act.configured_props', /additionalProps threw: no headers/);
  assert.match(answer.json.errors[0].message, /at .*additionalProps/, 'with its stack');
  const missing = await tryStep(errand, code, {});
  assertRefused(missing, 'steps.act.configured_props.n', /"n" \(integer\) is required and was not configured/);
});

test('a configured request is made by the code', async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  const code = action(`props: { request: { type: 'http_request', default: { method: 'POST' } } },
    async run() { const response = await this.request.execute(); return [response, response.data, response.headers['x-mine']]; }`);
  receiver.answer(201, { 'content-type': 'application/json', 'x-mine': 'yes' }, '{"made":true}');
  const request = {
    url: `${receiver.url}?a=1`,
    headers: [
      { name: 'X-One', value: '1' },
      { name: 'X-Off', value: '1', disabled: true },
    ],
    params: [{ name: 'b', value: 'x y' }],
    auth: { type: 'basic', username: 'u', password: 'hush-4711' },
    body: { contentType: 'application/json', mode: 'fields', fields: [{ name: 'city', value: 'Oslo' }] },
  };
  const workflow = await createStep(errand, code, { request });
  assert.deepEqual(workflow.steps[0].configured_props, {}, 'its credentials are not shown');
  assert.deepEqual(await runStep(errand, workflow), [{ made: true }, { made: true }, 'yes']);
  const [got] = receiver.received;
  assert.deepEqual([got?.method, got?.path], ['POST', '/hook?a=1&b=x+y']);
  assert.equal(got?.headers['x-one'], '1');
  assert.equal(got?.headers['x-off'], undefined);
  assert.equal(got?.headers.authorization, `Basic ${btoa('u:hush-4711')}`);
  assert.equal(got?.headers['content-type'], 'application/json');
  assert.equal(String(got?.body), '{"city":"Oslo"}');
  receiver.answer(409, { 'content-type': 'application/json' }, '{"no":1}');
  await errand.send(workflow, {});
  const [error] = await errand.errors(workflow.id, 1);
  assert.deepEqual([error.event.error.code, error.event.error.msg], ['ERR_BAD_REQUEST', '{"no":1}']);
  for (const wrong of [{ url: 'ftp://x/' }, {}, 'https://x/', { url: 'https://x/', method: 5 }]) {
    assertRefused(await tryStep(errand, code, { request: wrong }), 'steps.act.configured_props.request', /"url"/);
  }
});

test("another owner's workflow is not there to configure", async () => {
  await using errand = await startErrand();
  const other = await createOwner(errand);
  const workflow = await createStep(errand, ACT, GIVEN);
  const asked = { workflow_id: workflow.id, prop_name: 'city' };
  const answer = await other.client.request('POST', '/v1/components/configure', asked);
  assert.equal(answer.status, 404, answer.text);
});
