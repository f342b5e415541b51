// Props: definitions of apps, options in pages, defaults, secrets, and props that depend on others.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createStep, runStep, tryStep } from '../support/actions.ts';
import type { Answer, Json } from '../support/client.ts';
import { startErrand } from '../support/errand.ts';
import { createFolder } from '../support/folders/folder.ts';
import { assertProblem } from '../support/problem.ts';
import { startAcme } from '../support/sources/acme.ts';
import { createSource, emissions, post, trySource } from '../support/sources/sources.ts';

const INSTANT = 'acme/sources/new-task-instant/new-task-instant.mjs';
const GET_TASK = 'acme/actions/get-task/get-task.mjs';

test('options of an app are paged', async () => {
  await using acme = await startAcme();
  acme.vendor.on('GET /projects', ({ query }) => ({
    body: { projects: [{ id: `${query.page}${query.search ?? ''}`, name: `Page ${query.page}` }] },
  }));
  const ask = (more: Json = {}) =>
    acme.errand.client.post('/v1/components/configure', {
      component_path: INSTANT,
      prop_name: 'projectId',
      configured_props: { app: acme.account },
      ...more,
    });
  assert.deepEqual((await ask()).options, [{ label: 'Page 1', value: '1' }], 'pages count from 0');
  assert.deepEqual((await ask({ page: 2 })).options, [{ label: 'Page 3', value: '3' }]);
  assert.deepEqual((await ask({ query: 'x' })).options, [{ label: 'Page 1', value: '1x' }]);
});

test('options go on with their context', async () => {
  await using acme = await startAcme();
  acme.vendor.on('GET /tasks', ({ query }) => {
    const from = Number(query.cursor ?? 0);
    return { body: { tasks: [{ id: `${query.project}-t${from}` }], next: String(from + 1) } };
  });
  const ask = (more: Json = {}) =>
    acme.errand.client.post('/v1/components/configure', {
      component_path: GET_TASK,
      prop_name: 'taskId',
      configured_props: { acme: acme.account, projectId: 'p7' },
      ...more,
    });
  const first = await ask();
  assert.deepEqual(first.options, ['p7-t0'], 'the mapper gave the configured project');
  const second = await ask({ page: 1, prev_context: first.context });
  assert.deepEqual(second.options, ['p7-t1']);
  assert.deepEqual(second.context, { cursor: '2' });
});

test('options that throw are 422', async () => {
  await using acme = await startAcme();
  acme.vendor.on('GET /projects', { status: 401, body: { message: 'token expired' } });
  const answer = await acme.errand.client.request('POST', '/v1/components/configure', {
    component_path: INSTANT,
    prop_name: 'projectId',
    configured_props: { app: acme.account },
  });
  assertProblem(answer, 422, 'token expired');
});

test('own keys win over a definition', async () => {
  await using errand = await startErrand();
  const code = `
    const app = {
      type: 'app', app: 'x',
      propDefinitions: { size: { type: 'integer', label: 'Size', optional: true, default: 10, options: [10, 20] } },
    };
    export default {
      type: 'action', key: 'x', version: '0.0.1',
      props: {
        app,
        kept: { propDefinition: [app, 'size'] },
        own: { propDefinition: [app, 'size'], label: 'Own', default: 5, optional: false },
      },
      run() { return [this.kept, this.own]; },
    };`;
  const workflow = await createStep(errand, code, {});
  assert.deepEqual(await runStep(errand, workflow), [10, 5]);
  const { configurable_props: props } = await errand.client.post('/v1/components/props', {
    component_code: code,
    configured_props: {},
  });
  assert.equal(props.find((prop: Json) => prop.name === 'own').label, 'Own');
  assert.equal(props.find((prop: Json) => prop.name === 'kept').label, 'Size');
});

test('defaults stand in for required props', async () => {
  await using errand = await startErrand();
  const workflow = await createStep(
    errand,
    `export default {
      type: 'action',
      props: {
        text: { type: 'string', default: 'a' },
        flag: { type: 'boolean', default: false },
        none: { type: 'integer', default: 0 },
        list: { type: 'string[]', default: ['x', 'y'] },
        obj: { type: 'object', default: { k: 'v' } },
        unset: { type: 'string', optional: true },
        any: 'any',
      },
      run() { return { ...this, unset: this.unset === undefined }; },
    };`,
    { any: [1, { two: null }] },
  );
  assert.deepEqual(await runStep(errand, workflow), {
    text: 'a',
    flag: false,
    none: 0,
    list: ['x', 'y'],
    obj: { k: 'v' },
    unset: true,
    any: [1, { two: null }],
  });
});

test('wrong values are refused by name', async () => {
  await using errand = await startErrand();
  const code = `export default {
    type: 'action',
    props: {
      needed: { type: 'string', label: 'Needed' },
      count: { type: 'integer', min: 1, max: 5, optional: true },
      list: { type: 'string[]', optional: true },
      obj: { type: 'object', optional: true },
    },
    run() {},
  };`;
  const wrong: [string, Json][] = [
    ['needed', {}],
    ['count', { needed: 'x', count: 0 }],
    ['count', { needed: 'x', count: 6 }],
    ['count', { needed: 'x', count: 'many' }],
    ['list', { needed: 'x', list: { a: 1 } }],
    ['obj', { needed: 'x', obj: 'text' }],
  ];
  for (const [name, props] of wrong) assertProblem(await tryStep(errand, code, props), 422, name);
  const source = `export default { props: { http: '$.interface.http', needed: 'string' }, run() {} };`;
  assertProblem(await trySource(errand, source), 422, 'needed');
  assert.deepEqual((await errand.client.get('/v1/sources')).data, []);
});

test('secrets work and never show', async () => {
  await using folder = await createFolder();
  await using errand = await startErrand({ ERRAND_DATA_DIR: folder.path });
  const source = await createSource(
    errand,
    `export default {
      props: { http: '$.interface.http', key: { type: 'string', secret: true }, plain: 'string' },
      run() { this.$emit({ length: this.key.length, plain: this.plain }); },
    };`,
    { configured_props: { key: 'very-secret-value-1', plain: 'shown-value' } },
  );
  await errand.restart();
  const shown = await errand.client.request('GET', `/v1/sources/${source.id}`);
  assert.ok(shown.text.includes('shown-value') && !shown.text.includes('very-secret-value-1'), shown.text);
  await errand.client.put(`/v1/sources/${source.id}`, { configured_props: { plain: 'changed' } });
  await post(shown.json.data.endpoint_url === undefined ? source : shown.json.data, {});
  const [{ event }] = await emissions(errand, source.id, 1);
  assert.deepEqual(event, { length: 19, plain: 'changed' });
  if (process.env.TEST_STORE !== 'postgres') {
    const files = [...(await folder.contents()).values()];
    assert.ok(files.length > 0 && files.every((text) => !text.includes('very-secret-value-1')), 'sealed at rest');
  }
});

test('chosen labels come with the value', async () => {
  await using errand = await startErrand();
  const workflow = await createStep(
    errand,
    `export default {
      type: 'action',
      props: {
        board: { type: 'string', withLabel: true },
        plain: { type: 'string' },
        many: { type: 'string[]', withLabel: true },
      },
      run() { return { board: this.board, value: this.board.value, plain: this.plain, many: this.many.map(({ value }) => value) }; },
    };`,
    {
      board: { __lv: { label: 'Board', value: 'b1' } },
      plain: { __lv: { label: 'Plain', value: 'p1' } },
      many: {
        __lv: [
          { label: 'One', value: '1' },
          { label: 'Two', value: '2' },
        ],
      },
    },
  );
  assert.deepEqual(await runStep(errand, workflow), {
    board: { label: 'Board', value: 'b1' },
    value: 'b1',
    plain: 'p1',
    many: ['1', '2'],
  });
});

/** As many files as are named, and one more to be named: a prop per answer. */
const GROWING = `export default {
  type: 'action',
  key: 'growing', version: '0.0.1',
  props: {
    mode: { type: 'string', options: ['simple', 'full'], default: 'simple', reloadProps: true },
    file_0: { type: 'string', optional: true, reloadProps: true },
  },
  async additionalProps(previousPropDefs) {
    const props = {};
    for (let n = 0; this['file_' + n]; n++) {
      props['url_' + n] = { type: 'string', label: 'URL ' + n };
      props['file_' + (n + 1)] = { type: 'string', optional: true, reloadProps: true };
    }
    if (this.mode === 'full') {
      props.depth = { type: 'integer', label: 'Depth', default: 2 };
      props.shape = { type: 'string', optional: true, options: async () => this.shapes() };
    }
    return props;
  },
  methods: {
    shapes() { return ['round', this.mode]; },
    files() {
      const files = [];
      for (let n = 0; this['file_' + n]; n++) files.push(this['file_' + n] + '=' + this['url_' + n]);
      return files;
    },
  },
  run() { return { files: this.files(), depth: this.depth, mode: this.mode }; },
};`;

test('further props follow what is configured', async () => {
  await using errand = await startErrand();
  const ask = async (configured_props: Json): Promise<string[]> => {
    const data = await errand.client.post('/v1/components/props', { component_code: GROWING, configured_props });
    return data.configurable_props.map(({ name }: Json) => name).sort();
  };
  assert.deepEqual(await ask({}), ['file_0', 'mode']);
  assert.deepEqual(await ask({ file_0: 'a' }), ['file_0', 'file_1', 'mode', 'url_0']);
  assert.deepEqual(await ask({ mode: 'full', file_0: 'a', url_0: 'u', file_1: 'b' }), [
    'depth',
    'file_0',
    'file_1',
    'file_2',
    'mode',
    'shape',
    'url_0',
    'url_1',
  ]);
});

test('further props are checked and given', async () => {
  await using errand = await startErrand();
  assertProblem(await tryStep(errand, GROWING, { file_0: 'a' }), 422, 'url_0');
  const configured = { mode: 'full', file_0: 'a', url_0: 'u', file_1: 'b', url_1: 'v' };
  const workflow = await createStep(errand, GROWING, configured);
  await errand.restart();
  const again = (await errand.client.get(`/v1/workflows/${workflow.id}`)).data;
  assert.deepEqual(await runStep(errand, again), { files: ['a=u', 'b=v'], depth: 2, mode: 'full' });
  const changed = await errand.client.put(`/v1/workflows/${workflow.id}`, {
    steps: [{ namespace: 'act', code: GROWING, configured_props: { mode: 'simple' } }],
  });
  assert.deepEqual(await runStep(errand, changed, 2), { files: [], mode: 'simple' });
});

test('further props follow the service that they stand for', async () => {
  await using acme = await startAcme();
  const { errand, vendor } = acme;
  const columns = (...names: string[]): void => vendor.on('GET /columns', { body: { names } });
  const code = `import { axios } from '@pipedream/platform';
    export default { type: 'action', key: 'row', version: '0.0.1', name: 'Row', props: { table: { type: 'string', reloadProps: true } },
      async additionalProps() {
        const { names } = await axios(this, { url: '${vendor.url}/columns' });
        return Object.fromEntries(names.map((name) => [name, { type: 'string' }]));
      },
      run() { return { ...this }; } };`;
  columns('a');
  const { id } = await createStep(errand, code, { table: 't', a: '1' });
  const update = (configured_props: Json): Promise<Answer> =>
    errand.client.request('PUT', `/v1/workflows/${id}`, { steps: [{ namespace: 'act', code, configured_props }] });
  assertProblem(await update({ table: 't', a: '1', b: '2' }), 422, 'no prop', 'b');
  columns('b');
  const { json } = await update({ table: 't', b: '2' });
  assert.deepEqual(await runStep(errand, json.data), { table: 't', b: '2' });
  vendor.on('GET /columns', { status: 500, body: {} });
  assertProblem(await update({ table: 't', c: '2' }), 422, 'no prop', 'c');
});

test('options of a further prop are asked', async () => {
  await using errand = await startErrand();
  const { options } = await errand.client.post('/v1/components/configure', {
    component_code: GROWING,
    prop_name: 'shape',
    configured_props: { mode: 'full' },
  });
  assert.deepEqual(options, ['round', 'full']);
});

test('apphooks are refused with the reason', async () => {
  await using errand = await startErrand();
  const code = `export default { props: { hook: { type: '$.interface.apphook', appProp: 'slack', eventNames: [] } }, run() {} };`;
  assertProblem(await trySource(errand, code), 422, 'hook', 'vendor');
});

test('types of the vendor alone are told from misspelt ones', async () => {
  await using errand = await startErrand();
  const refusedWith = async (type: string) =>
    await tryStep(errand, `export default { type: 'action', props: { room: { type: '${type}' } }, run() {} };`);
  assertProblem(await refusedWith('$.chat.channel[]'), 422, 'room', "only the vendor's service fills in");
  assertProblem(await refusedWith('strng'), 422, 'room', 'which is not known');
});

test('alerts are no values', async () => {
  await using errand = await startErrand();
  const workflow = await createStep(
    errand,
    `export default {
      type: 'action',
      props: { alert: { type: 'alert', alertType: 'info', content: 'Read this' }, n: { type: 'integer', default: 1 } },
      run() { return this.n; },
    };`,
  );
  assert.equal(await runStep(errand, workflow), 1);
});

test('a configured request executes', async () => {
  await using acme = await startAcme();
  acme.vendor.on('POST /echo', ({ headers, query, body }) => ({ body: { auth: headers.authorization, query, body } }));
  const workflow = await createStep(
    acme.errand,
    `export default {
      type: 'action',
      props: { request: { type: 'http_request' } },
      async run() { return (await this.request.execute()).query.q; },
    };`,
    { request: { url: `${acme.vendor.url}/echo`, method: 'POST', params: [{ name: 'q', value: 'x' }] } },
  );
  assert.equal(await runStep(acme.errand, workflow), 'x');
});
