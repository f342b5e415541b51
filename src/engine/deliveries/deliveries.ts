// Deliveries: each one that is claimed is attempted, and the attempt's result is written in one transaction.

import { type Attempt, type ClaimedDelivery, decide, MAIL } from '../../domain/delivery/delivery.ts';
import { failureOfDelivery } from '../../domain/failure.ts';
import { numberedId, PREFIX } from '../../domain/ids.ts';
import type { Probe } from '../../domain/requests.ts';
import type { StoreClock } from '../../ports.ts';
import type { AttemptEnd, Store } from '../../store/contract/store.ts';
import type { Dispatch } from '../accept/dispatch.ts';
import type { Slots } from '../capacity/slots.ts';
import { Loop, type LoopPorts } from '../loop.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { retryStorage } from '../storage-retry.ts';
import type { Tracing } from '../tracing/tracing.ts';
import type { WakeUps } from '../wake-ups.ts';
import type { DeliveryLimiter } from './delivery-limiter.ts';
import { withNames } from './failed-names.ts';
import { Gathering } from './gathering.ts';

/** Makes one attempt. Promise: never throws; an attempt that was aborted may say nothing of the receiver. */
export type Attempter = (delivery: ClaimedDelivery, signal: AbortSignal) => Promise<Attempt>;

/** Makes one attempt, and returns what was sent, too. */
export type Prober = (delivery: ClaimedDelivery, signal: AbortSignal) => Promise<Pick<Probe, 'attempt' | 'request'>>;

export interface DeliveriesDeps extends LoopPorts {
  readonly store: Store;
  readonly slots: Slots;
  readonly limiter: DeliveryLimiter;
  readonly dispatch: Dispatch;
  /** Of a webhook's deliveries, and of requests that code asked for. */
  readonly post: Attempter;
  readonly mail: Attempter;
  readonly probe: Prober;
  readonly wake: WakeUps;
  readonly metrics: Metrics;
  readonly tracing: Tracing | null;
  readonly clock: StoreClock;
}

const CLAIMED_AT_ONCE = 128;
const POLL_MS = 1000;
const WITHHELD = { state: 'cancelled' } as const;
/** For how long successes are gathered while more of their listener's deliveries are queued here. */
const GATHERED_MS = 3;

export class Deliveries {
  readonly #deps: DeliveriesDeps;
  readonly #loop: Loop;
  readonly #underWay = new Set<Promise<void>>();
  readonly #ends = new Gathering(GATHERED_MS);
  /** Ends attempts under way; their deliveries go back to the store. */
  readonly #cut = new AbortController();
  /** Deliveries are due that no slot was refused to, so another claim soon finds them. */
  #isLeft = false;

  constructor(deps: DeliveriesDeps) {
    this.#deps = deps;
    this.#loop = new Loop({ name: 'deliveries', tick: () => this.#tick(), maxWaitMs: POLL_MS }, deps);
    deps.wake.subscribe('deliveries', () => this.#loop.wake());
  }

  start(): void {
    this.#loop.start();
  }

  /** Attempts a claimed delivery when the limiter lets it. Never throws. */
  attempt(delivery: ClaimedDelivery): void {
    const joined = this.#deps.limiter.join(listenerOf(delivery), delivery);
    if (joined === 'send') this.#send(delivery);
    else if (joined === 'back') this.#handBack([delivery]);
  }

  /** Sends a test, which is no delivery and waits for no slot. Returns undefined when the stop of this process cut it off. */
  async probe(delivery: ClaimedDelivery): Promise<Pick<Probe, 'attempt' | 'request'> | undefined> {
    const { signal } = this.#cut;
    if (signal.aborted) return undefined;
    const made = this.#deps.probe(delivery, signal);
    this.#track(made.then(nothing, nothing));
    const probed = await made;
    return isCutOff(signal, probed.attempt) ? undefined : probed;
  }

  /** Sends one attempt as `probe` does, by a function of the caller. */
  async probeBy(send: (signal: AbortSignal) => Promise<Attempt>): Promise<Attempt | undefined> {
    const { signal } = this.#cut;
    if (signal.aborted) return undefined;
    const made = send(signal);
    this.#track(made.then(nothing, nothing));
    const attempt = await made;
    return isCutOff(signal, attempt) ? undefined : attempt;
  }

  /** Returns to the store what is claimed and not sent yet, of a webhook that was disabled, changed or deleted. */
  releaseClaimed(listenerId: string): void {
    const { limiter } = this.#deps;
    this.#handBack(limiter.stop(listenerId));
    limiter.resume(listenerId);
  }

  #handBack(unsent: readonly ClaimedDelivery[]): void {
    if (unsent.length > 0) this.#track(this.#release(unsent));
  }

  #send(delivery: ClaimedDelivery): void {
    const failed = (error: unknown): void => {
      const id = numberedId(PREFIX.delivery, delivery.delivery);
      this.#deps.log.error({ err: error, delivery: id }, 'attempt could not be recorded');
    };
    this.#track(this.#attempt(delivery), failed);
  }

  /** Tracks work until it ends, so that a stop waits for it. `failed`: called when the work throws. */
  #track(work: Promise<void>, failed: (error: unknown) => void = nothing): void {
    const tracked: Promise<void> = work.catch(failed).then(() => void this.#underWay.delete(tracked));
    this.#underWay.add(tracked);
  }

  async #release(deliveries: readonly ClaimedDelivery[]): Promise<void> {
    const leases = deliveries.map(({ delivery, fence }) => ({ delivery, fence }));
    const { store, log, outage } = this.#deps;
    const { signal } = this.#cut;
    const count = { deliveries: leases.length };
    try {
      const done = await retryStorage(() => store.releaseDeliveries(leases).then(() => true), signal, outage);
      // Storage is away during the stop: leases that stay are rescued.
      if (!done) log.warn(count, 'deliveries could not be handed back');
    } catch (error) {
      log.error({ err: error, ...count }, 'deliveries could not be handed back');
    }
    // These deliveries are due again.
    this.#loop.wake();
  }

  /** Waits up to `graceMs` for attempts under way, then cuts them off and hands them back. */
  async stop(graceMs: number): Promise<void> {
    await this.#loop.stop();
    const timer = setTimeout(() => this.#cut.abort(), graceMs);
    // An attempt that ends is followed by one that is queued.
    while (this.#underWay.size > 0) await Promise.allSettled([...this.#underWay]);
    clearTimeout(timer);
  }

  async #tick(): Promise<number> {
    const { store, slots, limiter, dispatch, clock } = this.#deps;
    this.#handBack(limiter.releaseStale());
    limiter.beginClaim();
    const claims = await store.claimDeliveries(CLAIMED_AT_ONCE, slots.forClaims);
    limiter.endClaim();
    this.#isLeft = claims.deliveriesWaiting && !limiter.hasRefused;
    dispatch.take({ ...claims, deliveriesWaiting: false });
    if (claims.deliveries.length > 0 && claims.deliveriesWaiting) return 0;
    const dueInMs = claims.nextDueAtMs === null ? Number.POSITIVE_INFINITY : claims.nextDueAtMs - clock.nowMs();
    return Math.min(dueInMs, limiter.freeInMs);
  }

  async #attempt(delivery: ClaimedDelivery): Promise<void> {
    const { limiter } = this.#deps;
    const listenerId = listenerOf(delivery);
    const made = await this.#made(delivery);
    const end = made && this.#endOf(delivery, made);
    // Before anything else is sent: what the receiver answered holds from now on, and not from the commit on.
    const isStop = end !== undefined && (end.disableWebhook || end.pauseUntilMs !== null);
    if (end) limiter.came(listenerId, { tookMs: end.made.tookMs, isDelivered: isDelivered(end) });
    this.#handBack(isStop ? limiter.stop(listenerId) : limiter.stale(listenerId));
    const next = limiter.done(listenerId);
    if (next) this.#send(next);
    // Not at every end: a dead webhook always has deliveries waiting, and each claim costs the others time.
    if (this.#isLeft || limiter.isWanted(listenerId)) this.#loop.wake();
    if (!end) return this.#release([delivery]);
    // While deliveries are queued here, none waits for the claim that comes with a record: more ends share a transaction.
    if (next && end.state === 'delivered') await this.#ends.join();
    else this.#ends.release();
    try {
      await this.#record(end);
    } finally {
      if (isStop) limiter.resume(listenerId);
    }
  }

  async #record(made: AttemptEnd): Promise<void> {
    const { slots, limiter, store, dispatch, wake, outage } = this.#deps;
    const { delivery } = made;
    const end = made.error ? await withNames(store, made) : made;
    const finished = await retryStorage(() => store.recordAttempt(end, slots), this.#cut.signal, outage);
    if (!finished) return;
    this.#report(delivery, end, finished.held);
    this.#deps.tracing?.attempted(delivery, end, finished.held);
    if (!finished.held) return;
    if (finished.isDisabled) {
      this.releaseClaimed(listenerOf(delivery));
      limiter.forgetSpeed(listenerOf(delivery));
    }
    dispatch.take(finished.claims);
    if (end.state === 'retrying') this.#loop.wake();
    if (delivery.trigger === 'resend') wake.notify('resends');
  }

  /** Returns undefined when nothing was sent that counts. */
  async #made(delivery: ClaimedDelivery): Promise<Attempt | undefined> {
    const { post, mail } = this.#deps;
    const { signal } = this.#cut;
    if (signal.aborted || (delivery.kind === 'webhook' && !delivery.webhook)) return undefined;
    const made = await (delivery.kind === 'mail' ? mail : post)(delivery, signal);
    return isCutOff(signal, made) ? undefined : made;
  }

  #endOf(delivery: ClaimedDelivery, made: Attempt): AttemptEnd {
    const { clock, random } = this.#deps;
    const decision = made.outcome === 'withheld' ? WITHHELD : decide(delivery, made, random.fraction());
    const dueAtMs = decision.state === 'retrying' ? clock.latestMs() + decision.inMs : null;
    return {
      delivery,
      made,
      state: decision.state,
      nextAttemptAtMs: dueAtMs,
      pauseUntilMs: decision.state === 'retrying' && decision.isPause ? dueAtMs : null,
      error: decision.state === 'exhausted' ? failureOfDelivery(delivery, made, { code: decision.code }) : null,
      disableWebhook: decision.state === 'exhausted' && decision.code === 'WebhookGone',
    };
  }

  #report(delivery: ClaimedDelivery, end: AttemptEnd, held: boolean): void {
    const { metrics, log } = this.#deps;
    const { made, state } = end;
    // "answered" is then an answer that the delivery does not count as a success.
    metrics.attempts.inc({ kind: delivery.kind, outcome: state === 'delivered' ? state : made.outcome });
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

/** Returns whether the stop of this process cut the attempt off: no failure, unless the receiver had already answered. */
function isCutOff({ aborted }: AbortSignal, made: Attempt): boolean {
  return aborted && made.outcome !== 'answered';
}

/** Returns null when the attempt says nothing of the receiver. */
function isDelivered({ state, pauseUntilMs }: AttemptEnd): boolean | null {
  return pauseUntilMs === null && state !== 'cancelled' ? state === 'delivered' : null;
}

function nothing(): void {}

function listenerOf({ webhook, emission, kind }: ClaimedDelivery): string {
  if (kind === 'mail') return MAIL;
  return (kind === 'http' ? emission.onlyListenerId : webhook?.id) ?? emission.emitterId;
}
