// Where the nodes of a scenario keep what they know: a Postgres of its own, whose commits survive its end.

import { queryOn } from '../../support/postgres/databases.ts';
import { type PostgresServer, startPostgres } from '../../support/postgres/server.ts';

export const DATABASE = 'errand';

export interface Database {
  /** What the nodes are given. */
  readonly url: string;
  /** Straight to whoever takes writes now. */
  readonly directUrl: () => string;
  /** Folders of the servers, which name their processes. */
  readonly folders: readonly string[];
  readonly dispose: () => Promise<void>;
}

export interface OneServer extends Database {
  readonly server: PostgresServer;
}

export async function startDatabase(): Promise<OneServer> {
  const server = await startPostgres({ durable: true, toleratesDeadlocks: true });
  await server.createDatabase(DATABASE);
  return onServer(server);
}

/** The nodes may be given another way to it. */
export function onServer(server: PostgresServer, url = server.url(DATABASE)): OneServer {
  const directUrl = (): string => server.url(DATABASE);
  return { server, url, directUrl, folders: [server.dir], dispose: () => server.dispose() };
}

/** Runs and deliveries that nodes hold, by the processes that they are or were. */
export async function heldBy(
  { directUrl }: Database,
  pids: readonly number[],
): Promise<{ runs: number; deliveries: number }> {
  const node = `node IN (SELECT node FROM nodes WHERE split_part(name, ':', 2)::int IN (${pids.join()}))`;
  const [row] = await queryOn(
    directUrl(),
    `SELECT (SELECT count(*)::int FROM open_runs WHERE ${node} AND state = 'running') AS runs,
      (SELECT count(*)::int FROM open_deliveries WHERE ${node} AND state = 'sending') AS deliveries`,
  );
  return { runs: row?.runs ?? 0, deliveries: row?.deliveries ?? 0 };
}

/** What is open, and who is there, as JSON lines. */
export async function stateOf({ directUrl }: Database): Promise<string> {
  const rows = await queryOn(
    directUrl(),
    `SELECT row_to_json(o)::text AS line FROM open_runs AS o UNION ALL SELECT row_to_json(d)::text FROM open_deliveries AS d
      UNION ALL SELECT row_to_json(l)::text FROM listener_queues AS l UNION ALL SELECT row_to_json(n)::text FROM nodes AS n
      UNION ALL SELECT row_to_json(p)::text FROM operations AS p
      UNION ALL SELECT row_to_json(r)::text FROM operation_results AS r WHERE r.outcome = 'under_way'`,
  );
  return rows.map(({ line }) => line).join('\n');
}

/** Connections that nodes hold, and those of comparisons of counters: one for a moment, opened by one node at a time. */
export async function connectionsTo({ directUrl }: Database): Promise<{ nodes: number; comparisons: number }> {
  const rows = await queryOn(
    directUrl(),
    "SELECT application_name AS name FROM pg_stat_activity WHERE application_name LIKE 'errand %' AND datname = current_database()",
  );
  const comparisons = rows.filter(({ name }) => name === 'errand counters').length;
  return { nodes: rows.length - comparisons, comparisons };
}
