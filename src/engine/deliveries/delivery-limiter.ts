// How many deliveries this node sends at a time, to one webhook and in all. A delivery takes a slot while the store claims it
// (`take`), joins when it has been claimed (`join`), and gives the slot back when it is done. So many requests are on their way
// to one webhook as its settings say, one when it is ordered, and one while it fails. While a webhook answers fast, some more
// of its deliveries are claimed ahead and queued here, so that the next request leaves when one comes back and not when its
// outcome has been committed (one webhook under a load of 4,000 errors/s: 530 deliveries/s without, 850 with). One that is
// slow or fails, is ordered or has a limit of its rate gets none ahead: what is queued is leased, and shows as `sending`.
//
// While a delivery is being claimed, its webhook may be disabled, changed or put off. So a webhook can be stopped: no slot is
// taken for it, and what comes nevertheless goes back to the store, which knows the webhook as it is by then; when all that was
// under way has come in, it is open again. Another node may change the webhook as well: what was queued for too long goes
// back, too.

import { type ClaimedDelivery, MAIL } from '../../domain/delivery/delivery.ts';
import { LIMITS } from '../../domain/limits.ts';
import type { Webhook } from '../../domain/resource.ts';
import {
  adopt,
  type Came,
  forgetSpeed,
  type HealthState,
  healthStateOf,
  isFailing,
  isIdle,
  isOverRate,
  isStopped,
  isStuck,
  learn,
  mayQueue,
  newState,
  sendingLimit,
  settle,
  slotLimit,
  staleOf,
  type WebhookState,
} from './webhook-state.ts';

const STALE_CHECK_MS = 500;
/** Idle states are only a memory of speed and health; so many are kept. */
const KEPT_STATES = LIMITS.countedRecords;

/** All slots of one node. What is beyond waits in the store, not in memory. */
const MAX_DELIVERIES = 512;
const MAX_WEAK = MAX_DELIVERIES / 2;
const MAX_NOT_WELL = (MAX_DELIVERIES * 3) / 4;
/** A webhook that turns weak while it has slots may have more than its share. Webhooks that are well get theirs up to this total. */
const MAX_EVER = MAX_DELIVERIES * 2;
/** Webhooks that have not answered yet get their share up to this total. */
const MAX_EVER_NOT_WELL = MAX_EVER - (MAX_DELIVERIES - MAX_NOT_WELL);

/** `back`: the delivery must not be sent, and its slot is free again. */
export type Joined = 'send' | 'wait' | 'back';

export class DeliveryLimiter {
  readonly #states = new Map<string, WebhookState>();
  readonly #slots = new HealthSlots();
  readonly #now: () => number;
  /** When the first slot comes free that a limit of a rate refused. */
  #freeAt = Number.POSITIVE_INFINITY;
  /** The number of the latest claim of due deliveries. */
  #claim = 1;
  /** The last claim in which a slot was refused. */
  #refusedIn = 0;
  /** How many slots were refused in this claim because a share was spent … */
  readonly #short = new Map<HealthState, number>();
  /** … and in the claim before: their webhooks wait until the present claim reaches them. */
  readonly #shortBefore = new Map<HealthState, number>();
  #checkedStaleAt = Number.NEGATIVE_INFINITY;
  #forgetAtSize: number = KEPT_STATES;

  /** `now`: milliseconds of a clock that never jumps. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Returns how many slots are taken, of all listeners. */
  get slotsTaken(): number {
    return this.#slots.total;
  }

  /**
   * Takes a slot for a delivery that is being claimed, until `join` or `drop`. `webhook` is null for the owner's mail. Takes no
   * slot that other webhooks wait for: else the webhook that has just freed it would get it again and again. `isForClaim`: for
   * the claim that goes round all webhooks, which may take every slot.
   */
  take(listenerId: string, webhook: Webhook | null, isForClaim = false): boolean {
    const state = this.#of(listenerId);
    if (webhook) adopt(state, webhook);
    // What was learnt with `adopt`.
    this.#judge(state);
    if (isStopped(state) || state.slots >= slotLimit(state)) {
      state.refusedIn = this.#claim;
      this.#refusedIn = this.#claim;
      return false;
    }
    if (!this.#isWithinRate(state)) return false;
    if ((!isForClaim && this.#isReserved(state.health)) || !this.#slots.take(state.health)) {
      more(this.#short, state.health, 1);
      this.#refusedIn = this.#claim;
      return false;
    }
    state.slots++;
    return true;
  }

  /** Frees the slot of a delivery that was not claimed. */
  drop(listenerId: string): void {
    this.#free(this.#of(listenerId));
  }

  /** Decides what becomes of a claimed delivery. `wait`: it is queued, and a later `done` returns it. */
  join(listenerId: string, delivery: ClaimedDelivery): Joined {
    const state = this.#of(listenerId);
    const isNext = state.sending < sendingLimit(state);
    if (isStopped(state) || isOverRate(state, this.#now()) || !(isNext || mayQueue(state))) {
      this.#free(state);
      return 'back';
    }
    if (isNext) this.#begin(state);
    else state.queued.push({ delivery, since: this.#now() });
    return isNext ? 'send' : 'wait';
  }

  /** Takes note of what a request that came back says of the webhook. Call it before `stale` and `done`. */
  came(listenerId: string, came: Came): void {
    const state = this.#of(listenerId);
    learn(state, came, this.#now());
    this.#judge(state);
  }

  /** Frees the slot of a delivery whose request came back, or was never made. Returns the next delivery to send. */
  done(listenerId: string): ClaimedDelivery | undefined {
    const state = this.#of(listenerId);
    state.sending--;
    const next = state.sending < sendingLimit(state) ? state.queued.shift() : undefined;
    if (next) this.#begin(state);
    this.#free(state);
    return next?.delivery;
  }

  /** Takes no slots for the listener, and sends none of its claimed deliveries, until `resume`. Returns the queued deliveries. */
  stop(listenerId: string): readonly ClaimedDelivery[] {
    const state = this.#of(listenerId);
    state.stops++;
    state.isDraining = true;
    return this.#leave(state, state.queued.length);
  }

  /** Ends a `stop`, once its cause is in the store: deliveries that are claimed from now on may be sent. */
  resume(listenerId: string): void {
    const state = this.#of(listenerId);
    state.stops--;
    settle(state);
  }

  /** Forgets how fast a webhook answered, when it is disabled: it may have changed by the time it is enabled again. */
  forgetSpeed(listenerId: string): void {
    const state = this.#states.get(listenerId);
    if (!state) return;
    forgetSpeed(state);
    this.#judge(state);
  }

  /** Returns the deliveries that must leave the queue: they were queued for too long, or the webhook fails by now. */
  stale(listenerId: string): readonly ClaimedDelivery[] {
    const state = this.#of(listenerId);
    return this.#leave(state, staleOf(state, this.#now()));
  }

  /**
   * Notices webhooks that no longer answer, and takes stale deliveries out of all queues. May be called often: most calls return
   * at once.
   */
  releaseStale(): readonly ClaimedDelivery[] {
    const now = this.#now();
    if (now - this.#checkedStaleAt < STALE_CHECK_MS) return [];
    this.#checkedStaleAt = now;
    const left: ClaimedDelivery[] = [];
    for (const state of this.#states.values()) {
      if (state.sending === 0) continue;
      state.isStuck = isStuck(state, now);
      this.#judge(state);
      if (state.queued.length > 0) left.push(...this.#leave(state, staleOf(state, now)));
    }
    return left;
  }

  /** Begins a claim of due deliveries: a listener that is refused a slot from now on still wants one. */
  beginClaim(): void {
    this.#claim++;
    for (const [health, count] of this.#short) more(this.#shortBefore, health, count);
    this.#short.clear();
    // One that is still to come is kept: a claim does not look at all webhooks.
    if (this.#freeAt <= this.#now()) this.#freeAt = Number.POSITIVE_INFINITY;
  }

  /** Ends a claim: listeners that were refused a slot before it no longer wait. */
  endClaim(): void {
    this.#shortBefore.clear();
  }

  /** Returns whether a slot was refused in this claim. */
  get hasRefused(): boolean {
    return this.#refusedIn === this.#claim;
  }

  /** Returns whether the slot that this listener's `done` has just freed was refused in this claim. */
  isWanted(listenerId: string): boolean {
    const state = this.#of(listenerId);
    if (state.refusedIn === this.#claim && !isStopped(state) && state.slots < slotLimit(state)) return true;
    for (const health of this.#short.keys()) if (this.#slots.roomFor(health) > 0) return true;
    return false;
  }

  /** Returns in how many milliseconds a slot comes free that a rate limit refused; infinite: none was refused. */
  get freeInMs(): number {
    return Math.max(0, Math.ceil(this.#freeAt - this.#now()));
  }

  /** Returns whether waiting webhooks would have one slot less if a webhook of this health took one. */
  #isReserved(health: HealthState): boolean {
    for (const waiting of [this.#short, this.#shortBefore]) {
      for (const [short, count] of waiting) if (this.#slots.isAmongLast(count, short, health)) return true;
    }
    return false;
  }

  /** Returns whether the rate limit leaves room for one more request, beside deliveries that are being claimed. */
  #isWithinRate(state: WebhookState): boolean {
    const rate = state.settings?.rateLimit;
    if (!rate || !state.window) return true;
    const now = this.#now();
    const reserved = state.slots - state.sending;
    const over = state.window.within(rate.intervalMs, now) + reserved - rate.limit;
    if (over < 0) return true;
    // One that is reserved begins now at the earliest.
    this.#freeAt = Math.min(this.#freeAt, (state.window.time(over) ?? now) + rate.intervalMs);
    this.#refusedIn = this.#claim;
    return false;
  }

  #begin(state: WebhookState): void {
    const now = this.#now();
    if (state.sending === 0) state.heardAt = now;
    state.sending++;
    state.window?.add(now);
  }

  #free(state: WebhookState): void {
    state.slots--;
    this.#slots.free(state.health);
    settle(state);
  }

  #leave(state: WebhookState, count: number): readonly ClaimedDelivery[] {
    if (count === 0) return [];
    const left = state.queued.splice(0, count);
    state.slots -= count;
    this.#slots.free(state.health, count);
    return left.map(({ delivery }) => delivery);
  }

  #judge(state: WebhookState): void {
    const health = healthStateOf(state);
    if (health === state.health) return;
    this.#slots.move(state.slots, state.health, health);
    state.health = health;
  }

  #of(listenerId: string): WebhookState {
    const known = this.#states.get(listenerId);
    if (known) return known;
    if (this.#states.size >= this.#forgetAtSize) this.#forgetSome();
    const made = newState(listenerId === MAIL);
    this.#states.set(listenerId, made);
    return made;
  }

  /** Forgets a tenth of the idle states, so that it is seldom called, and failing webhooks last. States with slots or a spent rate stay. */
  #forgetSome(): void {
    const keep = KEPT_STATES * 0.9;
    const now = this.#now();
    for (const areFailing of [false, true]) {
      for (const [id, state] of this.#states) {
        if (this.#states.size <= keep) break;
        if (isIdle(state, now) && isFailing(state) === areFailing) this.#states.delete(id);
      }
    }
    this.#forgetAtSize = Math.max(KEPT_STATES, this.#states.size + KEPT_STATES / 10);
  }
}

function more(counts: Map<HealthState, number>, health: HealthState, by: number): void {
  counts.set(health, (counts.get(health) ?? 0) + by);
}

/**
 * The slots of this node, shared out by health. A webhook that fails or is slow keeps a slot for as long as a timeout takes, and
 * hundreds of them would have all slots: they get half at most. Of a webhook that has not answered yet nothing is known (all
 * are unknown after a start, and dead ones show it after their timeout): so a quarter is for those alone that have answered.
 */
class HealthSlots {
  readonly #taken: Record<HealthState, number> = { well: 0, unknown: 0, weak: 0 };

  get total(): number {
    const { well, unknown, weak } = this.#taken;
    return well + unknown + weak;
  }

  take(health: HealthState): boolean {
    if (this.roomFor(health) <= 0) return false;
    this.#taken[health]++;
    return true;
  }

  free(health: HealthState, count = 1): void {
    this.#taken[health] -= count;
  }

  /** Counts the slots of a webhook whose health has changed. */
  move(count: number, from: HealthState, to: HealthState): void {
    this.#taken[from] -= count;
    this.#taken[to] += count;
  }

  /** Returns how many slots are free for webhooks of this health; 0 or less: none. */
  roomFor(health: HealthState): number {
    const { well, unknown, weak } = this.#taken;
    if (health === 'well') {
      return Math.min(MAX_DELIVERIES - well - Math.min(unknown + weak, MAX_NOT_WELL), MAX_EVER - this.total);
    }
    if (health === 'weak') {
      return Math.min(MAX_DELIVERIES - this.total, MAX_NOT_WELL - unknown - weak, MAX_WEAK - weak);
    }
    const others = unknown + Math.min(weak, MAX_WEAK);
    return Math.min(MAX_DELIVERIES - well - others, MAX_NOT_WELL - others, MAX_EVER_NOT_WELL - this.total);
  }

  /** Returns whether one of `count` waiting webhooks would find no slot if a webhook of health `takes` took one. */
  isAmongLast(count: number, health: HealthState, takes: HealthState): boolean {
    const room = this.roomFor(health);
    if (room <= 0 || room > count) return false;
    this.#taken[takes]++;
    const isLess = this.roomFor(health) < room;
    this.#taken[takes]--;
    return isLess;
  }
}
