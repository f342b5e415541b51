// One delivery, one request, one Attempt: a webhook's POST, or a request of code (request.ts). exchange.ts has the wire.

import type { Attempt, ClaimedDelivery } from '../domain/delivery/delivery.ts';
import { LINEAGE_HEADER } from '../domain/endpoint.ts';
import { KIB, LIMITS, SECOND_MS } from '../domain/limits.ts';
import type { Probe } from '../domain/requests.ts';
import type { Clock } from '../ports.ts';
import type { GuardedClient } from './client.ts';
import { type Exchanged, type ExchangeOptions, exchange } from './exchange.ts';
import { type Failure, forbidden, Unsendable, unsent } from './failure.ts';
import { asSent, headersOf, sentOf } from './headers.ts';
import { judgedOnceASecond } from './judged-urls.ts';
import { type Prepared, prepareRequest } from './request.ts';
import { keptHeaders } from './response-headers.ts';
import { retryAfterMs } from './retry-after.ts';
import { createSigner } from './sign.ts';

export interface Poster {
  /** Sends one request. Never throws and never rejects; an aborted `signal` ends it at once, with an outcome without meaning. */
  post(delivery: ClaimedDelivery, signal?: AbortSignal): Promise<Attempt>;
  /**
   * Posts as `post` does, and returns the request as sent, also when no server was reached; without headers when none was made.
   */
  probe(delivery: ClaimedDelivery, signal?: AbortSignal): Promise<Probed>;
  /** Ends requests under way and closes the client. May be called twice. */
  close(): Promise<void>;
}

export type Probed = Pick<Probe, 'attempt' | 'request'>;

export interface PosterOptions {
  readonly client: GuardedClient;
  readonly clock: Clock;
  readonly version: string;
  /** Of the whole attempt, from the lookup to the last byte of the response, unless the webhook has its own timeout. */
  readonly timeoutMs?: number;
  /** Returns the headers by which a delivery is part of a trace; undefined: nothing is traced. */
  readonly contextOf?: ((delivery: ClaimedDelivery) => SentContext) | undefined;
  /** Returns what an endpoint of this server is to know of what led to a delivery; null: the URL is none. */
  readonly lineageFor?: (url: URL, delivery: ClaimedDelivery) => string | null;
}

interface SentContext {
  readonly traceparent: string;
  readonly tracestate: string | null;
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

export function createPoster(options: PosterOptions): Poster {
  const { client, clock, version, timeoutMs = LIMITS.attemptTimeoutMs, contextOf, lineageFor } = options;
  const userAgent = `errand/${version}`;
  const sign = createSigner();
  const judge = judgedOnceASecond(client.addresses);

  /** Judges the URL again before connecting: it may have become forbidden since it was set. */
  function prepare(delivery: ClaimedDelivery, nowMs: number): Prepared | Failure {
    const plain = untraced(delivery, nowMs);
    // A test is no delivery, and in no trace.
    if ('outcome' in plain || delivery.trigger === 'test') return plain;
    const lineage = lineageFor?.(plain.url, delivery) ?? null;
    const prepared = lineage === null ? plain : { ...plain, headers: [LINEAGE_HEADER, lineage, ...plain.headers] };
    return contextOf === undefined ? prepared : inContext(prepared, contextOf(delivery));
  }

  function untraced(delivery: ClaimedDelivery, nowMs: number): Prepared | Failure {
    const { webhook, kind } = delivery;
    const { addresses } = client;
    try {
      if (kind === 'http') return prepareRequest(delivery, { addresses, userAgent });
      if (!webhook) return unsent(new Unsendable('the delivery has no webhook'));
      const judged = judge(webhook.url);
      if (!judged.ok) return forbidden(judged.reason);
      const headers = headersOf({ delivery, webhook, nowMs, userAgent, sign });
      return { method: 'POST', url: judged.url, headers, body: delivery.emission.body };
    } catch (error) {
      return unsent(error);
    }
  }

  function exchanged(prepared: Prepared, delivery: ClaimedDelivery, signal?: AbortSignal): Promise<Exchanged> {
    const { origin, pathname, search } = prepared.url;
    const { method, body } = prepared;
    const request: ExchangeOptions['request'] = {
      origin,
      path: pathname + search,
      method: method as ExchangeOptions['request']['method'],
      headers: prepared.headers as string[],
      body,
    };
    const ownTimeoutMs = delivery.webhook?.settings.timeoutMs ?? timeoutMs;
    const { ownerId } = delivery.emission;
    const options = { client, request, ownerId, timeoutMs: ownTimeoutMs, signal };
    return exchange(options).catch((error: unknown) => failed(unsent(error)));
  }

  async function attempt(delivery: ClaimedDelivery, signal?: AbortSignal) {
    const startedAtMs = clock.nowMs();
    const startedMs = performance.now();
    const prepared = prepare(delivery, startedAtMs);
    const result = 'outcome' in prepared ? failed(prepared) : await exchanged(prepared, delivery, signal);
    const tookMs = performance.now() - startedMs;
    const made = attemptOf(result, { startedAtMs, tookMs, endedAtMs: clock.nowMs() });
    const { kind, webhook } = delivery;
    if (kind === 'http' || !webhook || 'outcome' in prepared) return { made, prepared };
    const { url, context } = prepared;
    return { made: { ...made, sent: sentOf(delivery, webhook, { url, userAgent, context }) }, prepared };
  }

  async function probe(delivery: ClaimedDelivery, signal?: AbortSignal): Promise<Probed> {
    const { made, prepared } = await attempt(delivery, signal);
    const { body } = delivery.emission;
    if ('outcome' in prepared) {
      return { attempt: made, request: { method: 'POST', url: delivery.webhook?.url ?? '', headers: [], body } };
    }
    const { url, headers } = prepared;
    const { origin, pathname, search } = url;
    const request = { method: 'POST', url: origin + pathname + search, headers: asSent(url, headers, body), body };
    return { attempt: made, request };
  }

  return {
    post: async (delivery, signal) => (await attempt(delivery, signal)).made,
    probe,
    close: () => client.close(),
  };
}

/** Returns the request with the headers, unless the webhook or the code sets a context itself. */
function inContext(prepared: Prepared, { traceparent, tracestate }: SentContext): Prepared {
  const { headers } = prepared;
  const isSet = headers.some((name, i) => i % 2 === 0 && /^trace(parent|state)$/i.test(String(name)));
  if (isSet) return prepared;
  const context = ['traceparent', traceparent, ...(tracestate === null ? [] : ['tracestate', tracestate])];
  return { ...prepared, headers: [...context, ...headers], context };
}

interface Times {
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  readonly tookMs: number;
}

function attemptOf(exchanged: Exchanged, { startedAtMs, endedAtMs, tookMs }: Times): Attempt {
  const { failure, status } = exchanged;
  // Also when the body broke off: Retry-After is a header.
  const waitMs = retryAfterMs(exchanged, endedAtMs);
  const { headers, isCut } = keptHeaders(exchanged.headers);
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
    responseHeaders: headers,
    responseBody: beginning(exchanged.kept),
    detail: failure?.detail ?? answer(exchanged, { waitMs, isCut }),
    permanent: false,
    retryAfterMs: waitMs,
  };
}

interface Said {
  readonly waitMs: number | null;
  readonly isCut: boolean;
}

function answer({ status, cutOff }: Exchanged, { waitMs, isCut }: Said): string {
  const redirect = status !== null && status >= 300 && status < 400 ? '; redirects are not followed' : '';
  const cut = cutOff ? `; its response was cut off after ${LIMITS.responseBytes / KIB} KiB` : '';
  const shortened = isCut ? `; of its headers, ${LIMITS.keptResponseBytes / KIB} KiB are kept` : '';
  const wait = waitMs === null ? '' : ` and asked to be left alone for ${waitMs / SECOND_MS} s`;
  return `The receiver answered ${status}${wait}${redirect}${cut}${shortened}.`;
}

/** Returns valid UTF-8 without NUL, which Postgres cannot store; drops a character that the cut split. */
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
