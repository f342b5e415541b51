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
      for (const { 'Node Type': type, 'Relation Name': table } of scansIn(await planOf(connection, text))) {
        found.push(`${type} of ${table}: ${text.replace(/\s+/g, ' ')}`);
      }
    }
  } finally {
    await connection.close();
  }
  return found;
}

/** The indexes by which a statement reads; a table that it reads without a key shows as that. */
export async function indexesRead(url: string, statement: string): Promise<string[]> {
  const connection = await Connection.open({ url, name: 'plans', isByKey: true });
  try {
    return [...readsIn(await planOf(connection, statement))];
  } finally {
    await connection.close();
  }
}

async function planOf(connection: Connection, statement: string): Promise<Plan> {
  const [row] = await connection.query(`EXPLAIN (GENERIC_PLAN, FORMAT JSON) ${statement}`, [], false);
  const explained = row?.['QUERY PLAN'] as unknown as [{ Plan: Plan }] | undefined;
  if (!explained) throw new Error(`no plan of ${statement}`);
  return explained[0].Plan;
}

function* readsIn(plan: Plan): Generator<string> {
  const table = plan['Relation Name'];
  const isByKey = plan['Index Cond'] !== undefined || plan['Recheck Cond'] !== undefined;
  if (plan['Index Name'] !== undefined && isByKey) yield plan['Index Name'];
  else if (table !== undefined && !isByKey) yield `${plan['Node Type']} of ${table}`;
  for (const child of plan.Plans ?? []) yield* readsIn(child);
}

function* scansIn(plan: Plan): Generator<Plan> {
  const reads = GROWING.has(plan['Relation Name'] ?? '') && plan['Node Type'].includes('Scan');
  const isByKey = plan['Index Cond'] !== undefined || plan['Recheck Cond'] !== undefined;
  if (reads && !isByKey && !SMALL_INDEXES.has(plan['Index Name'] ?? '')) yield plan;
  for (const child of plan.Plans ?? []) yield* scansIn(child);
}
