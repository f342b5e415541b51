// The databases of one server, seen by its administrator.

import postgres from 'postgres';

/** Seconds; an idle connection would keep the test's process from ending. */
const IDLE_S = 0.2;

export class Databases {
  readonly #url: URL;
  #sql: postgres.Sql | undefined;

  /** `url`: of any database that may be administered from. */
  constructor(url: string) {
    this.#url = new URL(url);
  }

  url(database = 'postgres'): string {
    const url = new URL(this.#url);
    url.pathname = `/${database}`;
    return url.href;
  }

  /** Copies the files of `template`, which nobody may be connected to: half the time of copying through the log. */
  async createDatabase(name: string, template = 'template1'): Promise<void> {
    await this.query(`CREATE DATABASE "${name}" TEMPLATE "${template}" STRATEGY file_copy`);
  }

  /** Also when somebody is connected to it. */
  async dropDatabase(name: string): Promise<void> {
    await this.query(`DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`);
  }

  /** Returns how often transactions deadlocked there. Ends all sessions, since each counts in memory of its own until then. */
  async deadlocksIn(name: string): Promise<number> {
    await this.query(`SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '${name}'`);
    const [row] = await this.query(`SELECT deadlocks FROM pg_stat_database WHERE datname = '${name}'`);
    return Number(row?.deadlocks ?? 0);
  }

  /** Returns what the server's log says of the last deadlock in any database; see server.ts. */
  async lastDeadlock(): Promise<string> {
    const [row] = await this.query("SELECT pg_read_file('server.log', true) AS log");
    const found = [...String(row?.log ?? '').matchAll(/^.*deadlock detected(?:\n(?!.*LOG:).*)*/gm)];
    return found.at(-1)?.[0] ?? 'its log has nothing of it';
  }

  /** On the administrator's database; the rows. */
  async query(sql: string): Promise<readonly postgres.Row[]> {
    this.#sql ??= connect(this.#url.href);
    return [...(await this.#sql.unsafe(sql))];
  }

  /** May be called twice, and is open again with the next query. */
  async close(): Promise<void> {
    const sql = this.#sql;
    this.#sql = undefined;
    await sql?.end({ timeout: 0 });
  }
}

/** One statement, or several by semicolons, on any database. */
export async function queryOn(url: string, sql: string): Promise<readonly postgres.Row[]> {
  const connection = connect(url);
  try {
    return [...(await connection.unsafe(sql))];
  } finally {
    // At once: after a lost connection the driver would wait for an answer that nobody gives.
    await connection.end({ timeout: 0 });
  }
}

function connect(url: string): postgres.Sql {
  return postgres(url, { max: 1, fetch_types: false, idle_timeout: IDLE_S, onnotice: () => undefined });
}
