// What a workflow is watched for: the setting, and its watches as shown.

import type { Static } from 'typebox';
import { LIMITS, MINUTE_MS } from '../../domain/limits.ts';
import type { ErrorRatio, WatchSettings } from '../../domain/resource.ts';
import type { Watch } from '../../domain/watch/watch.ts';
import { mostlyNull, nullable, oneOf } from '../openapi/schema.ts';
import { Type } from '../schema/type.ts';

/** All runs that fail are more than this part. */
const MAX_RATIO = 0.99;
const TIME = { minimum: LIMITS.minWatchMs, maximum: LIMITS.maxWatchMs };

const SILENT_AFTER = Type.Integer({
  ...TIME,
  description: 'When it has not run for so many milliseconds, there is an error with code `Silent`.',
  examples: [90_000_000],
});
const SUCCEEDED_WITHIN = Type.Integer({
  ...TIME,
  description: 'When it has not succeeded for so many milliseconds, there is an error with code `Silent`.',
  examples: [90_000_000],
});

const RATIO = Type.Object(
  {
    over: Type.Number({
      minimum: 0,
      maximum: MAX_RATIO,
      description: 'Of the runs that ended in the window, more than this part failed.',
      examples: [0.2],
    }),
    of_at_least: Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      description: 'Fewer runs in the window say nothing.',
      examples: [20],
    }),
    window_ms: Type.Integer({
      description: 'Length of the window, in milliseconds.',
      minimum: MINUTE_MS,
      maximum: LIMITS.maxRatioWindowMs,
      examples: [600_000],
    }),
  },
  {
    additionalProperties: false,
    description: 'When too many of its runs fail: an error with code `Unhealthy`.',
  },
);

const DESCRIPTION =
  'What is an error although no run fails. Null: nothing. Only of workflows; judged while it is active.';

export const WATCH = Type.Object(
  {
    silent_after_ms: nullable(SILENT_AFTER),
    succeeded_within_ms: nullable(SUCCEEDED_WITHIN),
    error_ratio: nullable(RATIO),
  },
  { additionalProperties: false, description: DESCRIPTION },
);

export const WATCH_INPUT = Type.Object(
  {
    silent_after_ms: Type.Optional(nullable(SILENT_AFTER)),
    succeeded_within_ms: Type.Optional(nullable(SUCCEEDED_WITHIN)),
    error_ratio: Type.Optional(nullable(RATIO)),
  },
  { additionalProperties: false, description: DESCRIPTION },
);

export function watchInput(input: Static<typeof WATCH_INPUT>): WatchSettings | null {
  const { silent_after_ms: silentAfterMs = null, succeeded_within_ms: succeededWithinMs = null, error_ratio } = input;
  const errorRatio: ErrorRatio | null = error_ratio
    ? { over: error_ratio.over, ofAtLeast: error_ratio.of_at_least, windowMs: error_ratio.window_ms }
    : null;
  if (silentAfterMs === null && succeededWithinMs === null && errorRatio === null) return null;
  return { silentAfterMs, succeededWithinMs, errorRatio };
}

export function watchToWire({ silentAfterMs, succeededWithinMs, errorRatio }: WatchSettings): Static<typeof WATCH> {
  return {
    silent_after_ms: silentAfterMs,
    succeeded_within_ms: succeededWithinMs,
    error_ratio: errorRatio && {
      over: errorRatio.over,
      of_at_least: errorRatio.ofAtLeast,
      window_ms: errorRatio.windowMs,
    },
  };
}

/** The members of the setting, by the watch that each makes. */
const SETTING_OF = { silence: 'silent_after_ms', success: 'succeeded_within_ms', ratio: 'error_ratio' } as const;

export const SHOWN_WATCH = Type.Object(
  {
    setting: oneOf(
      ['silent_after_ms', 'succeeded_within_ms', 'error_ratio'],
      'Which member of `settings.watch` it is.',
    ),
    status: oneOf(['up', 'down'], '`down`: its error was told, and is not over.'),
    watched_since_ms: Type.Integer({
      description: 'Since when it is watched, in milliseconds since the Unix epoch.',
      examples: [1_782_000_000_123],
    }),
    last_at_ms: nullable(
      Type.Integer({
        description:
          'When the last run, or the last success, came since then, in milliseconds since the Unix epoch; null: none did.',
        examples: [1_782_000_900_000],
      }),
    ),
    down_since_ms: mostlyNull('Since when it is down, in milliseconds since the Unix epoch; null: it is not.'),
  },
  { title: 'Watch' },
);

export function shownWatch({ kind, watchedAtMs, lastAtMs, open }: Watch): Static<typeof SHOWN_WATCH> | null {
  if (kind === 'heartbeat') return null;
  return {
    setting: SETTING_OF[kind],
    status: open.length > 0 ? 'down' : 'up',
    watched_since_ms: watchedAtMs,
    last_at_ms: lastAtMs,
    down_since_ms: open[0]?.sinceMs ?? null,
  };
}
