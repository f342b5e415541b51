// Who stands in line for a webhook, and how many of its deliveries this node may hold. So many requests are on their way to
// one at a time as its settings say, one when it is ordered, and one while it fails. While a webhook answers fast, some more
// of its deliveries are claimed ahead and wait here, so that the next request leaves when one comes back and not when its
// outcome has been committed (one webhook under a load of 4,000 errors/s: 530 deliveries/s without, 850 with). One that is
// slow or fails, is ordered or has a limit of its rate gets none ahead: what stands in line is leased, and shows as `sending`.
//
// A delivery goes through three stages here: a hand is taken for it while the store claims it (`take`), it joins when it has
// been claimed (`join`), and it is done. Between the first two the webhook may be disabled, changed or put off. So a line can
// be stopped: nothing more is taken for it, and what comes nevertheless goes back to the store, which knows the webhook as it
// is by then; when all that was under way has come in, the line is open again. Another node may change the webhook as well:
// what has stood in line for too long goes back, too.

import { type ClaimedDelivery, MAIL } from '../../domain/delivery/delivery.ts';
import { LIMITS } from '../../domain/limits.ts';
import type { Webhook } from '../../domain/resource.ts';
import { type Footing, Shares } from './slot-shares.ts';
import {
  adopt,
  beginAnew,
  type Came,
  footingOf,
  heldLimit,
  isFailing,
  isIdle,
  isOverRate,
  isStopped,
  isStuck,
  type Line,
  learn,
  mayStandInLine,
  newLine,
  sendingLimit,
  settle,
  staleOf,
} from './webhook-state.ts';

const SWEEP_MS = 500;
/** Idle lines are only a memory of speed and health; so many are kept. */
const KEPT_LINES = LIMITS.countedRecords;

/** `back`: it must not be sent; its hand is free again. */
export type Joined = 'send' | 'wait' | 'back';

export class Lines {
  readonly #lines = new Map<string, Line>();
  readonly #shares = new Shares();
  readonly #now: () => number;
  /** When the first hand comes free that a limit of a rate refused. */
  #freeAt = Number.POSITIVE_INFINITY;
  /** One more with each claim of what is due. */
  #turn = 1;
  /** The last turn in which anybody was refused a hand. */
  #refusedIn = 0;
  /** How many were refused one in this turn because their share was spent … */
  readonly #short = new Map<Footing, number>();
  /** … and in the one before: they wait until the claim that goes on has come to them. */
  readonly #shortBefore = new Map<Footing, number>();
  #sweptAt = Number.NEGATIVE_INFINITY;
  #forgetAtSize: number = KEPT_LINES;

  /** `now`: milliseconds of a clock that never jumps. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Hands taken, of all listeners. */
  get held(): number {
    return this.#shares.total;
  }

  /**
   * A hand for a delivery that is being claimed: it ends in `join` or in `drop`. `webhook` is null for the owner's mail.
   * None that others wait for: who has just freed it would have it again and again, as long as anything waits for him.
   */
  take(listenerId: string, webhook: Webhook | null): boolean {
    return this.#take(listenerId, webhook, false);
  }

  /** The same, for the claim that goes round and gives everybody what he waits for. */
  takeInTurn(listenerId: string, webhook: Webhook | null): boolean {
    return this.#take(listenerId, webhook, true);
  }

  #take(listenerId: string, webhook: Webhook | null, isInTurn: boolean): boolean {
    const line = this.#of(listenerId);
    if (webhook) adopt(line, webhook);
    // What was learnt with `adopt`.
    this.#judge(line);
    if (isStopped(line) || line.held >= heldLimit(line)) {
      line.refusedIn = this.#turn;
      this.#refusedIn = this.#turn;
      return false;
    }
    if (!this.#isWithinRate(line)) return false;
    if ((!isInTurn && this.#isSpokenFor(line.footing)) || !this.#shares.take(line.footing)) {
      more(this.#short, line.footing, 1);
      this.#refusedIn = this.#turn;
      return false;
    }
    line.held++;
    return true;
  }

  /** It was not claimed. */
  drop(listenerId: string): void {
    this.#free(this.#of(listenerId));
  }

  /** What was claimed has come. `wait`: it stands in line, and `done` of another one calls it. */
  join(listenerId: string, delivery: ClaimedDelivery): Joined {
    const line = this.#of(listenerId);
    const isNext = line.sending < sendingLimit(line);
    if (isStopped(line) || isOverRate(line, this.#now()) || !(isNext || mayStandInLine(line))) {
      this.#free(line);
      return 'back';
    }
    if (isNext) this.#begin(line);
    else line.waiting.push({ delivery, since: this.#now() });
    return isNext ? 'send' : 'wait';
  }

  /** A request came back: what it says of the webhook. To be told before `stale` and `done`. */
  came(listenerId: string, came: Came): void {
    const line = this.#of(listenerId);
    learn(line, came, this.#now());
    this.#judge(line);
  }

  /** A request came back, or was never made: its hand is free. The answer is whose turn it is now. */
  done(listenerId: string): ClaimedDelivery | undefined {
    const line = this.#of(listenerId);
    line.sending--;
    const next = line.sending < sendingLimit(line) ? line.waiting.shift() : undefined;
    if (next) this.#begin(line);
    this.#free(line);
    return next?.delivery;
  }

  /** Nothing is taken, and nothing that was taken is sent, until `resume`; who stands in line leaves it. */
  stop(listenerId: string): readonly ClaimedDelivery[] {
    const line = this.#of(listenerId);
    line.stops++;
    line.isDraining = true;
    return this.#leave(line, line.waiting.length);
  }

  /** What stopped it is in the store; so nothing that is claimed from now on needs to go back. */
  resume(listenerId: string): void {
    const line = this.#of(listenerId);
    line.stops--;
    settle(line);
  }

  /** It was disabled: when it is enabled again, it begins anew. */
  beginAnew(listenerId: string): void {
    const line = this.#lines.get(listenerId);
    if (!line) return;
    beginAnew(line);
    this.#judge(line);
  }

  /** Takes those out of the line that must not be sent: they have stood in it for too long, or the webhook fails by now. */
  stale(listenerId: string): readonly ClaimedDelivery[] {
    const line = this.#of(listenerId);
    return this.#leave(line, staleOf(line, this.#now()));
  }

  /**
   * To be called often; it does its work now and then: sees which webhooks have stopped to answer, and takes out of all
   * lines what is stale.
   */
  sweep(): readonly ClaimedDelivery[] {
    const now = this.#now();
    if (now - this.#sweptAt < SWEEP_MS) return [];
    this.#sweptAt = now;
    const left: ClaimedDelivery[] = [];
    for (const line of this.#lines.values()) {
      if (line.sending === 0) continue;
      line.isStuck = isStuck(line, now);
      this.#judge(line);
      if (line.waiting.length > 0) left.push(...this.#leave(line, staleOf(line, now)));
    }
    return left;
  }

  /** What is due is claimed now: whoever is refused a hand from now on still wants one. */
  beginTurn(): void {
    this.#turn++;
    for (const [footing, count] of this.#short) more(this.#shortBefore, footing, count);
    this.#short.clear();
    // One that is still to come is kept: a claim does not look at all lines.
    if (this.#freeAt <= this.#now()) this.#freeAt = Number.POSITIVE_INFINITY;
  }

  /** It was claimed: whoever still wants a hand was refused one meanwhile. */
  endTurn(): void {
    this.#shortBefore.clear();
  }

  /** Whether anybody was refused a hand in this turn. */
  get hasRefused(): boolean {
    return this.#refusedIn === this.#turn;
  }

  /** Whether the hand that this listener's `done` has just freed is one that somebody was refused in this turn. */
  isWanted(listenerId: string): boolean {
    const line = this.#of(listenerId);
    if (line.refusedIn === this.#turn && !isStopped(line) && line.held < heldLimit(line)) return true;
    for (const footing of this.#short.keys()) if (this.#shares.roomFor(footing) > 0) return true;
    return false;
  }

  /** In how many milliseconds a hand comes free that a limit of a rate refused; infinite: none was. */
  get freeInMs(): number {
    return Math.max(0, Math.ceil(this.#freeAt - this.#now()));
  }

  /** Whether those who wait would have one less, if one of that footing took one. */
  #isSpokenFor(footing: Footing): boolean {
    for (const waiting of [this.#short, this.#shortBefore]) {
      for (const [short, count] of waiting) if (this.#shares.isAmongLast(count, short, footing)) return true;
    }
    return false;
  }

  /** Whether what is being claimed and what began lately leave room for one more. */
  #isWithinRate(line: Line): boolean {
    const rate = line.settings?.rateLimit;
    if (!rate || !line.starts) return true;
    const now = this.#now();
    const reserved = line.held - line.sending;
    const over = line.starts.within(rate.intervalMs, now) + reserved - rate.limit;
    if (over < 0) return true;
    // One that is reserved begins now at the earliest.
    this.#freeAt = Math.min(this.#freeAt, (line.starts.time(over) ?? now) + rate.intervalMs);
    this.#refusedIn = this.#turn;
    return false;
  }

  #begin(line: Line): void {
    const now = this.#now();
    if (line.sending === 0) line.heardAt = now;
    line.sending++;
    line.starts?.add(now);
  }

  #free(line: Line): void {
    line.held--;
    this.#shares.free(line.footing);
    settle(line);
  }

  #leave(line: Line, count: number): readonly ClaimedDelivery[] {
    if (count === 0) return [];
    const left = line.waiting.splice(0, count);
    line.held -= count;
    this.#shares.free(line.footing, count);
    return left.map(({ delivery }) => delivery);
  }

  #judge(line: Line): void {
    const footing = footingOf(line);
    if (footing === line.footing) return;
    this.#shares.move(line.held, line.footing, footing);
    line.footing = footing;
  }

  #of(listenerId: string): Line {
    const known = this.#lines.get(listenerId);
    if (known) return known;
    if (this.#lines.size >= this.#forgetAtSize) this.#forgetSome();
    const made = newLine(listenerId === MAIL);
    this.#lines.set(listenerId, made);
    return made;
  }

  /** A tenth, so that it is seldom done; those that fail last. What holds hands, or whose rate is still spent, stays. */
  #forgetSome(): void {
    const keep = KEPT_LINES * 0.9;
    const now = this.#now();
    for (const areFailing of [false, true]) {
      for (const [id, line] of this.#lines) {
        if (this.#lines.size <= keep) break;
        if (isIdle(line, now) && isFailing(line) === areFailing) this.#lines.delete(id);
      }
    }
    this.#forgetAtSize = Math.max(KEPT_LINES, this.#lines.size + KEPT_LINES / 10);
  }
}

function more(counts: Map<Footing, number>, footing: Footing, by: number): void {
  counts.set(footing, (counts.get(footing) ?? 0) + by);
}
