import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ShownTrigger, WholeWorkflow } from '../../../src/domain/requests.ts';
import type { Deployment, Subscription, Trigger } from '../../../src/domain/resource.ts';
import { withoutIso } from '../../support/wire/iso-times.ts';
import { type Call, type Harness, startServer } from './harness.ts';
import { idOf, OTHER_ID, OWNER_ID, T0_MS, trigger, workflow } from './records.ts';

const STEP = { namespace: 'charge', code: 'export default () => 1' };

function deployment(n: number): Deployment {
  const step = { id: idOf('c_', 1), ...STEP, bundle: 'secret bundle', sourceMap: '{}' };
  return { id: idOf('d_', n), ownerId: OWNER_ID, runnableId: idOf('p_', 1), steps: [step], createdAtMs: T0_MS };
}

function subscription(more: Partial<Subscription> = {}): Subscription {
  return {
    id: idOf('sub_', 1),
    ownerId: OWNER_ID,
    emitterId: idOf('hi_', 1),
    listenerId: idOf('p_', 1),
    eventName: '',
    filter: null,
    via: 'trigger',
    active: true,
    createdAtMs: T0_MS,
    ...more,
  };
}

function whole(triggers: readonly ShownTrigger[] = [], name = 'Café Orders!'): WholeWorkflow {
  return { workflow: workflow(1, { name }), deployment: deployment(1), triggers };
}

async function started(t: Parameters<typeof startServer>[0], made: WholeWorkflow = whole()): Promise<Harness> {
  const answer = () => made;
  const actions = { createWorkflow: answer, updateWorkflow: answer, getWorkflow: answer, deleteWorkflow: answer };
  return startServer(t, { actions: { ...actions, activateDeployment: answer } });
}

function argsOf(calls: readonly Call[]): readonly unknown[] {
  return calls.at(-1)?.args ?? [];
}

const shown = (more: Partial<Trigger>): ShownTrigger => ({ subscription: subscription(), trigger: trigger(1, more) });

test('a new workflow is answered as agreed', async (t) => {
  const { call, calls, port } = await started(t, whole([shown({ tokenHash: 'aa'.repeat(32) })]));
  const settings = {
    timeout_ms: 1000,
    memory_mb: 128,
    concurrency: 2,
    queue_limit: 5,
    notify: false,
    env: { A_1: 'x' },
  };
  const triggers = [{ type: 'http', custom_response: true, auth: { type: 'bearer', token: 'tok' } }];
  const { status, json } = await call('POST', '/v1/workflows', {
    json: { name: 'n', steps: [STEP], triggers, settings },
  });
  assert.equal(status, 200);
  assert.deepEqual(calls[0]?.args, [
    OWNER_ID,
    {
      name: 'n',
      steps: [STEP],
      triggers: [{ type: 'http', customResponse: true, token: 'tok' }],
      settings: { timeoutMs: 1000, memoryMb: 128, concurrency: 2, queueLimit: 5, notify: false, env: { A_1: 'x' } },
    },
  ]);
  const base = `http://127.0.0.1:${port}`;
  assert.equal(json.data.editor_url, `${base}/@${OWNER_ID}/cafe-orders-${idOf('p_', 1)}/edit`);
  assert.deepEqual(json.data.steps, [{ id: idOf('c_', 1), namespace: 'charge' }]);
  assert.deepEqual(json.data.triggers, [
    {
      id: idOf('hi_', 1),
      type: 'http',
      endpoint_url: `${base}/e/key1`,
      custom_response: false,
      auth: { type: 'bearer' },
    },
  ]);
  assert.deepEqual([json.data.created_at, json.data.updated_at], [1_782_000_000, 1_782_000_001]);
  assert.deepEqual([json.data.owner_id, json.data.deployment_id, json.data.active], [OWNER_ID, idOf('d_', 1), true]);
});

test('every kind of trigger is taken', async (t) => {
  const { call, calls } = await started(t);
  const triggers = [
    { type: 'http' },
    { type: 'http', auth: { type: 'none' } },
    { type: 'schedule', cron: '0 9 * * *', timezone: 'Europe/Berlin' },
    { type: 'schedule', interval_seconds: 900 },
    { type: 'source', source_id: idOf('dc_', 1) },
    { type: 'emitter', emitter_id: idOf('p_', 2), event_name: '$errors' },
    { type: 'emitter', emitter_id: '*' },
  ];
  await call('POST', '/v1/workflows', { json: { name: 'n', steps: [STEP], triggers } });
  assert.deepEqual((argsOf(calls)[1] as { triggers: unknown }).triggers, [
    { type: 'http', customResponse: false, token: null },
    { type: 'http', customResponse: false, token: null },
    { type: 'schedule', schedule: { cron: '0 9 * * *', intervalMs: null, timezone: 'Europe/Berlin' } },
    { type: 'schedule', schedule: { cron: null, intervalMs: 900_000, timezone: 'UTC' } },
    { type: 'source', sourceId: idOf('dc_', 1) },
    { type: 'emitter', emitterId: idOf('p_', 2), eventName: '$errors' },
    { type: 'emitter', emitterId: '*', eventName: '' },
  ]);
});

test('every kind of trigger is shown', async (t) => {
  const schedule = { cron: null, intervalMs: 900_000, timezone: 'UTC' };
  const { call } = await started(
    t,
    whole([
      shown({ id: idOf('ti_', 1), kind: 'schedule', key: null, schedule, nextAtMs: T0_MS }),
      { subscription: subscription({ emitterId: idOf('dc_', 1) }), trigger: null },
      { subscription: subscription({ emitterId: idOf('p_', 2), eventName: '$errors' }), trigger: null },
      { subscription: subscription({ emitterId: 'dc_*' }), trigger: null },
    ]),
  );
  const { json } = await call('GET', `/v1/workflows/${idOf('p_', 1)}`);
  assert.deepEqual(withoutIso(json.data.triggers), [
    { id: idOf('ti_', 1), type: 'schedule', interval_seconds: 900, timezone: 'UTC', next_at_ms: T0_MS },
    { id: idOf('sub_', 1), type: 'source', source_id: idOf('dc_', 1) },
    { id: idOf('sub_', 1), type: 'emitter', emitter_id: idOf('p_', 2), event_name: '$errors' },
    { id: idOf('sub_', 1), type: 'emitter', emitter_id: 'dc_*', event_name: '' },
  ]);
});

const wrongRetries: [object, string][] = [
  [{}, 'settings.retry.attempts'],
  [{ attempts: 0 }, 'settings.retry.attempts'],
  [{ attempts: 21 }, 'settings.retry.attempts'],
  [{ attempts: 2, base_ms: -1 }, 'settings.retry.base_ms'],
  [{ attempts: 2, base_ms: 86_400_001 }, 'settings.retry.base_ms'],
  [{ attempts: 2, base_ms: 10, max_ms: 9 }, 'settings.retry.max_ms'],
  [{ attempts: 2, also: ['QueueFull'] }, 'settings.retry.also[0]'],
  [{ attempts: 2, report: true }, 'settings.retry.report'],
];

const wrongThrottles: [object, string][] = [
  [{ limit: 1 }, 'settings.throttle.interval_ms'],
  [{ limit: 0, interval_ms: 1000 }, 'settings.throttle.limit'],
  [{ limit: 1001, interval_ms: 1000 }, 'settings.throttle.limit'],
  [{ limit: 1, interval_ms: 99 }, 'settings.throttle.interval_ms'],
  [{ limit: 1, interval_ms: 86_400_001 }, 'settings.throttle.interval_ms'],
];

test('wrong members are refused with their place', async (t) => {
  const { call, calls } = await started(t);
  const base = { name: 'n', steps: [STEP] };
  const cases: [object, string, number][] = [
    [{ steps: [STEP] }, 'name', 400],
    [{ ...base, name: '' }, 'name', 400],
    [{ name: 'n' }, 'steps', 400],
    [{ name: 'n', steps: [] }, 'steps', 400],
    [{ name: 'n', steps: [{ ...STEP, namespace: 'Charge' }] }, 'steps[0].namespace', 400],
    [{ name: 'n', steps: [{ ...STEP, namespace: '1a' }] }, 'steps[0].namespace', 400],
    [{ name: 'n', steps: [{ ...STEP, namespace: 'a'.repeat(65) }] }, 'steps[0].namespace', 400],
    [{ name: 'n', steps: [{ ...STEP, cod: 1 }] }, 'steps[0].cod', 400],
    [{ name: 'n', steps: [STEP, STEP] }, 'steps[1].namespace', 422],
    [{ ...base, triggers: [{ type: 'htp' }] }, 'triggers[0].type', 400],
    [{ ...base, triggers: [{ type: 'http', url: 'x' }] }, 'triggers[0].url', 400],
    [{ ...base, triggers: [{ type: 'http', auth: { type: 'bearer' } }] }, 'triggers[0].auth.token', 400],
    [{ ...base, triggers: [{ type: 'schedule' }] }, 'triggers[0]', 400],
    [{ ...base, triggers: [{ type: 'schedule', cron: 'x', interval_seconds: 1 }] }, 'triggers[0]', 400],
    [{ ...base, triggers: [{ type: 'source', source_id: idOf('p_', 1) }] }, 'triggers[0].source_id', 400],
    [{ ...base, triggers: [{ type: 'emitter', emitter_id: 'nope' }] }, 'triggers[0].emitter_id', 400],
    [{ ...base, settings: { timeout_ms: 750_001 } }, 'settings.timeout_ms', 400],
    [{ ...base, settings: { memory_mb: 1 } }, 'settings.memory_mb', 400],
    [{ ...base, settings: { concurrency: 0 } }, 'settings.concurrency', 400],
    [{ ...base, settings: { queue_limit: 1.5 } }, 'settings.queue_limit', 400],
    [{ ...base, settings: { env: { 'A-B': 'x' } } }, 'settings.env.A-B', 400],
    [{ ...base, settings: { env: { A: 1 } } }, 'settings.env.A', 400],
    [{ ...base, settings: { timeout: 1 } }, 'settings.timeout', 400],
    ...wrongRetries.map(([retry, at]): [object, string, number] => [{ ...base, settings: { retry } }, at, 400]),
    ...wrongThrottles.map(([throttle, at]): [object, string, number] => [{ ...base, settings: { throttle } }, at, 400]),
  ];
  for (const [json, parameter, status] of cases) {
    const answer = await call('POST', '/v1/workflows', { json });
    assert.equal(answer.status, status, JSON.stringify(json));
    assert.equal(answer.json.errors[0].parameter, parameter);
  }
  assert.deepEqual(calls, []);
});

test('a change passes only what was sent', async (t) => {
  const { call, calls } = await started(t);
  const path = `/v1/workflows/${idOf('p_', 1)}`;
  assert.equal((await call('PUT', path, { json: { active: false } })).status, 200);
  assert.equal((await call('PUT', `${path}?active=true&name=x`)).status, 200);
  assert.equal((await call('PUT', path)).status, 200);
  assert.deepEqual(
    calls.map(({ args }) => args[2]),
    [{ active: false }, { name: 'x', active: true }, {}],
  );
  assert.equal((await call('PUT', path, { json: { id: 'p_x' } })).status, 400);
});

test('workflows are listed by name and activity', async (t) => {
  const { call, seed } = await started(t);
  await seed.workflows(
    workflow(1, { name: 'a' }),
    workflow(2, { name: 'b', active: false }),
    workflow(3, { ownerId: OTHER_ID }),
  );
  const idsOf = async (query: string) => {
    const { json } = await call('GET', `/v1/workflows${query}`);
    return json.data.map(({ id }: { id: string }) => id);
  };
  assert.deepEqual((await idsOf('')).slice(1), [idOf('p_', 2), idOf('p_', 1)]);
  assert.deepEqual((await idsOf('?active=true')).slice(1), [idOf('p_', 1)]);
  assert.deepEqual(await idsOf('?name=b'), [idOf('p_', 2)]);
  assert.equal((await call('GET', '/v1/workflows?active=maybe')).status, 400);
});

test('deployments are listed and activated', async (t) => {
  const { call, calls, seed, stage } = await started(t);
  await seed.workflows(workflow(1));
  const write = { workflow: workflow(1, { deploymentId: idOf('d_', 2) }), triggers: [], subscriptions: [] };
  await stage.store.updateWorkflow({ ...write, deployment: deployment(2) });
  const { json } = await call('GET', `/v1/workflows/${idOf('p_', 1)}/deployments`);
  const steps = [{ id: idOf('c_', 1), namespace: 'charge' }];
  const one = (n: number) => ({
    id: idOf('d_', n),
    owner_id: OWNER_ID,
    workflow_id: idOf('p_', 1),
    active: n === 2,
    steps,
    created_at: 1_782_000_000,
  });
  assert.deepEqual(withoutIso(json.data), [one(2), one(1)]);
  assert.equal((await call('GET', `/v1/workflows/${idOf('p_', 9)}/deployments`)).status, 404);
  await call('POST', `/v1/workflows/${idOf('p_', 1)}/deployments/${idOf('d_', 2)}/activate`);
  assert.deepEqual(calls[0]?.args, [OWNER_ID, idOf('p_', 1), idOf('d_', 2)]);
});

test('a deleted workflow is answered once more', async (t) => {
  const { call, calls } = await started(t, whole([], '東京'));
  const { json } = await call('DELETE', `/v1/workflows/${idOf('p_', 1)}`);
  assert.equal(json.data.id, idOf('p_', 1));
  assert.match(json.data.editor_url, /aaa\/p_\w+\/edit$/);
  assert.equal(calls[0]?.verb, 'deleteWorkflow');
});
