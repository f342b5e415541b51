// One connection to Postgres, over node-postgres. Statements are pipelined: each is sent at once, without waiting for earlier
// ones, and answered in order. When the connection breaks, all open and later statements are rejected: it is never reopened.

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
  /** The server has no time limits for its statements. */
  readonly isUnlimited?: boolean;
  /** Called once, when the connection is closed by either side. */
  readonly onClose?: (error: Error) => void;
  /** Called with the name of the channel. */
  readonly onNotify?: (channel: string) => void;
}

/**
 * Every statement is planned once for all values, since Postgres would plan for longer than it executes. Such a plan must suit
 * both empty and full tables, as hot tables change quickly: so each statement names the keys that it wants of each table
 * (`= ANY`), and joins are hash joins. Otherwise Postgres would keep reading a table whole that was empty when it planned.
 */
const BY_KEY = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_nestloop: 'off',
  enable_mergejoin: 'off',
};

export const CONNECT_TIMEOUT_MS = 5000;
const STATEMENT_TIMEOUT_MS = 15_000;
/** Longer than any statement takes: a server without an answer by then is taken for unreachable. */
export const ANSWER_TIMEOUT_MS = STATEMENT_TIMEOUT_MS + 3000;
/** Ends the transactions of a stopped process: others are never idle for longer than their process is busy. */
const IDLE_TIMEOUT_MS = 3000;
const LOCK_TIMEOUT_MS = 6000;
const KEEP_ALIVE_MS = 60_000;

/** Limits of each session, so that no statement holds a lock for longer than some seconds. */
const LIMITS = {
  statement_timeout: String(STATEMENT_TIMEOUT_MS),
  lock_timeout: String(LOCK_TIMEOUT_MS),
  idle_in_transaction_session_timeout: String(IDLE_TIMEOUT_MS),
};

/** What is relied on, whatever a role or database sets for its sessions: `ALTER DATABASE … SET bytea_output = escape` garbled events. */
const RELIED_ON = {
  default_transaction_isolation: 'read committed',
  client_encoding: 'UTF8',
  bytea_output: 'hex',
  // Connections of a service without work are idle, and are not to be closed for that.
  idle_session_timeout: '0',
};

/** Readers of values, by the type's oid. All int8 of the schema are below 2^53. */
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

/** Names of prepared statements by their text, for the whole process. */
const NAMES = new Map<string, string>();

/** Returns a statement for the driver. Each connection parses a prepared one once. */
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

/** Returns the driver's options for the one host of the URL. */
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
    const setUp = async (): Promise<void> => {
      await client.connect();
      connection.#isOpen = true;
      await connection.simple(sessionOf(options));
    };
    try {
      // The driver's own limit ends with the server's greeting, and a host may fall silent right behind it.
      await connection.within(CONNECT_TIMEOUT_MS, setUp());
      return connection;
    } catch (error) {
      connection.breakOff();
      throw withCode(error);
    }
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Sends one statement at once. Arrays are passed as literals (values.ts). */
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

  /** Sends statements without parameters, separated by semicolons. */
  async simple(sql: string): Promise<void> {
    await this.#client.query(sql);
  }

  /** Waits for an answer, and breaks the connection off if there is none in time: open statements are rejected. */
  async within<T>(limitMs: number, answer: Promise<T>): Promise<T> {
    const silence = setTimeout(() => this.breakOff(), limitMs);
    return answer.finally(() => clearTimeout(silence));
  }

  /** Closes the connection now: open statements are rejected. */
  breakOff(): void {
    this.#isOpen = false;
    this.#client.connection.stream.destroy();
  }

  /** Closes the connection once all statements are answered. */
  async close(): Promise<void> {
    this.#isOpen = false;
    await this.#client.end().catch(() => undefined);
  }

  /** Sends the statements of one tick of the event loop in one packet: the driver writes five messages per statement. */
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
    ...RELIED_ON,
    ...LIMITS,
    ...(isUnlimited ? { statement_timeout: '0', idle_in_transaction_session_timeout: '0' } : {}),
    // Statements take milliseconds; compiling one whose cost is overestimated takes a hundred times that.
    jit: 'off',
    ...(isByKey ? BY_KEY : {}),
  };
  return Object.entries(all)
    .map(([name, value]) => `SELECT set_config(${pg.escapeLiteral(name)}, ${pg.escapeLiteral(value)}, false)`)
    .join('; ');
}

/** Returns the error of a closed connection. */
export function closedError(cause?: unknown): Error {
  const why = cause instanceof Error ? `: ${cause.message}` : '';
  return Object.assign(new Error(`the connection was closed${why}`, { cause }), { code: 'CONNECTION_CLOSED' });
}

/** Codes of the server (SQLSTATE) and of the system. */
const KNOWN = /^([0-9A-Z]{5}|E(?!RR_)[A-Z_]+|CONNECTION_CLOSED)$/;

/** Returns an error with a known code: the driver's errors of broken connections have none, and TLS has many. */
export function withCode(error: unknown): unknown {
  return KNOWN.test(String((error as { code?: unknown } | null)?.code)) ? error : closedError(error);
}
