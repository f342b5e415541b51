// The tables of an owner, in the order in which a purge empties them: what is found through another row goes before that row. A test
// fills every table of the schema and looks that nothing is left of a purged owner, so a new one is to be named here.

import { number, text } from '../../rows/cells.ts';
import type { OwnedTable } from '../config-database.ts';
import { differs, isAmong, isAmongNumbers, raw, type Sql, sql } from '../sql.ts';
import { all, type Steps, send } from '../steps.ts';

/** Deletes some rows of an owner. Returns whether it found any. */
type PurgedTable = (ownerId: string) => Steps<boolean>;

const ROWS_PER_STEP = 1000;
/** Each may have many rows in other tables. */
const PARENTS_PER_STEP = 20;

/** Deletes some rows that meet a condition. `key`: columns of the primary key. Returns whether there were any. */
function* some(table: string, key: string, condition: Sql): Steps<boolean> {
  const row = differs({ sqlite: key, postgres: 'ctid' });
  const among = differs({ sqlite: 'IN (', postgres: '= ANY (ARRAY(' });
  const gone = yield* all(sql`DELETE FROM ${raw(table)} WHERE (${row}) ${among}SELECT ${row} FROM ${raw(table)}
    WHERE ${condition} LIMIT ${ROWS_PER_STEP}${differs({ sqlite: ')', postgres: '))' })} RETURNING 1 AS one`);
  return gone.length > 0;
}

/** Deletes some idempotency keys that meet a condition on `trigger_id`. */
export function purgeKeys(condition: Sql): Steps<boolean> {
  return some('idempotency', 'trigger_id, key', condition);
}

const owned =
  (table: string, key: string): PurgedTable =>
  (ownerId) =>
    some(table, key, sql`owner_id = ${ownerId}`);

/** Rows that belong to a record by a column of theirs. */
type Part = Omit<OwnedTable, 'of'>;

/** Deletes some records of an owner, each when nothing is left that belongs to it. */
const withParts = (table: string, parts: readonly Part[], more: (ids: Sql) => Steps<boolean> = nothing): PurgedTable =>
  function* (ownerId) {
    const rows = yield* all(
      sql`SELECT id FROM ${raw(table)} WHERE owner_id = ${ownerId} ORDER BY id LIMIT ${PARENTS_PER_STEP}`,
    );
    if (rows.length === 0) return false;
    const among = isAmong(rows.map((row) => text(row, 'id')));
    for (const part of parts) if (yield* some(part.table, part.key, sql`${raw(part.column)} ${among}`)) return true;
    if (yield* more(among)) return true;
    yield* send(sql`DELETE FROM ${raw(table)} WHERE owner_id = ${ownerId} AND id ${among}`);
    return true;
  };

// biome-ignore lint/correctness/useYield: a step that does nothing.
function* nothing(): Steps<boolean> {
  return false;
}

/** Deletes triggers of workflows and sources, with the idempotency keys of their callers. */
function* triggersOf(runnables: Sql): Steps<boolean> {
  const rows = yield* all(sql`SELECT id FROM triggers WHERE runnable_id ${runnables} LIMIT ${ROWS_PER_STEP}`);
  if (rows.length === 0) return false;
  const ids = isAmong(rows.map((row) => text(row, 'id')));
  if (yield* purgeKeys(sql`trigger_id ${ids}`)) return true;
  yield* send(sql`DELETE FROM triggers WHERE id ${ids}`);
  return true;
}

const OF_RUNNABLES: readonly Part[] = [
  { table: 'idempotency', key: 'trigger_id, key', column: 'trigger_id' },
  { table: 'later_emissions', key: 'entry', column: 'emitter_id' },
  { table: 'source_changes', key: 'source_id', column: 'source_id' },
  { table: 'source_db', key: 'source_id, name', column: 'source_id' },
  { table: 'dedupe', key: 'source_id, item_id', column: 'source_id' },
  { table: 'watch_counts', key: 'id, part', column: 'id' },
  { table: 'watches', key: 'id, kind', column: 'id' },
  { table: 'error_retentions', key: 'emitter_id', column: 'emitter_id' },
  { table: 'deployments', key: 'id', column: 'runnable_id' },
];

const OF_DATA_STORES: readonly Part[] = [
  { table: 'data_records', key: 'store_id, generation, key', column: 'store_id' },
  { table: 'data_gone', key: 'store_id, generation', column: 'store_id' },
];

const OF_GROUPS: readonly Part[] = [
  { table: 'idempotency', key: 'trigger_id, key', column: 'trigger_id' },
  { table: 'error_group_hours', key: 'group_id, hour', column: 'group_id' },
  { table: 'error_group_deployments', key: 'group_id, deployment_id', column: 'group_id' },
];

const OF_OPERATIONS: readonly Part[] = [
  { table: 'operation_results', key: 'operation_id, entry', column: 'operation_id' },
];

/** Deletes deliveries whose emission is gone before them, with their attempts. */
function* deliveriesLeft(ownerId: string): Steps<boolean> {
  const rows = yield* all(sql`SELECT delivery FROM deliveries WHERE owner_id = ${ownerId} LIMIT ${PARENTS_PER_STEP}`);
  if (rows.length === 0) return false;
  const among = isAmongNumbers(rows.map((row) => number(row, 'delivery')));
  if (yield* some('attempts', 'delivery, n', sql`delivery ${among}`)) return true;
  yield* send(sql`DELETE FROM deliveries WHERE delivery ${among}`);
  return true;
}

/** Tables with an index by their owner. */
const OWNED: readonly PurgedTable[] = [
  owned('runs', 'run'),
  owned('deployment_codes', 'deployment_id, hash'),
  owned('codes', 'owner_id, hash'),
  owned('digests', 'owner_id, digest_key'),
  owned('channels', 'id'),
  owned('accounts', 'id'),
  owned('redactions', 'owner_id, scope_id'),
  owned('api_keys', 'id'),
  owned('owner_quotas', 'owner_id'),
  owned('owner_bytes', 'owner_id'),
  owned('audit', 'id'),
  owned('ledger', 'owner_id, fact'),
  // Behind the ledger: it is noted from that.
  owned('ledger_hours', 'owner_id, hour'),
];

/** Tables that no index finds by owner. They are small, and come last: they are read when the others are empty. */
const SMALL: readonly PurgedTable[] = [
  owned('source_changes', 'source_id'),
  owned('watches', 'id, kind'),
  owned('error_retentions', 'emitter_id'),
  owned('later_emissions', 'entry'),
];

/** Returns all tables. `more`: those that the database has alone. */
export function purgedTables(more: readonly OwnedTable[]): readonly PurgedTable[] {
  const moreOf = (of: OwnedTable['of']): readonly Part[] => more.filter((table) => table.of === of);
  return [
    owned('subscriptions', 'id'),
    withParts('runnables', [...OF_RUNNABLES, ...moreOf('runnables')], triggersOf),
    withParts('heartbeats', [{ table: 'watches', key: 'id, kind', column: 'id' }]),
    withParts('data_stores', OF_DATA_STORES),
    withParts('error_groups', OF_GROUPS),
    withParts('operations', OF_OPERATIONS),
    withParts('webhooks', moreOf('webhooks')),
    deliveriesLeft,
    ...moreOf('owners').map(({ table, key }) => owned(table, key)),
    ...OWNED,
    ...SMALL,
  ];
}
