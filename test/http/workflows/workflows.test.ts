// Workflows as a caller makes, changes and lists them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../support/client.ts';
import { type Errand, startErrand } from '../../support/errand.ts';
import { assertProblem } from '../../support/problem.ts';
import { shareErrand } from '../../support/shared-errand.ts';

const newErrand = shareErrand();

const ONE = 'export default () => 1';
const TWO = 'export default () => 2';

async function lastReturn(errand: Errand, workflow: Json, count: number): Promise<Json> {
  await errand.send(workflow, {});
  const [run] = await errand.runs(workflow.id, count);
  const { data } = await errand.client.get(`/v1/runs/${run.id}`);
  return data.steps.at(-1).return_value;
}

async function triggerStatus(workflow: Json): Promise<number> {
  const answer = await fetch(workflow.triggers[0].endpoint_url, { method: 'POST' });
  await answer.body?.cancel();
  return answer.status;
}

test('a workflow comes back as it was made', async () => {
  await using errand = await startErrand();
  const made = await errand.client.post('/v1/workflows', {
    name: 'Orders',
    steps: [
      { namespace: 'first', code: ONE },
      { namespace: 'second_2', code: TWO },
    ],
    triggers: [{ type: 'http' }],
    settings: { timeout_ms: 1000, memory_mb: 128, concurrency: 2, queue_limit: 5, notify: false, env: { A: 'b' } },
  });
  const { data: me } = await errand.client.get('/v1/users/me');
  assert.match(made.id, /^p_\w+$/);
  assert.match(made.deployment_id, /^d_\w+$/);
  assert.deepEqual([made.name, made.active, made.owner_id], ['Orders', true, me.id]);
  assert.ok(made.editor_url.endsWith(`${made.id}/edit`), 'its id is the segment before /edit');
  assert.deepEqual(
    made.steps.map((step: Json) => step.namespace),
    ['first', 'second_2'],
  );
  for (const step of made.steps) assert.match(step.id, /^c_\w+$/);
  assert.match(made.triggers[0].id, /^hi_\w+$/);
  assert.match(made.triggers[0].endpoint_url, new RegExp(`^${errand.url}/e/[\\w-]{22,}$`));
  assert.deepEqual(
    { ...made.settings },
    { ...made.settings, timeout_ms: 1000, memory_mb: 128, concurrency: 2, queue_limit: 5, notify: false },
  );
  assert.deepEqual(made.settings.env, { A: 'b' });
  for (const at of [made.created_at, made.updated_at]) assert.ok(Math.abs(at - Date.now() / 1000) < 60);

  const { data: read } = await errand.client.get(`/v1/workflows/${made.id}`);
  assert.deepEqual(
    read.steps.map((step: Json) => step.code),
    [ONE, TWO],
  );
  const plain = read.steps.map(({ code: _, ...step }: Json) => step);
  assert.deepEqual({ ...read, steps: plain }, made);
});

test('steps run in JavaScript and in TypeScript', async () => {
  await using errand = await newErrand();
  const workflow = await errand.client.post('/v1/workflows', {
    name: 'languages',
    steps: [
      {
        namespace: 'component',
        code: `export default defineComponent({ async run({ $ }) { $.export('n', 20); return { n: 1 }; } });`,
      },
      { namespace: 'commonjs', code: 'module.exports = { run() { return 300; } };' },
      {
        namespace: 'typed',
        code: `interface Steps { component: { n: number; $return_value: { n: number } }; commonjs: { $return_value: number } }
enum Size { Big = 4000 }
export default async ({ steps }: { steps: Steps }): Promise<number> => {
  const sum = steps.component.n + steps.component.$return_value.n + (steps.commonjs.$return_value as number);
  return sum + Size.Big;
};`,
      },
    ],
    triggers: [{ type: 'http' }],
  });
  assert.equal(await lastReturn(errand, workflow, 1), 4321);
});

test('rolling back changes what runs', async () => {
  await using errand = await newErrand();
  const first = await errand.workflow(ONE);
  assert.equal(await lastReturn(errand, first, 1), 1);
  const second = await errand.client.put(`/v1/workflows/${first.id}`, { steps: [{ namespace: 'step', code: TWO }] });
  assert.notEqual(second.deployment_id, first.deployment_id);
  assert.equal(await lastReturn(errand, second, 2), 2);
  const page = await errand.client.get(`/v1/workflows/${first.id}/deployments`);
  assert.deepEqual(
    page.data.map((deployment: Json) => deployment.id),
    [second.deployment_id, first.deployment_id],
  );
  assert.deepEqual([page.page_info.total_count, page.page_info.count], [2, 2]);

  await errand.client.post(`/v1/workflows/${first.id}/deployments/${first.deployment_id}/activate`);
  const { data: back } = await errand.client.get(`/v1/workflows/${first.id}`);
  assert.deepEqual([back.deployment_id, back.steps[0].code], [first.deployment_id, ONE]);
  assert.equal(await lastReturn(errand, back, 3), 1);
});

test('a deployment of another workflow is unknown', async () => {
  await using errand = await newErrand();
  const [one, other] = [await errand.workflow(ONE), await errand.workflow(TWO)];
  const path = `/v1/workflows/${one.id}/deployments/${other.deployment_id}/activate`;
  assertProblem(await errand.client.request('POST', path), 404, other.deployment_id);
  assert.equal(await lastReturn(errand, one, 1), 1);
});

test('step ids stay with their namespace', async () => {
  await using errand = await newErrand();
  const steps = [
    { namespace: 'a', code: ONE },
    { namespace: 'b', code: ONE },
  ];
  const first = await errand.client.post('/v1/workflows', { name: 'ids', steps });
  const idOf = (workflow: Json, namespace: string) =>
    workflow.steps.find((step: Json) => step.namespace === namespace)?.id;
  const second = await errand.client.put(`/v1/workflows/${first.id}`, {
    steps: [
      { namespace: 'c', code: ONE },
      { namespace: 'b', code: TWO },
      { namespace: 'a', code: TWO },
    ],
  });
  assert.equal(idOf(second, 'a'), idOf(first, 'a'));
  assert.equal(idOf(second, 'b'), idOf(first, 'b'));
  assert.equal(new Set(second.steps.map((step: Json) => step.id)).size, 3);
  await errand.client.put(`/v1/workflows/${first.id}`, { steps: [{ namespace: 'b', code: ONE }] });
  const third = await errand.client.put(`/v1/workflows/${first.id}`, { steps });
  assert.equal(idOf(third, 'a'), idOf(first, 'a'), 'of a step that came back');
  const other = await errand.client.post('/v1/workflows', { name: 'ids', steps });
  assert.notEqual(idOf(other, 'a'), idOf(first, 'a'), 'each workflow has its own');
});

test('unchanged code makes no new deployment', async () => {
  await using errand = await newErrand();
  const first = await errand.workflow(ONE);
  const second = await errand.client.put(`/v1/workflows/${first.id}`, {
    name: 'renamed',
    steps: [{ namespace: 'step', code: ONE }],
  });
  assert.deepEqual([second.name, second.deployment_id], ['renamed', first.deployment_id]);
  const page = await errand.client.get(`/v1/workflows/${first.id}/deployments`);
  assert.equal(page.page_info.total_count, 1);
});

test('an inactive workflow answers as if unknown', async () => {
  await using errand = await newErrand();
  const workflow = await errand.workflow(ONE);
  const off = await errand.client.put(`/v1/workflows/${workflow.id}`, { active: false });
  assert.equal(off.active, false);
  assert.equal(await triggerStatus(workflow), 404);
  const on = await errand.client.put(`/v1/workflows/${workflow.id}`, { active: true });
  assert.deepEqual(on.triggers, workflow.triggers);
  assert.equal(await lastReturn(errand, workflow, 1), 1);
});

test('a deleted workflow is gone', async () => {
  await using errand = await newErrand();
  const workflow = await errand.workflow(ONE);
  const other = await errand.workflow(ONE);
  await errand.subscribe(workflow.id, other.id, '$errors');
  const gone = await errand.client.delete(`/v1/workflows/${workflow.id}`);
  assert.equal(gone.id, workflow.id);
  for (const path of ['', '/runs', '/deployments', '/$errors/event_summaries']) {
    assertProblem(await errand.client.request('GET', `/v1/workflows/${workflow.id}${path}`), 404, workflow.id);
  }
  assertProblem(await errand.client.request('DELETE', `/v1/workflows/${workflow.id}`), 404);
  assert.equal(await triggerStatus(workflow), 404);
  assert.equal(await triggerStatus(other), 200);
  const listed = await errand.client.get('/v1/workflows');
  assert.equal(
    listed.data.some((each: Json) => each.id === workflow.id),
    false,
  );
  const subscriptions = await errand.client.get('/v1/subscriptions?event_name=$errors');
  assert.deepEqual(subscriptions.data, []);
});

test('triggers are shown in the order given', async () => {
  await using errand = await newErrand();
  const [heard, workflow] = [await errand.workflow(ONE), await errand.workflow(ONE)];
  const address = `/v1/workflows/${workflow.id}`;
  const triggers = [
    { type: 'schedule', interval_seconds: 3600, timezone: 'UTC' },
    { type: 'emitter', emitter_id: heard.id, event_name: 'paid' },
    { type: 'http' },
    { type: 'schedule', cron: '0 9 * * *', timezone: 'UTC' },
  ];
  for (const given of [triggers, triggers.toReversed(), triggers.slice(1)]) {
    const changed = await errand.client.put(address, { triggers: given });
    const types = changed.triggers.map(({ type, cron }: Json) => [type, cron]);
    assert.deepEqual(
      types,
      given.map(({ type, cron }) => [type, cron]),
    );
    assert.deepEqual((await errand.client.get(address)).data.triggers, changed.triggers);
    assert.equal(await triggerStatus({ triggers: changed.triggers.filter(({ type }: Json) => type === 'http') }), 200);
  }
  const renamed = await errand.client.put(address, { name: 'renamed' });
  assert.deepEqual((await errand.client.get(address)).data.triggers, renamed.triggers);
});

test('an update leaves what it does not name', async () => {
  await using errand = await startErrand();
  const first = await errand.workflow(ONE, { settings: { concurrency: 3, env: { A: 'b' } } });
  const renamed = await errand.client.put(`/v1/workflows/${first.id}`, { name: 'new name' });
  const { editor_url, updated_at, updated_at_iso } = first;
  assert.deepEqual({ ...renamed, name: first.name, editor_url, updated_at, updated_at_iso }, first);
  const set = await errand.client.put(`/v1/workflows/${first.id}`, { settings: { concurrency: 4 } });
  assert.equal(set.settings.concurrency, 4);
  assert.deepEqual([set.name, set.deployment_id, set.triggers], ['new name', first.deployment_id, first.triggers]);
  const rewritten = await errand.client.put(`/v1/workflows/${first.id}`, { steps: [{ namespace: 'step', code: TWO }] });
  assert.deepEqual(rewritten.triggers, first.triggers);
  assert.equal(rewritten.settings.concurrency, 4);
  assert.equal(await lastReturn(errand, first, 1), 2);
});

test('a refused update changes nothing', async () => {
  await using errand = await newErrand();
  const workflow = await errand.workflow(ONE);
  const before = await errand.client.get(`/v1/workflows/${workflow.id}`);
  const bad = { name: 'half', active: false, steps: [{ namespace: 'step', code: 'export default (' }] };
  assertProblem(await errand.client.request('PUT', `/v1/workflows/${workflow.id}`, bad), 422);
  assert.deepEqual(await errand.client.get(`/v1/workflows/${workflow.id}`), before);
  assert.equal(await lastReturn(errand, workflow, 1), 1);
});

test('filters choose by state and name', async () => {
  await using errand = await newErrand();
  const [first, second] = [await errand.workflow(ONE, { name: 'alpha' }), await errand.workflow(ONE, { name: 'beta' })];
  await errand.client.put(`/v1/workflows/${second.id}`, { active: false });
  const idsOf = async (query: string) => {
    const page = await errand.client.get(`/v1/workflows?${query}`);
    assert.equal(page.page_info.total_count, page.data.length, query);
    return page.data.map((workflow: Json) => workflow.id);
  };
  assert.deepEqual(await idsOf('name=alpha'), [first.id]);
  assert.deepEqual(await idsOf('active=false'), [second.id]);
  assert.equal((await idsOf('active=true')).includes(first.id), true);
  assert.equal((await idsOf('active=true')).includes(second.id), false);
  assert.deepEqual(await idsOf('active=true&name=beta'), []);
  assertProblem(await errand.client.request('GET', '/v1/workflows?active=perhaps'), 400, 'active');
});

test('pages walk the list both ways', async () => {
  await using errand = await newErrand();
  const made: string[] = [];
  for (const name of ['a', 'b', 'c', 'd', 'e']) made.unshift((await errand.workflow(ONE, { name })).id);
  const page = async (query: string) => {
    const { page_info, data } = await errand.client.get(`/v1/workflows?${query}`);
    const ids = data.map((workflow: Json) => workflow.id);
    assert.deepEqual(
      [page_info.count, page_info.start_cursor, page_info.end_cursor],
      [ids.length, ids[0] ?? null, ids.at(-1) ?? null],
      query,
    );
    return ids;
  };
  assert.deepEqual(await page('limit=2'), made.slice(0, 2));
  assert.deepEqual(await page(`limit=2&after=${made[1]}`), made.slice(2, 4));
  assert.deepEqual((await page(`limit=2&after=${made[3]}`)).slice(0, 1), made.slice(4));
  assert.deepEqual(await page(`before=${made[2]}`), made.slice(0, 2));
  assert.deepEqual(await page(`limit=1&before=${made[2]}`), made.slice(1, 2));
  assert.deepEqual(await page(`before=${made[0]}`), []);
  for (const query of ['limit=0', 'limit=two', 'after=nonsense', 'before=nonsense']) {
    assertProblem(await errand.client.request('GET', `/v1/workflows?${query}`), 400, query.split('=')[0] ?? '');
  }
});

test('callers choose which fields come back', async () => {
  await using errand = await newErrand();
  await errand.workflow(ONE);
  const only = await errand.client.get('/v1/workflows?include=id,name&limit=1');
  assert.deepEqual(Object.keys(only.data[0]).toSorted(), ['id', 'name']);
  const without = await errand.client.get('/v1/workflows?exclude=owner_id,settings&limit=1');
  assert.equal('owner_id' in without.data[0] || 'settings' in without.data[0], false);
  assert.equal('name' in without.data[0], true);
});

test('how long errors are kept is set and taken back', async () => {
  const errand = await newErrand();
  const made = await errand.workflow(ONE, { settings: { error_retention: { days: 365 } } });
  assert.deepEqual(made.settings.error_retention, { days: 365, newest: null });
  const put = async (given: Json) =>
    (await errand.client.put(`/v1/workflows/${made.id}`, { settings: given })).settings.error_retention;
  assert.deepEqual(await put({ error_retention: { newest: 5000 } }), { days: null, newest: 5000 });
  assert.deepEqual(await put({ notify: false }), { days: null, newest: 5000 }, 'what is left out stays');
  assert.equal(await put({ error_retention: {} }), null, 'neither half is as none');
  assert.deepEqual(await put({ error_retention: { days: 3650, newest: 100_000 } }), { days: 3650, newest: 100_000 });
  assert.equal(await put({ error_retention: null }), null);
});
