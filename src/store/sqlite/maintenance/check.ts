// `errand store check` on SQLite: reads the file, while a server may be running on it. Nothing is written.

import { existsSync, statSync } from 'node:fs';
import type { TellProgress } from '../../../ports.ts';
import { findSealed } from '../../check/check-secrets.ts';
import {
  type CheckReport,
  checkRows,
  createCheckProgress,
  type Finding,
  findBroken,
  type ReadRows,
} from '../../check/checks.ts';
import { type Rule, showRun, waitRules } from '../../check/rules.ts';
import { StoreUnavailable } from '../../contract/unavailable.ts';
import { number } from '../../rows/cells.ts';
import type { SecretKey } from '../../seal/seal-key.ts';
import { Connection, openingError } from '../database.ts';
import { refuseHardLinks, whyUnreadable } from '../file-access.ts';
import { isDamage } from '../salvage/damage.ts';
import { SCHEMA_VERSION } from './schema.ts';

/** Temporary views, so that the statements are the same for both backends. */
const VIEWS = `CREATE TEMP VIEW all_runs AS SELECT * FROM main.runs;
  CREATE TEMP VIEW all_deliveries AS SELECT * FROM main.deliveries;`;

/** The checks of this backend alone. */
const RULES: readonly Rule[] = [
  {
    check: 'health_without_webhook',
    detail: 'health of webhooks that were deleted',
    broken: 'webhook_health AS h WHERE NOT EXISTS (SELECT 1 FROM webhooks AS w WHERE w.id = h.webhook_id)',
    example: 'h.webhook_id',
  },
  ...waitRules('runs'),
  {
    check: 'run_over_that_goes_on',
    detail: 'ended runs with a checkpoint, or an order for a wait',
    broken: `runs AS r WHERE r.state NOT IN ('queued', 'running', 'waiting')
      AND (r.carried IS NOT NULL OR r.resumed IS NOT NULL OR r.early IS NOT NULL)`,
    example: 'r.run',
    show: showRun,
  },
  {
    check: 'throttle_without_workflow',
    detail: 'throttles of workflows that were deleted',
    broken: 'throttles AS t WHERE NOT EXISTS (SELECT 1 FROM runnables AS r WHERE r.id = t.runnable_id)',
    example: 't.runnable_id',
  },
];

/** The most findings of SQLite itself that are reported; later ones repeat the first. */
const MAX_FINDINGS = 20;

/**
 * Checks a store. `keys`: of the operator. Throws `StoreUnavailable` when there is no store, it has another schema, or this user
 * cannot read it.
 */
export async function checkSqlite(
  path: string,
  keys: readonly SecretKey[] = [],
  tell?: TellProgress,
): Promise<CheckReport> {
  try {
    return await checkFile(path, keys, tell);
  } catch (error) {
    // Of some damage SQLite throws before it can say anything of the rest.
    if (!isDamage(error)) throw error;
    return damaged([{ check: 'quick_check', detail: (error as Error).message, count: 1 }]);
  }
}

async function checkFile(path: string, keys: readonly SecretKey[], tell?: TellProgress): Promise<CheckReport> {
  const connection = openToRead(path);
  try {
    tell?.('checking the file', null);
    // First, and outside of the transaction: it reads the whole file, and meanwhile the WAL grows.
    const findings = checkStructure(connection);
    // The rows of a damaged file cannot be trusted.
    if (findings.length > 0) return damaged(findings);
    connection.exec('BEGIN');
    const read = readerOf(connection);
    const begin = createCheckProgress(RULES.length + 1, tell);
    const more = async (): Promise<Finding[]> => [
      ...(await findBroken(read, RULES, begin)),
      ...(await findSealed(read, keys, begin)),
    ];
    return await checkRows(read, { schema: SCHEMA_VERSION, begin, more });
  } finally {
    connection.close();
  }
}

function damaged(findings: readonly Finding[]): CheckReport {
  return { ok: false, schema: SCHEMA_VERSION, figures: null, findings };
}

/** Opens a read-only connection with the views. */
export function openToRead(path: string): Connection {
  if (!existsSync(path)) throw new StoreUnavailable(`there is no store at ${path}`);
  if (statSync(path).size === 0) throw new StoreUnavailable(`${path} is empty: it is no store`);
  refuseHardLinks(path);
  const unreadable = whyUnreadable(path);
  let connection: Connection | undefined;
  try {
    connection = new Connection(path, true);
    connection.exec('PRAGMA temp_store = FILE');
    const schema = number(connection.get('PRAGMA user_version') ?? {}, 'user_version');
    if (schema !== SCHEMA_VERSION) {
      throw new StoreUnavailable(
        `${path} has schema ${schema}, and this program needs ${SCHEMA_VERSION}: start the server of that version`,
      );
    }
    connection.exec(VIEWS);
    return connection;
  } catch (error) {
    connection?.close();
    const failed = openingError(error, path);
    if (unreadable === null || isDamage(failed)) throw failed;
    throw new StoreUnavailable(unreadable, { cause: error });
  }
}

export function readerOf(connection: Connection): ReadRows {
  return async (sql) => connection.all(sql);
}

function checkStructure(connection: Connection): Finding[] {
  const lines = connection.all(`PRAGMA quick_check(${MAX_FINDINGS})`).map((row) => String(row.quick_check));
  return lines.filter((line) => line !== 'ok').map((detail) => ({ check: 'quick_check', detail, count: 1 }));
}
