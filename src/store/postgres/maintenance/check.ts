// `errand store check` on Postgres: one read-only transaction over one snapshot, while servers may be running.

import { LIMITS, MINUTE_MS } from '../../../domain/limits.ts';
import type { TellProgress } from '../../../ports.ts';
import { findSealed } from '../../check/check-secrets.ts';
import {
  type BeginCheck,
  type CheckReport,
  checkRows,
  createCheckProgress,
  type Finding,
  findBroken,
  type ReadRows,
} from '../../check/checks.ts';
import { type Rule, showDelivery, showRun, waitRules } from '../../check/rules.ts';
import { StoreUnavailable } from '../../contract/unavailable.ts';
import type { SecretKey } from '../../seal/seal-key.ts';
import { NOW_SQL } from '../connection/clock.ts';
import { DatabaseSession } from '../connection/database-session.ts';
import { MOVE_UNDER_WAY } from '../move/import-progress.ts';
import { QUEUE_FAULTS, queuesAsRows } from './queue-rows.ts';
import { SCHEMA_VERSION } from './schema.ts';

/** Each node looks for expired leases several times a minute, so an older one was overlooked. */
const OVERDUE_MS = 5 * MINUTE_MS;

/** Some server has been running all that time. */
const IS_SEEN_TO = `EXISTS (SELECT 1 FROM nodes WHERE gone_at_ms IS NULL AND started_at_ms < ${NOW_SQL} - ${OVERDUE_MS}
  AND beat_at_ms > ${NOW_SQL} - ${LIMITS.nodeLeaseMs})`;

const RULES: readonly Rule[] = [
  ...twice('open_runs', 'runs', 'run'),
  ...twice('open_deliveries', 'deliveries', 'delivery'),
  misplaced('open_runs', 'run', "NOT IN ('queued', 'running', 'waiting')"),
  misplaced('runs', 'run', "NOT IN ('succeeded', 'failed', 'cancelled')"),
  misplaced('open_deliveries', 'delivery', "NOT IN ('pending', 'sending', 'retrying', 'held')"),
  misplaced('deliveries', 'delivery', "NOT IN ('delivered', 'exhausted', 'cancelled')"),
  ...leases('open_runs', 'run', 'running'),
  ...waitRules('open_runs'),
  {
    check: 'run_waits_too_long',
    detail: 'runs whose wait was due long ago',
    broken: `open_runs WHERE due_at_ms < ${NOW_SQL} - ${OVERDUE_MS} AND ${IS_SEEN_TO}`,
    example: 'run',
    show: showRun,
  },
  ...leases('open_deliveries', 'delivery', 'sending'),
  ...QUEUE_FAULTS.map(({ check, detail, is }) => ({
    check,
    detail,
    broken: `${queuesAsRows()} WHERE ${is}`,
    example: 'listener',
  })),
];

function showOf(key: string): Rule['show'] {
  return key === 'run' ? showRun : showDelivery;
}

function twice(open: string, over: string, key: string): Rule[] {
  const detail = `rows of ${open} that are also in ${over}`;
  return [
    {
      check: `${key}_open_and_over`,
      detail,
      broken: `${open} AS o JOIN ${over} USING (${key})`,
      example: key,
      show: showOf(key),
    },
  ];
}

function misplaced(table: string, key: string, states: string): Rule {
  const detail = `rows of ${table} in a state that belongs to another table`;
  return {
    check: `${key}_misplaced`,
    detail,
    broken: `${table} WHERE state ${states}`,
    example: key,
    show: showOf(key),
  };
}

function leases(table: string, key: string, state: string): Rule[] {
  const isUnknown = 'NOT EXISTS (SELECT 1 FROM nodes AS n WHERE n.node = o.node)';
  const isGone = `EXISTS (SELECT 1 FROM nodes AS n WHERE n.node = o.node AND n.gone_at_ms < ${NOW_SQL} - ${OVERDUE_MS})`;
  return [
    {
      check: `${key}_held_by_nobody`,
      detail: `rows of ${table} that are ${state} at an unknown node, with a lease that has not expired`,
      broken: `${table} AS o WHERE state = '${state}' AND ${isUnknown}
        AND (lease_until_ms IS NULL OR lease_until_ms > ${NOW_SQL})`,
      example: key,
      show: showOf(key),
    },
    {
      check: `${key}_not_taken_back`,
      detail: `rows of ${table} that are ${state} although their lease expired long ago, or their node is gone`,
      broken: `${table} AS o WHERE state = '${state}' AND (lease_until_ms < ${NOW_SQL} - ${OVERDUE_MS} OR ${isGone})
        AND ${IS_SEEN_TO}`,
      example: key,
      show: showOf(key),
    },
  ];
}

/** Checks a store. `keys`: of the operator. Throws `StoreUnavailable` when the database is out of reach or has another schema. */
export async function checkPostgres(
  url: string,
  keys: readonly SecretKey[] = [],
  tell?: TellProgress,
): Promise<CheckReport> {
  const begin = createCheckProgress(RULES.length + 2, tell);
  const session = await DatabaseSession.open({ url, name: 'errand store check' });
  try {
    await session.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const read: ReadRows = (sql) => session.query(sql);
    await refuseOtherSchema(read);
    const more = async (): Promise<Finding[]> => [
      ...(await findBroken(read, RULES, begin)),
      ...(await findMove(read, begin)),
      ...(await findSealed(read, keys, begin)),
    ];
    return await checkRows(read, { schema: SCHEMA_VERSION, begin, more });
  } finally {
    await session.close();
  }
}

async function refuseOtherSchema(read: ReadRows): Promise<void> {
  const [there] = await read("SELECT to_regclass('errand_schema') IS NOT NULL AS is_there");
  if (there?.is_there !== true) throw new StoreUnavailable('there is no store in this database');
  const [row] = await read('SELECT max(version) AS version FROM errand_schema');
  if (row?.version === SCHEMA_VERSION) return;
  throw new StoreUnavailable(
    `the database has schema ${row?.version}, and this program needs ${SCHEMA_VERSION}: start the server of that version`,
  );
}

async function findMove(read: ReadRows, begin: BeginCheck): Promise<Finding[]> {
  begin('move_under_way');
  const rows = await read(MOVE_UNDER_WAY);
  const detail = 'a move into this database is not finished: call errand store move again';
  return rows.length === 0 ? [] : [{ check: 'move_under_way', detail, count: 1 }];
}
