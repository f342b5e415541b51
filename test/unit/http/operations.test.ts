import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Refusal } from '../../../src/domain/refusal.ts';
import { operationToWire } from '../../../src/http/wire/log/operations.ts';
import { addReadKey, OTHER_KEY, startServer } from './harness.ts';
import { idOf, OTHER_ID, OWNER_ID, operation, T0_MS, webhook } from './records.ts';

const WH1 = idOf('wh_', 1);
const OP1 = idOf('op_', 1);
const RESEND = `/v1/webhooks/${WH1}/resend`;

test('an operation shows what the wire agrees', () => {
  assert.deepEqual(
    operationToWire(operation(1, { states: ['exhausted', 'cancelled'], passedOver: 1, reason: 'Waits.' })),
    {
      id: OP1,
      kind: 'resend',
      webhook_id: WH1,
      state: 'running',
      states: ['exhausted', 'cancelled'],
      since_ms: T0_MS - 5000,
      until_ms: T0_MS,
      total: 8,
      resent: 2,
      passed_over: 1,
      replay: null,
      progress: 0.375,
      reason: 'Waits.',
      created_at_ms: T0_MS,
      updated_at_ms: T0_MS + 1,
      ended_at_ms: null,
    },
  );
});

test('progress goes from nothing known to one', () => {
  const progress = [
    operation(1, { state: 'done', total: 0, resent: 0 }),
    operation(2, { state: 'done', total: 8, resent: 5, passedOver: 3 }),
    operation(3, { state: 'cancelled', total: 8, resent: 4 }),
    operation(4, { total: 0, resent: 0 }),
    operation(5, { total: null, resent: 0 }),
    operation(6, { total: 8, resent: 9 }),
  ].map((one) => operationToWire(one).progress);
  assert.deepEqual(progress, [1, 1, 0.5, 0, null, 1]);
});

test('operations are listed by webhook and page', async (t) => {
  const { call, seed, stage } = await startServer(t);
  await seed.webhooks(webhook(1), webhook(2), webhook(3, { ownerId: OTHER_ID }));
  await stage.store.createOperation(operation(1));
  await stage.store.createOperation(operation(2, { webhookId: idOf('wh_', 2) }));
  await stage.store.createOperation(operation(3));
  await stage.store.createOperation(operation(4, { ownerId: OTHER_ID, webhookId: idOf('wh_', 3) }));
  const idsOf = async (query: string) => {
    const { json } = await call('GET', `/v1/operations${query}`);
    return json.data.map(({ id }: { id: string }) => id);
  };
  assert.deepEqual(
    await idsOf(''),
    [3, 2, 1].map((n) => idOf('op_', n)),
  );
  assert.deepEqual(
    await idsOf(`?webhook_id=${WH1}`),
    [3, 1].map((n) => idOf('op_', n)),
  );
  assert.deepEqual(await idsOf(`?limit=1&after=${idOf('op_', 3)}`), [idOf('op_', 2)]);
  assert.deepEqual((await call('GET', '/v1/operations?limit=1&include=state')).json.data, [{ state: 'running' }]);
  assert.equal((await call('GET', '/v1/operations?after=wh_x')).status, 400);
  assert.equal((await call('GET', '/v1/operations?limit=0')).status, 400);
});

test('times and states are read in every spelling', async (t) => {
  const { call, calls } = await startServer(t, { actions: { resendWebhook: () => operation(1) } });
  const states = ['exhausted', 'cancelled'];
  const asked: [string, object | undefined, object][] = [
    ['', { since: T0_MS - 9 }, { sinceMs: T0_MS - 9, untilMs: null, states: ['exhausted'] }],
    [`?since=${T0_MS - 9}&until=${T0_MS}`, undefined, { sinceMs: T0_MS - 9, untilMs: T0_MS, states: ['exhausted'] }],
    [
      '?since=2026-01-31T12:00:00Z',
      undefined,
      { sinceMs: Date.UTC(2026, 0, 31, 12), untilMs: null, states: ['exhausted'] },
    ],
    [
      '',
      { since: '2026-01-31', until: '2026-01-31T12:00:00.5+02:00', state: 'delivered' },
      { sinceMs: Date.UTC(2026, 0, 31), untilMs: Date.UTC(2026, 0, 31, 10) + 500, states: ['delivered'] },
    ],
    ['?since=0&state=cancelled,exhausted', undefined, { sinceMs: 0, untilMs: null, states }],
    [
      '',
      { since: 0, until: null, state: ['cancelled', 'exhausted', 'cancelled'] },
      { sinceMs: 0, untilMs: null, states },
    ],
    [
      '',
      { since: 0, until: '9999-12-31', state: 'retrying' },
      { sinceMs: 0, untilMs: 2 ** 43 - 1, states: ['retrying'] },
    ],
  ];
  for (const [query, json, wanted] of asked) {
    const answer = await call('POST', RESEND + query, { json });
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.json.data.id, OP1);
    assert.deepEqual(calls.at(-1)?.args, [OWNER_ID, WH1, wanted]);
  }
});

test('what cannot be a time or state is refused', async (t) => {
  const { call, calls } = await startServer(t, { actions: { resendWebhook: () => operation(1) } });
  const wrong: [object, string][] = [
    [{}, 'since'],
    [{ since: null }, 'since'],
    [{ since: -1 }, 'since'],
    [{ since: 1.5 }, 'since'],
    [{ since: 'yesterday' }, 'since'],
    [{ since: '2026-01-31T12:00:00' }, 'since'],
    [{ since: '2026-02-30' }, 'since'],
    [{ since: '2026-13-01T00:00:00Z' }, 'since'],
    [{ since: '2026-01-01T25:00:00Z' }, 'since'],
    [{ since: T0_MS + 1 }, 'since'],
    [{ since: 10, until: 10 }, 'until'],
    [{ since: 10, until: 'never' }, 'until'],
    [{ since: 0, state: 'pending' }, 'state'],
    [{ since: 0, state: 'exhausted,sent' }, 'state'],
    [{ since: 0, state: '' }, 'state'],
    [{ since: 0, state: [] }, 'state'],
    [{ since: 0, state: ['held'] }, 'state'],
    [{ since: 0, states: ['exhausted'] }, 'states'],
  ];
  for (const [json, parameter] of wrong) {
    const answer = await call('POST', RESEND, { json });
    assert.equal(answer.status, 400, JSON.stringify(json));
    assert.equal(answer.json.errors[0].parameter, parameter, answer.text);
  }
  assert.deepEqual(calls, []);
});

test('orders reach the engine by their name', async (t) => {
  const orderOperation = (_owner: string, _id: string, order: string) =>
    operation(1, { state: order === 'pause' ? 'paused' : order === 'cancel' ? 'cancelled' : 'running' });
  const { call, calls } = await startServer(t, { actions: { orderOperation } });
  for (const [order, state] of [
    ['pause', 'paused'],
    ['resume', 'running'],
    ['cancel', 'cancelled'],
  ]) {
    const { json } = await call('POST', `/v1/operations/${OP1}/${order}`);
    assert.equal(json.data.state, state);
    assert.deepEqual(calls.at(-1), { verb: 'orderOperation', args: [OWNER_ID, OP1, order] });
  }
  assert.equal((await call('POST', `/v1/operations/${OP1}/stop`)).status, 404);
  assert.equal((await call('POST', `/v1/operations/${OP1}/pause`, { json: { why: 1 } })).status, 400);
});

test('operations are their owner’s, and guarded by scopes', async (t) => {
  const gone = () => Promise.reject(new Refusal('not_found', 'There is no operation'));
  const over = () => Promise.reject(new Refusal('conflict', 'It is over'));
  const harness = await startServer(t, { actions: { orderOperation: over, resendWebhook: gone } });
  const { call, seed, stage } = harness;
  const key = await addReadKey(harness);
  await seed.webhooks(webhook(1));
  await stage.store.createOperation(operation(1));
  assert.equal((await call('GET', `/v1/operations/${OP1}`, { key: OTHER_KEY })).status, 404);
  assert.deepEqual((await call('GET', '/v1/operations', { key: OTHER_KEY })).json.data, []);
  assert.equal((await call('GET', `/v1/operations/${OP1}`, { key })).status, 200);
  assert.equal((await call('POST', `/v1/operations/${OP1}/pause`, { key })).status, 403);
  assert.equal((await call('POST', `${RESEND}?since=0`, { key })).status, 403);
  assert.equal((await call('POST', `/v1/operations/${OP1}/pause`)).status, 409);
  assert.equal((await call('POST', `${RESEND}?since=0`)).status, 404);
});
