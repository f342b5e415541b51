// What follows from an attempt: every outcome, at every place of the default schedule and of a webhook's own.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { utf8 } from '../../../src/domain/bytes.ts';
import {
  type Attempt,
  type AttemptDecision,
  type ClaimedDelivery,
  decide,
} from '../../../src/domain/delivery/delivery.ts';
import { PLAIN_EMISSION } from '../../../src/domain/emission.ts';
import { DAY_MS, HOUR_MS, LIMITS, MINUTE_MS, SECOND_MS } from '../../../src/domain/limits.ts';
import { DEFAULT_WEBHOOK_SETTINGS, type Webhook } from '../../../src/domain/resource.ts';

/** Neither earlier nor later than the schedule says. */
const NO_JITTER = 0.5;

const webhook = (retryDelaysMs: readonly number[] | null): Webhook => ({
  id: 'wh_1',
  ownerId: 'u_1',
  url: 'https://example.org',
  name: null,
  description: null,
  active: true,
  settings: { ...DEFAULT_WEBHOOK_SETTINGS, retryDelaysMs },
  secrets: [],
  createdAtMs: 0,
  updatedAtMs: 0,
});

function claimed(tries: number, to: Webhook | null = webhook(null)): ClaimedDelivery {
  const emission = {
    ...PLAIN_EMISSION,
    ownerId: 'u_1',
    emitterId: 'dc_1',
    originId: 'dc_1',
    sourceType: 'SOURCE' as const,
    body: utf8('{}'),
    entry: 1024,
    emitId: 'e1',
    traceId: 'e1',
  };
  return {
    delivery: 2048,
    fence: 1,
    kind: to ? 'webhook' : 'mail',
    emission,
    subscriptionId: null,
    via: 'subscription',
    webhook: to,
    mailTo: null,
    // A number that has nothing to do with the schedule: it may have been sent again by hand.
    attempt: tries + 40,
    tries,
    trigger: 'retry',
  };
}

const made = (more: Partial<Attempt>): Attempt => ({
  startedAtMs: 0,
  tookMs: 1,
  timing: { dnsMs: null, connectMs: null, firstByteMs: null },
  outcome: 'answered',
  status: null,
  responseHeaders: {},
  responseBody: '',
  detail: '',
  permanent: false,
  ...more,
});

/** Tries again while the schedule lasts. */
const RETRIED: Record<string, Partial<Attempt>> = {
  'a 300': { status: 300 },
  'a redirect 301': { status: 301 },
  'a redirect 307': { status: 307 },
  'a 400': { status: 400 },
  'a 404': { status: 404 },
  'a 409': { status: 409 },
  'a 429 that names no time': { status: 429, retryAfterMs: null },
  'a 500': { status: 500 },
  'a 503 that names no time': { status: 503, retryAfterMs: null },
  'a 503 that asks for no time at all': { status: 503, retryAfterMs: 0 },
  'a 503 that says nothing of a time': { status: 503 },
  'a 1xx that was taken for an answer': { status: 199 },
  'a timeout': { outcome: 'timeout' },
  'a refused connection': { outcome: 'refused' },
  'a connection that broke off': { outcome: 'reset' },
  'a broken TLS handshake': { outcome: 'tls' },
  'an unknown name': { outcome: 'dns' },
  'an answer without a status': { outcome: 'answered', status: null },
  'a status behind a timeout': { outcome: 'timeout', status: 200 },
  'a 410 behind a reset': { outcome: 'reset', status: 410 },
};

/** The same at every place of the schedule. */
const ANYWHERE: Record<string, { made: Partial<Attempt>; follows: AttemptDecision }> = {
  'a 200': { made: { status: 200 }, follows: { state: 'delivered' } },
  'a 204': { made: { status: 204 }, follows: { state: 'delivered' } },
  'a 299': { made: { status: 299 }, follows: { state: 'delivered' } },
  'a 200 that asks for time': { made: { status: 200, retryAfterMs: 5 }, follows: { state: 'delivered' } },
  'a 410': { made: { status: 410 }, follows: { state: 'exhausted', code: 'WebhookGone' } },
  'a 410 that asks for time': {
    made: { status: 410, retryAfterMs: 5 },
    follows: { state: 'exhausted', code: 'WebhookGone' },
  },
  'a forbidden address': { made: { outcome: 'forbidden' }, follows: { state: 'exhausted', code: 'DeliveryRefused' } },
  'a mail that is refused for good': {
    made: { status: 550, permanent: true },
    follows: { state: 'exhausted', code: 'DeliveryExhausted' },
  },
  'a 429 that asks for time': {
    made: { status: 429, retryAfterMs: 90_000 },
    follows: { state: 'retrying', inMs: 90_000, isPause: true },
  },
  'a 503 that asks for a day': {
    made: { status: 503, retryAfterMs: DAY_MS },
    follows: { state: 'retrying', inMs: DAY_MS, isPause: true },
  },
  'a 429 that asks for a millisecond': {
    made: { status: 429, retryAfterMs: 1 },
    follows: { state: 'retrying', inMs: 1, isPause: true },
  },
};

const SCHEDULES: Record<string, { to: Webhook | null; delaysMs: readonly number[] }> = {
  'the default schedule': { to: webhook(null), delaysMs: LIMITS.retryDelaysMs },
  'the schedule of mails': { to: null, delaysMs: LIMITS.retryDelaysMs },
  'a schedule of its own': { to: webhook([1, 7 * DAY_MS, 0]), delaysMs: [1, 7 * DAY_MS, 0] },
  'a schedule without retries': { to: webhook([]), delaysMs: [] },
};

for (const [schedule, { to, delaysMs }] of Object.entries(SCHEDULES)) {
  describe(schedule, () => {
    for (const [name, more] of Object.entries(RETRIED)) {
      it(`goes on after ${name}, then ends`, () => {
        for (const [tries, inMs] of delaysMs.entries()) {
          deepEqual(decide(claimed(tries, to), made(more), NO_JITTER), { state: 'retrying', inMs, isPause: false });
        }
        const end = decide(claimed(delaysMs.length, to), made(more), NO_JITTER);
        deepEqual(end, { state: 'exhausted', code: 'DeliveryExhausted' });
      });
    }

    for (const [name, { made: more, follows }] of Object.entries(ANYWHERE)) {
      it(`has no say after ${name}`, () => {
        for (let tries = 0; tries <= delaysMs.length; tries++) {
          for (const jitter of [0, NO_JITTER, 0.999])
            deepEqual(decide(claimed(tries, to), made(more), jitter), follows);
        }
      });
    }
  });
}

describe('the schedule', () => {
  it('spreads eleven attempts over three days', () => {
    equal(LIMITS.retryDelaysMs.length + 1, 11);
    const sum = LIMITS.retryDelaysMs.reduce((all, delayMs) => all + delayMs, 0);
    equal(sum, 75 * HOUR_MS + 36 * MINUTE_MS + 5 * SECOND_MS);
  });

  it('is jittered by a tenth, both ways', () => {
    const tries = fc.nat({ max: LIMITS.retryDelaysMs.length - 1 });
    const jitter = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(tries, jitter, (n, fraction) => {
        const decision = decide(claimed(n), made({ status: 500 }), fraction);
        ok(decision.state === 'retrying' && Number.isInteger(decision.inMs));
        const delayMs = LIMITS.retryDelaysMs[n] as number;
        ok(decision.inMs >= delayMs * 0.9 && decision.inMs <= delayMs * 1.1);
        const other = decide(claimed(n), made({ status: 500 }), 1 - fraction);
        ok(other.state === 'retrying' && Math.abs(decision.inMs + other.inMs - 2 * delayMs) <= 1);
      }),
    );
  });

  it('is jittered by all of that tenth', () => {
    const delayMs = LIMITS.retryDelaysMs[3] as number;
    const inMsAt = (jitter: number) => decide(claimed(3), made({ status: 500 }), jitter);
    deepEqual(inMsAt(0), { state: 'retrying', inMs: delayMs * 0.9, isPause: false });
    deepEqual(inMsAt(1), { state: 'retrying', inMs: Math.round(delayMs * 1.1), isPause: false });
  });

  it('goes by tries, whatever the attempt', () => {
    const first = { ...claimed(0), attempt: 12, trigger: 'resend' as const };
    const decision = decide(first, made({ status: 500 }), NO_JITTER);
    deepEqual(decision, { state: 'retrying', inMs: LIMITS.retryDelaysMs[0], isPause: false });
  });
});

describe('a request of code', () => {
  const request: ClaimedDelivery = { ...claimed(0, null), kind: 'http', delivery: 0 };
  const asking = { status: 503, retryAfterMs: 90_000 };

  it('has no webhook that a 410 could disable', () => {
    deepEqual(decide(request, made({ status: 410 }), NO_JITTER), { state: 'exhausted', code: 'DeliveryExhausted' });
  });

  it('may be put off until three days after it was made', () => {
    const put = { state: 'retrying', inMs: 90_000, isPause: true };
    equal(LIMITS.requestPutOffMs, 3 * DAY_MS);
    deepEqual(decide(request, made({ ...asking, startedAtMs: 3 * DAY_MS - 1 }), NO_JITTER), put);
    const counted = { state: 'retrying', inMs: 90_000, isPause: false };
    deepEqual(decide(request, made({ ...asking, startedAtMs: 3 * DAY_MS }), NO_JITTER), counted);
  });
});
