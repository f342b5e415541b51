// How this program connects to Postgres. What limits a session is set when it begins, so that no statement of ours can
// hold a lock, or hold anybody up, for longer than a few seconds.

import type postgres from 'postgres';
import { fromText } from './values.ts';

export interface ConnectionOptions {
  readonly url: string;
  /** Shown in pg_stat_activity. */
  readonly name: string;
  /** All statements find their rows by key: see BY_KEY. */
  readonly isByKey?: boolean;
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

const CONNECT_TIMEOUT_S = 5;
const STATEMENT_TIMEOUT_MS = 15_000;
/** Longer than any statement takes: a server that has not answered by then is not there, though nobody says so. */
export const ANSWER_TIMEOUT_MS = STATEMENT_TIMEOUT_MS + 3000;
/** A transaction of ours is never idle for longer than its process is busy: this ends those of a process that was stopped. */
const IDLE_TIMEOUT_MS = 3000;
const LOCK_TIMEOUT_MS = 6000;
const MAX_BACKOFF_S = 0.5;

/** int8 as a number: all of ours are below 2^53. */
const INT8 = { to: 20, from: [20], serialize: String, parse: Number };
const TEXT = { to: 25, from: [25], serialize: String, parse: fromText };
/** The driver's own ones expect booleans and bytes, and would make `false` and a second escaping of our texts. */
const BOOL = { to: 16, from: [16], serialize: String, parse: (text: string) => text === 't' };
const BYTEA = { to: 17, from: [17], serialize: String, parse: (text: string) => Buffer.from(text.slice(2), 'hex') };

export function driverOptions({
  name,
  isByKey = false,
}: ConnectionOptions): postgres.Options<Record<string, postgres.PostgresType>> {
  return {
    // Arrays are written as literals; asking for the types of arrays would cost each connection a query.
    fetch_types: false,
    connect_timeout: CONNECT_TIMEOUT_S,
    backoff: (tries: number) => Math.min(0.05 * 2 ** tries, MAX_BACKOFF_S),
    types: { int8: INT8, text: TEXT, bool: BOOL, bytea: BYTEA },
    onnotice: () => undefined,
    connection: {
      application_name: name,
      statement_timeout: STATEMENT_TIMEOUT_MS,
      lock_timeout: LOCK_TIMEOUT_MS,
      idle_in_transaction_session_timeout: IDLE_TIMEOUT_MS,
      // Our statements take milliseconds; compiling one whose cost is guessed too high takes a hundred times that.
      jit: 'off',
      ...(isByKey ? BY_KEY : {}),
    },
  };
}
