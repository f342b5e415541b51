// Deliveries and their attempts as they are shown.

import { type Static, Type } from 'typebox';
import { DELIVERY_STATES, type DeliveryState, MAIL } from '../../domain/delivery.ts';
import { msOf, numberedId, PREFIX } from '../../domain/ids.ts';
import type { AttemptRecord, DeliveryRecord } from '../../store/store.ts';
import { EMIT_ID, EVENT_NAME, id, MILLISECONDS, nullable, oneOf, text } from '../schema.ts';

export const DELIVERY_STATE = oneOf(DELIVERY_STATES);

const DELIVERY_FIELDS = {
  id: id('dl_'),
  kind: oneOf(['webhook', 'mail']),
  webhook_id: nullable(id('wh_', 'Null for a mail.')),
  subscription_id: nullable(id('sub_')),
  emission_id: EMIT_ID,
  emitter_id: text({ example: 'p_0Vj3aBc9dEfGhIjK' }),
  event_name: EVENT_NAME,
  state: DELIVERY_STATE,
  attempts_made: Type.Integer({ examples: [1] }),
  next_attempt_at_ms: nullable(MILLISECONDS),
  why: nullable(
    text({ description: 'Why it is due when it is; null when it is over.', example: 'Waits for its first attempt.' }),
  ),
  created_at_ms: MILLISECONDS,
  ended_at_ms: nullable(MILLISECONDS),
};

export const DELIVERY = Type.Object(DELIVERY_FIELDS, { title: 'Delivery' });

const PART_MS = nullable(Type.Number({ examples: [3] }));

const ATTEMPT = Type.Object(
  {
    n: Type.Integer({ description: 'From 1.', examples: [1] }),
    trigger: text({ description: 'event, retry, resend or test.', example: 'event' }),
    started_at_ms: MILLISECONDS,
    took_ms: Type.Number({ examples: [41] }),
    timing: Type.Object({ dns_ms: PART_MS, connect_ms: PART_MS, first_byte_ms: PART_MS }),
    outcome: oneOf(['answered', 'timeout', 'refused', 'reset', 'tls', 'dns', 'forbidden']),
    status: nullable(Type.Integer({ examples: [200] })),
    response_headers: Type.Record(Type.String(), Type.String(), { examples: [{ 'content-type': 'text/plain' }] }),
    response_body: text({ description: 'At most the first 4 KiB.', example: 'ok' }),
    detail: text({ description: 'What happened, in words.', example: 'The receiver answered 200.' }),
  },
  { title: 'Attempt' },
);

export const DELIVERY_WHOLE = Type.Object(
  { ...DELIVERY_FIELDS, attempts: Type.Array(ATTEMPT) },
  { title: 'DeliveryWhole' },
);

export function deliveryToWire(delivery: DeliveryRecord): Static<typeof DELIVERY> {
  return {
    id: numberedId(PREFIX.delivery, delivery.delivery),
    kind: delivery.kind,
    webhook_id: delivery.listenerId === MAIL ? null : delivery.listenerId,
    subscription_id: delivery.subscriptionId,
    emission_id: delivery.emitId,
    emitter_id: delivery.emitterId,
    event_name: delivery.eventName,
    state: delivery.state,
    attempts_made: delivery.attemptsMade,
    next_attempt_at_ms: delivery.nextAttemptAtMs,
    why: whyOf(delivery.state, delivery.attemptsMade),
    created_at_ms: msOf(delivery.delivery),
    ended_at_ms: delivery.endedAtMs,
  };
}

function whyOf(state: DeliveryState, made: number): string | null {
  switch (state) {
    case 'pending':
      return made === 0 ? 'Waits for its first attempt.' : `Due again after ${made} attempts.`;
    case 'sending':
      return `Attempt ${made + 1} is under way.`;
    case 'retrying':
      return `Attempt ${made} failed; attempt ${made + 1} follows by the schedule of retries.`;
    case 'held':
      return 'The webhook is not active; this goes out when it is enabled again.';
    default:
      return null;
  }
}

export function attemptToWire(attempt: AttemptRecord): Static<typeof ATTEMPT> {
  const { timing } = attempt;
  return {
    n: attempt.n,
    trigger: attempt.trigger,
    started_at_ms: attempt.startedAtMs,
    took_ms: attempt.tookMs,
    timing: { dns_ms: timing.dnsMs, connect_ms: timing.connectMs, first_byte_ms: timing.firstByteMs },
    outcome: attempt.outcome,
    status: attempt.status,
    response_headers: { ...attempt.responseHeaders },
    response_body: attempt.responseBody,
    detail: attempt.detail,
  };
}
