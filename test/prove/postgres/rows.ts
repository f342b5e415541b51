// The rows of a store on Postgres, read when all nodes have ended.

import { join } from 'node:path';
import { DatabaseSession } from '../../../src/store/postgres/connection/database-session.ts';
import {
  ATTEMPTS,
  type DeliveryRow,
  type EmissionRow,
  type GroupPartRow,
  type GroupRow,
  INBOX,
  type OperationRow,
  type ResultRow,
  type Rows,
  type RunRow,
} from '../rows.ts';

type CheckPostgres = typeof import('../../../src/store/postgres/maintenance/check.ts').checkPostgres;

export interface Source {
  readonly url: string;
  /** Folder of the program that knows the schema. */
  readonly program: string;
  /** How often the nodes took runs over, as they say: of a run that is over, only its attempts are kept. */
  readonly rescues: number;
}

export async function readPostgresRows({ url, program, rescues }: Source): Promise<Rows> {
  const session = await DatabaseSession.open({ url, name: 'errand prove' });
  try {
    const all = async <T>(sql: string): Promise<T[]> => (await session.query(sql)) as T[];
    const counts = async (sql: string): Promise<Map<never, number>> =>
      new Map((await all<{ of: never; n: number }>(sql)).map(({ of, n }) => [of, n]));
    const withheld = await all<{ entry: number; listeners: string }>(
      `SELECT entry, string_agg(listener_id, ' ') AS listeners FROM withheld GROUP BY entry`,
    );
    const [tag] = await all<{ value: string }>("SELECT value FROM meta WHERE name = 'store_tag'");
    return {
      groups: await all<GroupRow>(INBOX.groups),
      hours: await all<GroupPartRow>(INBOX.hours),
      deployments: await all<GroupPartRow>(INBOX.deployments),
      operations: await all<OperationRow>(INBOX.operations),
      results: await all<ResultRow>(INBOX.results),
      storeTag: tag?.value ?? '',
      emissions: await all<EmissionRow>(
        `SELECT entry, owner_id, emitter_id, name, cause_run, cause_delivery, summary, only_listener_id, group_id,
            original_start, original_length, body FROM emissions ORDER BY entry`,
      ),
      runs: await all<RunRow>(
        'SELECT run, runnable_id, entry, state, error_entry, error_code FROM all_runs ORDER BY run',
      ),
      deliveries: await all<DeliveryRow>(
        'SELECT delivery, listener_id, entry, state, attempts_made FROM all_deliveries ORDER BY delivery',
      ),
      withheld: new Map(withheld.map(({ entry, listeners }) => [entry, listeners.split(' ')])),
      attempts: await counts(ATTEMPTS.made),
      settled: await counts(ATTEMPTS.settled),
      // Each node counts in a row of its own.
      ledger: await counts('SELECT fact AS of, sum(n)::bigint AS n FROM ledger GROUP BY fact HAVING sum(n) <> 0'),
      rescues,
      flaws: [...(await openEnds(all)), ...(await checked(url, program))],
    };
  } finally {
    await session.close();
  }
}

/** Where nothing may be left once all is over. */
const EMPTY: Readonly<Record<string, string>> = {
  'run that is open': 'SELECT run AS found FROM open_runs',
  'delivery that is open': 'SELECT delivery AS found FROM open_deliveries',
  'line that counts what is not there': `SELECT listener_id || ': ' || waiting || ' wait, ' || taken || ' taken' AS found
    FROM listener_queues WHERE waiting <> 0 OR taken <> 0 OR ready_at_ms IS NOT NULL`,
};

async function openEnds(all: <T>(sql: string) => Promise<T[]>): Promise<string[]> {
  const found: string[] = [];
  for (const [what, sql] of Object.entries(EMPTY)) {
    for (const row of await all<{ found: unknown }>(sql)) found.push(`${what}: ${row.found}`);
  }
  return found;
}

async function checked(url: string, program: string): Promise<string[]> {
  const { checkPostgres } = (await import(join(program, 'src/store/postgres/maintenance/check.ts'))) as {
    checkPostgres: CheckPostgres;
  };
  const { findings } = await checkPostgres(url);
  return findings.map(({ check, detail, count }) => `${check}: ${count} × ${detail}`);
}
