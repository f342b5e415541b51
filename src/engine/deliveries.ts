// Deliveries: what is claimed is attempted, and what the attempt came to becomes one transaction.

import { type Attempt, type ClaimedDelivery, type Decision, decide, MAIL } from '../domain/delivery.ts';
import { failureOfDelivery } from '../domain/failure.ts';
import { numberedId, PREFIX } from '../domain/ids.ts';
import type { Clock, Log, Random } from '../ports.ts';
import type { AttemptEnd, Store } from '../store/store.ts';
import type { Dispatch } from './dispatch.ts';
import { insist } from './insist.ts';
import type { Lines } from './lines.ts';
import { Loop } from './loop.ts';
import type { Metrics } from './metrics.ts';
import type { Slots } from './slots.ts';

/** Makes one attempt. Promise: never throws; aborted means the attempt may be worthless. */
export type Attempter = (delivery: ClaimedDelivery, signal: AbortSignal) => Promise<Attempt>;

export interface DeliveriesDeps {
  readonly store: Store;
  readonly slots: Slots;
  readonly lines: Lines;
  readonly dispatch: Dispatch;
  readonly post: Attempter;
  readonly mail: Attempter;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

const CLAIMED_AT_ONCE = 128;
const POLL_MS = 1000;

export class Deliveries {
  readonly #deps: DeliveriesDeps;
  readonly #loop: Loop;
  readonly #underWay = new Set<Promise<void>>();
  /** Ends attempts under way; what they were sending goes back. */
  readonly #cut = new AbortController();
  #waiting = true;

  constructor(deps: DeliveriesDeps) {
    this.#deps = deps;
    const { random, log } = deps;
    this.#loop = new Loop({ name: 'deliveries', tick: () => this.#tick(), maxWaitMs: POLL_MS, random, log });
  }

  start(): void {
    this.#loop.start();
  }

  /** There may be due deliveries in the store. */
  wake(): void {
    this.#waiting = true;
    this.#loop.wake();
  }

  /** Attempts a claimed delivery when it is its turn. Never throws. */
  attempt(delivery: ClaimedDelivery): void {
    if (this.#deps.lines.join(listenerOf(delivery), delivery)) this.#send(delivery);
  }

  /** The webhook was disabled, changed or deleted: what stands in line for it goes back to the store. */
  letGo(listenerId: string): void {
    this.#handBack(listenerId, this.#deps.lines.leave(listenerId));
  }

  #handBack(listenerId: string, waiting: readonly ClaimedDelivery[]): void {
    for (const _ of waiting) this.#deps.slots.dropDelivery(listenerId);
    if (waiting.length > 0) this.#track(this.#release(waiting));
  }

  #send(delivery: ClaimedDelivery): void {
    const done = this.#attempt(delivery).catch((error) => {
      const id = numberedId(PREFIX.delivery, delivery.delivery);
      this.#deps.log.error({ err: error, delivery: id }, 'attempt could not be recorded');
    });
    this.#track(done);
  }

  #track(work: Promise<void>): void {
    this.#underWay.add(work);
    void work.finally(() => this.#underWay.delete(work));
  }

  async #release(deliveries: readonly ClaimedDelivery[]): Promise<void> {
    const leases = deliveries.map(({ delivery, fence }) => ({ delivery, fence }));
    // Tried once: what stays leased is rescued at the next start.
    await this.#deps.store.releaseDeliveries(leases).catch((error) => {
      this.#deps.log.warn({ err: error, deliveries: leases.length }, 'deliveries could not be handed back');
    });
  }

  /** Waits up to `graceMs` for attempts under way, then cuts them off and hands them back. */
  async stop(graceMs: number): Promise<void> {
    await this.#loop.stop();
    const timer = setTimeout(() => this.#cut.abort(), graceMs);
    // What ends calls the next in line.
    while (this.#underWay.size > 0) await Promise.allSettled([...this.#underWay]);
    clearTimeout(timer);
  }

  async #tick(): Promise<number> {
    const { store, slots, dispatch } = this.#deps;
    this.#waiting = false;
    const claims = await store.claimDeliveries(CLAIMED_AT_ONCE, slots);
    this.#waiting ||= claims.deliveriesWaiting;
    dispatch.take({ ...claims, deliveriesWaiting: false });
    if (claims.deliveries.length > 0 && claims.deliveriesWaiting) return 0;
    return claims.nextDueAtMs === null ? Number.POSITIVE_INFINITY : claims.nextDueAtMs - this.#deps.clock.nowMs();
  }

  async #attempt(delivery: ClaimedDelivery): Promise<void> {
    const { slots, lines, store, dispatch } = this.#deps;
    const listenerId = listenerOf(delivery);
    const made = await this.#made(delivery);
    this.#handBack(listenerId, lines.stale(listenerId));
    const next = lines.done(listenerId, made?.tookMs ?? null);
    if (next) this.#send(next);
    slots.dropDelivery(listenerId);
    if (this.#waiting) this.#loop.wake();
    if (!made) return this.#release([delivery]);
    const end = this.#endOf(delivery, made);
    if (end.disableWebhook) this.letGo(listenerId);
    const finished = await insist(() => store.recordAttempt(end, slots), this.#cut.signal);
    if (!finished) return;
    this.#tell(delivery, end, finished.held);
    if (!finished.held) return;
    dispatch.take(finished.claims);
    if (end.state === 'retrying') this.#loop.wake();
  }

  /** Undefined: nothing was sent that counts. */
  async #made(delivery: ClaimedDelivery): Promise<Attempt | undefined> {
    const { post, mail } = this.#deps;
    const { signal } = this.#cut;
    if (signal.aborted || (delivery.kind === 'webhook' && !delivery.webhook)) return undefined;
    const made = await (delivery.kind === 'mail' ? mail : post)(delivery, signal);
    // Cut off by our own stop: that is not a failed attempt, unless the receiver had already answered.
    return signal.aborted && made.outcome !== 'answered' ? undefined : made;
  }

  #endOf(delivery: ClaimedDelivery, made: Attempt): AttemptEnd {
    const { clock, random } = this.#deps;
    const decision: Decision = decide(delivery.attempt, made, random.fraction());
    return {
      delivery,
      made,
      state: decision.state,
      nextAttemptAtMs: decision.state === 'retrying' ? clock.nowMs() + decision.inMs : null,
      error: decision.state === 'exhausted' ? failureOfDelivery(delivery, made, decision.code) : null,
      disableWebhook: decision.state === 'exhausted' && decision.code === 'WebhookGone',
    };
  }

  #tell(delivery: ClaimedDelivery, end: AttemptEnd, held: boolean): void {
    const { metrics, log } = this.#deps;
    const { made, state } = end;
    metrics.attempts.inc({ kind: delivery.kind, outcome: made.outcome });
    metrics.attemptSeconds.observe(made.tookMs / 1000);
    const fields = {
      delivery: numberedId(PREFIX.delivery, delivery.delivery),
      listener: listenerOf(delivery),
      owner: delivery.emission.ownerId,
      attempt: delivery.attempt,
      outcome: made.outcome,
      status: made.status,
      took_ms: made.tookMs,
      state: held ? state : 'lease_lost',
      trace: delivery.emission.traceId,
    };
    if (held && state === 'delivered') log.debug(fields, 'delivery attempted');
    else log.info({ ...fields, detail: made.detail }, 'delivery attempted');
  }
}

function listenerOf({ webhook, emission, kind }: ClaimedDelivery): string {
  return kind === 'mail' ? MAIL : (webhook?.id ?? emission.emitterId);
}
