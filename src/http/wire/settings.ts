// Settings of a workflow: parameters, and as shown.

import type { Static } from 'typebox';
import { LIMITS } from '../../domain/limits.ts';
import { Refusal } from '../../domain/refusal.ts';
import {
  DEFAULT_SETTINGS,
  GLOBAL_ERRORS,
  type RetrySettings,
  type Settings,
  type Throttle,
} from '../../domain/resource.ts';
import { RETRIED_BY_NAME } from '../../domain/run/retry.ts';
import { nullable, oneOf } from '../openapi/schema.ts';
import { Type } from '../schema/type.ts';
import { GROUPING, groupingInput, groupingToWire } from './errors/grouping.ts';
import {
  ERROR_RETENTION,
  ERROR_RETENTION_INPUT,
  errorRetentionInput,
  errorRetentionToWire,
} from './errors/retention.ts';
import { channelIds } from './notices/channel-ids.ts';
import { WATCH, WATCH_INPUT, watchInput, watchToWire } from './watches.ts';

const MIN_MEMORY_MB = 16;
const ENV_NAME = '^[A-Za-z_][A-Za-z0-9_]{0,127}$';

const THROTTLE_FIELDS = {
  limit: Type.Integer({
    description: 'How many runs may begin.',
    minimum: 1,
    maximum: LIMITS.maxThrottle,
    examples: [10],
  }),
  interval_ms: Type.Integer({
    description: 'Within how many milliseconds.',
    minimum: LIMITS.minThrottleIntervalMs,
    maximum: LIMITS.maxThrottleIntervalMs,
    examples: [60_000],
  }),
};

const THROTTLE = Type.Object(THROTTLE_FIELDS, {
  additionalProperties: false,
  description:
    'At most `limit` runs begin within any `interval_ms`; the others wait in the queue. Null: no such limit.',
});

const RETRY_FIELDS = {
  attempts: Type.Integer({
    minimum: 1,
    maximum: LIMITS.runAttempts,
    description: 'How many attempts there are, the first one included.',
    examples: [3],
  }),
  base_ms: Type.Integer({
    minimum: 0,
    maximum: LIMITS.maxRetryBaseMs,
    description: `How many milliseconds pass before the second attempt; doubled for each further one, give or take 10 %. ${LIMITS.retryBaseMs} when it is left out.`,
    examples: [LIMITS.retryBaseMs],
  }),
  max_ms: Type.Integer({
    minimum: 0,
    maximum: LIMITS.maxRetryMaxMs,
    description: `The longest wait between two attempts, in milliseconds. ${LIMITS.retryMaxMs}, or base_ms when that is more, when it is left out.`,
    examples: [LIMITS.retryMaxMs],
  }),
  also: Type.Array(oneOf(RETRIED_BY_NAME), {
    maxItems: RETRIED_BY_NAME.length,
    description: 'Failures that are tried again although they are not by default.',
    'x-expected': 'an array of "Timeout", "OutOfMemory" or both',
    examples: [['Timeout']],
  }),
  report_first: Type.Boolean({
    description: 'True: the first failed attempt is among the errors too, beside the last one.',
    examples: [false],
  }),
};

const RETRY_DESCRIPTION =
  'A run that fails is tried again from the step that failed; what the steps before it gave is kept. Null: it is not.';

const RETRY = Type.Object(RETRY_FIELDS, { additionalProperties: false, description: RETRY_DESCRIPTION });

const { attempts, ...RETRY_OPTIONS } = RETRY_FIELDS;

const RETRY_INPUT = Type.Object(
  { attempts, ...Type.Partial(Type.Object(RETRY_OPTIONS)).properties },
  { additionalProperties: false, description: RETRY_DESCRIPTION },
);

export const ENV = Type.Record(Type.String({ pattern: ENV_NAME }), Type.String({ maxLength: 32_768 }), {
  description: 'Environment variables of the code.',
  additionalProperties: false,
  'x-expected': 'names are letters, digits and underscores',
  'x-secret': true,
  examples: [{ REGION: 'eu' }],
});

const FIELDS = {
  timeout_ms: nullable(
    Type.Integer({
      minimum: 1,
      maximum: LIMITS.maxTimeoutMs,
      description: `How long a run may take, in milliseconds. Null: ${LIMITS.timeoutMs}, or ${LIMITS.scheduleTimeoutMs} when a schedule started it.`,
      examples: [LIMITS.timeoutMs],
    }),
  ),
  memory_mb: Type.Integer({
    description: 'Memory of the workflow’s process, in MiB.',
    minimum: MIN_MEMORY_MB,
    maximum: LIMITS.maxMemoryMb,
    examples: [LIMITS.memoryMb],
  }),
  concurrency: Type.Integer({
    minimum: 1,
    maximum: LIMITS.maxConcurrency,
    description: 'How many runs may be under way at the same time.',
    examples: [LIMITS.concurrency],
  }),
  queue_limit: Type.Integer({
    description:
      'Runs that may wait; those beyond fail with `QueueFull`, or `RateLimited` while `throttle` lets none begin.',
    minimum: 1,
    maximum: LIMITS.maxQueueLimit,
    examples: [LIMITS.queueLimit],
  }),
  throttle: nullable(THROTTLE),
  retry: nullable(RETRY),
  notify: Type.Boolean({
    description: 'False: errors are listed and forwarded, but not sent to the global error workflow.',
    examples: [true],
  }),
  global_errors: oneOf(
    GLOBAL_ERRORS,
    '`always`: the global error workflow gets every error. `fallback`: workflows and webhooks that are subscribed to its errors get them first, and the global error workflow only what none of them has taken: their runs have failed, their deliveries were given up. Without subscribers it gets all.',
  ),
  env: ENV,
  grouping: GROUPING,
  watch: nullable(WATCH),
  channels: nullable(
    channelIds(
      'The channels that are notified of its errors; none when empty. Null: those of its owner, and none when notify is false.',
    ),
  ),
  error_retention: nullable(ERROR_RETENTION),
};

export const SETTINGS = Type.Object(FIELDS, { title: 'Settings', description: 'Its settings.' });

const { memory_mb, concurrency, queue_limit, notify, global_errors, env, grouping } = FIELDS;

export const SETTINGS_INPUT = Type.Object(
  {
    ...Type.Partial(Type.Object(FIELDS)).properties,
    memory_mb: Type.Optional(nullable(memory_mb)),
    concurrency: Type.Optional(nullable(concurrency)),
    queue_limit: Type.Optional(nullable(queue_limit)),
    notify: Type.Optional(nullable(notify)),
    global_errors: Type.Optional(nullable(global_errors)),
    env: Type.Optional(nullable(env)),
    grouping: Type.Optional(nullable(grouping)),
    retry: Type.Optional(nullable(RETRY_INPUT)),
    watch: Type.Optional(nullable(WATCH_INPUT)),
    error_retention: Type.Optional(nullable(ERROR_RETENTION_INPUT)),
  },
  {
    additionalProperties: false,
    description: 'Settings to change; those that are left out keep their values, or their defaults. Null: the default.',
    examples: [{ timeout_ms: 10_000, concurrency: 4 }],
  },
);

/** Returns the settings that are given. Null stands for the default. */
export function settingsInput(input: Static<typeof SETTINGS_INPUT>): Partial<Settings> {
  const { timeout_ms: timeoutMs, memory_mb: memoryMb, concurrency, queue_limit: queueLimit, notify, env } = input;
  const { global_errors: globalErrors } = input;
  const { throttle, retry, grouping, watch, channels, error_retention: errorRetention } = input;
  const standard = DEFAULT_SETTINGS;
  return {
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(memoryMb === undefined ? {} : { memoryMb: memoryMb ?? standard.memoryMb }),
    ...(concurrency === undefined ? {} : { concurrency: concurrency ?? standard.concurrency }),
    ...(queueLimit === undefined ? {} : { queueLimit: queueLimit ?? standard.queueLimit }),
    ...(throttle === undefined ? {} : { throttle: throttle && throttleInput(throttle) }),
    ...(retry === undefined ? {} : { retry: retry && retryInput(retry) }),
    ...(notify === undefined ? {} : { notify: notify ?? standard.notify }),
    ...(globalErrors === undefined ? {} : { globalErrors: globalErrors ?? standard.globalErrors }),
    ...(env === undefined ? {} : { env: env ?? standard.env }),
    ...(grouping === undefined ? {} : { grouping: groupingInput(grouping ?? [], 'settings.grouping') }),
    ...(watch === undefined ? {} : { watch: watch && watchInput(watch) }),
    ...(channels === undefined ? {} : { channels }),
    ...(errorRetention === undefined ? {} : { errorRetention: errorRetention && errorRetentionInput(errorRetention) }),
  };
}

function throttleInput({ limit, interval_ms: intervalMs }: Static<typeof THROTTLE>): Throttle {
  return { limit, intervalMs };
}

function retryInput(input: Static<typeof RETRY_INPUT>): RetrySettings {
  const { base_ms: baseMs = LIMITS.retryBaseMs, also = [], report_first: reportFirst = false } = input;
  const { max_ms: maxMs = Math.max(baseMs, LIMITS.retryMaxMs) } = input;
  if (maxMs < baseMs) {
    const parameter = 'settings.retry.max_ms';
    const message = `must be at least base_ms (${baseMs}), but was ${maxMs}`;
    throw new Refusal('malformed', `${parameter} ${message}`, { errors: [{ parameter, message }] });
  }
  return {
    attempts: input.attempts,
    baseMs,
    maxMs,
    also: RETRIED_BY_NAME.filter((code) => also.includes(code)),
    reportFirst,
  };
}

export function settingsToWire(settings: Settings): Static<typeof SETTINGS> {
  return {
    timeout_ms: settings.timeoutMs,
    memory_mb: settings.memoryMb,
    concurrency: settings.concurrency,
    queue_limit: settings.queueLimit,
    throttle: settings.throttle && { limit: settings.throttle.limit, interval_ms: settings.throttle.intervalMs },
    retry: settings.retry && retryToWire(settings.retry),
    notify: settings.notify,
    global_errors: settings.globalErrors,
    env: { ...settings.env },
    grouping: groupingToWire(settings.grouping),
    watch: settings.watch && watchToWire(settings.watch),
    channels: settings.channels && [...settings.channels],
    error_retention: settings.errorRetention && errorRetentionToWire(settings.errorRetention),
  };
}

function retryToWire({ attempts, baseMs, maxMs, also, reportFirst }: RetrySettings): Static<typeof RETRY> {
  const named = RETRIED_BY_NAME.filter((code) => also.includes(code));
  return { attempts, base_ms: baseMs, max_ms: maxMs, also: named, report_first: reportFirst };
}
