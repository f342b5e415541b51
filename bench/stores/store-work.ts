// Work for a store alone: an event is appended with the run that it causes, and the run is finished.

import { PLAIN_EMISSION } from '../../src/domain/emission.ts';
import { PREFIX } from '../../src/domain/ids.ts';
import { DEFAULT_SETTINGS, type Workflow } from '../../src/domain/resource.ts';
import type { ClaimedRun, RunOutcome } from '../../src/domain/run/run.ts';
import { NO_OUTCOME } from '../../src/domain/run/run.ts';
import { endOf, type RunEnd } from '../../src/domain/run/run-end.ts';
import { clock, createIds, random } from '../../src/server/real-ports.ts';
import type { FreeSlots, Store } from '../../src/store/contract/store.ts';
import { BODY } from '../kit/load.ts';

const ids = createIds(clock, random);
/** A store that nodes share lets no more of a workflow run than its settings say. */
const ROOMY = { ...DEFAULT_SETTINGS, concurrency: 1000 };

export const FREE_HANDS: FreeSlots = {
  takeRun: () => true,
  dropRun: () => {},
  takeDelivery: () => true,
  dropDelivery: () => {},
};

export interface Flow {
  readonly ownerId: string;
  readonly triggerId: string;
  readonly workflowId: string;
}

const EVENT = Buffer.from(
  `{"method":"POST","path":"/","query":{},"client_ip":"127.0.0.1","url":"http://127.0.0.1:4400/e/0123456789abcdef01234567","headers":{"host":"127.0.0.1:4400","content-type":"application/json","content-length":"1024"},"body":${BODY}}`,
);

/** A workflow with an HTTP trigger, and nobody who hears its errors. */
export async function layFlow(store: Store): Promise<Flow> {
  const nowMs = clock.nowMs();
  const times = { createdAtMs: nowMs, updatedAtMs: nowMs };
  const [ownerId, workflowId, deploymentId] = [
    ids.next(PREFIX.owner),
    ids.next(PREFIX.workflow),
    ids.next(PREFIX.deployment),
  ];
  const base = { id: workflowId, ownerId, active: true, deploymentId, settings: ROOMY, ...times };
  const workflow: Workflow = { ...base, name: 'bench' };
  const step = { id: ids.next(PREFIX.step), namespace: 'step', code: '', bundle: '', sourceMap: '{}' };
  const deployment = { id: deploymentId, ownerId, runnableId: workflowId, steps: [step], createdAtMs: nowMs };
  const triggerId = ids.next(PREFIX.httpTrigger);
  const subscription = {
    id: ids.next(PREFIX.subscription),
    ownerId,
    emitterId: triggerId,
    listenerId: workflowId,
    eventName: '',
    filter: null,
    via: 'trigger' as const,
    active: true,
    createdAtMs: nowMs,
  };
  await store.createWorkflow({ workflow, deployment, triggers: [], subscriptions: [subscription] });
  return { ownerId, triggerId, workflowId };
}

export function eventOf({ ownerId, triggerId }: Flow, body: Uint8Array = EVENT) {
  return { ...PLAIN_EMISSION, ownerId, emitterId: triggerId, originId: triggerId, sourceType: 'HTTP', body } as const;
}

const STEP = {
  id: 'c_0000000000000000',
  namespace: 'step',
  state: 'succeeded',
  startedAtMs: 1,
  tookMs: 1,
  exports: {},
} as const;
const SUCCEEDED: RunOutcome = { ...NO_OUTCOME, end: { kind: 'succeeded' }, steps: [{ ...STEP, returnValue: '1' }] };
const FAULT = { code: 'Error', msg: 'bench', cellId: STEP.id, namespace: 'step', tsMs: 1, stack: '    at step.ts:1:1' };
const FAILED: RunOutcome = {
  ...NO_OUTCOME,
  end: { kind: 'failed', fault: FAULT },
  steps: [{ ...STEP, state: 'failed' }],
};

export function succeededEnd(run: ClaimedRun): RunEnd {
  return endOf(run, SUCCEEDED, clock.nowMs());
}

export function failedEnd(run: ClaimedRun): RunEnd {
  return endOf(run, FAILED, clock.nowMs());
}

/** The two verbs that the work is made of. */
export type Verbs = Pick<Store, 'append' | 'finishRun'>;

export async function appendAndFinish(verbs: Verbs, flow: Flow): Promise<void> {
  const { claims } = await verbs.append(eventOf(flow), FREE_HANDS);
  await verbs.finishRun(succeededEnd(claims.runs[0] as ClaimedRun), FREE_HANDS);
}
