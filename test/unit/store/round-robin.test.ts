// Whose turn it is: first attempts before retries, one each in turn, and the shares of retries.

import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import type { WaitingState } from '../../../src/domain/delivery/progress.ts';
import { LIMITS } from '../../../src/domain/limits.ts';
import {
  type ClaimSource,
  firstsAfter,
  grantRound,
  RetryShare,
  retriesOf,
} from '../../../src/store/log/round-robin.ts';

const FIRSTS = LIMITS.inFlightPerWebhook - 1;

/** Listeners with so many first attempts and retries due. Notes what is taken, e.g. `a1` and `a2` for the two states. */
class Due implements ClaimSource<string> {
  readonly taken: string[] = [];
  readonly refuses = new Set<string>();
  hasLookedEnough = false;
  /** Listeners whose next slot is for a retry. */
  readonly owed = new Set<string>();
  readonly #due: Record<string, [pending: number, retrying: number]>;

  constructor(due: Record<string, [pending: number, retrying: number]>) {
    this.#due = due;
  }

  ready(): string[] {
    return Object.keys(this.#due);
  }

  get hasRetries(): boolean {
    return Object.values(this.#due).some(([, retrying]) => retrying > 0);
  }

  take(listener: string, phase: WaitingState): WaitingState | null {
    const due = this.#due[listener] ?? [0, 0];
    if (phase === 'pending' && this.owed.delete(listener)) return this.take(listener, 'retrying');
    const place = phase === 'pending' ? 0 : 1;
    if (due[place] === 0 || this.refuses.has(listener)) return null;
    due[place]--;
    this.taken.push(`${listener}${place + 1}`);
    return phase;
  }

  takeRetry(): boolean {
    return this.ready().some((listener) => this.take(listener, 'retrying') !== null);
  }
}

const claim = (due: Due, limit: number, turns = new RetryShare()): string => {
  grantRound(due, turns, limit);
  return due.taken.splice(0).join(' ');
};

test('listeners take one each in turn', () => {
  const due = new Due({ a: [3, 0], b: [1, 0], c: [2, 0] });
  equal(claim(due, 5), 'a1 b1 c1 a1 c1');
  equal(claim(due, 5), 'a1');
});

test('first attempts of all come before retries', () => {
  equal(claim(new Due({ a: [1, 2], b: [0, 1], c: [1, 0] }), 9), 'a1 c1 a2 b2 a2');
});

test('one slot in so many goes to a retry', () => {
  const due = new Due({ a: [20, 0], b: [0, 2] });
  const turns = new RetryShare();
  const firsts = Array(FIRSTS).fill('a1').join(' ');
  equal(claim(due, FIRSTS + 1, turns), `${firsts} b2`);
  equal(claim(due, FIRSTS, turns), firsts);
  equal(claim(due, 1, turns), 'b2', 'also over claims');
});

test('a retry that had no slot begins the next claim', () => {
  const due = new Due({ a: [20, 0], b: [0, 1] });
  const turns = new RetryShare();
  due.refuses.add('b');
  claim(due, FIRSTS + 1, turns);
  equal(turns.isOwed, true);
  equal(turns.copy().isOwed, true);
  due.refuses.delete('b');
  equal(claim(due, 2, turns), 'b2 a1');
  equal(turns.isOwed, false);
});

test('first attempts count only beside retries', () => {
  const turns = new RetryShare();
  claim(new Due({ a: [20, 0] }), 20, turns);
  equal(claim(new Due({ a: [2, 0], b: [0, 1] }), 2, turns), 'a1 a1');
});

test('the share of one listener counts for all', () => {
  const due = new Due({ a: [20, 5] });
  due.owed.add('a');
  equal(claim(due, FIRSTS + 1), ['a2', ...Array(FIRSTS).fill('a1')].join(' '));
});

test('a claim that looked at enough is cut', () => {
  const due = new Due({ a: [1, 0] });
  due.hasLookedEnough = true;
  deepEqual(grantRound(due, new RetryShare(), 1), { served: new Set(), isCut: true });
  deepEqual(grantRound(due, new RetryShare(), 0), { served: new Set(), isCut: false });
});

test('a listener has its retry behind so many first attempts', () => {
  equal(retriesOf(0, FIRSTS), 0);
  equal(retriesOf(FIRSTS, 1), 1);
  equal(retriesOf(0, 2 * LIMITS.inFlightPerWebhook), 2);
  equal(firstsAfter(0, { pending: 3, retrying: 0 }), 3);
  equal(firstsAfter(FIRSTS, { pending: 3, retrying: 0 }), FIRSTS);
  equal(firstsAfter(FIRSTS, { pending: 0, retrying: 1 }), 0);
  equal(firstsAfter(2, { pending: 0, retrying: 1 }), 0);
});
