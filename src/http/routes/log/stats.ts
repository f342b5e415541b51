// What was accepted over time, for charts.

import {
  type Bucket,
  bucketsOf,
  figuresOf,
  HOURS_KEPT_MS,
  MAX_BUCKETS,
  stretchOf,
} from '../../../domain/ledger/hours.ts';
import { DAY_MS, HOUR_MS } from '../../../domain/limits.ts';
import type { App } from '../../app-type.ts';
import type { HttpDeps } from '../../deps.ts';
import { dataOf, operation } from '../../openapi/operation.ts';
import { msAt, oneOf } from '../../openapi/schema.ts';
import { Type } from '../../schema/type.ts';
import { rangeOf, TIME_RANGE } from '../../wire/log/error-filter.ts';
import { wrong } from '../../wire/times.ts';

const BUCKETS = ['hour', 'day'] as const;
const BUCKET_HOURS = { hour: 1, day: 24 } as const;

const count = (of: string) =>
  Type.Integer({ minimum: 0, description: `${of} that were accepted in this time.`, examples: [12] });

const STATS = Type.Object(
  {
    bucket: oneOf(BUCKETS, 'How long a bucket is.'),
    buckets: Type.Array(
      Type.Object(
        {
          from_ms: msAt('Start of the bucket'),
          events: count('Events'),
          runs: count('Runs'),
          errors: count('Errors'),
          deliveries: count('Deliveries'),
        },
        { title: 'StatsBucket' },
      ),
      { description: 'Oldest first, without a gap.' },
    ),
  },
  { title: 'Stats' },
);

export function addStatsRoutes(app: App, { store }: HttpDeps): void {
  const schema = operation({
    id: 'getStats',
    tag: 'account',
    access: 'read',
    summary: 'Count events over time',
    description: `Events, runs, errors and deliveries that were accepted in each hour, or in each day of 24 hours by UTC. They are what the ledger counted, so they stay when retention deletes events; the current hour is counted now. \`since\` and \`until\` are rounded outwards to whole buckets: 24 hours until now when not given, at most ${MAX_BUCKETS} buckets, and none older than ${HOURS_KEPT_MS / DAY_MS} days.`,
    query: {
      bucket: Type.Optional(oneOf(BUCKETS, 'How long a bucket is; `hour` when not given.')),
      ...TIME_RANGE,
    },
    answer: dataOf(STATS),
  });
  app.get('/v1/stats', { schema }, async ({ query, caller }) => {
    const { bucket = 'hour' } = query;
    const nowMs = store.clock.nowMs();
    const range = rangeOf(query);
    const untilMs = Math.min(range.untilMs ?? nowMs + 1, nowMs + 1);
    const sinceMs = range.sinceMs ?? untilMs - (bucket === 'hour' ? DAY_MS : 30 * DAY_MS);
    const hours = BUCKET_HOURS[bucket];
    const stretch = stretchOf({ sinceMs, untilMs, nowMs, keptMs: HOURS_KEPT_MS }, hours);
    if (stretch.toHour - stretch.fromHour > MAX_BUCKETS * hours) {
      throw wrong('since', `must be at most ${MAX_BUCKETS} ${bucket}s before until`, query.since);
    }
    const [noted, ledger] = [await store.notedHours(caller.ownerId, stretch), await store.ledger(caller.ownerId)];
    const now = { hour: Math.floor(nowMs / HOUR_MS), ...figuresOf(ledger) };
    return { data: { bucket, buckets: bucketsOf([...noted, now], stretch).map(bucketToWire) } };
  });
}

function bucketToWire({ fromMs, events, runs, errors, deliveries }: Bucket) {
  return { from_ms: fromMs, events, runs, errors, deliveries };
}
