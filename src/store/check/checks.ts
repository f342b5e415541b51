// What `errand store check` checks of the rows of a store, on both backends, over one snapshot.
//
// Retention deletes events with their runs and deliveries, but the ledger keeps their counts. So the ledger may have more that
// is over than the rows, never less. An error is an event of its own, and may be deleted before its run.

import { DELIVERY_STATES } from '../../domain/delivery/delivery.ts';
import { ERRORS } from '../../domain/emission.ts';
import { RUN_STATES } from '../../domain/run/run.ts';
import type { TellProgress } from '../../ports.ts';
import { number, text } from '../rows/cells.ts';
import type { Row } from '../rows/rows.ts';
import { RULES, type Rule } from './rules.ts';

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

export interface CheckReport {
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

/** Called with the name of each check that begins. */
export type BeginCheck = (check: string) => void;

/** Returns what tells how far the checks are. `more`: how many checks a backend has of its own. */
export function createCheckProgress(more: number, tell: TellProgress | undefined): BeginCheck {
  const total = 1 + ROWS.length + RULES.length + more;
  let begun = 0;
  return (check) => tell?.(`checking ${check}`, begun++ / total);
}

/** Runs the checks of both backends. `more`: the checks of one. */
export async function checkRows(
  read: ReadRows,
  of: { schema: number; begin: BeginCheck; more: () => Promise<Finding[]> },
): Promise<CheckReport> {
  of.begin('ledger');
  const ledger = await factsOf(read, [LEDGER]);
  const rows = await factsOf(read, ROWS, of.begin);
  const findings = [...judgeLedger(ledger, rows), ...(await findBroken(read, RULES, of.begin)), ...(await of.more())];
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

export async function findBroken(read: ReadRows, rules: readonly Rule[], begin: BeginCheck): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { check, detail, broken, example, show = String } of rules) {
    begin(check);
    const rows = await read(`SELECT count(*) AS n, min(${example}) AS example FROM ${broken}`);
    const count = countIn(rows);
    if (count === 0) continue;
    findings.push({ check, detail: `${detail}, e.g. ${show(rows[0]?.example as never)}`, count });
  }
  return findings;
}

/** Owner → fact → figure. */
export type Facts = ReadonlyMap<string, ReadonlyMap<string, number>>;

async function factsOf(read: ReadRows, statements: readonly string[], begin?: BeginCheck): Promise<Facts> {
  let rows: readonly Row[] = [];
  for (const sql of statements) {
    begin?.('rows');
    rows = rows.concat(await read(sql));
  }
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
