// Work at a time: schedule ticks, digests, notices, watches and the ends of waits as soon as they are due, retention once an hour.

import { PLAIN_EMISSION } from '../../domain/emission.ts';
import { DAY_MS, HOUR_MS } from '../../domain/limits.ts';
import type { Trigger } from '../../domain/resource.ts';
import { CLOCK_LIMITS } from '../../domain/watch/clock-limits.ts';
import type { Clock } from '../../ports.ts';
import { type ErrorsPlace, NO_ERRORS_YET } from '../../store/contract/retention.ts';
import type { Store } from '../../store/contract/store.ts';
import type { Dispatch } from '../accept/dispatch.ts';
import type { Waiters } from '../accept/waiters.ts';
import type { Slots } from '../capacity/slots.ts';
import { Loop, type LoopPorts } from '../loop.ts';
import type { SendNotices } from '../notices/notices.ts';
import { CANCELLED } from '../runs/ready-runs.ts';
import type { WakeUps } from '../wake-ups.ts';
import { dueTick, firstTickMs, tickEvent } from './cron.ts';
import type { Watches } from './watches.ts';

export interface SchedulerDeps extends LoopPorts {
  readonly store: Store;
  readonly slots: Slots;
  readonly dispatch: Dispatch;
  readonly waiters: Pick<Waiters, 'end'>;
  readonly wake: WakeUps;
  readonly clock: Clock;
  readonly watches: Pick<Watches, 'tickWatches'>;
  readonly retentionDays: number;
  readonly sendNotices: SendNotices;
}

const TRIGGERS_AT_ONCE = 200;
const WAITS_AT_ONCE = 500;
const POLL_MS = 5000;
/** Pause between two steps of pruning, so that it never delays the work that users wait for. */
const PRUNE_PAUSE_MS = 20;

export class Scheduler {
  readonly #deps: SchedulerDeps;
  readonly #due: Loop;
  readonly #retention: Loop;
  readonly #clock: Loop;
  /** The latest time that was seen. */
  #seenMs = 0;
  #pruneFrom = 0;
  /** Null: the walk over all emissions is not over. */
  #errorsFrom: ErrorsPlace | null = null;

  constructor(deps: SchedulerDeps) {
    this.#deps = deps;
    this.#due = new Loop({ name: 'times', tick: () => this.tickDue(), maxWaitMs: POLL_MS }, deps);
    this.#retention = new Loop({ name: 'retention', tick: () => this.tickRetention(), maxWaitMs: HOUR_MS }, deps);
    this.#clock = new Loop({ name: 'clock', tick: () => this.#tickClock(), maxWaitMs: CLOCK_LIMITS.lookMs }, deps);
    deps.wake.subscribe('schedules', (inMs) => this.#due.wake(inMs));
  }

  start(): void {
    this.#due.start();
    this.#retention.start();
    this.#clock.start();
  }

  async stop(): Promise<void> {
    await Promise.all([this.#due.stop(), this.#retention.stop(), this.#clock.stop()]);
  }

  async tickDue(): Promise<number> {
    const { store, slots, dispatch, clock } = this.#deps;
    await this.#followClock();
    const due = await store.dueTriggers(TRIGGERS_AT_ONCE);
    await Promise.all(due.map((trigger) => this.#fire(trigger)));
    dispatch.take(await store.closeDigests(slots));
    const areMoreNotices = await this.#deps.sendNotices();
    const released = await store.releaseLater(slots);
    dispatch.take(released.claims);
    const left = await store.tellGlobal(slots);
    dispatch.take(left.claims);
    const hasMoreWaits = await this.#endWaits();
    const isMore = (await this.#deps.watches.tickWatches()) || hasMoreWaits;
    if (due.length === TRIGGERS_AT_ONCE || released.isMore || left.isMore || isMore || areMoreNotices) return 0;
    const next = await store.nextDueAtMs();
    return next === null ? Number.POSITIVE_INFINITY : next - clock.nowMs();
  }

  /** Asks no store: what was made since the clock was set back is set back, too, so that is to be noticed soon. */
  async #tickClock(): Promise<number> {
    const nowMs = this.#deps.clock.nowMs();
    if (nowMs < this.#seenMs - CLOCK_LIMITS.toleranceMs) this.#due.wake();
    this.#seenMs = nowMs;
    return Number.POSITIVE_INFINITY;
  }

  /** Sets back what waits when the clock was set back. */
  async #followClock(): Promise<void> {
    const { store, wake, log } = this.#deps;
    const backMs = await store.followClock(firstTickMs);
    if (backMs === 0) return;
    log.warn({ backMs }, 'the clock was set back: what waits is due as much earlier');
    wake.notify('deliveries');
    wake.notify('runs');
  }

  async #endWaits(): Promise<boolean> {
    const { store, waiters, wake } = this.#deps;
    const { queued, cancelled, isMore } = await store.endWaits(WAITS_AT_ONCE);
    for (const run of cancelled) waiters.end(run, CANCELLED);
    if (queued > 0) wake.notify('runs');
    return isMore;
  }

  /** Makes one bounded step; returns 0 while there is more. */
  async tickRetention(): Promise<number> {
    const { store, clock, retentionDays } = this.#deps;
    const nowMs = clock.nowMs();
    const beforeMs = nowMs - retentionDays * DAY_MS;
    if (this.#errorsFrom === null) {
      const { next } = await store.prune(beforeMs, this.#pruneFrom);
      this.#pruneFrom = next ?? 0;
      if (next === null) this.#errorsFrom = NO_ERRORS_YET;
      return PRUNE_PAUSE_MS;
    }
    const { next } = await store.pruneErrors({ beforeMs, nowMs }, this.#errorsFrom);
    this.#errorsFrom = next;
    return next === null ? Number.POSITIVE_INFINITY : PRUNE_PAUSE_MS;
  }

  async #fire(trigger: Trigger): Promise<void> {
    const { store, slots, dispatch, clock } = this.#deps;
    const { schedule, nextAtMs: expectedAtMs } = trigger;
    if (!schedule || expectedAtMs === null) return;
    const due = dueTick(schedule, expectedAtMs, clock.nowMs());
    const emission = {
      ...PLAIN_EMISSION,
      ownerId: trigger.ownerId,
      emitterId: trigger.id,
      originId: trigger.id,
      sourceType: 'TIMER' as const,
      body: tickEvent(schedule, due),
    };
    const tick = { triggerId: trigger.id, schedule, expectedAtMs, nextAtMs: due.nextAtMs };
    const appended = await store.fireTrigger(tick, emission, slots);
    if (appended) dispatch.take(appended.claims);
  }
}
