// Which errors an operation replays, and which it only lists.

import { deepEqual, match } from 'node:assert/strict';
import { test } from 'node:test';
import { utf8 } from '../../../../src/domain/bytes.ts';
import { type Emission, ERRORS, PLAIN_EMISSION } from '../../../../src/domain/emission.ts';
import { EVERY } from '../../../../src/domain/errors/replaying.ts';
import type { Operation } from '../../../../src/domain/operation.ts';
import type { Deployment, Workflow } from '../../../../src/domain/resource.ts';
import type { Checkpoint } from '../../../../src/domain/run/wait.ts';
import { createReplays, stepReplays } from '../../../../src/engine/runs/replays.ts';
import type { ReplayCandidate, ReplayChoice, ReplayStep } from '../../../../src/store/contract/operations.ts';
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

interface Around {
  readonly eventName?: string;
  /** Undefined: the run that failed is no longer stored. */
  readonly failed?: Partial<RunWhole> | undefined;
  readonly isFromFailedStep?: boolean;
  readonly deploymentId?: string | null;
}

async function choiceFor(of: Partial<ReplayCandidate>, around: Around = {}): Promise<ReplayChoice> {
  const { eventName = '', isFromFailedStep = false, deploymentId = null } = around;
  const failed = { eventName, event: utf8('{}'), ...around.failed };
  const candidate = { entry: 5, error: error(), ...of };
  const operation = { id: 'op_1', ownerId: 'u_1', replaying: { order: { isFromFailedStep, deploymentId } } };
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
      getRun: async () => ('failed' in around && !around.failed ? undefined : (failed as unknown as RunWhole)),
      getWorkflow: async () => ({ deploymentId: 'd_active' }) as Workflow,
      getDeployment: async (_, id) => ({ id, steps: STEPS }) as unknown as Deployment,
    },
  });
  if (!choice) throw new Error('nothing was chosen');
  return choice;
}

const STEPS = ['charge', 'ship'].map((namespace) => ({ id: `c_new_${namespace}`, namespace }));

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

const DETAIL = JSON.stringify({
  steps: [
    {
      id: 'c_charge',
      namespace: 'charge',
      state: 'succeeded',
      started_at_ms: 1,
      took_ms: 2,
      return_value: 7,
      exports: {},
    },
    { id: 'c_ship', namespace: 'ship', state: 'failed', started_at_ms: 3, took_ms: 4, return_value: null, exports: {} },
  ],
});
const FAILED = { run: 4, state: 'failed', attempt: 2, detail: DETAIL } as const;

test('from the failed step, a replay begins with what the steps before it gave, as steps of the deployment that runs', async () => {
  for (const [deploymentId, expected] of [
    [null, 'd_active'],
    ['d_named', 'd_named'],
  ] as const) {
    const choice = await choiceFor({}, { isFromFailedStep: true, failed: FAILED, deploymentId });
    if (!('emission' in choice)) throw new Error(reasonOf(choice));
    const { goesOn, emission } = choice;
    deepEqual([goesOn?.deploymentId, goesOn?.attempt], [expected, 3]);
    const { steps } = JSON.parse(goesOn?.checkpoint ?? '') as Checkpoint;
    deepEqual(
      steps.map(({ id, returnValue }) => [id, returnValue]),
      [['c_new_charge', '7']],
    );
    deepEqual([Buffer.from(emission.body).toString(), emission.summary], [EVENT, 'replay of 0-5']);
  }
});

test('what cannot go on from its failed step says why', async () => {
  const of = (failed: Partial<RunWhole> | undefined) => choiceFor({}, { isFromFailedStep: true, failed });
  match(reasonOf(await of(undefined)), /^r_4 is no longer stored, .* replay it from the first step$/);
  match(
    reasonOf(await of({ ...FAILED, state: 'waiting' })),
    /^r_4 has not failed for good \(its state is "waiting"\)$/,
  );
  const others = DETAIL.replace('"namespace":"charge"', '"namespace":"bill"');
  match(
    reasonOf(await of({ ...FAILED, detail: others })),
    /^r_4 failed behind the steps bill, and the deployment d_active has the steps charge, ship/,
  );
  const all = DETAIL.replace('"state":"failed"', '"state":"succeeded"');
  match(reasonOf(await of({ ...FAILED, detail: all })), /failed behind the steps charge, ship, .* have one more$/);
});

test('from the failed step, a run that failed before its first one begins with that', async () => {
  const choice = await choiceFor({}, { isFromFailedStep: true, failed: { ...FAILED, detail: null } });
  if (!('emission' in choice)) throw new Error(reasonOf(choice));
  deepEqual((JSON.parse(choice.goesOn?.checkpoint ?? '') as Checkpoint).steps, []);
});

test('a source has one step: its replays run it whole', async () => {
  const choice = await choiceFor({ error: error({ emitterId: 'dc_1' }) }, { isFromFailedStep: true, failed: FAILED });
  deepEqual('emission' in choice && choice.goesOn, null);
});

test('a step of an operation makes no more replays than its bytes allow, and goes on behind them', async () => {
  const big = DETAIL.replace(':7,', `:"${'x'.repeat(3_000_000)}",`);
  const steps: ReplayStep[] = [];
  const order = { isFromFailedStep: true, deploymentId: null };
  await stepReplays({
    store: {
      nextReplays: async () => ({
        operation: { id: 'op_1', ownerId: 'u_1', replaying: { order } } as unknown as Operation,
        after: 1,
        through: 9,
        candidates: [5, 6, 7].map((entry) => ({ entry, error: error({ entry }) })),
        isLast: true,
      }),
      replayErrors: async (step) => {
        steps.push(step);
        return { made: 1, claims: { runs: [], deliveries: [], runsWaiting: true, deliveriesWaiting: false } };
      },
      getRun: async () => ({ ...FAILED, detail: big }) as unknown as RunWhole,
      getWorkflow: async () => ({ deploymentId: 'd_active' }) as Workflow,
      getDeployment: async (_, id) => ({ id, steps: STEPS }) as unknown as Deployment,
    },
  });
  deepEqual(
    steps.map(({ through, isLast, choices }) => [through, isLast, choices.map(({ entry }) => entry)]),
    [[6, false, [5, 6]]],
  );
});

test('a new operation is woken', async () => {
  const { wake, woken } = createWake();
  const store = {
    exists: async () => true,
    logEnd: async () => 7,
    createReplay: async ({ id }: { id: string }) => ({ id }) as Operation,
  };
  const deps = { store, shown: store, clock: { nowMs: () => 1 }, ids: { next: () => 'op_2' }, wake };
  const selection = { ...EVERY, groupId: null, emitterId: 'p_1', entries: null };
  const order = { deploymentId: null, rate: null, canary: 0, stopOnFailures: null, isAgain: false };
  const how = { isFromFailedStep: false, isOrdered: false };
  await createReplays(deps as never).replayMany('u_1', { selection, ...order, ...how });
  deepEqual(woken, ['operations']);
});
