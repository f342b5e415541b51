// The cells of an emission's row. SQLite keeps the flags as bits of one column.

import type { NewEmission } from '../../domain/emission.ts';

/** Returns whether lists show the emissions of an emitter. */
export function isListed(emitterId: string): boolean {
  return /^(p|dc|wh|hb)_/.test(emitterId);
}

/** The bit of each flag in SQLite's column `flags`. */
export const FLAG_BITS = { verified: 1, replay: 2, test: 4, listed: 8 } as const;

/** Columns of `emissions` and their types in Postgres. */
export const EMISSION_COLUMNS = {
  entry: 'bigint',
  owner_id: 'text',
  emitter_id: 'text',
  name: 'text',
  source_type: 'text',
  origin_id: 'text',
  verified: 'boolean',
  replay: 'boolean',
  test: 'boolean',
  listed: 'boolean',
  trace_id: 'text',
  traceparent: 'text',
  lineage: 'text',
  hops: 'int',
  cause_run: 'bigint',
  cause_delivery: 'bigint',
  summary: 'text',
  item_id: 'text',
  item_ts: 'float8',
  code: 'text',
  original_start: 'int',
  original_length: 'int',
  only_listener_id: 'text',
  digest_key: 'text',
  group_id: 'text',
  body: 'bytea',
} as const;

/** Columns that `later_emissions` lacks: emissions of sources never use them. */
export const NOT_OF_SOURCES = {
  cause_delivery: null,
  code: null,
  original_start: null,
  original_length: null,
  only_listener_id: null,
  digest_key: null,
  group_id: null,
} as const;

const isOfSources = (column: string): boolean => column !== 'listed' && !Object.hasOwn(NOT_OF_SOURCES, column);

/** Columns of `later_emissions` and their types. */
export const LATER_COLUMNS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(EMISSION_COLUMNS).filter(([column]) => isOfSources(column))),
  due_at_ms: 'bigint',
};

export function emissionCells(
  e: NewEmission & { readonly entry: number },
): Record<keyof typeof EMISSION_COLUMNS, string | number | boolean | null | Uint8Array> {
  return {
    entry: e.entry,
    owner_id: e.ownerId,
    emitter_id: e.emitterId,
    name: e.name,
    source_type: e.sourceType,
    origin_id: e.originId,
    verified: e.verified,
    replay: e.replay,
    test: e.test,
    listed: isListed(e.emitterId),
    trace_id: e.traceId ?? '',
    traceparent: e.traceparent,
    lineage: e.lineage.join(' '),
    hops: e.hops,
    cause_run: e.causeRun,
    cause_delivery: e.causeDelivery,
    summary: e.summary,
    item_id: e.itemId,
    item_ts: e.itemTs,
    code: e.code,
    original_start: e.originalStart,
    original_length: e.originalLength,
    only_listener_id: e.onlyListenerId,
    digest_key: e.digestKey,
    group_id: e.groupId,
    body: e.body,
  };
}
