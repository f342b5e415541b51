// How many errors an operation may replay now, what became of each, and what follows from that.

import { deepEqual, equal, match } from 'node:assert/strict';
import { test } from 'node:test';
import {
  counted,
  dealtWith,
  dueAfter,
  EVERY,
  isAllFixed,
  isLeftUnfixed,
  judged,
  type OutcomeCounts,
  outcomeOf,
  overIn,
  pacedRoomOf,
  type Replaying,
  type ReplayOrder,
  replayedIn,
  roomOf,
} from '../../../../src/domain/errors/replaying.ts';
import { LIMITS } from '../../../../src/domain/limits.ts';
import { RUN_STATES, type RunState } from '../../../../src/domain/run/run.ts';

const NO_OUTCOMES: OutcomeCounts = {
  under_way: 0,
  fixed: 0,
  failed_same: 0,
  failed_differently: 0,
  cancelled: 0,
  unknown: 0,
  not_replayed: 0,
  replayed_before: 0,
};

const ORDER: ReplayOrder = {
  selection: { ...EVERY, groupId: null, emitterId: null, entries: [] },
  deploymentId: null,
  rate: null,
  canary: 0,
  stopOnFailures: null,
  isFromFailedStep: false,
  isOrdered: false,
  isAgain: false,
};

function replaying({
  order = {},
  counts = {},
  ...more
}: { order?: Partial<ReplayOrder>; counts?: Partial<OutcomeCounts> } & Partial<
  Omit<Replaying, 'order' | 'counts'>
> = {}): Replaying {
  return {
    order: { ...ORDER, ...order },
    counts: { ...NO_OUTCOMES, ...counts },
    isCanaryOver: (order.canary ?? 0) === 0,
    stopAt: order.stopOnFailures ?? null,
    dueAtMs: 0,
    isThrough: false,
    hasLeftUnfixed: false,
    ...more,
  };
}

test('a bounded number is under way', () => {
  equal(roomOf(replaying()), LIMITS.replaysUnderWay);
  equal(roomOf(replaying({ counts: { under_way: LIMITS.replaysUnderWay - 1, fixed: 9 } })), 1);
  equal(roomOf(replaying({ counts: { under_way: LIMITS.replaysUnderWay + 1 } })), 0);
  const order = { isOrdered: true };
  deepEqual([roomOf(replaying({ order })), roomOf(replaying({ order, counts: { under_way: 1 } }))], [1, 0]);
});

test('an event runs again beside no other replay of it', () => {
  const dealt = (state: RunState, isAgain: boolean) => dealtWith({ state }, { isAgain });
  for (const isAgain of [false, true]) {
    equal(dealtWith(undefined, { isAgain }), 'replay');
    for (const state of ['queued', 'running', 'waiting'] as const) equal(dealt(state, isAgain), 'follow');
  }
  for (const state of ['succeeded', 'failed'] as const) {
    deepEqual([dealt(state, false), dealt(state, true)], ['leave', 'replay']);
  }
});

test('no more than the canary goes first', () => {
  const order = { canary: 3 };
  equal(roomOf(replaying({ order })), 3);
  equal(roomOf(replaying({ order, counts: { under_way: 1, fixed: 1, not_replayed: 5, replayed_before: 5 } })), 1);
  equal(roomOf(replaying({ order, counts: { fixed: 2, cancelled: 1 } })), 0);
  equal(roomOf(replaying({ order, counts: { fixed: 3 }, isCanaryOver: true })), LIMITS.replaysUnderWay);
});

test('a rate is never exceeded, whatever the steps', () => {
  for (const rate of [0.5, 7, 300]) {
    let now = replaying({ order: { rate } });
    const made: number[] = [];
    for (let nowMs = 5000; nowMs < 25_000; nowMs += 1 + (nowMs % 37)) {
      const count = pacedRoomOf(now, nowMs);
      for (let n = 0; n < count; n++) made.push(nowMs);
      now = { ...now, dueAtMs: dueAfter(now, count, nowMs) };
      equal(Number.isInteger(now.dueAtMs), true);
    }
    const inAnySecond = made.map((at) => made.filter((one) => one >= at && one < at + 1000).length);
    equal(Math.max(...inAnySecond) <= Math.max(1, Math.ceil(rate * 1.1) + 1), true, `${Math.max(...inAnySecond)}/s`);
    equal(made.length >= Math.floor(20 * rate * 0.8), true, `${made.length} at ${rate}/s`);
  }
});

test('what waits for its time waits without a rate, too', () => {
  deepEqual([pacedRoomOf(replaying({ dueAtMs: 10 }), 9), pacedRoomOf(replaying({ dueAtMs: 10 }), 10) > 0], [0, true]);
  equal(dueAfter(replaying({ dueAtMs: 10 }), 5, 99), 10);
});

test('every state of a run has an outcome, or none yet', () => {
  const groups = { group: 'eg_1', failedGroup: 'eg_1' };
  deepEqual(Object.fromEntries(RUN_STATES.map((state) => [state, outcomeOf(state, groups)])), {
    queued: null,
    running: null,
    waiting: null,
    succeeded: 'fixed',
    failed: 'failed_same',
    cancelled: 'cancelled',
  });
  equal(outcomeOf('failed', { ...groups, failedGroup: 'eg_2' }), 'failed_differently');
  equal(
    outcomeOf('failed', { group: null, failedGroup: null }),
    'failed_differently',
    'nothing says that it is the same',
  );
  equal(outcomeOf(undefined, groups), 'unknown');
});

test('counts move from one outcome to another', () => {
  const begun = counted(NO_OUTCOMES, ['under_way', 'under_way', 'not_replayed'], null);
  const ended = counted(begun, ['fixed'], 'under_way');
  deepEqual([ended.under_way, ended.fixed, ended.not_replayed], [1, 1, 1]);
  deepEqual([replayedIn(ended), overIn(ended)], [2, 2]);
});

test('an operation is done when nothing is left', () => {
  equal(judged(replaying({ isThrough: true, counts: { fixed: 1 } })).state, 'done');
  equal(judged(replaying({ isThrough: true, counts: { under_way: 1 } })).state, 'running');
  const failed = replaying({ order: { canary: 1, stopOnFailures: 1 }, isThrough: true, counts: { failed_same: 1 } });
  equal(judged(failed).state, 'done', 'there is nothing to stop');
});

test('a canary that ends well lets the others go', () => {
  const order = { canary: 2 };
  deepEqual(
    [1, 2].map((fixed) => judged(replaying({ order, counts: { fixed } })).isCanaryOver),
    [false, true],
  );
  for (const counts of [{ failed_same: 1 }, { failed_differently: 1 }, { cancelled: 1 }, { unknown: 1 }]) {
    const { state, reason, isCanaryOver } = judged(replaying({ order, counts: { fixed: 1, ...counts } }));
    deepEqual([state, isCanaryOver], ['paused', true], JSON.stringify(counts));
    match(reason ?? '', /^Of the first 2 errors, .* 1 did not end well/);
  }
  const alone = judged(replaying({ order: { canary: 1 }, counts: { failed_same: 1 } }));
  match(alone.reason ?? '', /^The first error, which goes ahead of the others, did not end well/);
});

test('failures stop at their number, then at as many more', () => {
  const order = { stopOnFailures: 3 };
  equal(judged(replaying({ order, counts: { failed_same: 2, cancelled: 9 } })).state, 'running');
  equal(judged(replaying({ order, counts: { failed_same: 2, failed_differently: 1 } })).stopAt, 6);
  const paused = judged(replaying({ order, counts: { failed_same: 2, failed_differently: 2 } }));
  deepEqual([paused.state, paused.stopAt, paused.isCanaryOver], ['paused', 7, true]);
  match(paused.reason ?? '', /^4 replays have failed:/);
  const first = judged(replaying({ order: { stopOnFailures: 1 }, counts: { failed_same: 1 } }));
  match(first.reason ?? '', /^1 replay has failed:/);
  const resumed = { order, counts: { failed_same: 6 }, stopAt: paused.stopAt };
  equal(judged(replaying(resumed)).state, 'running');
});

test('a group is fixed only when all of it is', () => {
  equal(isAllFixed(replaying({ counts: { fixed: 3, replayed_before: 2 } })), true);
  equal(isAllFixed(replaying({ counts: { replayed_before: 2 } })), true, 'by the replays before');
  equal(isAllFixed(replaying()), false);
  equal(isAllFixed(replaying({ counts: { fixed: 3, replayed_before: 2 }, hasLeftUnfixed: true })), false);
  const bad = ['under_way', 'failed_same', 'failed_differently', 'cancelled', 'unknown', 'not_replayed'] as const;
  for (const one of bad) equal(isAllFixed(replaying({ counts: { fixed: 3, [one]: 1 } })), false, one);
});

test('an error that is left is fixed by its replay, or counts by what that failed with', () => {
  equal(isLeftUnfixed({ state: 'succeeded', failedGroup: null, isFixedSince: false }, 'eg_1'), false);
  equal(isLeftUnfixed({ state: 'failed', failedGroup: 'eg_1', isFixedSince: false }, 'eg_1'), false);
  equal(isLeftUnfixed({ state: 'failed', failedGroup: 'eg_2', isFixedSince: false }, 'eg_1'), true);
  equal(isLeftUnfixed({ state: 'failed', failedGroup: null, isFixedSince: false }, null), true);
  equal(isLeftUnfixed({ state: 'failed', failedGroup: 'eg_2', isFixedSince: true }, 'eg_1'), false);
});
