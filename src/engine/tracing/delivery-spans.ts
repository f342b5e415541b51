// The spans of a delivery and of its attempts. An attempt's is the parent of what the receiver does.

import type { ClaimedDelivery } from '../../domain/delivery/delivery.ts';
import { msOf, numberedId, PREFIX } from '../../domain/ids.ts';
import type { Span } from '../../ports.ts';
import type { AttemptEnd } from '../../store/contract/store.ts';
import { emissionAttributes } from './attributes.ts';
import { parentOf, spanIdsOf, traceIdOf } from './span-ids.ts';

/** Returns whether the delivery has come to its end, and for the first time: what is resent has its attempts told alone. */
export function isFirstEnd({ attempt, tries }: ClaimedDelivery, { state }: AttemptEnd): boolean {
  return state !== 'retrying' && attempt === tries + 1;
}

/** Returns a span from when the delivery was queued to its end. */
export function deliverySpan(delivery: ClaimedDelivery, end: AttemptEnd, endMs: number): Span {
  const { emission } = delivery;
  const startMs = msOf(delivery.delivery);
  return {
    name: `deliver ${delivery.kind}`,
    kind: 'producer',
    traceId: traceIdOf(emission),
    spanId: spanIdsOf(emission).delivery(delivery.delivery),
    parentSpanId: parentOf(emission),
    startMs,
    endMs: Math.max(startMs, endMs),
    attributes: { ...ofDelivery(delivery), 'errand.delivery.state': end.state },
    exception: end.state === 'exhausted' ? exceptionOf(end) : null,
    link: null,
  };
}

export function attemptSpan(delivery: ClaimedDelivery, end: AttemptEnd): Span {
  const { emission, webhook, fence } = delivery;
  const { made, state } = end;
  const ids = spanIdsOf(emission);
  const isDelivered = state === 'delivered';
  const { status } = made;
  return {
    name: NAMES[delivery.kind],
    kind: 'client',
    traceId: traceIdOf(emission),
    spanId: ids.attempt(delivery.delivery, fence),
    parentSpanId: ids.delivery(delivery.delivery),
    startMs: made.startedAtMs,
    endMs: made.startedAtMs + made.tookMs,
    attributes: {
      ...ofDelivery(delivery),
      'errand.attempt': delivery.attempt,
      'errand.attempt.outcome': isDelivered ? 'delivered' : made.outcome,
      'errand.attempt.trigger': delivery.trigger,
      ...(webhook === null ? {} : { 'http.request.method': 'POST', 'server.address': new URL(webhook.url).hostname }),
      ...(status === null || delivery.kind === 'mail' ? {} : { 'http.response.status_code': status }),
      ...(isDelivered ? {} : { 'error.type': status === null ? made.outcome : String(status) }),
    },
    exception: isDelivered ? null : exceptionOf(end),
    link: null,
  };
}

const NAMES = { webhook: 'POST', http: 'HTTP', mail: 'mail' } as const;

function ofDelivery({ delivery, emission, kind, webhook }: ClaimedDelivery): Span['attributes'] {
  return {
    ...emissionAttributes(emission),
    'errand.delivery.id': numberedId(PREFIX.delivery, delivery),
    'errand.delivery.kind': kind,
    ...(webhook === null ? {} : { 'errand.webhook.id': webhook.id }),
  };
}

function exceptionOf({ made, error }: AttemptEnd): Span['exception'] {
  return { type: error?.code ?? made.outcome, message: made.detail, stack: '' };
}
