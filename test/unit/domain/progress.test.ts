// What becomes of a delivery: after an attempt, when it is handed back, and when it is to be sent again.

import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DELIVERY_STATES, type DueBy, MAIL } from '../../../src/domain/delivery/delivery.ts';
import {
  type AttemptResult,
  afterAttempt,
  afterReturn,
  type ClosedState,
  closedStateOf,
  type DeliveryProgress,
  isWaiting,
  reasonAgainstResending,
  triggerOf,
  waitingStateOf,
} from '../../../src/domain/delivery/progress.ts';

const NOW_MS = 1_000_000;
const NEW: DeliveryProgress = { attemptsMade: 0, requestsMade: 0, tries: 0, dueBy: 'event' };
const LATER: DeliveryProgress = { attemptsMade: 3, requestsMade: 5, tries: 1, dueBy: 'resend' };
const WEBHOOK = 'wh_0000000000000001';

const ended = (state: AttemptResult['state'], more: Partial<AttemptResult> = {}): AttemptResult => ({
  state,
  nextAttemptAtMs: null,
  pauseUntilMs: null,
  ...more,
});
const RETRY = ended('retrying', { nextAttemptAtMs: NOW_MS + 5 });
const PUT_OFF = ended('retrying', { nextAttemptAtMs: NOW_MS + 9, pauseUntilMs: NOW_MS + 9 });

describe('an attempt', () => {
  for (const state of ['delivered', 'exhausted'] as const) {
    for (const closed of [null, 'held', 'cancelled'] as const) {
      it(`that ends ${state} counts, its webhook being ${closed ?? 'active'}`, () => {
        const progress = { attemptsMade: 4, requestsMade: 6, tries: 2, dueBy: 'resend' };
        deepEqual(afterAttempt(LATER, ended(state), closed), { state, progress, dueAtMs: null });
      });
    }
  }

  it('that failed waits for the next by the schedule', () => {
    const progress = { attemptsMade: 1, requestsMade: 1, tries: 1, dueBy: 'schedule' };
    deepEqual(afterAttempt(NEW, RETRY, null), { state: 'retrying', progress, dueAtMs: NOW_MS + 5 });
  });

  it('that was put off does not count', () => {
    const progress = { attemptsMade: 3, requestsMade: 6, tries: 1, dueBy: 'retry_after' };
    deepEqual(afterAttempt(LATER, PUT_OFF, null), { state: 'retrying', progress, dueAtMs: NOW_MS + 9 });
  });

  const closings: [ClosedState, DueBy][] = [
    ['held', 'schedule'],
    ['cancelled', 'event'],
  ];
  for (const [closed, dueBy] of closings) {
    it(`that failed is ${closed} where nothing may wait`, () => {
      const progress = { attemptsMade: 1, requestsMade: 1, tries: 1, dueBy };
      deepEqual(afterAttempt(NEW, RETRY, closed), { state: closed, progress, dueAtMs: null });
    });
  }
});

describe('a delivery handed back', () => {
  it('is due at once, all counters as they were', () => {
    deepEqual(afterReturn(NEW, null, NOW_MS), { state: 'pending', progress: NEW, dueAtMs: NOW_MS });
    deepEqual(afterReturn(LATER, null, NOW_MS), { state: 'retrying', progress: LATER, dueAtMs: NOW_MS });
  });

  it('goes where its webhook lets it', () => {
    deepEqual(afterReturn(LATER, 'held', NOW_MS), { state: 'held', progress: LATER, dueAtMs: null });
    deepEqual(afterReturn(NEW, 'cancelled', NOW_MS), { state: 'cancelled', progress: NEW, dueAtMs: null });
  });
});

describe('what waits', () => {
  it('is a first attempt or a retry', () => {
    deepEqual(DELIVERY_STATES.filter(isWaiting), ['pending', 'retrying']);
    equal(waitingStateOf(NEW), 'pending');
    equal(waitingStateOf({ ...NEW, requestsMade: 1 }), 'retrying');
    equal(waitingStateOf({ ...NEW, dueBy: 'resend' }), 'retrying');
  });

  it('says by what it is triggered', () => {
    equal(triggerOf(NEW), 'event');
    equal(triggerOf({ ...NEW, requestsMade: 1, dueBy: 'retry_after' }), 'retry');
    equal(triggerOf(LATER), 'resend');
    equal(triggerOf({ ...NEW, dueBy: 'resend' }), 'resend');
  });

  it('depends on its webhook and on no other listener', () => {
    equal(closedStateOf(WEBHOOK, { active: true }), null);
    equal(closedStateOf(WEBHOOK, { active: false }), 'held');
    equal(closedStateOf(WEBHOOK, undefined), 'cancelled');
    equal(closedStateOf(MAIL, undefined), null);
    equal(closedStateOf('http:o_1 p_1 a', undefined), null);
  });
});

describe('sending again', () => {
  const against = (state: (typeof DELIVERY_STATES)[number], webhook: { active: boolean } | undefined) =>
    reasonAgainstResending({ state, listenerId: WEBHOOK }, webhook);

  it('is refused of what is under way or held', () => {
    const refused = DELIVERY_STATES.map((state) => [state, against(state, { active: true })]);
    deepEqual(
      refused.filter(([, reason]) => reason !== null),
      [
        ['sending', 'sending'],
        ['held', 'held'],
      ],
    );
  });

  it('is refused where the webhook is gone or disabled', () => {
    for (const state of DELIVERY_STATES) {
      equal(against(state, undefined), 'gone');
      equal(against(state, { active: false }), state === 'sending' ? 'sending' : 'held');
      equal(reasonAgainstResending({ state, listenerId: MAIL }, undefined) === 'gone', false);
    }
  });
});
