// The request of an attempt at a webhook, as shown: with each attempt its headers, with the delivery the body of them all.

import type { Static } from 'typebox';
import { headersOfErrand, timestampSOf } from '../../../domain/delivery/webhook-request.ts';
import type { AttemptRecord, DeliveryRecord } from '../../../store/contract/records.ts';
import { nullable, text } from '../../openapi/schema.ts';
import { Type } from '../../schema/type.ts';

export const ATTEMPT_REQUEST = Type.Object(
  {
    method: text({ description: 'HTTP method.', example: 'POST' }),
    url: text({ description: 'The address of the webhook at that time.', example: 'https://example.com/hooks/errand' }),
    headers: Type.Array(
      Type.Object({
        name: text({ description: 'Name of the header.', example: 'errand-attempt' }),
        value: nullable(
          text({ description: 'Value of the header; null: it was sent, but is not kept.', example: '1' }),
        ),
      }),
      {
        description:
          'In order, without those of the connection (`host`, `connection`, `content-length`). Values of the webhook’s own headers may be credentials, and a signature would give away what rules of redaction hide: neither is kept.',
      },
    ),
  },
  {
    title: 'AttemptRequest',
    description:
      'Only of a delivery to a webhook: the request that was made, also when no server was reached. Its body is `event` of the delivery.',
  },
);

type Named = Pick<DeliveryRecord, 'emitId' | 'emitterId' | 'eventName'>;

/** Returns nothing for an attempt that made no request, or none to a webhook. */
export function attemptRequestToWire(
  { emitId, emitterId, eventName }: Named,
  { sent, startedAtMs, trigger }: AttemptRecord,
): { request?: Static<typeof ATTEMPT_REQUEST> } {
  if (!sent) return {};
  const { url, attempt, userAgent, ownHeaders, context = [] } = sent;
  const timestampS = timestampSOf(startedAtMs);
  const ours = headersOfErrand({
    userAgent,
    emitId,
    timestampS,
    signature: null,
    emitterId,
    eventName,
    attempt,
    trigger,
  });
  const all = [...context, ...ours, ...ownHeaders.flatMap((name) => [name, null])];
  const headers = Array.from({ length: all.length / 2 }, (_, n) => ({
    name: all[2 * n] as string,
    value: all[2 * n + 1] as string | null,
  }));
  return { request: { method: 'POST', url, headers } };
}
