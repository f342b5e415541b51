// What the configuration's verbs need of a database. Each backend implements it in `<backend>/config/config-database.ts`.

import type { Clock } from '../../ports.ts';
import type { Row } from '../rows/rows.ts';
import type { Seal } from '../seal/seal.ts';
import type { Sql } from './sql.ts';
import type { Steps } from './steps.ts';

/** What a verb sees of its transaction beside its own statements. */
export interface Writing {
  /** The time of this transaction. */
  readonly nowMs: number;
}

export type Verb<T> = (w: Writing) => Steps<T>;

export interface ConfigDatabase {
  /** Reads what is committed. */
  all(statement: Sql): Promise<readonly Row[]>;
  get(statement: Sql): Promise<Row | undefined>;
  /** As `all`; Postgres makes a plan for these very values (see Pool.planned). */
  planned(statement: Sql): Promise<readonly Row[]>;
  /**
   * Runs a verb in one transaction. On Postgres the verb may run again, when its transaction met another one: it keeps no
   * state between tries. What it throws is passed on with nothing written.
   */
  write<T>(verb: Verb<T>): Promise<T>;
  /** As `write`, for data stores: on Postgres over a connection of their own. */
  writeData<T>(verb: Verb<T>): Promise<T>;
}

/** What the configuration's verbs share. */
export interface ConfigCore {
  readonly database: ConfigDatabase;
  readonly seal: Seal;
  readonly clock: Pick<Clock, 'nowMs'>;
}
