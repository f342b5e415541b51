// Heartbeats: what a ping changes, and when one is late. Pure; the next due time of a schedule comes from the caller.

import type { Schedule } from '../resource.ts';
import {
  HEARTBEAT_FAILED,
  type OpenError,
  SILENT,
  type Watch,
  type WatchFinding,
  type WatchJudgement,
} from './watch.ts';

/** A job that runs elsewhere, and calls an address each time. */
export interface Heartbeat {
  /** `hb_…` */
  readonly id: string;
  readonly ownerId: string;
  readonly name: string;
  /** False: pings are counted, and none is missed. */
  readonly active: boolean;
  /** The secret part of the address. */
  readonly key: string;
  /** True: a GET or HEAD, as scanners of links send them, is no ping. */
  readonly postOnly: boolean;
  readonly schedule: Schedule;
  readonly graceMs: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export interface WatchedHeartbeat {
  readonly heartbeat: Heartbeat;
  readonly watch: Watch;
}

export interface Ping {
  readonly kind: 'success' | 'start' | 'fail';
  /** Null: the address named none. */
  readonly exitCode: number | null;
  /** What the job wrote; empty: nothing. */
  readonly log: string;
  /** How many came at once that are the same; 1 when not given. */
  readonly times?: number;
}

/** Returns the first due time of a schedule after a time. */
export type NextTick = (schedule: Schedule, afterMs: number) => number;

interface Now {
  readonly nowMs: number;
  readonly nextTick: NextTick;
}

/** Judges a ping. The end of a run, also of one that failed, is what the schedule expects. */
export function pinged({ heartbeat, watch }: WatchedHeartbeat, ping: Ping, now: Now): WatchJudgement {
  const { nowMs, nextTick } = now;
  const { schedule, active } = heartbeat;
  const before = watch.counts;
  const pings = before.pings + (ping.times ?? 1);
  if (ping.kind === 'start') {
    const next = { ...watch, counts: { ...before, pings, startedAtMs: nowMs } };
    return { next: { ...next, dueAtMs: active ? dueOf(next, heartbeat) : null }, told: [] };
  }
  const isFailure = ping.kind === 'fail';
  const counts = {
    pings,
    failures: before.failures + (isFailure ? 1 : 0),
    startedAtMs: null,
    durationMs: before.startedAtMs === null ? before.durationMs : Math.max(0, nowMs - before.startedAtMs),
  };
  const over = isFailure ? watch.open.filter(({ code }) => code === SILENT) : watch.open;
  const left = watch.open.filter((open) => !over.includes(open));
  const isNew = isFailure && left.length === 0;
  const next: Watch = {
    ...watch,
    lastAtMs: nowMs,
    excusedMs: 0,
    counts,
    expectedAtMs: active ? nextTick(schedule, nowMs) : null,
    open: isNew ? [{ code: HEARTBEAT_FAILED, sinceMs: nowMs }] : left,
  };
  const told: WatchFinding[] = over.map((open) => ended(open));
  if (isFailure) told.push({ kind: 'error', code: HEARTBEAT_FAILED, why: 'reported' });
  return { next: { ...next, dueAtMs: active ? dueOf(next, heartbeat) : null }, told };
}

function ended({ code, sinceMs }: OpenError): WatchFinding {
  return { kind: 'recovered', code, sinceMs, why: code === SILENT ? 'no_ping' : 'reported' };
}

/** Judges a heartbeat that no ping came for. Nothing is due of one that is not active. */
export function missed({ heartbeat, watch }: WatchedHeartbeat, nowMs: number): WatchJudgement {
  const dueAtMs = dueOf(watch, heartbeat);
  if (dueAtMs === null || nowMs < dueAtMs) return { next: { ...watch, dueAtMs }, told: [] };
  const { startedAtMs } = watch.counts;
  const isStuck = startedAtMs !== null && nowMs >= startedAtMs + heartbeat.graceMs;
  const next = {
    ...watch,
    dueAtMs: null,
    open: [...watch.open, { code: SILENT, sinceMs: dueAtMs }],
    counts: { ...watch.counts, startedAtMs: isStuck ? null : startedAtMs },
  };
  const found = isStuck ? ({ why: 'not_ended', startedAtMs } as const) : ({ why: 'no_ping' } as const);
  return { next, told: [{ kind: 'error', code: SILENT, ...found }] };
}

/** Returns when it is late; null: it is late already, or nothing is expected of it yet. */
function dueOf({ open, expectedAtMs, counts }: Watch, { graceMs }: Heartbeat): number | null {
  if (open.some(({ code }) => code === SILENT)) return null;
  const { startedAtMs } = counts;
  const times = [expectedAtMs, startedAtMs].flatMap((ms) => (ms === null ? [] : [ms + graceMs]));
  return times.length === 0 ? null : Math.min(...times);
}

/** Returns the watch of a heartbeat that was changed: a new schedule counts from now, and so does one that was switched on. */
export function rewatched(before: WatchedHeartbeat, heartbeat: Heartbeat, now: Now): Watch {
  const { watch } = before;
  const isSame =
    before.heartbeat.active === heartbeat.active &&
    JSON.stringify(before.heartbeat.schedule) === JSON.stringify(heartbeat.schedule);
  const rule = { schedule: heartbeat.schedule, graceMs: heartbeat.graceMs };
  if (!heartbeat.active) {
    const counts = { ...watch.counts, startedAtMs: null };
    return { ...watch, rule, open: [], expectedAtMs: null, dueAtMs: null, counts };
  }
  const expectedAtMs = watch.lastAtMs === null ? null : now.nextTick(heartbeat.schedule, now.nowMs);
  const next = isSame ? { ...watch, rule } : { ...watch, rule, expectedAtMs };
  return { ...next, dueAtMs: dueOf(next, heartbeat) };
}

/**
 * Returns the watch after a time in which no server was there to be called, up to now: a ping that may have come then is not
 * missed, and the next one is expected after now. After a clock that was set back, times that have not come yet are now.
 */
export function excused(watched: WatchedHeartbeat, { isBack }: { readonly isBack: boolean }, now: Now): Watch {
  const { heartbeat, watch } = watched;
  const { nowMs, nextTick } = now;
  const counts = { ...watch.counts, startedAtMs: null };
  // Of the first run, the start is forgotten, and the end may have been called in vain: the next one is expected.
  const expectedBefore = watch.expectedAtMs ?? (watch.counts.startedAtMs === null ? null : nowMs);
  // It is not active, or was not pinged yet.
  if (expectedBefore === null || !heartbeat.active) return { ...watch, counts, dueAtMs: null };
  const lastAtMs = watch.lastAtMs === null ? null : Math.min(watch.lastAtMs, nowMs);
  const isPast = expectedBefore <= nowMs;
  const after = isBack ? (lastAtMs ?? nowMs) : nowMs;
  const expectedAtMs = isPast || isBack ? nextTick(heartbeat.schedule, after) : expectedBefore;
  const next = { ...watch, counts, lastAtMs, expectedAtMs };
  return { ...next, dueAtMs: dueOf(next, heartbeat) };
}
