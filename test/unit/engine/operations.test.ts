// Sending again: one delivery by hand, and many by an operation.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { Operation } from '../../../src/domain/operation.ts';
import type { ResendInput } from '../../../src/domain/requests.ts';
import { createOperationActions, Operations } from '../../../src/engine/deliveries/operations.ts';
import { createResends } from '../../../src/engine/deliveries/resends.ts';
import type { Store } from '../../../src/store/contract/store.ts';
import { createLog, createWake, random, webhook } from './parts.ts';

const DELIVERY = 1_900_000_000_000 * 1024;
const NOW_MS = 10_000;

type Next = Awaited<ReturnType<Store['nextReplays']>>;

function createLoop(
  steps: readonly { isResent: boolean; isMore: boolean; isResolved?: boolean }[],
  replays: Next[] = [],
) {
  const replayed: unknown[] = [];
  let taken = 0;
  const { wake, woken } = createWake();
  const reached = Promise.withResolvers<void>();
  const operations = new Operations({
    store: {
      stepOperation: async () => {
        const step = steps[taken++] ?? { isResent: false, isMore: false };
        if (taken >= steps.length) setImmediate(reached.resolve);
        return step;
      },
      nextReplays: async () => replays.shift() ?? { dueAtMs: null },
      replayErrors: async (step) => {
        replayed.push(step);
        return { made: 1, claims: { runs: [], deliveries: [], runsWaiting: true, deliveriesWaiting: false } };
      },
      getRun: async () => undefined,
      getWorkflow: async () => undefined,
      getDeployment: async () => undefined,
    },
    clock: { nowMs: () => NOW_MS },
    wake,
    random,
    log: createLog().log,
  });
  return { operations, wake, reached: reached.promise, taken: () => taken, woken, replayed };
}

test('steps follow each other while there are more', async () => {
  const more = { isResent: true, isMore: true };
  const { operations, reached, taken, woken } = createLoop([more, { ...more, isResent: false }, more, more]);
  operations.start();
  await reached;
  await operations.stop();
  assert.deepEqual([taken(), woken], [4, Array(3).fill('deliveries')], 'what was sent again is due');
});

test('the notice of a group that a step has resolved is due', async () => {
  const { operations, reached, woken } = createLoop([{ isResent: false, isMore: true, isResolved: true }]);
  operations.start();
  await reached;
  await operations.stop();
  assert.deepEqual(woken, ['schedules']);
});

test('a step that finds nothing waits to be woken', async () => {
  const { operations } = createLoop([]);
  assert.equal(await operations.tick(), Number.POSITIVE_INFINITY);
});

test('ends of deliveries are answered a little later', async (t) => {
  const waits: number[] = [];
  const asleep = Promise.withResolvers<void>();
  // On a busy machine the timer could be overdue before it is asked for again.
  t.mock.method(performance, 'now', () => 0);
  t.mock.method(globalThis, 'setTimeout', (fire: () => void, waitMs: number) => {
    if (waits.push(waitMs) === 1) setImmediate(fire);
    else asleep.resolve();
  });
  const { operations, wake } = createLoop([]);
  operations.start();
  await asleep.promise;
  for (let n = 0; n < 100; n++) wake.notify('resends');
  wake.notify('operations');
  await operations.stop();
  assert.deepEqual(waits, [0, 2000, 50, 0]);
});

test('stopping twice, or before starting, is fine', async () => {
  const { operations, wake, taken } = createLoop([]);
  await operations.stop();
  await operations.stop();
  wake.notify('operations');
  wake.notify('resends');
  assert.equal(taken(), 0);
});

function createActions(store: Partial<Store> = {}, reason: string | null = null) {
  const made: unknown[] = [];
  const { wake, woken } = createWake();
  const actions = createOperationActions({
    store: {
      getWebhook: async (ownerId, id) => (ownerId === 'u_1' && id === 'wh_1' ? webhook() : undefined),
      createOperation: async (operation) => made.push(operation) > 0,
      orderOperation: async () => undefined,
      listDeliveries: async () => ({ totalCount: 0, items: [] }),
      logEnd: async () => 0,
      ...store,
    },
    clock: { nowMs: () => NOW_MS },
    ids: { next: (prefix) => `${prefix}1`, secret: () => '' },
    reasonAgainst: () => reason,
    wake,
  });
  return { ...actions, made, woken };
}

const INPUT: ResendInput = { sinceMs: 1000, untilMs: null, states: ['exhausted'] };

test('an operation ends where it was asked for', async () => {
  const { resendWebhook, made, woken } = createActions();
  const operation = await resendWebhook('u_1', 'wh_1', INPUT);
  const asked = {
    id: 'op_1',
    ownerId: 'u_1',
    kind: 'resend',
    webhookId: 'wh_1',
    sinceMs: 1000,
    untilMs: NOW_MS,
    states: ['exhausted'],
    createdAtMs: NOW_MS,
  };
  assert.deepEqual(made, [asked]);
  const begun = {
    state: 'running',
    total: null,
    resent: 0,
    passedOver: 0,
    endedAtMs: null,
    replaying: null,
    reason: null,
  };
  assert.deepEqual(operation, { ...asked, ...begun, updatedAtMs: NOW_MS });
  assert.deepEqual(woken, ['operations']);
  assert.equal((await resendWebhook('u_1', 'wh_1', { ...INPUT, untilMs: 5000 })).untilMs, 5000);
  assert.equal((await resendWebhook('u_1', 'wh_1', { ...INPUT, untilMs: 99_000 })).untilMs, NOW_MS);
});

test('an operation that cannot be is refused', async () => {
  const { resendWebhook, made } = createActions();
  const refused = (input: ResendInput) => resendWebhook('u_1', 'wh_1', input);
  await assert.rejects(refused({ ...INPUT, untilMs: 1000 }), { code: 'malformed' });
  await assert.rejects(refused({ ...INPUT, sinceMs: NOW_MS }), { code: 'malformed' });
  await assert.rejects(resendWebhook('u_2', 'wh_1', INPUT), { code: 'not_found' });
  await assert.rejects(createActions({}, 'it is private').resendWebhook('u_1', 'wh_1', INPUT), { code: 'impossible' });
  const gone = createActions({ createOperation: async () => false });
  await assert.rejects(gone.resendWebhook('u_1', 'wh_1', INPUT), { code: 'not_found' });
  assert.deepEqual(made, []);
});

test('orders are passed on, resuming wakes', async () => {
  const operation = { id: 'op_1', state: 'running' } as Operation;
  const { orderOperation, woken } = createActions({ orderOperation: async () => ({ operation, refused: false }) });
  assert.equal(await orderOperation('u_1', 'op_1', 'pause'), operation);
  assert.deepEqual(woken, []);
  await orderOperation('u_1', 'op_1', 'resume');
  assert.deepEqual(woken, ['operations']);
});

test('orders that come too late are refused', async () => {
  const operation = { id: 'op_1', state: 'done' } as Operation;
  const { orderOperation } = createActions({ orderOperation: async () => ({ operation, refused: true }) });
  await assert.rejects(orderOperation('u_1', 'op_1', 'pause'), { code: 'conflict', message: /done/ });
  await assert.rejects(createActions().orderOperation('u_1', 'op_1', 'pause'), { code: 'not_found' });
});

test('a resent delivery wakes the loop', async () => {
  const { wake, woken } = createWake();
  const record = { delivery: DELIVERY } as never;
  const resends = createResends({ shown: { resendDelivery: async () => record }, wake });
  assert.equal(await resends.resendDelivery('u_1', DELIVERY), record);
  assert.deepEqual(woken, ['deliveries']);
});

test('a delivery that cannot be resent is refused', async () => {
  const cases = [
    ['sending', 'conflict', /being sent/],
    ['held', 'conflict', /not active/],
    ['gone', 'impossible', /deleted/],
    [undefined, 'not_found', /no delivery dl_/],
  ] as const;
  for (const [answer, code, message] of cases) {
    const store = { resendDelivery: async () => answer };
    const resends = createResends({ shown: store, wake: { notify: () => assert.fail('nothing is due') } });
    await assert.rejects(resends.resendDelivery('u_1', DELIVERY), { code, message });
  }
});
