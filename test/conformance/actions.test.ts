// Actions of the public kind as steps of workflows.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createStep, runStep, tryStep } from '../support/actions.ts';
import type { Json } from '../support/client.ts';
import { startErrand } from '../support/errand.ts';
import { assertProblem } from '../support/problem.ts';
import { type Acme, startAcme } from '../support/sources/acme.ts';
import { until } from '../support/wait.ts';

/** The run of a step, once it is over. */
async function ran(acme: Acme, workflow: Json, count = 1): Promise<Json> {
  await acme.errand.send(workflow, {});
  const [newest] = await acme.errand.runs(workflow.id, count);
  return (await acme.errand.client.get(`/v1/runs/${newest.id}`)).data;
}

test('an action calls its vendor', async () => {
  await using acme = await startAcme();
  acme.vendor.on('POST /tasks', ({ body }) => ({ status: 201, body: { id: 't1', ...body } }));
  const props = { acme: acme.account, projectId: 'p1', name: 'Paint', labels: ['a', 'b'] };
  const run = await ran(acme, await acme.action('create-task', props));
  assert.equal(run.state, 'succeeded', JSON.stringify(run.error));
  const [call] = acme.vendor.of('POST /tasks');
  // `...data` of `this` is how actions gather what is configured: no method, no unset prop may be among it.
  assert.deepEqual(call?.body, { name: 'Paint', priority: 3, labels: ['a', 'b'] });
  assert.equal(call?.headers.authorization, 'Bearer acme-token-1');
  assert.equal(call?.headers['x-project'], 'p1');
  assert.equal(call?.headers['x-unset'], undefined);
  assert.match(call?.headers['content-type'] ?? '', /application\/json/);
  assert.equal(run.steps[0].exports.$summary, 'Successfully created task t1');
  assert.equal(run.steps[0].return_value.id, 't1');
  const [listed] = (await acme.errand.client.get(`/v1/workflows/${run.workflow_id}/runs`)).data;
  assert.equal(listed.summary, 'Successfully created task t1');
});

test('the whole response is returned when asked', async () => {
  await using acme = await startAcme();
  acme.vendor.on('GET /tasks/t1', { headers: { ETag: '"e1"' }, body: { id: 't1' } });
  const run = await ran(acme, await acme.action('get-task', { acme: acme.account, taskId: 't1' }));
  assert.deepEqual(run.steps[0].return_value, { status: 200, etag: '"e1"', data: { id: 't1' } });
  assert.equal(run.steps[0].exports.$summary, 'Task t1 with status 200');
});

test('a configuration error says its name', async () => {
  await using acme = await startAcme();
  const workflow = await acme.action('get-task', { acme: acme.account, taskId: 'x' });
  const run = await ran(acme, workflow);
  assert.equal(run.state, 'failed');
  const [error] = await acme.errand.errors(workflow.id, 1);
  assert.equal(error.event.error.code, 'ConfigurationError');
  assert.equal(error.event.error.msg, '**Task ID** begins with t');
  assert.equal(error.event.error.namespace, 'act');
});

test('an HTTP error carries its body', async () => {
  await using acme = await startAcme();
  const body = { errors: [{ code: 'gone', message: 'No task' }] };
  acme.vendor.on('GET /tasks/t1', { status: 404, body });
  const workflow = await acme.action('get-task', { acme: acme.account, taskId: 't1' });
  const run = await ran(acme, workflow);
  assert.equal(run.state, 'failed');
  const [error] = await acme.errand.errors(workflow.id, 1);
  assert.deepEqual(JSON.parse(error.event.error.msg), body, 'the message is the body as JSON');
  const { debug } = run.steps[0].exports;
  assert.ok(JSON.stringify(debug).includes('No task'), JSON.stringify(run.steps[0].exports));
});

test('code may catch an HTTP error', async () => {
  await using acme = await startAcme();
  acme.vendor.on('GET /limit', { status: 429, headers: { 'retry-after': '7' }, body: { message: 'slow down' } });
  const code = `import { axios } from '@pipedream/platform';
  export default {
    type: 'action',
    props: { url: 'string' },
    async run({ $ }) {
      try {
        return await axios($, { url: this.url });
      } catch (error) {
        const { response } = error;
        return { status: response.status, after: response.headers['retry-after'], message: response.data.message };
      }
    },
  };`;
  const workflow = await createStep(acme.errand, code, { url: `${acme.vendor.url}/limit` });
  assert.deepEqual(await runStep(acme.errand, workflow), { status: 429, after: '7', message: 'slow down' });
});

test('axios sends what code hands it', async () => {
  await using acme = await startAcme();
  acme.vendor.on('POST /echo', ({ query, headers, raw }) => ({
    body: { query, type: headers['content-type'], auth: headers.authorization, raw },
  }));
  const code = `import { axios } from '@pipedream/platform';
  export default {
    type: 'action',
    props: { url: 'string' },
    methods: { post(args) { return axios(this, { method: 'post', url: this.url, ...args }); } },
    async run({ $ }) {
      const { post } = this;
      const form = new URLSearchParams({ a: '1', b: 'x y' });
      return [
        await post({ params: { q: 'a b', none: undefined, list: [1, 2] }, data: 'plain', headers: { 'content-type': 'text/plain' } }),
        await post({ data: form, headers: { 'content-type': 'application/x-www-form-urlencoded' } }),
        await axios($, { method: 'POST', baseURL: new URL(this.url).origin, url: '/echo', auth: { username: 'u', password: 'p' }, data: { n: 1 } }),
      ];
    },
  };`;
  const workflow = await createStep(acme.errand, code, { url: `${acme.vendor.url}/echo` });
  const [plain, form, basic] = await runStep(acme.errand, workflow);
  assert.equal(plain.raw, 'plain');
  assert.equal(plain.query.q, 'a b');
  assert.equal('none' in plain.query, false);
  assert.equal(form.raw, 'a=1&b=x+y');
  assert.equal(basic.auth, `Basic ${Buffer.from('u:p').toString('base64')}`);
  assert.deepEqual(JSON.parse(basic.raw), { n: 1 });
});

test('a changed account takes effect at once', async () => {
  await using acme = await startAcme();
  acme.vendor.on('GET /tasks/t1', { body: { id: 't1' } });
  const workflow = await acme.action('get-task', { acme: acme.account, taskId: 't1' });
  await ran(acme, workflow);
  const account = `/v1/accounts/${acme.account.authProvisionId}`;
  await acme.errand.client.put(account, { fields: { oauth_access_token: 'acme-token-2' } });
  await ran(acme, workflow, 2);
  assert.deepEqual(
    acme.vendor.of('GET /tasks/t1').map(({ headers }) => headers.authorization),
    ['Bearer acme-token-1', 'Bearer acme-token-2'],
  );
});

test('auth given inline works and stays hidden', async () => {
  await using acme = await startAcme();
  acme.vendor.on('GET /tasks/t1', { body: { id: 't1' } });
  const auth = { base_url: acme.vendor.url, oauth_access_token: 'inline-token-9' };
  const workflow = await acme.action('get-task', { acme: { $auth: auth }, taskId: 't1' });
  assert.equal((await ran(acme, workflow)).state, 'succeeded');
  assert.equal(acme.vendor.calls[0]?.headers.authorization, 'Bearer inline-token-9');
  const shown = await acme.errand.client.request('GET', `/v1/workflows/${workflow.id}`);
  assert.ok(shown.text.includes('act') && !shown.text.includes('inline-token-9'));
});

test('steps share what they return and export', async () => {
  await using errand = await startErrand();
  const workflow = await errand.client.post('/v1/workflows', {
    name: 'two',
    triggers: [{ type: 'http' }],
    steps: [
      {
        namespace: 'first',
        code: `export default defineComponent({
          props: { greeting: { type: 'string', default: 'hello' } },
          async run({ steps, $ }) {
            const { greeting } = this;
            $.export('who', steps.trigger.event.body.who);
            console.log('greets with', greeting);
            return { greeting };
          },
        });`,
      },
      {
        namespace: 'second',
        code: `export default defineComponent({
          async run({ steps }) { return steps.first.$return_value.greeting + ' ' + steps.first.who; },
        });`,
      },
    ],
  });
  await errand.send(workflow, { who: 'Ada' });
  const [run] = await errand.runs(workflow.id, 1);
  const { data } = await errand.client.get(`/v1/runs/${run.id}`);
  assert.equal(data.steps[1].return_value, 'hello Ada');
  assert.ok(data.logs.some(({ text, namespace }: Json) => text === 'greets with hello' && namespace === 'first'));
});

test('a data store outlives the run', async () => {
  await using errand = await startErrand();
  const { id } = await errand.client.post('/v1/data_stores', { name: 'Seen' });
  const code = `export default {
    type: 'action',
    props: { store: { type: 'data_store' } },
    async run() {
      const { store } = this;
      const count = (await store.get('count')) ?? 0;
      await store.set('count', count + 1);
      await store.set('gone', { deep: [1] });
      const had = await store.has('gone');
      await store.delete('gone');
      return {
        count, had,
        has: await store.has('gone'),
        missing: (await store.get('never')) === undefined,
        keys: await store.keys(), entries: await store.entries(), size: await store.size(),
      };
    },
  };`;
  const workflow = await createStep(errand, code, { store: id });
  const shape = { had: true, has: false, missing: true, keys: ['count'], size: 1 };
  assert.deepEqual(await runStep(errand, workflow), { ...shape, count: 0, entries: [['count', 1]] });
  await errand.restart();
  const again = (await errand.client.get(`/v1/workflows/${workflow.id}`)).data;
  assert.deepEqual(await runStep(errand, again, 2), { ...shape, count: 1, entries: [['count', 2]] });
});

test('rerun calls back as public actions do', async () => {
  await using acme = await startAcme();
  acme.vendor.on('POST /queue', { body: { request_id: 'q1' } });
  const code = `import { axios } from '@pipedream/platform';
  export default {
    type: 'action',
    props: { url: 'string' },
    async run({ $ }) {
      const { run: { runs, callback_request: callbackRequest } } = $.context;
      if (runs === 1) {
        const { resume_url: resumeUrl } = $.flow.rerun(1000 * 600, null, 1);
        return axios($, { method: 'POST', url: this.url, params: { fal_webhook: resumeUrl } });
      }
      $.export('$summary', 'Done');
      return callbackRequest.body;
    },
  };`;
  const { errand, vendor } = acme;
  const workflow = await createStep(errand, code, { url: `${vendor.url}/queue` });
  await errand.send(workflow, {});
  const call = await until('the request', () => vendor.of('POST /queue')[0]);
  await until('the run to wait', async () => {
    const { data } = await errand.client.get(`/v1/workflows/${workflow.id}/runs?state=waiting`);
    return data.length === 1;
  });
  const url = call.query.fal_webhook ?? '';
  const resumed = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"request_id":"q1","ok":true}',
  });
  assert.ok(resumed.ok, String(resumed.status));
  const [run] = await errand.runs(workflow.id, 1);
  const { data } = await errand.client.get(`/v1/runs/${run.id}`);
  assert.deepEqual(data.steps.at(-1).return_value, { request_id: 'q1', ok: true });
});

test('an action runs with an interface that it inherited', async () => {
  await using errand = await startErrand();
  const members = `props: { http: '$.interface.http', timer: { type: '$.interface.timer', optional: true }, n: 'integer' },
    run() { return [this.n, this.http.endpoint]; }`;
  const workflow = await createStep(errand, `export default { type: 'action', ${members} };`, { n: 3 });
  assert.deepEqual(await runStep(errand, workflow), [3, null]);
  assertProblem(await tryStep(errand, `export default { ${members} };`, { n: 3 }), 422, 'is an interface');
});

test('what a component says of itself is no prop', async () => {
  await using errand = await startErrand();
  const code = `export default {
    type: 'action', key: 'own-key', name: 'Own name', version: '1.2.3', description: 'Own description',
    props: {
      by: { type: 'string', reloadProps: true },
      name: { type: 'string', optional: true },
    },
    additionalProps() {
      const props = { type: { type: 'string', options: ['basic', 'key'] } };
      if (this.type) props[this.type] = { type: 'string' };
      return props;
    },
    methods: { version() { return [this.name, this.type]; } },
    run() {
      const { by, ...rest } = this;
      const shown = Object.keys(rest).sort().join();
      return [this.key ?? this.basic ?? 'neither', this.description ?? by, this.version(), shown, typeof this.run];
    },
  };`;
  const configured = { by: 'me', type: 'basic', basic: 'me:pw' };
  const workflow = await createStep(errand, code, configured);
  assert.deepEqual(await runStep(errand, workflow), [
    'me:pw',
    'me',
    [null, 'basic'],
    'basic,name,type,version',
    'function',
  ]);
});
