// How Postgres would execute a statement for any values: which tables it would read whole.

import { Connection } from '../../../src/store/postgres/connection/connection.ts';

const GROWING = new Set([
  'emissions',
  'runs',
  'open_runs',
  'deliveries',
  'open_deliveries',
  'attempts',
  'withheld',
  'idempotency',
]);

interface Plan {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Cond'?: string;
  readonly 'Recheck Cond'?: string;
  readonly 'Index Name'?: string;
  readonly Plans?: readonly Plan[];
}

/** Indexes that hold only what is rare. */
const SMALL_INDEXES = new Set(['open_runs_cancel']);

/** What each statement reads of growing tables without a key, planned as the store's lanes have it planned. */
export async function wholeReads(url: string, statements: Iterable<string>): Promise<string[]> {
  const connection = await Connection.open({ url, name: 'plans', isByKey: true });
  const found: string[] = [];
  try {
    for (const text of statements) {
      if (!/^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)/i.test(text)) continue;
      const [row] = await connection.query(`EXPLAIN (GENERIC_PLAN, FORMAT JSON) ${text}`, [], false);
      const explained = row?.['QUERY PLAN'] as unknown as [{ Plan: Plan }] | undefined;
      if (!explained) throw new Error(`no plan of ${text}`);
      for (const { 'Node Type': type, 'Relation Name': table } of scansIn(explained[0].Plan)) {
        found.push(`${type} of ${table}: ${text.replace(/\s+/g, ' ')}`);
      }
    }
  } finally {
    await connection.close();
  }
  return found;
}

function* scansIn(plan: Plan): Generator<Plan> {
  const reads = GROWING.has(plan['Relation Name'] ?? '') && plan['Node Type'].includes('Scan');
  const isByKey = plan['Index Cond'] !== undefined || plan['Recheck Cond'] !== undefined;
  if (reads && !isByKey && !SMALL_INDEXES.has(plan['Index Name'] ?? '')) yield plan;
  for (const child of plan.Plans ?? []) yield* scansIn(child);
}
