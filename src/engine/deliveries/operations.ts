// Operations: many deliveries of a webhook are sent again, or many errors replayed, in bounded steps in the background. The store
// knows how far each operation has come, so that none is lost with the process.

import { msOf, PREFIX } from '../../domain/ids.ts';
import { LIMITS } from '../../domain/limits.ts';
import { cursorAt, type NewOperation, type Operation, type OperationOrder } from '../../domain/operation.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { ResendInput } from '../../domain/requests.ts';
import type { Clock, Ids, Wake } from '../../ports.ts';
import type { ResendPreview } from '../../store/contract/operations.ts';
import type { Store } from '../../store/contract/store.ts';
import { Loop, type LoopPorts } from '../loop.ts';
import { checkUrl, noWebhook, type WebhookDeps } from '../resources/webhooks.ts';
import { type ReplayStepDeps, stepReplays } from '../runs/replays.ts';
import type { WakeUps } from '../wake-ups.ts';

export interface OperationsDeps extends LoopPorts {
  readonly store: ReplayStepDeps['store'] & Pick<Store, 'stepOperation'>;
  readonly clock: Clock;
  readonly wake: WakeUps;
}

const POLL_MS = 2000;
/** Between two steps, so that they never hold up the work that users wait for. */
const STEP_PAUSE_MS = 10;
/** After the end of a delivery or a replay: one step replaces all that end within this time. */
const REFILL_MS = 50;

export class Operations {
  readonly #deps: OperationsDeps;
  readonly #loop: Loop;

  constructor(deps: OperationsDeps) {
    this.#deps = deps;
    this.#loop = new Loop({ name: 'operations', tick: () => this.tick(), maxWaitMs: POLL_MS }, deps);
    deps.wake.subscribe('operations', () => this.#loop.wake());
    deps.wake.subscribe('resends', () => this.#loop.wake(REFILL_MS));
    deps.wake.subscribe('replays', () => this.#loop.wake(REFILL_MS));
  }

  start(): void {
    this.#loop.start();
  }

  /** Waits for a step under way. */
  async stop(): Promise<void> {
    await this.#loop.stop();
  }

  /** Makes one bounded step of each kind of operation. */
  async tick(): Promise<number> {
    const { store, wake, clock } = this.#deps;
    const { isResent, isMore, isResolved } = await store.stepOperation();
    if (isResent) wake.notify('deliveries');
    if (isResolved) wake.notify('schedules');
    const { claims, dueAtMs } = await stepReplays(this.#deps);
    if (claims?.runsWaiting) wake.notify('runs');
    if (isMore || claims) return STEP_PAUSE_MS;
    return dueAtMs === null ? Number.POSITIVE_INFINITY : Math.max(STEP_PAUSE_MS, dueAtMs - clock.nowMs());
  }
}

export interface OperationActionDeps extends Pick<WebhookDeps, 'reasonAgainst'> {
  readonly store: Pick<Store, 'getWebhook' | 'createOperation' | 'orderOperation' | 'listDeliveries' | 'logEnd'>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly wake: Wake;
}

export function createOperationActions(deps: OperationActionDeps) {
  const { store, clock, ids, wake } = deps;

  /** Refuses what cannot be sent again, and returns the first moment after the time that is meant. */
  async function endOf(ownerId: string, webhookId: string, input: ResendInput, nowMs: number): Promise<number> {
    const webhook = await store.getWebhook(ownerId, webhookId);
    if (!webhook) throw noWebhook(webhookId);
    checkUrl(deps, webhook.url);
    // What is accepted from now on is not sent again: there would be no end to it. Behind a clock that was set back, the log goes
    // on with later times, and what was accepted before then is meant, too.
    const lastMs = msOf(await store.logEnd());
    const mostMs = lastMs > nowMs ? lastMs + 1 : nowMs;
    const untilMs = Math.min(input.untilMs ?? mostMs, mostMs);
    checkSpan(input.sinceMs, untilMs);
    return untilMs;
  }

  async function previewResend(ownerId: string, webhookId: string, input: ResendInput): Promise<ResendPreview> {
    const untilMs = await endOf(ownerId, webhookId, input, clock.nowMs());
    const accepted = { sinceMs: input.sinceMs, untilMs };
    const oldest = { limit: LIMITS.replaySample, before: cursorAt(input.sinceMs) };
    const found = await Promise.all(
      input.states.map((state) => store.listDeliveries({ ownerId, listenerId: webhookId, state, accepted }, oldest)),
    );
    const counts = found.map(({ totalCount }) => totalCount);
    const sample = found.flatMap(({ items }) => items).sort((a, b) => a.delivery - b.delivery);
    return {
      count: counts.reduce((sum, one) => sum + one, 0),
      isAtLeast: counts.some((one) => one >= LIMITS.countedRecords),
      byState: new Map(input.states.map((state, at) => [state, counts[at] ?? 0])),
      sample: sample.slice(0, LIMITS.replaySample),
    };
  }

  async function resendWebhook(ownerId: string, webhookId: string, input: ResendInput): Promise<Operation> {
    const nowMs = clock.nowMs();
    const untilMs = await endOf(ownerId, webhookId, input, nowMs);
    const operation: NewOperation = {
      id: ids.next(PREFIX.operation),
      ownerId,
      kind: 'resend',
      webhookId,
      sinceMs: input.sinceMs,
      untilMs,
      states: input.states,
      createdAtMs: nowMs,
    };
    if (!(await store.createOperation(operation))) throw noWebhook(webhookId);
    wake.notify('operations');
    const begun = {
      state: 'running',
      total: null,
      resent: 0,
      passedOver: 0,
      endedAtMs: null,
      replaying: null,
      reason: null,
    } as const;
    return { ...operation, ...begun, updatedAtMs: nowMs };
  }

  async function orderOperation(ownerId: string, id: string, order: OperationOrder): Promise<Operation> {
    const ordered = await store.orderOperation(ownerId, id, order);
    if (!ordered) throw new Refusal('not_found', `there is no operation ${id}`);
    const { operation, refused } = ordered;
    if (refused) throw new Refusal('conflict', `operation ${id} is over (${operation.state}): it cannot ${order}`);
    if (order === 'resume') wake.notify('operations');
    return operation;
  }

  return { resendWebhook, previewResend, orderOperation };
}

function checkSpan(sinceMs: number, untilMs: number): void {
  if (sinceMs < untilMs) return;
  const [since, until] = [new Date(sinceMs).toISOString(), new Date(untilMs).toISOString()];
  const message = `since (${since}) lies not before until (${until}, which is now at the latest)`;
  throw new Refusal('malformed', message, { errors: [{ parameter: 'since', message }] });
}
