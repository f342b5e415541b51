// One connection to Postgres, over node-postgres. Statements are pipelined: each is sent at once, whatever was sent before
// it, and answered in order. When the connection breaks, everything that waits for an answer is rejected, and so is what is
// asked of it later: it is never opened again.

import pg from 'pg';
import { addressOf } from './address.ts';
import { fromText, type Row, toParameter, type Value } from './values.ts';

export interface ConnectionOptions {
  readonly url: string;
  /** Shown in pg_stat_activity. */
  readonly name: string;
  /** All statements find their rows by key: see BY_KEY. */
  readonly isByKey?: boolean;
}

export interface OpenOptions extends ConnectionOptions {
  /** No statement is cut off by the server for its time. */
  readonly isUnlimited?: boolean;
  /** Called once, when the connection is closed by either side. */
  readonly onClose?: (error: Error) => void;
  /** Called with the name of the channel. */
  readonly onNotify?: (channel: string) => void;
}

/**
 * Every statement is planned once for all values: asked each time, Postgres plans for longer than it executes. A plan that
 * is kept must be right whatever the tables hold, and hot tables are empty at one moment and full at the next: so each
 * statement names the keys that it wants of each table (`= ANY`), and what belongs to a key is joined by a hash. Left to
 * choose, Postgres would read a table whole that was empty when it looked.
 */
const BY_KEY = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_nestloop: 'off',
  enable_mergejoin: 'off',
};

export const CONNECT_TIMEOUT_MS = 5000;
const STATEMENT_TIMEOUT_MS = 15_000;
/** Longer than any statement takes: a server that has not answered by then is not there, though nothing says so. */
export const ANSWER_TIMEOUT_MS = STATEMENT_TIMEOUT_MS + 3000;
/** A transaction of ours is never idle for longer than its process is busy: this ends those of a process that was stopped. */
const IDLE_TIMEOUT_MS = 3000;
const LOCK_TIMEOUT_MS = 6000;
const KEEP_ALIVE_MS = 60_000;

/** What limits a session is set when it begins, so that no statement of ours holds a lock for longer than some seconds. */
const LIMITS = {
  statement_timeout: String(STATEMENT_TIMEOUT_MS),
  lock_timeout: String(LOCK_TIMEOUT_MS),
  idle_in_transaction_session_timeout: String(IDLE_TIMEOUT_MS),
};

/** Values as they are read: by the type's oid. All of our int8 are below 2^53. */
const PARSERS: Readonly<Record<number, (text: string) => unknown>> = {
  16: (text) => text === 't',
  17: (text) => Buffer.from(text.slice(2), 'hex'),
  20: Number,
  21: Number,
  23: Number,
  25: fromText,
  114: (text) => JSON.parse(text),
  700: Number,
  701: Number,
  1043: fromText,
  3802: (text) => JSON.parse(text),
};
const asIs = (text: string): string => text;
const TYPES = { getTypeParser: (oid: number) => PARSERS[oid] ?? asIs } as unknown as pg.CustomTypesConfig;

/** Statements are prepared by name, and a name stands for one text in the whole process. */
const NAMES = new Map<string, string>();

/** Returns a statement as the driver takes it. Prepared, it is parsed once by each connection. */
export function queryOf(sql: string, values: readonly Value[], isPrepared: boolean): pg.QueryConfig {
  const parameters = values.map(toParameter);
  if (!isPrepared) return { text: sql, values: parameters };
  let name = NAMES.get(sql);
  if (name === undefined) {
    name = `s${NAMES.size + 1}`;
    NAMES.set(sql, name);
  }
  return { text: sql, name, values: parameters };
}

/** Returns what the driver needs to connect to the one host of the URL. */
export function clientConfig({ url, name }: ConnectionOptions): pg.ClientConfig {
  return {
    ...addressOf(url).client,
    application_name: name,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    types: TYPES,
  };
}

export class Connection {
  readonly #client: pg.Client;
  #isOpen = false;
  #isCorked = false;

  private constructor(client: pg.Client) {
    this.#client = client;
  }

  /** Connects to the one host of the URL. Rejects with the driver's error, or one that `isConnectionError`. */
  static async open(options: OpenOptions): Promise<Connection> {
    const client = new pg.Client({ ...clientConfig(options), pipeline: true });
    const connection = new Connection(client);
    let cause: Error | undefined;
    client.on('error', (error) => {
      cause ??= error;
      connection.#isOpen = false;
    });
    client.once('end', () => {
      connection.#isOpen = false;
      options.onClose?.(closedError(cause));
    });
    if (options.onNotify) client.on('notification', ({ channel }) => options.onNotify?.(channel));
    try {
      await client.connect();
      connection.#isOpen = true;
      await connection.simple(sessionOf(options));
      return connection;
    } catch (error) {
      connection.breakOff();
      throw withCode(error);
    }
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Sends one statement at once. Parameters that are arrays are literals already (values.ts). `isPrepared`: true. */
  query(sql: string, values: readonly Value[], isPrepared = true): Promise<Row[]> {
    if (!this.#isOpen) return Promise.reject(closedError());
    const { promise, resolve, reject } = Promise.withResolvers<Row[]>();
    this.#cork();
    this.#client.query(queryOf(sql, values, isPrepared), (error: Error | null, result: pg.QueryResult<Row>) => {
      if (error) reject(withCode(error));
      else resolve(result.rows);
    });
    return promise;
  }

  /** Sends statements without parameters, several by semicolons. */
  async simple(sql: string): Promise<void> {
    await this.#client.query(sql);
  }

  /** Closes it now: what waits for an answer is rejected. */
  breakOff(): void {
    this.#isOpen = false;
    this.#client.connection.stream.destroy();
  }

  /** Closes it when what was sent is answered. */
  async close(): Promise<void> {
    this.#isOpen = false;
    await this.#client.end().catch(() => undefined);
  }

  /** What is sent in one turn of the event loop leaves in one packet: the driver writes five messages per statement. */
  #cork(): void {
    if (this.#isCorked) return;
    this.#isCorked = true;
    const { stream } = this.#client.connection;
    stream.cork();
    process.nextTick(() => {
      this.#isCorked = false;
      stream.uncork();
    });
  }
}

/** Returns a session's settings as SQL. Not as parameters of the start: poolers refuse those that they do not know. */
export function sessionOf({ url, isByKey = false, isUnlimited = false }: OpenOptions): string {
  const all: Record<string, string> = {
    ...addressOf(url).settings,
    ...LIMITS,
    ...(isUnlimited ? { statement_timeout: '0', idle_in_transaction_session_timeout: '0' } : {}),
    // Our statements take milliseconds; compiling one whose cost is guessed too high takes a hundred times that.
    jit: 'off',
    ...(isByKey ? BY_KEY : {}),
  };
  return Object.entries(all)
    .map(([name, value]) => `SELECT set_config(${pg.escapeLiteral(name)}, ${pg.escapeLiteral(value)}, false)`)
    .join('; ');
}

/** The error of a connection that is not there any more. */
export function closedError(cause?: unknown): Error {
  const why = cause instanceof Error ? `: ${cause.message}` : '';
  return Object.assign(new Error(`the connection was closed${why}`, { cause }), { code: 'CONNECTION_CLOSED' });
}

/** Codes of the server (SQLSTATE) and of the system. */
const KNOWN = /^([0-9A-Z]{5}|E(?!RR_)[A-Z_]+|CONNECTION_CLOSED)$/;

/** Returns the error with a code to go by: what the driver says of a broken connection has none, and TLS has many. */
export function withCode(error: unknown): unknown {
  return KNOWN.test(String((error as { code?: unknown } | null)?.code)) ? error : closedError(error);
}
