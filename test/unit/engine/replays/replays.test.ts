// Which errors an operation replays, and which it only lists.

import { deepEqual, match } from 'node:assert/strict';
import { test } from 'node:test';
import { utf8 } from '../../../../src/domain/bytes.ts';
import { type Emission, ERRORS, PLAIN_EMISSION } from '../../../../src/domain/emission.ts';
import type { Operation } from '../../../../src/domain/operation.ts';
import { createReplays, stepReplays } from '../../../../src/engine/runs/replays.ts';
import type { ReplayCandidate, ReplayChoice } from '../../../../src/store/contract/operations.ts';
import type { RunWhole } from '../../../../src/store/contract/records.ts';
import { createWake } from '../parts.ts';

const BEFORE = '{"original_event":';
const EVENT = '{"n": 12345678901234567890}';
const REST = ',"original_context":{"source_type":"HTTP","emitter_id":"hi_1","verified":true},"error":{}}';

const error = (more: Partial<Emission> = {}): Emission => ({
  ...PLAIN_EMISSION,
  ownerId: 'u_1',
  emitterId: 'p_1',
  originId: 'p_1',
  sourceType: 'ERROR',
  name: ERRORS,
  body: utf8(BEFORE + EVENT + REST),
  traceId: 'trace',
  entry: 5,
  emitId: 'emit',
  causeRun: 4,
  groupId: 'eg_1',
  originalStart: BEFORE.length,
  originalLength: EVENT.length,
  ...more,
});

async function choiceFor(of: Partial<ReplayCandidate>, { eventName = '' } = {}): Promise<ReplayChoice> {
  const candidate = { entry: 5, error: error(), ...of };
  const operation = { id: 'op_1', ownerId: 'u_1' };
  let choice: ReplayChoice | undefined;
  await stepReplays({
    store: {
      nextReplays: async () => ({
        operation: operation as unknown as Operation,
        after: 1,
        through: 5,
        candidates: [candidate],
        isLast: true,
      }),
      replayErrors: async ({ choices }) => {
        [choice] = choices;
        return { made: 1, claims: { runs: [], deliveries: [], runsWaiting: true, deliveriesWaiting: false } };
      },
      getRun: async () => ({ eventName, event: utf8('{}') }) as unknown as RunWhole,
    },
  });
  if (!choice) throw new Error('nothing was chosen');
  return choice;
}

const reasonOf = (choice: ReplayChoice): string => ('reason' in choice ? choice.reason : 'replayed');

test('the event of an error is replayed byte for byte', async () => {
  const choice = await choiceFor({});
  if (!('emission' in choice)) throw new Error(reasonOf(choice));
  const { body, onlyListenerId, originId, verified, replay, traceId, causeRun, summary } = choice.emission;
  deepEqual(Buffer.from(body).toString(), EVENT);
  deepEqual([onlyListenerId, originId, verified, replay, traceId, causeRun], ['p_1', 'hi_1', true, true, 'trace', 4]);
  deepEqual([summary, choice.groupId], ['replay of 0-5', 'eg_1']);
});

test('what cannot be replayed says why', async () => {
  match(reasonOf(await choiceFor({ error: null })), /^there is no such error/);
  match(reasonOf(await choiceFor({ error: error({ emitterId: 'wh_1' }) })), /^it is of a webhook/);
  match(reasonOf(await choiceFor({ error: error({ causeRun: null, causeDelivery: 4 }) })), /of a mail or a request/);
  const hook = error({ emitterId: 'dc_1' });
  match(reasonOf(await choiceFor({ error: hook }, { eventName: '$deploy' })), /^it is of a hook/);
  deepEqual(reasonOf(await choiceFor({ error: hook })), 'replayed');
});

test('a new operation is woken', async () => {
  const { wake, woken } = createWake();
  const store = {
    exists: async () => true,
    logEnd: async () => 7,
    createReplay: async ({ id }: { id: string }) => ({ id }) as Operation,
  };
  const deps = { store, shown: store, clock: { nowMs: () => 1 }, ids: { next: () => 'op_2' }, wake };
  const selection = { groupId: null, workflowId: 'p_1', code: null, sinceMs: null, untilMs: null, entries: null };
  const order = { deploymentId: null, rate: null, canary: 0, stopOnFailures: null, isOrdered: false, isAgain: false };
  await createReplays(deps as never).replayMany('u_1', { selection, ...order });
  deepEqual(woken, ['operations']);
});
