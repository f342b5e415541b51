// The headers of a request to a webhook that Errand sets: when it is sent, and when an attempt is shown afterwards. Of a
// request, only what the delivery does not tell is kept with the attempt (`SentRequest`): a second copy of all headers would
// double what each attempt writes.

/** What was sent that the delivery and its event do not tell. */
export interface SentRequest {
  /** The address of the webhook at that time. */
  readonly url: string;
  /** As in `errand-attempt`: without those that the receiver put off. */
  readonly attempt: number;
  readonly userAgent: string;
  /** Names alone: values may be credentials, which are kept sealed in the settings of the webhook, and nowhere else. */
  readonly ownHeaders: readonly string[];
  /** Names and values in turn, of a delivery that is traced. */
  readonly context?: readonly string[];
}

export interface RequestParts<Signature> {
  readonly userAgent: string;
  readonly emitId: string;
  readonly timestampS: number;
  readonly signature: Signature;
  readonly emitterId: string;
  readonly eventName: string;
  readonly attempt: number;
  readonly trigger: string;
}

/** Returns names and values in turn, in the order of the documents. */
export function headersOfErrand<Signature>(parts: RequestParts<Signature>): (string | Signature)[] {
  return [
    'content-type',
    'application/json',
    'user-agent',
    parts.userAgent,
    'accept-encoding',
    'identity',
    'webhook-id',
    parts.emitId,
    'webhook-timestamp',
    String(parts.timestampS),
    'webhook-signature',
    parts.signature,
    'errand-emitter-id',
    parts.emitterId,
    'errand-event-name',
    asHeaderValue(parts.eventName),
    'errand-attempt',
    String(parts.attempt),
    'errand-trigger',
    parts.trigger,
  ];
}

export function timestampSOf(startedAtMs: number): number {
  return Math.floor(startedAtMs / 1000);
}

/**
 * Encodes text for a header. Event names are free text: characters that a header cannot contain, and `%`, are percent-encoded.
 */
function asHeaderValue(text: string): string {
  return /^[\x21-\x24\x26-\x7e]*$/.test(text) ? text : encodeURIComponent(text.toWellFormed());
}
