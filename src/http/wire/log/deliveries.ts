// Deliveries and their attempts as shown.

import type { Static } from 'typebox';
import { ATTEMPT_OUTCOMES, type Attempt, DELIVERY_STATES, isWebhook } from '../../../domain/delivery/delivery.ts';
import { originOfListener } from '../../../domain/delivery/http-request.ts';
import { textWithoutLinks } from '../../../domain/delivery/without-secrets.ts';
import { msOf, numberedId, PREFIX } from '../../../domain/ids.ts';
import { KIB, LIMITS } from '../../../domain/limits.ts';
import { channelOfListener } from '../../../domain/notices/listener.ts';
import type { AttemptRecord, DeliveryRecord, DeliveryWhole } from '../../../store/contract/records.ts';
import {
  CREATED_AT_MS,
  EMIT_ID,
  EMITTER,
  EVENT_NAME,
  id,
  mostlyNull,
  msAt,
  nullable,
  oneOf,
  text,
} from '../../openapi/schema.ts';
import { Type } from '../../schema/type.ts';
import { contentToWire, EVENT, MAIL, REQUEST, type ShownContent } from './delivery-content.ts';
import { ATTEMPT_REQUEST, attemptRequestToWire } from './delivery-request.ts';
import { nextAttemptAtMs, shortWhy, wholeWhy } from './delivery-why.ts';

export const DELIVERY_STATE = oneOf(
  DELIVERY_STATES,
  '`pending`: it waits for its first attempt. `sending`: an attempt is under way. `retrying`: an attempt failed, and another one is due. `held`: the webhook is not active. `delivered`, `exhausted` (all attempts failed) and `cancelled` are final.',
);

const DELIVERY_FIELDS = {
  id: id('dl_'),
  kind: oneOf(
    ['webhook', 'mail', 'http', 'channel'],
    '`http`: a request that code asked for with `$.send.http`. `channel`: a notice to one of your channels.',
  ),
  webhook_id: nullable(id('wh_', 'Null for a mail, a request and a notice.')),
  channel_id: Type.Optional(
    id(
      'ch_',
      'Only of a notice. `ch_mail`: the owner’s mail address, which is told of errors of the global error workflow.',
    ),
  ),
  origin: Type.Optional(
    text({ description: 'Only of a request: where it goes.', example: 'https://api.example.com:443' }),
  ),
  subscription_id: nullable(id('sub_', 'The subscription that it is for; null: there is none.')),
  emission_id: EMIT_ID,
  emitter_id: EMITTER,
  event_name: EVENT_NAME,
  subject: Type.Optional(
    text({
      description: 'Only of a mail and of a notice: the first 200 characters of its subject.',
      example: '[Errand] Orders failed: TypeError Cannot read properties of undefined',
    }),
  ),
  state: DELIVERY_STATE,
  attempts_made: Type.Integer({
    description: 'How many attempts were made. An attempt that the receiver put off with `Retry-After` does not count.',
    examples: [1],
  }),
  next_attempt_at_ms: nullable(
    Type.Integer({
      description:
        'When the next attempt is due, in milliseconds since the Unix epoch, and not before the pause of the webhook is over. Null: none is due.',
      examples: [1_782_000_000_123],
    }),
  ),
  why: nullable(
    text({
      description:
        'Why it is due when it is; null when it is over. Of a mail that is only in the outbox folder: why it was not sent.',
      example: 'Waits for its first attempt.',
    }),
  ),
  created_at_ms: CREATED_AT_MS,
  ended_at_ms: mostlyNull(
    'When it was delivered, exhausted or cancelled, in milliseconds since the Unix epoch; null: it is not over.',
  ),
};

export const DELIVERY = Type.Object(DELIVERY_FIELDS, { title: 'Delivery' });

const partMs = (of: string) =>
  nullable(Type.Number({ description: `Milliseconds until ${of}; null: it did not come to that.`, examples: [3] }));

export const ATTEMPT = Type.Object(
  {
    n: Type.Integer({ description: 'Number of the request, counted from 1.', examples: [1] }),
    trigger: text({ description: 'Why it was made: `event`, `retry`, `resend` or `test`.', example: 'event' }),
    started_at_ms: msAt('When it began'),
    took_ms: Type.Number({ description: 'How long it took in all, in milliseconds.', examples: [41] }),
    timing: Type.Object(
      {
        dns_ms: partMs('the address of the host was known'),
        connect_ms: partMs('the connection was open, TLS included'),
        first_byte_ms: partMs('the first byte of the answer'),
      },
      { description: 'The parts of `took_ms`.' },
    ),
    outcome: oneOf(
      ATTEMPT_OUTCOMES,
      '`answered`: there was an answer, of any status. `timeout`, `refused`, `reset`, `tls` and `dns`: there was none, for that reason. `forbidden`: the address may not be reached. `withheld`: nothing was sent.',
    ),
    status: nullable(
      Type.Integer({ description: 'HTTP status of the answer; null: there was none.', examples: [200] }),
    ),
    request: Type.Optional(ATTEMPT_REQUEST),
    response_headers: Type.Record(Type.String(), Type.String(), {
      description: `At most ${LIMITS.keptResponseBytes / KIB} KiB of them. Of headers that hold credentials, such as \`set-cookie\`, the value is \`(hidden)\`.`,
      examples: [{ 'content-type': 'text/plain' }],
    }),
    response_body: text({ description: 'At most the first 4 KiB.', example: 'ok' }),
    detail: text({ description: 'What happened, in words.', example: 'The receiver answered 200.' }),
    retry_after_ms: mostlyNull(
      'How long the receiver asked to wait (`Retry-After` of a 429 or 503), in milliseconds: the attempt does not count. Null: it did not ask.',
    ),
    permanent: Type.Boolean({
      description: 'True: a mail server refused the mail for good, and there is no further attempt.',
      examples: [false],
    }),
  },
  { title: 'Attempt', description: 'One attempt, and what came back.' },
);

export const DELIVERY_WHOLE = Type.Object(
  {
    ...DELIVERY_FIELDS,
    event: Type.Optional(EVENT),
    request: Type.Optional(REQUEST),
    mail: Type.Optional(MAIL),
    attempts: Type.Array(ATTEMPT, { description: 'All attempts, oldest first.' }),
  },
  { title: 'DeliveryWhole' },
);

/** Shows a delivery. `pausedUntilMs`: the webhook's. */
export function deliveryToWire(delivery: DeliveryRecord, pausedUntilMs: number | null): Static<typeof DELIVERY> {
  const origin = originOfListener(delivery.listenerId);
  const channelId = channelOfListener(delivery.listenerId);
  return {
    id: numberedId(PREFIX.delivery, delivery.delivery),
    kind: channelId === null ? delivery.kind : 'channel',
    webhook_id: isWebhook(delivery.listenerId) ? delivery.listenerId : null,
    ...(channelId === null ? {} : { channel_id: channelId }),
    ...(origin === null ? {} : { origin }),
    subscription_id: delivery.subscriptionId,
    emission_id: delivery.emitId,
    emitter_id: delivery.emitterId,
    event_name: delivery.eventName,
    ...(delivery.subject === null ? {} : { subject: delivery.subject }),
    state: delivery.state,
    attempts_made: delivery.attemptsMade,
    next_attempt_at_ms: nextAttemptAtMs(delivery, pausedUntilMs),
    why: shortWhy(delivery),
    created_at_ms: msOf(delivery.delivery),
    ended_at_ms: delivery.endedAtMs,
  };
}

export function deliveryWholeToWire(
  whole: DeliveryWhole,
  nowMs: number,
  shown: ShownContent | null,
): Static<typeof DELIVERY_WHOLE> {
  const answers = shown === null || shown.withSecrets ? whole.attempts : whole.attempts.map(withoutLinks);
  return {
    ...deliveryToWire(whole.record, whole.position?.pausedUntilMs ?? null),
    why: wholeWhy(whole, nowMs),
    ...(shown ? contentToWire(shown) : {}),
    attempts: answers.map((attempt) => ({
      ...attemptToWire(attempt, attempt),
      ...attemptRequestToWire(whole.record, attempt),
    })),
  };
}

function withoutLinks<A extends Attempt>(attempt: A): A {
  const headers = Object.entries(attempt.responseHeaders).map(([name, value]) => [name, textWithoutLinks(value)]);
  return {
    ...attempt,
    responseHeaders: Object.fromEntries(headers),
    responseBody: textWithoutLinks(attempt.responseBody),
    detail: textWithoutLinks(attempt.detail),
  };
}

export function attemptToWire(
  attempt: Attempt,
  { n, trigger }: Pick<AttemptRecord, 'n' | 'trigger'>,
): Static<typeof ATTEMPT> {
  const { timing } = attempt;
  return {
    n,
    trigger,
    started_at_ms: attempt.startedAtMs,
    took_ms: attempt.tookMs,
    timing: { dns_ms: timing.dnsMs, connect_ms: timing.connectMs, first_byte_ms: timing.firstByteMs },
    outcome: attempt.outcome,
    status: attempt.status,
    response_headers: { ...attempt.responseHeaders },
    response_body: attempt.responseBody,
    detail: attempt.detail,
    retry_after_ms: attempt.retryAfterMs ?? null,
    permanent: attempt.permanent,
  };
}
