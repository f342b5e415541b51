// What the tests of watches share: the scheduler's judge, a server that is there all the time, and heartbeats.

import { ERRORS, RECOVERED } from '../../../src/domain/emission.ts';
import { detailOf } from '../../../src/domain/failure.ts';
import { LIMITS, MINUTE_MS } from '../../../src/domain/limits.ts';
import type { Schedule, WatchSettings } from '../../../src/domain/resource.ts';
import { type Heartbeat, type Ping, rewatched, type WatchedHeartbeat } from '../../../src/domain/watch/heartbeat.ts';
import { NO_PINGS } from '../../../src/domain/watch/watch.ts';
import { firstTickMs } from '../../../src/engine/schedule/cron.ts';
import { createWatches } from '../../../src/engine/schedule/watches.ts';
import type { Wake } from '../../../src/ports.ts';
import { defined, none, parsed } from '../fixtures.ts';
import type { Stage } from '../stage.ts';

/** How far the clock goes between two looks of a server that is there. */
const LOOK_MS = 20_000;

export const NOTHING: WatchSettings = { silentAfterMs: null, succeededWithinMs: null, errorRatio: null };

const counter = { inc: () => undefined };

/** A node's judge. */
export function judgeOf(
  { store, clock }: Pick<Stage, 'store' | 'clock'>,
  wake: Wake = { notify: () => undefined },
): ReturnType<typeof createWatches> {
  return createWatches({
    store,
    clock,
    slots: none() as never,
    dispatch: { take: () => undefined },
    metrics: { pings: counter, watchErrors: counter, watchesJudged: { set: () => undefined } } as never,
    wake,
  });
}

export async function look(stage: Stage): Promise<void> {
  while (await judgeOf(stage).tickWatches());
}

/** What runs have noted is looked at. */
export async function hear(stage: Stage): Promise<void> {
  stage.clock.advance(LIMITS.watchPauseMs);
  await look(stage);
}

/** Time passes, while a server is there and looks. */
export async function watchFor(stage: Stage, ms: number): Promise<void> {
  await look(stage);
  for (let left = ms; left > 0; left -= LOOK_MS) {
    stage.clock.advance(Math.min(left, LOOK_MS));
    await look(stage);
  }
}

export interface ToldError {
  readonly code: string;
  readonly msg: string;
}

/** The errors of an emitter, oldest first. */
export async function errorsOf(stage: Stage, emitterId: string): Promise<ToldError[]> {
  const channel = { ownerId: stage.owner.id, emitterId, name: ERRORS };
  const { items } = await stage.store.listEmissions(channel, { limit: 100 }, true);
  return items.map(({ body }) => detailOf(defined(body)).error).toReversed();
}

/** Returns the events that errors of a watch were decided by. */
export async function eventsOf(stage: Stage, emitterId: string): Promise<unknown[]> {
  const channel = { ownerId: stage.owner.id, emitterId, name: ERRORS };
  const { items } = await stage.store.listEmissions(channel, { limit: 100 }, true);
  return items.map(({ body }) => (parsed(defined(body)) as { original_event: unknown }).original_event).toReversed();
}

export const codesOf = async (stage: Stage, emitterId: string): Promise<string[]> =>
  (await errorsOf(stage, emitterId)).map(({ code }) => code);

export interface Recovery {
  readonly code: string;
  readonly since_ms: number;
  readonly recovered_at_ms: number;
}

export async function recoveriesOf(stage: Stage, emitterId: string): Promise<Recovery[]> {
  const channel = { ownerId: stage.owner.id, emitterId, name: RECOVERED };
  const { items } = await stage.store.listEmissions(channel, { limit: 100 }, true);
  return items.map(({ body }) => parsed(defined(body)) as Recovery).toReversed();
}

export const every = (intervalMs: number): Schedule => ({ cron: null, intervalMs, timezone: 'UTC' });

export async function heartbeat(stage: Stage, more: Partial<Heartbeat> = {}): Promise<WatchedHeartbeat> {
  const id = stage.ids.next('hb_');
  const nowMs = stage.clock.nowMs();
  const made: Heartbeat = {
    id,
    ownerId: stage.owner.id,
    name: 'Backup',
    active: true,
    key: stage.ids.secret(),
    postOnly: false,
    schedule: every(10 * MINUTE_MS),
    graceMs: 2 * MINUTE_MS,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    ...more,
  };
  const rule = { schedule: made.schedule, graceMs: made.graceMs };
  const watched: WatchedHeartbeat = {
    heartbeat: made,
    watch: {
      ownerId: made.ownerId,
      id,
      kind: 'heartbeat',
      version: 1,
      heard: 0,
      rule,
      watchedAtMs: nowMs,
      lastAtMs: null,
      excusedMs: 0,
      expectedAtMs: null,
      dueAtMs: null,
      open: [],
      counts: NO_PINGS,
    },
  };
  await stage.store.createHeartbeat(watched, 1000);
  stage.emitterIds.push(id);
  stage.names.add(RECOVERED);
  return watched;
}

export function ping(stage: Stage, { heartbeat: { key } }: WatchedHeartbeat, more: Partial<Ping> = {}): Promise<void> {
  return judgeOf(stage).ping(key, { kind: 'success', exitCode: null, log: '', ...more });
}

export async function now(stage: Stage, { heartbeat: { id } }: WatchedHeartbeat): Promise<WatchedHeartbeat> {
  return defined(await stage.store.getHeartbeat(stage.owner.id, id));
}

export async function changed(
  stage: Stage,
  { heartbeat: { id } }: WatchedHeartbeat,
  to: Partial<Heartbeat>,
): Promise<WatchedHeartbeat | undefined> {
  return stage.store.updateHeartbeat(stage.owner.id, id, (before) => {
    const after = { ...before.heartbeat, ...to };
    return {
      heartbeat: after,
      watch: rewatched(before, after, { nowMs: stage.clock.nowMs(), nextTick: firstTickMs }),
    };
  });
}
