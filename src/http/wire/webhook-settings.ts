// Settings of a webhook: parameters, and as shown. They are members of the webhook itself.

import type { Static, TSchema } from 'typebox';
import { faultOfHeaders } from '../../domain/delivery/webhook-headers.ts';
import { LIMITS } from '../../domain/limits.ts';
import { Refusal } from '../../domain/refusal.ts';
import {
  DEFAULT_WEBHOOK_SETTINGS,
  SIGNATURE_SCHEMES,
  type SignatureScheme,
  type WebhookSettings,
} from '../../domain/resource.ts';
import { nullable, oneOf } from '../openapi/schema.ts';
import { Type } from '../schema/type.ts';

const MIN_TIMEOUT_MS = 100;
/** Shown in place of header values to callers whose key may not change them. */
export const HIDDEN = '(hidden)';

const TIMEOUT = Type.Integer({
  minimum: MIN_TIMEOUT_MS,
  maximum: LIMITS.maxAttemptTimeoutMs,
  description: `How long an attempt may take in all, in milliseconds. Null: ${LIMITS.attemptTimeoutMs}.`,
  examples: [LIMITS.attemptTimeoutMs],
});

const DELAYS_WANTED = `an array of up to ${LIMITS.retries} delays in milliseconds, each from 0 to ${LIMITS.maxRetryDelayMs}`;

const RETRY = Type.Object(
  {
    delays_ms: Type.Array(Type.Integer({ minimum: 0, maximum: LIMITS.maxRetryDelayMs }), {
      maxItems: LIMITS.retries,
      description: 'Before the second attempt, the third, …, each give or take 10 %. Empty: no retries.',
      'x-expected': DELAYS_WANTED,
      examples: [[5000, 60_000, 3_600_000]],
    }),
  },
  {
    additionalProperties: false,
    description: `The schedule of retries. Null: ${LIMITS.retryDelaysMs.length} of them in about three days.`,
  },
);

const RATE_LIMIT = Type.Object(
  {
    limit: Type.Integer({
      description: 'How many requests may begin.',
      minimum: 1,
      maximum: LIMITS.maxRate,
      examples: [100],
    }),
    interval_ms: Type.Integer({
      description: 'Within how many milliseconds.',
      minimum: 1,
      maximum: LIMITS.maxRateIntervalMs,
      examples: [60_000],
    }),
  },
  {
    additionalProperties: false,
    description: 'At most `limit` requests begin within any `interval_ms`. Null: no such limit.',
  },
);

const MAX_IN_FLIGHT = Type.Integer({
  minimum: 1,
  maximum: LIMITS.maxInFlightPerWebhook,
  description: `Requests on their way at a time. Null: ${LIMITS.inFlightPerWebhook}.`,
  examples: [LIMITS.inFlightPerWebhook],
});

const HEADERS = Type.Record(Type.String(), Type.String(), {
  description: `Request headers of your own, at most ${LIMITS.headersPerWebhook}. None of Errand’s or of the connection’s can be set. Where a key without the scope \`write\` reads them, their values are "${HIDDEN}".`,
  maxProperties: LIMITS.headersPerWebhook,
  'x-expected': `an object of at most ${LIMITS.headersPerWebhook} header names and values`,
  'x-secret': true,
  examples: [{ 'x-team': 'orders' }],
});

const ORDERED = Type.Boolean({
  description:
    'True: one delivery at a time, in the order of the events; one that fails holds up those behind it until it is delivered or exhausted.',
  examples: [false],
});

const SIGNATURE_WANTED = 'an array of "v1", "v1a" or both, each once';

const SIGNATURE = Type.Array(oneOf(SIGNATURE_SCHEMES), {
  minItems: 1,
  maxItems: SIGNATURE_SCHEMES.length,
  description: '`v1`: HMAC-SHA256 with the secret. `v1a`: ed25519, which receivers check with a public key.',
  'x-expected': SIGNATURE_WANTED,
  examples: [['v1']],
});

export const WEBHOOK_SETTINGS = {
  headers: HEADERS,
  timeout_ms: nullable(TIMEOUT),
  retry: nullable(RETRY),
  rate_limit: nullable(RATE_LIMIT),
  max_in_flight: nullable(MAX_IN_FLIGHT),
  ordered: ORDERED,
  signature: SIGNATURE,
};

function settable<T extends TSchema>(schema: T) {
  return Type.Optional(nullable(schema));
}

/** Absent members keep their value; null resets. */
export const WEBHOOK_SETTINGS_INPUT = {
  headers: settable(HEADERS),
  timeout_ms: settable(TIMEOUT),
  retry: settable(RETRY),
  rate_limit: settable(RATE_LIMIT),
  max_in_flight: settable(MAX_IN_FLIGHT),
  ordered: settable(ORDERED),
  signature: settable(SIGNATURE),
};

const INPUT = Type.Object(WEBHOOK_SETTINGS_INPUT);

export type SettingsParameters = Static<typeof INPUT>;

/** Returns the settings that are given. */
export function webhookSettingsInput(input: SettingsParameters): Partial<WebhookSettings> {
  const { headers, timeout_ms: timeoutMs, retry, rate_limit: rateLimit, max_in_flight: maxInFlight } = input;
  const { ordered, signature } = input;
  const standard = DEFAULT_WEBHOOK_SETTINGS;
  return {
    ...(headers === undefined ? {} : { headers: headers === null ? standard.headers : headersInput(headers) }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(retry === undefined ? {} : { retryDelaysMs: retry === null ? null : [...retry.delays_ms] }),
    ...(rateLimit === undefined ? {} : { rateLimit: rateLimit && throttleOf(rateLimit) }),
    ...(maxInFlight === undefined ? {} : { maxInFlight }),
    ...(ordered === undefined ? {} : { ordered: ordered ?? standard.ordered }),
    ...(signature === undefined ? {} : { signature: signature === null ? standard.signature : schemesOf(signature) }),
  };
}

function throttleOf({ limit, interval_ms: intervalMs }: Static<typeof RATE_LIMIT>): WebhookSettings['rateLimit'] {
  return { limit, intervalMs };
}

/**
 * Returns the schemes in the order in which they are sent. Not `uniqueItems`: that is checked by comparing all with all,
 * however many came.
 */
function schemesOf(given: readonly SignatureScheme[]): readonly SignatureScheme[] {
  if (new Set(given).size < given.length) {
    const message = `must be ${SIGNATURE_WANTED}, but was ${JSON.stringify(given)}`;
    throw new Refusal('malformed', `signature ${message}`, { errors: [{ parameter: 'signature', message }] });
  }
  return SIGNATURE_SCHEMES.filter((scheme) => given.includes(scheme));
}

function headersInput(headers: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  const wrong = faultOfHeaders(headers);
  if (wrong) {
    const { name, fault } = wrong;
    const shown = name?.slice(0, LIMITS.headerNameChars);
    const parameter = shown === undefined ? 'headers' : `headers.${shown}`;
    const detail = shown === undefined ? `headers ${fault}` : `the header ${JSON.stringify(shown)} ${fault}`;
    throw new Refusal('malformed', detail, { errors: [{ parameter, message: fault }] });
  }
  const entries = Object.entries(headers as Readonly<Record<string, string>>);
  return Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), value]));
}

const SHOWN = Type.Object(WEBHOOK_SETTINGS);

export function webhookSettingsToWire(settings: WebhookSettings, isHidden: boolean): Static<typeof SHOWN> {
  const { headers, retryDelaysMs, rateLimit } = settings;
  const shown = Object.entries(headers).map(([name, value]) => [name, isHidden ? HIDDEN : value] as const);
  return {
    headers: Object.fromEntries(shown),
    timeout_ms: settings.timeoutMs,
    retry: retryDelaysMs && { delays_ms: [...retryDelaysMs] },
    rate_limit: rateLimit && { limit: rateLimit.limit, interval_ms: rateLimit.intervalMs },
    max_in_flight: settings.maxInFlight,
    ordered: settings.ordered,
    signature: [...settings.signature],
  };
}
