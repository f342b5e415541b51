// The tables of a move: which rows of an SQLite store become which rows here. A column that is not listed is copied by name; its
// type is read from the database.

import type { ExportedCell, ExportedRow } from '../../contract/export.ts';
import { kept } from '../../log/source-memory.ts';
import { jsonOrNull, number, text, textOrNull } from '../../rows/cells.ts';
import { OPEN_DELIVERY } from '../../rows/delivery-rows.ts';
import { FLAG_BITS } from '../../rows/emission-cells.ts';
import { OPEN_RUN } from '../../rows/run-rows.ts';
import { storedStartTimes } from '../runs/start-times.ts';

export interface Imported {
  readonly table: string;
  /** The table, or a subquery, of the moved store. */
  readonly from: string;
  /** A condition on its rows; none: all. */
  readonly where?: string;
  /** Unique in `from`: rows are copied in this order, and copying goes on behind the last one. */
  readonly key: readonly string[];
  /** The order in which both sides are compared, if one side lacks the key. */
  readonly order?: readonly string[];
  readonly columns?: Readonly<Record<string, (row: ExportedRow) => ExportedCell>>;
}

/** Reads the bits of an emission's `flags`. */
const FLAGS = Object.fromEntries(
  Object.entries(FLAG_BITS).map(([name, bit]) => [name, (row: ExportedRow) => (number(row, 'flags') & bit) !== 0]),
);
const none = (): null => null;

/**
 * Work that was under way when the server was killed is leased to this node, which never exists, with an expired lease: the first
 * server that starts rescues it, as after every crash.
 */
const NO_NODE = 0;
const underWay = (state: string) => (row: ExportedRow) => (row.state === state ? NO_NODE : null);

/**
 * Queues of webhooks with a row of health, and of throttled workflows. Their counts are added at the end.
 */
const QUEUES = `(SELECT w.owner_id, h.webhook_id AS listener_id, 0 AS is_run, h.failing_since_ms, h.exhausted_in_row,
    h.noticed_at_ms, h.paused_until_ms, NULL AS starts FROM webhook_health AS h JOIN webhooks AS w ON w.id = h.webhook_id
  UNION ALL SELECT r.owner_id, t.runnable_id, 1, NULL, 0, NULL, NULL, t.starts
    FROM throttles AS t JOIN runnables AS r ON r.id = t.runnable_id)`;

/** Converts starts from a JSON list. */
function startsOf(row: ExportedRow): string | null {
  const starts = jsonOrNull<number[]>(row, 'starts');
  return starts && storedStartTimes(starts);
}

/** Returns whether the owner has cancelled the running run, which is a separate column here; other orders are kept alike. */
const isStopped = (row: ExportedRow): boolean => /"order":"stop"/.test(textOrNull(row, 'early') ?? '');

const zero = (): number => 0;

export const IMPORTED: readonly Imported[] = [
  { table: 'owners', from: 'owners', key: ['id'] },
  { table: 'owner_quotas', from: 'owner_quotas', key: ['owner_id'] },
  { table: 'redactions', from: 'redactions', key: ['owner_id', 'scope_id'] },
  { table: 'owner_bytes', from: 'owner_bytes', key: ['owner_id'] },
  { table: 'api_keys', from: 'api_keys', key: ['id'] },
  { table: 'runnables', from: 'runnables', key: ['id'] },
  { table: 'error_retentions', from: 'error_retentions', key: ['emitter_id'] },
  { table: 'codes', from: 'codes', key: ['owner_id', 'hash'] },
  { table: 'deployment_codes', from: 'deployment_codes', key: ['deployment_id', 'hash'] },
  { table: 'deployments', from: 'deployments', key: ['id'] },
  { table: 'triggers', from: 'triggers', key: ['id'] },
  { table: 'heartbeats', from: 'heartbeats', key: ['id'] },
  { table: 'watches', from: 'watches', key: ['id', 'kind'] },
  { table: 'watch_counts', from: 'watch_counts', key: ['id', 'part'] },
  { table: 'watch_clock', from: 'watch_clock', key: ['name'] },
  { table: 'subscriptions', from: 'subscriptions', key: ['id'] },
  { table: 'webhooks', from: 'webhooks', key: ['id'] },
  { table: 'emissions', from: 'emissions', key: ['entry'], columns: FLAGS },
  { table: 'later_emissions', from: 'later_emissions', key: ['entry'], columns: FLAGS },
  {
    table: 'open_runs',
    from: 'runs',
    where: OPEN_RUN,
    key: ['run'],
    columns: {
      node: underWay('running'),
      lease_until_ms: underWay('running'),
      awaited_by: none,
      cancel_asked: isStopped,
      early: (row) => (isStopped(row) ? null : textOrNull(row, 'early')),
      summary_so_far: (row) => textOrNull(row, 'summary'),
      detail_so_far: (row) => textOrNull(row, 'detail'),
    },
  },
  { table: 'runs', from: 'runs', where: `NOT (${OPEN_RUN})`, key: ['run'], columns: { awaited_by: none } },
  {
    table: 'open_deliveries',
    from: 'deliveries',
    where: OPEN_DELIVERY,
    key: ['delivery'],
    columns: { node: underWay('sending'), lease_until_ms: underWay('sending') },
  },
  { table: 'deliveries', from: 'deliveries', where: `NOT (${OPEN_DELIVERY})`, key: ['delivery'] },
  { table: 'attempts', from: 'attempts', key: ['delivery', 'n'] },
  {
    table: 'withheld',
    from: 'withheld',
    key: ['rowid'],
    order: ['entry', 'listener_id', 'subscription_id', 'via', 'reason'],
  },
  { table: 'idempotency', from: 'idempotency', key: ['trigger_id', 'key'] },
  { table: 'digests', from: 'digests', key: ['owner_id', 'digest_key'] },
  { table: 'error_groups', from: 'error_groups', key: ['id'] },
  { table: 'ledger_hours', from: 'ledger_hours', key: ['owner_id', 'hour'] },
  { table: 'error_group_hours', from: 'error_group_hours', key: ['group_id', 'hour'] },
  { table: 'error_group_deployments', from: 'error_group_deployments', key: ['group_id', 'deployment_id'] },
  // The first server that starts finishes these changes.
  { table: 'source_changes', from: 'source_changes', key: ['source_id'], columns: { node: () => NO_NODE } },
  { table: 'source_db', from: 'source_db', key: ['source_id', 'name'] },
  {
    table: 'dedupe',
    from: 'dedupe',
    key: ['source_id', 'entry'],
    columns: { item_id: (row) => kept(text(row, 'item_id')) },
  },
  {
    table: 'listener_queues',
    from: QUEUES,
    key: ['owner_id', 'listener_id'],
    columns: {
      waiting: zero,
      taken: zero,
      holder: none,
      ready_at_ms: none,
      kept_until_ms: none,
      starts: startsOf,
    },
  },
  { table: 'operations', from: 'operations', key: ['id'] },
  { table: 'operation_results', from: 'operation_results', key: ['operation_id', 'entry'] },
  { table: 'channels', from: 'channels', key: ['id'] },
  { table: 'accounts', from: 'accounts', key: ['id'] },
  { table: 'data_stores', from: 'data_stores', key: ['id'] },
  { table: 'data_records', from: 'data_records', key: ['store_id', 'generation', 'key'] },
  { table: 'data_gone', from: 'data_gone', key: ['store_id', 'generation'] },
  { table: 'audit', from: 'audit', key: ['id'] },
  { table: 'ledger', from: 'ledger', key: ['owner_id', 'fact'], columns: { slot: () => 0 } },
];

/** Other tables that a store writes here, except `meta` and `nodes`. */
export const MADE_HERE: readonly string[] = ['answers', 'versions'];
