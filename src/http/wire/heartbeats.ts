// Heartbeats: parameters, and as shown.

import type { Static } from 'typebox';
import { LIMITS, SECOND_MS } from '../../domain/limits.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { HeartbeatInput } from '../../domain/requests.ts';
import type { Schedule } from '../../domain/resource.ts';
import type { WatchedHeartbeat } from '../../domain/watch/heartbeat.ts';
import { SILENT } from '../../domain/watch/watch.ts';
import { CREATED_AT, id, mostlyNull, nullable, oneOf, text, toSeconds, UPDATED_AT } from '../openapi/schema.ts';
import { Type } from '../schema/type.ts';
import { cronExpression, TIMEZONE } from './schedules.ts';

const MIN_S = LIMITS.minHeartbeatMs / SECOND_MS;
const MIN_GRACE_S = LIMITS.minHeartbeatGraceMs / SECOND_MS;
const MAX_S = LIMITS.maxWatchMs / SECOND_MS;

const NAME = text({
  description: 'Name of the heartbeat.',
  minLength: 1,
  maxLength: LIMITS.nameChars,
  example: 'Nightly backup',
});
const CRON = cronExpression('Cron expression of when the job runs, instead of `interval_seconds`.', '0 3 * * *');
const INTERVAL = Type.Integer({
  description: 'The longest time between two pings, in seconds, instead of `cron`.',
  minimum: MIN_S,
  maximum: MAX_S,
  examples: [86_400],
});
const GRACE = Type.Integer({
  description: `How many seconds late a ping may be, and how many seconds a run may take that pinged \`/start\`; ${LIMITS.heartbeatGraceMs / SECOND_MS} when not given.`,
  minimum: MIN_GRACE_S,
  maximum: MAX_S,
  examples: [1800],
});
const ACTIVE = Type.Boolean({ description: 'False: pings are counted, and none is missed.', examples: [true] });
const POST_ONLY = Type.Boolean({
  description:
    'True: GET and HEAD are refused, so that whatever follows links (a mail scanner, a preview of a chat) does not ping.',
  examples: [false],
});

export const HEARTBEAT_INPUT = {
  name: Type.Optional(NAME),
  cron: Type.Optional(CRON),
  interval_seconds: Type.Optional(INTERVAL),
  timezone: Type.Optional(TIMEZONE),
  grace_seconds: Type.Optional(GRACE),
  active: Type.Optional(ACTIVE),
  post_only: Type.Optional(POST_ONLY),
};

const INPUT = Type.Object(HEARTBEAT_INPUT);

export const HEARTBEAT = Type.Object(
  {
    id: id('hb_'),
    owner_id: id('u_'),
    name: NAME,
    active: ACTIVE,
    post_only: POST_ONLY,
    ping_url: text({
      description: 'A secret: a caller who has it can ping.',
      example: 'http://127.0.0.1:4400/h/Xk3vJ8nZ5tX1bL7cR0sW2y',
    }),
    cron: Type.Optional(CRON),
    interval_seconds: Type.Optional(INTERVAL),
    timezone: TIMEZONE,
    grace_seconds: GRACE,
    status: oneOf(
      ['up', 'new', 'down', 'paused'],
      '`new`: it was never pinged, and is not missed yet. `down`: it is silent, or its job failed last. `paused`: it is not active.',
    ),
    codes: Type.Array(text({ example: SILENT }), {
      description: 'What is wrong with it: `Silent`, `HeartbeatFailed`.',
    }),
    down_since_ms: mostlyNull('Since when it is down, in milliseconds since the Unix epoch; null: it is not.'),
    last_ping_at_ms: nullable(
      Type.Integer({
        description:
          'When the last ping came, other than `/start`, in milliseconds since the Unix epoch; null: none came yet.',
        examples: [1_782_000_000_123],
      }),
    ),
    started_at_ms: mostlyNull(
      'When the run began that is under way, in milliseconds since the Unix epoch; null: none is.',
    ),
    last_duration_ms: nullable(
      Type.Integer({
        description: 'How long the last run took from `/start` to its end, in milliseconds; null: it is not known.',
        examples: [74_000],
      }),
    ),
    next_expected_at_ms: nullable(
      Type.Integer({
        description:
          'When the next ping is expected, without the grace, in milliseconds since the Unix epoch; null: none is.',
        examples: [1_782_086_400_000],
      }),
    ),
    pings: Type.Integer({ description: 'How many pings have come, `/start` included.', examples: [31] }),
    failures: Type.Integer({ description: 'How many of them told of a failure.', examples: [0] }),
    created_at: CREATED_AT,
    updated_at: UPDATED_AT,
  },
  { title: 'Heartbeat' },
);

/** Returns what the store writes for a heartbeat. `before`: null for a new one, which needs a schedule. */
export function heartbeatInput(input: Static<typeof INPUT>, before: Schedule | null): HeartbeatInput {
  const { name, active, post_only: postOnly, grace_seconds: graceS } = input;
  const schedule = scheduleOf(input, before);
  return {
    ...(name === undefined ? {} : { name }),
    ...(active === undefined ? {} : { active }),
    ...(postOnly === undefined ? {} : { postOnly }),
    ...(graceS === undefined ? {} : { graceMs: graceS * SECOND_MS }),
    ...(schedule === null ? {} : { schedule }),
  };
}

function scheduleOf(input: Static<typeof INPUT>, before: Schedule | null): Schedule | null {
  const { cron, interval_seconds: intervalS, timezone } = input;
  if (cron !== undefined && intervalS !== undefined) throw refused('cron', 'goes without interval_seconds');
  if (cron !== undefined) return { cron, intervalMs: null, timezone: timezone ?? before?.timezone ?? 'UTC' };
  if (intervalS !== undefined) {
    return { cron: null, intervalMs: intervalS * SECOND_MS, timezone: timezone ?? before?.timezone ?? 'UTC' };
  }
  if (before === null) throw refused('cron', 'is missing, and so is interval_seconds: one of them is needed');
  return timezone === undefined ? null : { ...before, timezone };
}

function refused(parameter: string, message: string): Refusal {
  return new Refusal('malformed', `${parameter} ${message}`, { errors: [{ parameter, message }] });
}

export function heartbeatToWire(
  { heartbeat, watch }: WatchedHeartbeat,
  pingUrl: (key: string) => string,
): Static<typeof HEARTBEAT> {
  const { cron, intervalMs, timezone } = heartbeat.schedule;
  const { counts, open, lastAtMs } = watch;
  const status = open.length > 0 ? 'down' : lastAtMs === null && watch.dueAtMs === null ? 'new' : 'up';
  return {
    id: heartbeat.id,
    owner_id: heartbeat.ownerId,
    name: heartbeat.name,
    active: heartbeat.active,
    post_only: heartbeat.postOnly,
    ping_url: pingUrl(heartbeat.key),
    ...(cron === null ? { interval_seconds: (intervalMs ?? 0) / SECOND_MS } : { cron }),
    timezone,
    grace_seconds: heartbeat.graceMs / SECOND_MS,
    status: heartbeat.active ? status : 'paused',
    codes: open.map(({ code }) => code),
    down_since_ms: open.length === 0 ? null : Math.min(...open.map(({ sinceMs }) => sinceMs)),
    last_ping_at_ms: lastAtMs,
    started_at_ms: counts.startedAtMs,
    last_duration_ms: counts.durationMs,
    next_expected_at_ms: watch.expectedAtMs,
    pings: counts.pings,
    failures: counts.failures,
    created_at: toSeconds(heartbeat.createdAtMs),
    updated_at: toSeconds(heartbeat.updatedAtMs),
  };
}
