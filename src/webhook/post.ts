// One delivery, one POST, one Attempt. See exchange.ts for what happens on the wire.

import type { Attempt, ClaimedDelivery } from '../domain/delivery.ts';
import { KIB, LIMITS } from '../domain/limits.ts';
import type { Webhook } from '../domain/resource.ts';
import type { Clock } from '../ports.ts';
import type { GuardedClient } from './client.ts';
import { type Exchanged, exchange } from './exchange.ts';
import { type Failure, forbidden } from './failure.ts';
import { sign } from './sign.ts';

export interface Poster {
  /** One POST. Never throws and never rejects; an aborted `signal` ends it at once, and its outcome then means nothing. */
  post(delivery: ClaimedDelivery, signal?: AbortSignal): Promise<Attempt>;
  /** Ends what is under way and closes the client. May be called twice. */
  close(): Promise<void>;
}

export interface PosterOptions {
  readonly client: GuardedClient;
  readonly clock: Clock;
  readonly version: string;
  /** For the whole attempt, from the lookup to the last byte of the response. */
  readonly timeoutMs?: number;
}

const NOTHING: Exchanged = {
  failure: null,
  status: null,
  headers: {},
  kept: [],
  cutOff: false,
  dnsMs: null,
  connectMs: null,
  firstByteMs: null,
};

export function createPoster({ client, clock, version, timeoutMs = LIMITS.attemptTimeoutMs }: PosterOptions): Poster {
  const userAgent = `errand/${version}`;

  async function exchanged(delivery: ClaimedDelivery, startedAtMs: number, signal?: AbortSignal): Promise<Exchanged> {
    const { webhook } = delivery;
    if (!webhook) throw new Error('the delivery has no webhook');
    const judged = client.addresses.judgeUrl(webhook.url);
    if (!judged.ok) return failed(forbidden(judged.reason));
    const { origin, pathname, search } = judged.url;
    const headers = headersOf({ delivery, webhook, timestampS: Math.floor(startedAtMs / 1000), userAgent });
    const request = { origin, path: pathname + search, method: 'POST', headers, body: delivery.emission.body } as const;
    return exchange({ dispatcher: client.dispatcher, request, timeoutMs, signal });
  }

  async function post(delivery: ClaimedDelivery, signal?: AbortSignal): Promise<Attempt> {
    const startedAtMs = clock.nowMs();
    const startedMs = performance.now();
    const result = await exchanged(delivery, startedAtMs, signal).catch(notSent);
    return attemptOf(result, startedAtMs, performance.now() - startedMs);
  }

  return { post, close: () => client.close() };
}

interface HeaderParts {
  readonly delivery: ClaimedDelivery;
  readonly webhook: Webhook;
  readonly timestampS: number;
  readonly userAgent: string;
}

/** As delivery.md lists them, names and values in turn. The webhook's own headers go to the end, once there are any. */
function headersOf({ delivery, webhook, timestampS, userAgent }: HeaderParts): string[] {
  const { emission, attempt, trigger } = delivery;
  const { secrets } = webhook;
  return [
    'content-type',
    'application/json',
    'user-agent',
    userAgent,
    'accept-encoding',
    'identity',
    'webhook-id',
    emission.emitId,
    'webhook-timestamp',
    String(timestampS),
    'webhook-signature',
    sign({ secrets, id: emission.emitId, timestampS, body: emission.body }),
    'errand-emitter-id',
    emission.emitterId,
    'errand-event-name',
    asHeaderValue(emission.name),
    'errand-attempt',
    String(attempt),
    'errand-trigger',
    trigger,
  ];
}

/** Event names are free text; what a header cannot hold is percent-encoded, as is `%`, so that it can be decoded. */
function asHeaderValue(text: string): string {
  return /^[\x21-\x24\x26-\x7e]*$/.test(text) ? text : encodeURIComponent(text.toWellFormed());
}

function attemptOf(exchanged: Exchanged, startedAtMs: number, tookMs: number): Attempt {
  const { failure, status } = exchanged;
  return {
    startedAtMs,
    tookMs: Math.round(tookMs),
    timing: {
      dnsMs: rounded(exchanged.dnsMs),
      connectMs: rounded(exchanged.connectMs),
      firstByteMs: rounded(exchanged.firstByteMs),
    },
    outcome: failure?.outcome ?? 'answered',
    status,
    responseHeaders: asText(exchanged.headers),
    responseBody: beginning(exchanged.kept),
    detail: failure?.detail ?? answer(exchanged),
    permanent: false,
  };
}

function answer({ status, cutOff }: Exchanged): string {
  const redirect = status !== null && status >= 300 && status < 400 ? '; redirects are not followed' : '';
  const cut = cutOff ? `; its response was cut off after ${LIMITS.responseBytes / KIB} KiB` : '';
  return `The receiver answered ${status}${redirect}${cut}.`;
}

function asText(headers: Exchanged['headers']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value = '']) => [name, Array.isArray(value) ? value.join(', ') : value]),
  );
}

/** Valid UTF-8 without NUL, which Postgres cannot store; a character that the cut split is left out. */
function beginning(kept: readonly Buffer[]): string {
  if (kept.length === 0) return '';
  const bytes = Buffer.concat(kept).subarray(0, LIMITS.keptResponseBytes);
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: true }).replaceAll('\0', '\ufffd');
}

function rounded(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms);
}

function failed(failure: Failure): Exchanged {
  return { ...NOTHING, failure };
}

/** A bug of ours or a record that makes no request (a webhook without a secret): an attempt all the same, so that it is seen. */
function notSent(error: Error): Exchanged {
  return failed({ outcome: 'refused', detail: `The request could not be made: ${error.message}.` });
}
