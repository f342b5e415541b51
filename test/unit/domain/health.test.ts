// A webhook's health: table of what one attempt changes, and what holds for every sequence of attempts.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  type AttemptEffect,
  HEALTHY,
  type HealthChange,
  type HealthError,
  judgeHealth,
  judgeWebhook,
  noticeText,
  pauseAfterRequest,
  type WebhookHealth,
} from '../../../src/domain/delivery/health.ts';
import { DAY_MS, HOUR_MS, LIMITS, MINUTE_MS } from '../../../src/domain/limits.ts';

const AT_MS = Date.UTC(2027, 0, 15, 12);

const judge = (before: WebhookHealth, end: Partial<AttemptEffect>): HealthChange =>
  judgeHealth(before, { state: 'retrying', pauseUntilMs: null, nowMs: AT_MS, ...end });

/** Failing for so long by AT_MS. */
const failing = (forMs: number, more: Partial<WebhookHealth> = {}): WebhookHealth => ({
  ...HEALTHY,
  failingSinceMs: AT_MS - forMs,
  ...more,
});

describe('one attempt', () => {
  it('that succeeds leaves the well as they are', () => {
    equal(judge(HEALTHY, { state: 'delivered' }).health, HEALTHY);
    const paused = { ...HEALTHY, pausedUntilMs: AT_MS + 1 };
    equal(judge(paused, { state: 'delivered' }).health, paused);
  });

  it('that succeeds makes the failing well', () => {
    const before = failing(4 * DAY_MS, { exhaustedInRow: 7, noticedAtMs: AT_MS - DAY_MS });
    deepEqual(judge(before, { state: 'delivered' }), { health: HEALTHY, notice: null });
  });

  it('that succeeds leaves a pause as it is', () => {
    const before = failing(HOUR_MS, { pausedUntilMs: AT_MS + HOUR_MS });
    deepEqual(judge(before, { state: 'delivered' }).health, { ...HEALTHY, pausedUntilMs: AT_MS + HOUR_MS });
  });

  it('that fails first begins the time of failing', () => {
    deepEqual(judge(HEALTHY, {}), { health: failing(0), notice: null });
    deepEqual(judge(HEALTHY, { state: 'exhausted' }), { health: failing(0, { exhaustedInRow: 1 }), notice: null });
  });

  it('that fails once more changes nothing', () => {
    const before = failing(DAY_MS - 1);
    equal(judge(before, {}).health, before);
    const told = failing(5 * DAY_MS - 1, { noticedAtMs: AT_MS - DAY_MS, exhaustedInRow: 2 });
    equal(judge(told, {}).health, told);
    const paused = failing(1, { pausedUntilMs: AT_MS + 5 });
    equal(judge(paused, { pauseUntilMs: AT_MS + 4 }).health, paused);
    equal(judge(paused, { pauseUntilMs: AT_MS + 5 }).health, paused);
  });

  it('that is the third exhausted is told', () => {
    const before = failing(MINUTE_MS, { exhaustedInRow: 2 });
    deepEqual(judge(before, { state: 'exhausted' }), {
      health: { ...before, exhaustedInRow: 3, noticedAtMs: AT_MS },
      notice: { code: 'WebhookFailing', failingSinceMs: AT_MS - MINUTE_MS, exhaustedInRow: 3 },
    });
    equal(judge(before, { state: 'retrying' }).notice, null);
  });

  it('that ends a day of failures is told', () => {
    equal(judge(failing(DAY_MS - 1), {}).notice, null);
    deepEqual(judge(failing(DAY_MS), {}), {
      health: failing(DAY_MS, { noticedAtMs: AT_MS }),
      notice: { code: 'WebhookFailing', failingSinceMs: AT_MS - DAY_MS, exhaustedInRow: 0 },
    });
  });

  it('that ends five days after a notice disables', () => {
    const told = { exhaustedInRow: 4, noticedAtMs: AT_MS - DAY_MS };
    for (const state of ['retrying', 'exhausted'] as const) {
      equal(judge(failing(5 * DAY_MS - 1, told), { state }).notice, null);
      const exhaustedInRow = state === 'exhausted' ? 5 : 4;
      deepEqual(judge(failing(5 * DAY_MS, told), { state }), {
        health: HEALTHY,
        notice: { code: 'WebhookDisabled', failingSinceMs: AT_MS - 5 * DAY_MS, exhaustedInRow },
      });
    }
  });

  it('that ends five untold days is only told', () => {
    const { health, notice } = judge(failing(9 * DAY_MS), { state: 'exhausted' });
    equal(notice?.code, 'WebhookFailing');
    equal(health.noticedAtMs, AT_MS);
  });

  it('keeps the pause that ends later', () => {
    const pausedUntil = (before: number | null, asked: number | null): number | null =>
      judge({ ...HEALTHY, pausedUntilMs: before }, { pauseUntilMs: asked }).health.pausedUntilMs;
    deepEqual(
      [pausedUntil(null, 5), pausedUntil(5, null), pausedUntil(5, 9), pausedUntil(9, 5), pausedUntil(null, null)],
      [5, 5, 9, 9, null],
    );
  });
});

interface Step {
  readonly state: AttemptEffect['state'];
  readonly afterMs: number;
  readonly pauseMs: number | null;
}

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    state: fc.oneof(
      { weight: 1, arbitrary: fc.constant('delivered' as const) },
      { weight: 6, arbitrary: fc.constant('retrying' as const) },
      { weight: 3, arbitrary: fc.constant('exhausted' as const) },
    ),
    afterMs: fc.oneof(fc.nat({ max: HOUR_MS }), fc.nat({ max: 2 * DAY_MS }), fc.constant(0)),
    pauseMs: fc.option(fc.integer({ min: 1, max: DAY_MS })),
  }),
  { maxLength: 60 },
);

interface Told extends HealthError {
  readonly atMs: number;
  /** Of attempts before it, since the last success or the last disabling. */
  readonly failures: readonly number[];
}

/** Walks through attempts; a webhook that was disabled is enabled again at once. */
function walk(
  list: readonly Step[],
  see: (step: { before: WebhookHealth; judged: HealthChange; end: AttemptEffect }) => void,
) {
  let health = HEALTHY;
  let nowMs = AT_MS;
  for (const { state, afterMs, pauseMs } of list) {
    nowMs += afterMs;
    const pauseUntilMs = state === 'retrying' && pauseMs !== null ? nowMs + pauseMs : null;
    const end = { state, pauseUntilMs, nowMs };
    const judged = judgeHealth(health, end);
    see({ before: health, judged, end });
    health = judged.health;
  }
}

describe('any sequence of attempts', () => {
  const property = (check: (list: Step[]) => void): void => fc.assert(fc.property(steps, check), { numRuns: 500 });

  it('is told once between two successes', () => {
    property((list) => {
      let isTold = false;
      walk(list, ({ judged, end }) => {
        if (end.state === 'delivered') isTold = false;
        if (judged.notice?.code === 'WebhookFailing') {
          ok(!isTold, 'told twice');
          isTold = true;
        }
        if (judged.notice?.code === 'WebhookDisabled') isTold = false;
      });
    });
  });

  it('disables only after a notice and five days', () => {
    property((list) => {
      const told: Told[] = [];
      let failures: number[] = [];
      walk(list, ({ judged: { notice }, end }) => {
        if (end.state === 'delivered') [failures, told.length] = [[], 0];
        else failures.push(end.nowMs);
        if (notice?.code === 'WebhookFailing') told.push({ ...notice, atMs: end.nowMs, failures: [...failures] });
        if (notice?.code === 'WebhookDisabled') {
          equal(told.length, 1, 'a notice came before');
          ok((told[0] as Told).failures.length < failures.length, 'with an attempt of its own');
          ok(end.nowMs - (failures[0] as number) >= LIMITS.disablingMs, 'five days');
          equal(notice.failingSinceMs, failures[0]);
          [failures, told.length] = [[], 0];
        }
      });
    });
  });

  it('is told as soon as it must', () => {
    property((list) => {
      let [since, exhausted, toldAt] = [null as number | null, 0, null as number | null];
      walk(list, ({ judged: { notice }, end }) => {
        if (end.state === 'delivered') [since, exhausted, toldAt] = [null, 0, null];
        else {
          since ??= end.nowMs;
          if (end.state === 'exhausted') exhausted++;
          const isFailing = exhausted >= LIMITS.exhaustedInRow || end.nowMs - since >= LIMITS.failingMs;
          const wasNoticed = toldAt !== null && end.nowMs - toldAt >= LIMITS.failingMs;
          const isOver = wasNoticed && end.nowMs - since >= LIMITS.disablingMs;
          equal(
            notice?.code ?? null,
            isOver ? 'WebhookDisabled' : isFailing && toldAt === null ? 'WebhookFailing' : null,
          );
          if (isFailing) toldAt ??= end.nowMs;
          if (isOver) [since, exhausted, toldAt] = [null, 0, null];
        }
      });
    });
  });

  it('disables nobody within a day of telling', () => {
    const list = [0, 6 * DAY_MS, 6 * DAY_MS + 1000, 7 * DAY_MS];
    const told: (string | undefined)[] = [];
    let health = HEALTHY;
    for (const nowMs of list) {
      const judged = judgeHealth(health, { state: 'retrying', pauseUntilMs: null, nowMs });
      health = judged.health;
      told.push(judged.notice?.code);
    }
    deepEqual(told, [undefined, 'WebhookFailing', undefined, 'WebhookDisabled']);
  });

  it('gives the same object when nothing changed', () => {
    property((list) => {
      walk(list, ({ before, judged }) => {
        const isEqual = JSON.stringify(before) === JSON.stringify(judged.health);
        // A new object with the same values would be written for nothing.
        equal(judged.health === before, isEqual && judged.notice === null);
      });
    });
  });

  it('never shortens a pause, but by disabling', () => {
    property((list) => {
      walk(list, ({ before, judged: { health, notice }, end }) => {
        if (notice?.code === 'WebhookDisabled') deepEqual(health, HEALTHY);
        else ok((health.pausedUntilMs ?? 0) >= Math.max(before.pausedUntilMs ?? 0, end.pauseUntilMs ?? 0));
      });
    });
  });
});

describe('the text of a notice', () => {
  const notice = { failingSinceMs: AT_MS, exhaustedInRow: 3 };

  it('says since when, how many, and why', () => {
    const text = noticeText({ ...notice, code: 'WebhookFailing' }, 'answered 500');
    match(text, /^The webhook fails\. /);
    ok(text.includes('2027-01-15T12:00:00.000Z') && text.includes('3 deliveries exhausted'));
    ok(text.endsWith('The last one: answered 500'));
  });

  it('speaks of one delivery as of one', () => {
    const text = noticeText({ ...notice, exhaustedInRow: 1, code: 'WebhookFailing' }, '');
    ok(text.includes('(1 delivery exhausted)'));
    ok(noticeText({ ...notice, exhaustedInRow: 0, code: 'WebhookFailing' }, '').includes('0 deliveries'));
  });

  it('says what becomes of a disabled one', () => {
    const text = noticeText({ ...notice, code: 'WebhookDisabled' }, 'timed out after 15 s.');
    match(text, /^The webhook was disabled\. /);
    match(text, /timed out after 15 s\. .*held and go out when it is enabled again\.$/);
  });
});

describe('the webhook of an attempt', () => {
  const URL = 'https://a.example/';
  const before = failing(HOUR_MS);
  const signs = (more: Partial<Parameters<typeof judgeWebhook>[1]>) =>
    judgeWebhook(before, {
      webhook: { url: URL, active: true },
      attemptedUrl: URL,
      state: 'exhausted',
      pauseUntilMs: null,
      disableWebhook: false,
      nowMs: AT_MS,
      ...more,
    });

  it('is judged as it is now', () => {
    const { health, notice } = judge(before, { state: 'exhausted' });
    deepEqual(signs({}), { health, notice, isDisabled: false });
  });

  it('that is gone, disabled, or elsewhere is not judged', () => {
    const nothing = { health: before, notice: null, isDisabled: false };
    deepEqual(signs({ webhook: undefined, disableWebhook: true }), nothing);
    deepEqual(signs({ attemptedUrl: 'https://b.example/', disableWebhook: true }), nothing);
    deepEqual(signs({ webhook: { url: URL, active: false } }), nothing);
  });

  it('that wants no more is disabled without a notice', () => {
    deepEqual(signs({ disableWebhook: true }), { health: HEALTHY, notice: null, isDisabled: true });
  });

  it('that failed for too long is disabled with one', () => {
    const told = failing(LIMITS.disablingMs, { noticedAtMs: AT_MS - LIMITS.failingMs });
    const judged = judgeWebhook(told, {
      webhook: { url: URL, active: true },
      attemptedUrl: URL,
      state: 'retrying',
      pauseUntilMs: null,
      disableWebhook: false,
      nowMs: AT_MS,
    });
    deepEqual([judged.isDisabled, judged.notice?.code, judged.health], [true, 'WebhookDisabled', HEALTHY]);
  });
});

describe('a place that requests go to', () => {
  it('keeps the longest pause and nothing else', () => {
    equal(pauseAfterRequest(HEALTHY, null), HEALTHY);
    const paused = pauseAfterRequest(HEALTHY, AT_MS);
    deepEqual(paused, { ...HEALTHY, pausedUntilMs: AT_MS });
    deepEqual(pauseAfterRequest(paused, AT_MS - 1), paused);
  });
});
