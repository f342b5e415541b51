// Rows of watches and heartbeats.

import type { Schedule } from '../../domain/resource.ts';
import type { Heartbeat, WatchedHeartbeat } from '../../domain/watch/heartbeat.ts';
import type { OpenError, PingCounts, Watch, WatchKind, WatchRule } from '../../domain/watch/watch.ts';
import { flag, json, jsonOrNull, number, numberOrNull, text } from './cells.ts';
import type { Row } from './rows.ts';

/** Of `watches AS w`. */
export const WATCH_COLUMNS = `w.id, w.kind, w.owner_id, w.version, w.heard, w.rule, w.watched_at_ms, w.last_at_ms, w.excused_ms,
  w.expected_at_ms, w.due_at_ms, w.open, w.counts`;

/** Of `heartbeats AS h`, beside those that its watch has too. */
export const HEARTBEAT_COLUMNS =
  'h.name, h.active, h.key, h.post_only, h.schedule, h.grace_ms, h.created_at_ms, h.updated_at_ms';

export const CELLS_OF_WATCH = {
  id: 'text',
  kind: 'text',
  owner_id: 'text',
  version: 'bigint',
  heard: 'bigint',
  rule: 'text',
  watched_at_ms: 'bigint',
  last_at_ms: 'bigint',
  excused_ms: 'bigint',
  expected_at_ms: 'bigint',
  due_at_ms: 'bigint',
  open: 'text',
  counts: 'text',
} as const;

export function toWatch(row: Row): Watch {
  return {
    id: text(row, 'id'),
    kind: text<WatchKind>(row, 'kind'),
    ownerId: text(row, 'owner_id'),
    version: number(row, 'version'),
    heard: number(row, 'heard'),
    rule: json<WatchRule>(row, 'rule'),
    watchedAtMs: number(row, 'watched_at_ms'),
    lastAtMs: numberOrNull(row, 'last_at_ms'),
    excusedMs: number(row, 'excused_ms'),
    expectedAtMs: numberOrNull(row, 'expected_at_ms'),
    dueAtMs: numberOrNull(row, 'due_at_ms'),
    open: jsonOrNull<OpenError[]>(row, 'open') ?? [],
    counts: json<PingCounts>(row, 'counts'),
  };
}

export function watchCells(watch: Watch): Record<keyof typeof CELLS_OF_WATCH, string | number | null> {
  return {
    id: watch.id,
    kind: watch.kind,
    owner_id: watch.ownerId,
    version: watch.version,
    heard: watch.heard,
    rule: JSON.stringify(watch.rule),
    watched_at_ms: watch.watchedAtMs,
    last_at_ms: watch.lastAtMs,
    excused_ms: watch.excusedMs,
    expected_at_ms: watch.expectedAtMs,
    due_at_ms: watch.dueAtMs,
    open: watch.open.length === 0 ? null : JSON.stringify(watch.open),
    counts: JSON.stringify(watch.counts),
  };
}

/** Returns a heartbeat with its watch. `row`: has the columns of both. */
export function toWatchedHeartbeat(row: Row): WatchedHeartbeat {
  const heartbeat: Heartbeat = {
    id: text(row, 'id'),
    ownerId: text(row, 'owner_id'),
    name: text(row, 'name'),
    active: flag(row, 'active'),
    key: text(row, 'key'),
    postOnly: flag(row, 'post_only'),
    schedule: json<Schedule>(row, 'schedule'),
    graceMs: number(row, 'grace_ms'),
    createdAtMs: number(row, 'created_at_ms'),
    updatedAtMs: number(row, 'updated_at_ms'),
  };
  return { heartbeat, watch: toWatch(row) };
}
