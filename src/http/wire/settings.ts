// Settings of a workflow as they are asked for and shown.

import { type Static, Type } from 'typebox';
import { Refusal } from '../../domain/fault.ts';
import { LIMITS } from '../../domain/limits.ts';
import type { Settings } from '../../domain/resource.ts';
import { count, nullable } from '../schema.ts';

const MIN_MEMORY_MB = 16;
const ENV_NAME = '^[A-Za-z_][A-Za-z0-9_]{0,127}$';

const FIELDS = {
  timeout_ms: nullable(
    Type.Integer({
      minimum: 1,
      maximum: LIMITS.maxTimeoutMs,
      description: `How long a run may take. Null: ${LIMITS.timeoutMs}, or ${LIMITS.scheduleTimeoutMs} when a schedule started it.`,
      examples: [LIMITS.timeoutMs],
    }),
  ),
  memory_mb: Type.Integer({ minimum: MIN_MEMORY_MB, maximum: LIMITS.maxMemoryMb, examples: [LIMITS.memoryMb] }),
  concurrency: Type.Integer({
    minimum: 1,
    maximum: LIMITS.maxConcurrency,
    description: 'Runs at the same time.',
    examples: [LIMITS.concurrency],
  }),
  queue_limit: count(1, LIMITS.maxQueueLimit, 'Runs that may wait; those beyond fail with `QueueFull`.'),
  notify: Type.Boolean({
    description: 'False: errors are listed and forwarded, but not sent to the global error workflow.',
    examples: [true],
  }),
  env: Type.Record(Type.String({ pattern: ENV_NAME }), Type.String({ maxLength: 32_768 }), {
    description: 'Environment variables of the code.',
    additionalProperties: false,
    'x-expected': 'names are letters, digits and underscores',
    'x-secret': true,
    examples: [{ REGION: 'eu' }],
  }),
};

export const SETTINGS = Type.Object(FIELDS, { title: 'Settings' });

export const SETTINGS_INPUT = Type.Object(
  {
    ...Type.Partial(Type.Object(FIELDS)).properties,
    throttle: Type.Optional(Type.Unknown({ description: 'Not supported yet: 422.' })),
    retry: Type.Optional(Type.Unknown({ description: 'Not supported yet: 422.' })),
  },
  { additionalProperties: false, examples: [{ timeout_ms: 10_000, concurrency: 4 }] },
);

export function settingsInput(input: Static<typeof SETTINGS_INPUT>): Partial<Settings> {
  for (const name of ['throttle', 'retry'] as const) {
    if (input[name] === undefined || input[name] === null) continue;
    const parameter = `settings.${name}`;
    const message = 'is not supported yet; leave it out';
    throw new Refusal('impossible', `${parameter} ${message}`, { errors: [{ parameter, message }] });
  }
  const { timeout_ms: timeoutMs, memory_mb: memoryMb, concurrency, queue_limit: queueLimit, notify, env } = input;
  return {
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(memoryMb === undefined ? {} : { memoryMb }),
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(queueLimit === undefined ? {} : { queueLimit }),
    ...(notify === undefined ? {} : { notify }),
    ...(env === undefined ? {} : { env }),
  };
}

export function settingsToWire(settings: Settings): Static<typeof SETTINGS> {
  return {
    timeout_ms: settings.timeoutMs,
    memory_mb: settings.memoryMb,
    concurrency: settings.concurrency,
    queue_limit: settings.queueLimit,
    notify: settings.notify,
    env: { ...settings.env },
  };
}
