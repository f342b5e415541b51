import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LIMITS } from '../../../src/domain/limits.ts';
import { DEFAULT_WEBHOOK_SETTINGS, type WebhookSettings } from '../../../src/domain/resource.ts';
import { nextAttemptAtMs, shortWhy, wholeWhy } from '../../../src/http/wire/log/delivery-why.ts';
import type { AttemptRecord, DeliveryRecord, QueuePosition } from '../../../src/store/contract/records.ts';
import { entryAt, idOf, T0_MS, webhook } from './records.ts';

const NOW = T0_MS + 60_000;

function record(more: Partial<DeliveryRecord>): DeliveryRecord {
  return {
    delivery: entryAt(1),
    kind: 'webhook',
    listenerId: idOf('wh_', 1),
    subscriptionId: idOf('sub_', 1),
    entry: entryAt(0),
    emitId: 'abc',
    emitterId: idOf('p_', 1),
    eventName: '',
    ledBy: [],
    subject: null,
    state: 'retrying',
    attemptsMade: 1,
    nextAttemptAtMs: NOW,
    dueBy: 'schedule',
    endedAtMs: null,
    unsent: null,
    ...more,
  };
}

function attempt(more: Partial<AttemptRecord> = {}): AttemptRecord {
  return {
    n: 1,
    trigger: 'event',
    startedAtMs: NOW - 1000,
    tookMs: 0,
    timing: { dnsMs: null, connectMs: null, firstByteMs: null },
    outcome: 'answered',
    status: 500,
    responseHeaders: {},
    responseBody: '',
    detail: 'The receiver answered 500.',
    permanent: false,
    retryAfterMs: null,
    ...more,
  };
}

function position(more: Partial<QueuePosition> = {}, settings: Partial<WebhookSettings> = {}): QueuePosition {
  const of = webhook(1, { settings: { ...DEFAULT_WEBHOOK_SETTINGS, ...settings } });
  return { webhook: of, pausedUntilMs: null, sending: 0, ahead: 0, head: null, ...more };
}

const PENDING = { state: 'pending', attemptsMade: 0, dueBy: 'event' } as const;
const HOUR_MS = 3_600_000;
const PUT_OFF = attempt({
  status: 429,
  retryAfterMs: HOUR_MS,
  responseHeaders: { 'Retry-After': '3600' },
  detail: 'The receiver answered 429.',
});

interface Case {
  readonly when: string;
  readonly record: Partial<DeliveryRecord>;
  readonly attempts?: readonly AttemptRecord[];
  readonly position?: QueuePosition | null;
  readonly why: string | null;
}

const CASES: readonly Case[] = [
  { when: 'first attempt', record: PENDING, why: 'It waits for its first attempt. It is due now.' },
  {
    when: 'handed back after attempts',
    record: { state: 'pending', attemptsMade: 2, dueBy: 'event' },
    why: 'It is due again after 2 attempts. It is due now.',
  },
  {
    when: 'by the schedule',
    record: { nextAttemptAtMs: NOW + 4300 },
    attempts: [attempt()],
    why: 'Attempt 1 failed: The receiver answered 500. Attempt 2 follows after 5.3 s, 5 s in the schedule of retries, give or take 10 %. It is due at 2026-06-21T00:01:04Z.',
  },
  {
    when: 'by the webhook’s own schedule',
    record: { attemptsMade: 3, nextAttemptAtMs: NOW + 2 * HOUR_MS },
    attempts: [attempt({ detail: 'Nothing answered' })],
    position: position({}, { retryDelaysMs: [1, 2, 2 * HOUR_MS] }),
    why: 'Attempt 3 failed: Nothing answered. Attempt 4 follows after 2 h, 2 h in the schedule of retries, give or take 10 %. It is due at 2026-06-21T02:01:00Z.',
  },
  {
    when: 'by a schedule that was changed since',
    record: { nextAttemptAtMs: NOW + 40_000 },
    attempts: [attempt()],
    position: position({}, { retryDelaysMs: [] }),
    why: 'Attempt 1 failed: The receiver answered 500. Attempt 2 follows after 41 s. It is due at 2026-06-21T00:01:40Z.',
  },
  {
    when: 'a mail by the schedule',
    record: { kind: 'mail', listenerId: 'mail', nextAttemptAtMs: NOW },
    attempts: [attempt({ startedAtMs: NOW - 5000, detail: 'The mail server answered 451.' })],
    position: null,
    why: 'Attempt 1 failed: The mail server answered 451. Attempt 2 follows after 5 s, 5 s in the schedule of retries, give or take 10 %. It is due now.',
  },
  {
    when: 'put off by the receiver',
    record: { attemptsMade: 0, dueBy: 'retry_after', nextAttemptAtMs: NOW + HOUR_MS - 1000 },
    attempts: [PUT_OFF],
    position: position({ pausedUntilMs: NOW + HOUR_MS - 1000 }),
    why: 'The receiver answered 429 and asked to be left alone (Retry-After: 3600) until 2026-06-21T01:00:59Z; that attempt does not count. The webhook is paused (Retry-After): nothing goes to it before 2026-06-21T01:00:59Z. It is due at 2026-06-21T01:00:59Z.',
  },
  {
    when: 'put off for longer than is obeyed',
    record: { attemptsMade: 0, dueBy: 'retry_after', nextAttemptAtMs: NOW },
    attempts: [{ ...PUT_OFF, retryAfterMs: LIMITS.retryAfterMs, responseHeaders: { 'retry-after': '999999' } }],
    why: 'The receiver answered 429 and asked to be left alone (Retry-After: 999999) until 2026-06-22T00:00:59Z, at most 1 d; that attempt does not count. It is due now.',
  },
  {
    when: 'another delivery was put off',
    record: PENDING,
    position: position({ pausedUntilMs: NOW + 5000, ahead: 3 }),
    why: 'It waits for its first attempt. The webhook is paused (Retry-After): nothing goes to it before 2026-06-21T00:01:05Z. It is due at 2026-06-21T00:01:05Z.',
  },
  {
    when: 'a pause that is over',
    record: PENDING,
    position: position({ pausedUntilMs: NOW }),
    why: 'It waits for its first attempt. It is due now.',
  },
  {
    when: 'behind the head of an ordered webhook',
    record: PENDING,
    position: position({ head: entryAt(0), ahead: 2 }, { ordered: true }),
    why: `It waits for its first attempt. It is due now. The webhook is ordered: dl_${entryAt(0).toString(36)} comes first, and holds this up until it is delivered or exhausted. 2 deliveries come before it.`,
  },
  {
    when: 'at the head of an ordered webhook',
    record: PENDING,
    position: position({ sending: 1 }, { ordered: true, maxInFlight: 20 }),
    why: 'It waits for its first attempt. It is due now. 1 of at most 1 request to the webhook on the way.',
  },
  {
    when: 'in a crowd',
    record: PENDING,
    position: position({ sending: 8, ahead: 1 }),
    why: 'It waits for its first attempt. It is due now. 8 of at most 8 requests to the webhook on the way (one at a time while it fails). 1 delivery comes before it.',
  },
  {
    when: 'in a crowd without end',
    record: PENDING,
    position: position({ sending: 2, ahead: LIMITS.countedRecords }, { maxInFlight: 2 }),
    why: 'It waits for its first attempt. It is due now. 2 of at most 2 requests to the webhook on the way (one at a time while it fails). 10000 or more deliveries come before it.',
  },
  {
    when: 'held back by the rate limit',
    record: PENDING,
    position: position({ ahead: 4 }, { rateLimit: { limit: 1, intervalMs: 90_000 } }),
    why: 'It waits for its first attempt. It is due now. 4 deliveries come before it. The webhook takes at most 1 request in 1 min 30 s (rate_limit).',
  },
  {
    when: 'sent again by hand',
    record: { dueBy: 'resend', attemptsMade: 11 },
    attempts: [attempt()],
    why: 'It is sent again by hand: attempt 12, in place of any that was to come. It is due now.',
  },
  { when: 'on its way', record: { state: 'sending', attemptsMade: 2 }, why: 'Attempt 3 is on its way.' },
  {
    when: 'on its way again by hand',
    record: { state: 'sending', attemptsMade: 2, dueBy: 'resend' },
    why: 'It is being sent again by hand: attempt 3 is on its way.',
  },
  {
    when: 'held',
    record: { state: 'held', attemptsMade: 0 },
    why: 'The webhook is not active; this goes out when it is enabled again.',
  },
  {
    when: 'held after an attempt',
    record: { state: 'held', attemptsMade: 1 },
    why: 'The webhook is not active; this goes out when it is enabled again. It has had 1 attempt.',
  },
  { when: 'delivered', record: { state: 'delivered' }, why: null },
  { when: 'exhausted', record: { state: 'exhausted' }, why: null },
  { when: 'cancelled', record: { state: 'cancelled' }, why: null },
];

for (const { when, record: more, attempts = [], position: stands, why } of CASES) {
  test(`why a delivery waits: ${when}`, () => {
    const whole = { record: record(more), attempts, position: stands === undefined ? position() : stands };
    assert.equal(wholeWhy(whole, NOW), why);
  });
}

test('a list says why in one sentence', () => {
  const said = (more: Partial<DeliveryRecord>) => shortWhy(record(more));
  assert.equal(said(PENDING), 'Waits for its first attempt.');
  assert.equal(said({ ...PENDING, attemptsMade: 1 }), 'Due again after 1 attempt.');
  assert.equal(said({}), 'Attempt 1 failed; attempt 2 follows by the schedule of retries.');
  assert.equal(said({ dueBy: 'retry_after' }), 'The receiver asked to be left alone (Retry-After).');
  assert.equal(said({ dueBy: 'resend', attemptsMade: 3 }), 'Is sent again by hand: attempt 4.');
  assert.equal(said({ state: 'sending' }), 'Attempt 2 is on its way.');
  assert.equal(said({ state: 'held' }), 'The webhook is not active; this goes out when it is enabled again.');
  for (const state of ['delivered', 'exhausted', 'cancelled'] as const) assert.equal(said({ state }), null);
});

test('a due time is never before the pause', () => {
  assert.equal(nextAttemptAtMs(record({}), null), NOW);
  assert.equal(nextAttemptAtMs(record({}), NOW - 1), NOW);
  assert.equal(nextAttemptAtMs(record({}), NOW + 1), NOW + 1);
  assert.equal(nextAttemptAtMs(record({ nextAttemptAtMs: null }), NOW + 1), null);
  assert.equal(nextAttemptAtMs(record({ state: 'sending' }), NOW + 1), null);
});
