// What `errand store check` checks of the rows of a store, on both backends, over one snapshot. The statements are the same;
// `all_runs` and `all_deliveries` are views.
//
// Retention deletes events with their runs and deliveries, but the ledger keeps their counts. So the ledger may have more that
// is over than the rows, never less. An error is an event of its own, and may be deleted before its run.

import { DELIVERY_STATES } from '../../domain/delivery/delivery.ts';
import { ERRORS } from '../../domain/emission.ts';
import { numberedId, PREFIX, recordId } from '../../domain/ids.ts';
import { RUN_STATES } from '../../domain/run/run.ts';
import { number, text } from '../rows/cells.ts';
import type { Row } from '../rows/rows.ts';

/** A check that failed. */
export interface Finding {
  readonly check: string;
  /** The failure in words, with an example. */
  readonly detail: string;
  /** The number of rows, or the difference. */
  readonly count: number;
}

/** Sums over all owners, by fact of the ledger (`emissions`, `runs.failed`, …). */
export type Figures = Readonly<Record<string, number>>;

export interface Report {
  readonly ok: boolean;
  readonly schema: number;
  /** Null: the rows cannot be read. */
  readonly figures: {
    readonly owners: number;
    readonly attempts: number;
    /** By the ledger. */
    readonly accepted: Figures;
    /** By the rows. */
    readonly kept: Figures;
  } | null;
  readonly findings: readonly Finding[];
}

/** Reads rows from the snapshot. */
export type ReadRows = (sql: string) => Promise<Row[]>;

/**
 * A fact of the ledger that no list shows: errors without a failed run or exhausted delivery. They come from deliveries that
 * were exhausted and resent, notices of webhooks' health, and first attempts of runs that were retried.
 */
export const FURTHER_ERRORS = 'errors.further';

/** Facts of the ledger that can fall. */
export const OPEN_FACTS: ReadonlySet<string> = new Set([
  'runs.queued',
  'runs.running',
  'runs.waiting',
  'deliveries.pending',
  'deliveries.sending',
  'deliveries.retrying',
  'deliveries.held',
]);

/** The facts of the ledger that records show. */
export const FACTS: readonly string[] = [
  'emissions',
  'errors',
  ...RUN_STATES.map((state) => `runs.${state}`),
  ...DELIVERY_STATES.map((state) => `deliveries.${state}`),
];

const LEDGER = 'SELECT owner_id, fact, CAST(sum(n) AS bigint) AS n FROM ledger GROUP BY owner_id, fact';

/** Returns statements that count the rows of each fact, in these tables or views. */
export const countsOfRows = (runs: string, deliveries: string): readonly string[] => [
  `SELECT owner_id, 'runs.' || state AS fact, count(*) AS n FROM ${runs} GROUP BY owner_id, state`,
  `SELECT owner_id, 'deliveries.' || state AS fact, count(*) AS n FROM ${deliveries} GROUP BY owner_id, state`,
  "SELECT owner_id, 'emissions' AS fact, count(*) AS n FROM emissions GROUP BY owner_id",
  `SELECT owner_id, 'errors' AS fact, count(*) AS n FROM emissions WHERE name = '${ERRORS}' GROUP BY owner_id`,
];

const ROWS = countsOfRows('all_runs', 'all_deliveries');

/**
 * The oldest event that nothing protects from retention. Retention deletes by age, so it has not deleted anything younger: a
 * younger event that is missing was lost. Without such an event, nothing can be said.
 */
const NEVER_PRUNED_FROM = `coalesce((SELECT e.entry FROM emissions AS e WHERE substr(e.emitter_id, 1, 2) NOT IN ('p_', 'dc', 'wh')
  AND NOT EXISTS (SELECT 1 FROM all_runs AS r WHERE r.entry = e.entry AND r.state IN ('queued', 'running', 'waiting'))
  AND NOT EXISTS (SELECT 1 FROM all_deliveries AS d WHERE d.entry = e.entry
    AND d.state IN ('pending', 'sending', 'retrying', 'held'))
  AND NOT EXISTS (SELECT 1 FROM digests AS g WHERE g.newest_entry = e.entry)
  ORDER BY e.entry LIMIT 1), ${Number.MAX_SAFE_INTEGER})`;

export interface Rule {
  readonly check: string;
  readonly detail: string;
  /** The rows that break the rule, from FROM on. */
  readonly broken: string;
  /** The column of their number, or of another name for an example. */
  readonly example: string;
  readonly show?: (example: never) => string;
}

export const showRun = (run: number): string => numberedId(PREFIX.run, run);
export const showDelivery = (delivery: number): string => numberedId(PREFIX.delivery, delivery);

const RULES: readonly Rule[] = [
  {
    check: 'run_without_event',
    detail: 'runs whose event is not in the log',
    broken: 'all_runs AS r WHERE NOT EXISTS (SELECT 1 FROM emissions AS e WHERE e.entry = r.entry)',
    example: 'r.run',
    show: showRun,
  },
  {
    check: 'delivery_without_event',
    detail: 'deliveries whose event is not in the log',
    broken: 'all_deliveries AS d WHERE NOT EXISTS (SELECT 1 FROM emissions AS e WHERE e.entry = d.entry)',
    example: 'd.delivery',
    show: showDelivery,
  },
  {
    check: 'withheld_without_event',
    detail: 'withheld listeners whose event is not in the log',
    broken: 'withheld AS w WHERE NOT EXISTS (SELECT 1 FROM emissions AS e WHERE e.entry = w.entry)',
    example: 'w.entry',
    show: recordId,
  },
  {
    check: 'failed_run_without_error',
    detail: `failed runs without their ${ERRORS}`,
    broken: `all_runs AS r LEFT JOIN emissions AS e ON e.entry = r.error_entry
      WHERE r.state = 'failed' AND e.entry IS NULL AND (r.error_entry IS NULL OR r.error_entry >= ${NEVER_PRUNED_FROM})`,
    example: 'r.run',
    show: showRun,
  },
  {
    check: 'failed_run_with_foreign_error',
    detail: `failed runs whose error entry is not their ${ERRORS}`,
    broken: `all_runs AS r JOIN emissions AS e ON e.entry = r.error_entry
      WHERE r.state = 'failed' AND (e.name <> '${ERRORS}' OR e.cause_run IS DISTINCT FROM r.run)`,
    example: 'r.run',
    show: showRun,
  },
  {
    check: 'several_errors_of_one_run',
    detail: `runs with more than one ${ERRORS}`,
    // A retried run may also have the error of its first attempt.
    broken: `(SELECT cause_run, count(*) AS errors FROM emissions WHERE name = '${ERRORS}' AND cause_run IS NOT NULL
      GROUP BY cause_run HAVING count(*) > 1) AS e LEFT JOIN all_runs AS r ON r.run = e.cause_run
      WHERE e.errors > 2 OR r.attempt = 1`,
    example: 'r.run',
    show: showRun,
  },
  {
    check: 'error_of_run_that_did_not_fail',
    detail: `${ERRORS} of runs that neither failed nor were retried`,
    broken: `emissions AS e JOIN all_runs AS r ON r.run = e.cause_run
      WHERE e.name = '${ERRORS}' AND r.state <> 'failed' AND r.attempt = 1`,
    example: 'r.run',
    show: showRun,
  },
  {
    check: 'attempt_without_delivery',
    detail: 'attempts without their delivery',
    broken: `(SELECT delivery FROM attempts GROUP BY delivery) AS a
      WHERE NOT EXISTS (SELECT 1 FROM all_deliveries AS d WHERE d.delivery = a.delivery)`,
    example: 'a.delivery',
    show: showDelivery,
  },
  {
    check: 'attempts_with_gaps',
    detail: 'deliveries whose attempts are not numbered from 1 to their number of requests',
    broken: `(SELECT delivery, count(*) AS made, min(n) AS lowest, max(n) AS highest FROM attempts GROUP BY delivery) AS a
      JOIN all_deliveries AS d ON d.delivery = a.delivery
      WHERE a.lowest <> 1 OR a.highest <> a.made OR d.requests_made <> a.made`,
    example: 'd.delivery',
    show: showDelivery,
  },
  {
    check: 'attempts_missing',
    detail: 'deliveries with requests made, but no attempt',
    broken: `all_deliveries AS d WHERE d.requests_made > 0
      AND NOT EXISTS (SELECT 1 FROM attempts AS a WHERE a.delivery = d.delivery)`,
    example: 'd.delivery',
    show: showDelivery,
  },
  {
    check: 'attempts_miscounted',
    detail: 'deliveries with more counted attempts than requests, or more tries than counted attempts',
    broken: 'all_deliveries AS d WHERE d.attempts_made > d.requests_made OR d.tries > d.attempts_made',
    example: 'd.delivery',
    show: showDelivery,
  },
  {
    check: 'runnable_without_deployment',
    detail: 'workflows and sources without their active deployment',
    broken: `runnables AS r
      WHERE NOT EXISTS (SELECT 1 FROM deployments AS d WHERE d.id = r.deployment_id AND d.runnable_id = r.id)`,
    example: 'r.id',
  },
  {
    check: 'source_without_code',
    detail: 'sources whose code is not that of their active deployment',
    broken: `runnables AS r WHERE substr(r.id, 1, 3) = 'dc_' AND r.component_code IS NULL
      AND NOT EXISTS (SELECT 1 FROM deployment_codes AS u
        WHERE u.deployment_id = r.deployment_id AND u.hash = r.component_code_hash)`,
    example: 'r.id',
  },
  {
    check: 'deployment_without_code',
    detail: 'deployments without some of their code',
    broken: `deployment_codes AS u
      WHERE NOT EXISTS (SELECT 1 FROM codes AS c WHERE c.owner_id = u.owner_id AND c.hash = u.hash)`,
    example: 'u.deployment_id',
  },
  {
    check: 'code_without_deployment',
    detail: 'code that belongs to no deployment, and that is never deleted',
    broken: `(SELECT c.hash FROM codes AS c
        WHERE NOT EXISTS (SELECT 1 FROM deployment_codes AS u WHERE u.owner_id = c.owner_id AND u.hash = c.hash)
      UNION ALL SELECT u.hash FROM deployment_codes AS u
        WHERE NOT EXISTS (SELECT 1 FROM deployments AS d WHERE d.id = u.deployment_id AND d.owner_id = u.owner_id)) AS lost`,
    example: 'lost.hash',
  },
  {
    check: 'record_without_data_store',
    detail: 'records without a data store, which are never deleted',
    broken: `data_records AS r
      WHERE NOT EXISTS (SELECT 1 FROM data_stores AS s WHERE s.id = r.store_id AND s.generation = r.generation)
        AND NOT EXISTS (SELECT 1 FROM data_gone AS g WHERE g.store_id = r.store_id AND g.generation = r.generation)`,
    example: 'r.store_id',
  },
  {
    check: 'data_store_miscounted',
    detail: 'data stores whose counts differ from their records',
    broken: `data_stores AS s LEFT JOIN (SELECT store_id, generation, count(*) AS n, CAST(sum(bytes) AS bigint) AS bytes
        FROM data_records GROUP BY store_id, generation) AS r ON r.store_id = s.id AND r.generation = s.generation
      WHERE s.records <> coalesce(r.n, 0) OR s.bytes <> coalesce(r.bytes, 0)`,
    example: 's.id',
  },
  {
    check: 'later_without_source',
    detail: 'later emissions of sources that were deleted',
    broken: `later_emissions AS l WHERE NOT EXISTS (SELECT 1 FROM runnables AS r WHERE r.id = l.emitter_id)`,
    example: 'l.entry',
    show: recordId,
  },
  {
    check: 'change_without_source',
    detail: 'changes of sources that were deleted',
    broken: `source_changes AS c WHERE NOT EXISTS (SELECT 1 FROM runnables AS r WHERE r.id = c.source_id)`,
    example: 'c.source_id',
  },
  {
    check: 'operation_without_webhook',
    detail: 'open operations of webhooks that were deleted',
    broken: `operations AS o WHERE o.state IN ('running', 'paused')
      AND NOT EXISTS (SELECT 1 FROM webhooks AS w WHERE w.id = o.webhook_id)`,
    example: 'o.id',
  },
];

/** Runs the checks of both backends. `more`: the checks of one. */
export async function checkRows(
  read: ReadRows,
  of: { schema: number; more?: () => Promise<Finding[]> },
): Promise<Report> {
  const ledger = await factsOf(read, [LEDGER]);
  const rows = await factsOf(read, ROWS);
  const findings = [...judgeLedger(ledger, rows), ...(await findBroken(read, RULES)), ...((await of.more?.()) ?? [])];
  const figures = {
    owners: await countOf(read, 'owners'),
    attempts: await countOf(read, 'attempts'),
    accepted: totals(ledger),
    kept: totals(rows),
  };
  return { ok: findings.length === 0, schema: of.schema, figures, findings };
}

/** Returns the numbers of rows by fact. */
export async function countRows(read: ReadRows): Promise<Figures> {
  return totals(await factsOf(read, ROWS));
}

export async function findBroken(read: ReadRows, rules: readonly Rule[]): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { check, detail, broken, example, show = String } of rules) {
    const rows = await read(`SELECT count(*) AS n, min(${example}) AS example FROM ${broken}`);
    const count = countIn(rows);
    if (count === 0) continue;
    findings.push({ check, detail: `${detail}, e.g. ${show(rows[0]?.example as never)}`, count });
  }
  return findings;
}

/** Owner → fact → figure. */
export type Facts = ReadonlyMap<string, ReadonlyMap<string, number>>;

async function factsOf(read: ReadRows, statements: readonly string[]): Promise<Facts> {
  let rows: readonly Row[] = [];
  for (const sql of statements) rows = rows.concat(await read(sql));
  return factsIn(rows);
}

/** Returns the figures of rows with `owner_id`, `fact` and `n`. */
export function factsIn(rows: readonly Row[]): Map<string, Map<string, number>> {
  const owners = new Map<string, Map<string, number>>();
  for (const row of rows) {
    const facts = owners.get(text(row, 'owner_id')) ?? new Map<string, number>();
    owners.set(text(row, 'owner_id'), facts);
    facts.set(text(row, 'fact'), number(row, 'n'));
  }
  return owners;
}

/** Compares the ledger with the rows, owner by owner. */
export function judgeLedger(ledger: Facts, rows: Facts): Finding[] {
  const findings: Finding[] = [];
  for (const ownerId of new Set([...ledger.keys(), ...rows.keys()])) {
    const [counted, kept] = [ledger.get(ownerId), rows.get(ownerId)];
    for (const fact of new Set([...(counted?.keys() ?? []), ...(kept?.keys() ?? [])])) {
      const [n, found] = [counted?.get(fact) ?? 0, kept?.get(fact) ?? 0];
      const detail = `${fact} of ${ownerId}: ${n} in the ledger, ${found} rows`;
      if (OPEN_FACTS.has(fact) && n !== found)
        findings.push({ check: 'ledger_open', detail, count: Math.abs(n - found) });
      if (!OPEN_FACTS.has(fact) && n < found) findings.push({ check: 'ledger_below_rows', detail, count: found - n });
    }
    const [errors, failures] = [counted?.get('errors') ?? 0, failuresOf(counted)];
    if (errors === failures) continue;
    const detail = `${ownerId}: ${errors} errors in the ledger, but ${failures} failed runs, exhausted deliveries and further errors`;
    findings.push({ check: 'ledger_errors', detail, count: Math.abs(errors - failures) });
  }
  return findings;
}

/** Returns the number of failures; each has emitted one error. */
function failuresOf(counted: ReadonlyMap<string, number> | undefined): number {
  const facts = ['runs.failed', 'deliveries.exhausted', FURTHER_ERRORS];
  return facts.reduce((sum, fact) => sum + (counted?.get(fact) ?? 0), 0);
}

function totals(owners: Facts): Figures {
  const sums = new Map(FACTS.map((fact) => [fact, 0]));
  for (const facts of owners.values()) {
    for (const [fact, n] of facts) sums.set(fact, (sums.get(fact) ?? 0) + n);
  }
  return Object.fromEntries(sums);
}

async function countOf(read: ReadRows, table: string): Promise<number> {
  return countIn(await read(`SELECT count(*) AS n FROM ${table}`));
}

/** Returns the `n` of the only row. */
export function countIn([row = {}]: readonly Row[]): number {
  return number(row, 'n');
}
