// The headers of a request to a webhook: Errand's first, in the order of the documents, then the webhook's own.

import type { ClaimedDelivery } from '../domain/delivery/delivery.ts';
import { faultOfHeader } from '../domain/delivery/webhook-headers.ts';
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
  const signable = { id: emission.emitId, timestampS: Math.floor(nowMs / 1000), body: emission.body };
  const headers = [
    'content-type',
    'application/json',
    'user-agent',
    userAgent,
    'accept-encoding',
    'identity',
    'webhook-id',
    signable.id,
    'webhook-timestamp',
    String(signable.timestampS),
    'webhook-signature',
    sign(signable, { secrets, schemes: settings.signature, nowMs }),
    'errand-emitter-id',
    emission.emitterId,
    'errand-event-name',
    asHeaderValue(emission.name),
    'errand-attempt',
    String(attempt),
    'errand-trigger',
    trigger,
  ];
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

/**
 * Encodes text for a header. Event names are free text: characters that a header cannot contain, and `%`, are percent-encoded.
 */
function asHeaderValue(text: string): string {
  return /^[\x21-\x24\x26-\x7e]*$/.test(text) ? text : encodeURIComponent(text.toWellFormed());
}
