// The headers of a request to a webhook: Errand's first, in the order of the documents, then the webhook's own.

import type { ClaimedDelivery } from '../domain/delivery/delivery.ts';
import { faultOfHeader } from '../domain/delivery/webhook-headers.ts';
import { headersOfErrand, type SentRequest, timestampSOf } from '../domain/delivery/webhook-request.ts';
import type { Webhook } from '../domain/resource.ts';
import { Unsendable } from './failure.ts';
import type { Signer } from './sign.ts';

export interface HeaderParts {
  readonly delivery: ClaimedDelivery;
  readonly webhook: Webhook;
  readonly nowMs: number;
  readonly userAgent: string;
  readonly sign: Signer;
}

/** Returns names and values in turn. Throws `Unsendable` without a signing secret, or for a forbidden custom header. */
export function headersOf({ delivery, webhook, nowMs, userAgent, sign }: HeaderParts): string[] {
  const { emission, attempt, trigger } = delivery;
  const { secrets, settings } = webhook;
  const { emitId, emitterId, name: eventName, body } = emission;
  const timestampS = timestampSOf(nowMs);
  const signature = sign({ id: emitId, timestampS, body }, { secrets, schemes: settings.signature, nowMs });
  const headers = headersOfErrand({
    userAgent,
    emitId,
    timestampS,
    signature,
    emitterId,
    eventName,
    attempt,
    trigger,
  });
  for (const [name, value] of Object.entries(settings.headers)) {
    // Without the header, a credential might be missing; a failure names it, where the owner sees it.
    const fault = faultOfHeader(name, value);
    if (fault !== null) throw new Unsendable(`the header ${JSON.stringify(name)} ${fault}`);
    headers.push(name, value);
  }
  return headers;
}

/** Returns the headers as sent: undici puts host and connection first, and the length last. */
export function asSent(url: URL, headers: readonly string[], body: Uint8Array): (readonly [string, string])[] {
  const given = Array.from({ length: headers.length / 2 }, (_, n) => [headers[2 * n], headers[2 * n + 1]]);
  return [
    ['host', url.host],
    ['connection', 'keep-alive'],
    ...(given as [string, string][]),
    ['content-length', String(body.byteLength)],
  ];
}

/** Returns what is kept of a request to a webhook. `context`: the headers of its trace. */
export function sentOf({ attempt }: ClaimedDelivery, webhook: Webhook, sent: SentParts): SentRequest {
  const { url, userAgent, context } = sent;
  const ownHeaders = Object.keys(webhook.settings.headers);
  return { url: url.href, attempt, userAgent, ownHeaders, ...(context ? { context } : {}) };
}

interface SentParts {
  readonly url: URL;
  readonly userAgent: string;
  readonly context: readonly string[] | undefined;
}
