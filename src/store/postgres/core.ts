// What the files of the store share, built once by open.ts. Verbs of the log also need its batch: LogCore in log/batch.ts.

import type { FullEmitters } from '../log/groups/full-emitters.ts';
import type { Seal } from '../seal/seal.ts';
import type { ClaimCursors } from './claims/claim-cursor.ts';
import type { LeasedRows } from './claims/leased-rows.ts';
import type { Node } from './claims/node.ts';
import type { RetryShares } from './claims/retry-shares.ts';
import type { DatabaseClock } from './connection/clock.ts';
import type { Notices } from './connection/notify.ts';
import type { Pool } from './connection/pool.ts';
import type { TransactionConnection } from './connection/transaction-connection.ts';
import type { Routes } from './log/routes.ts';
import type { HotTableVacuum } from './maintenance/vacuum.ts';

export interface Core {
  /** Reads, and writes of one statement. */
  readonly pool: Pool;
  /** Claims of ticks. */
  readonly claims: TransactionConnection;
  readonly cursors: ClaimCursors;
  readonly retryShares: RetryShares;
  readonly leased: LeasedRows;
  /** Writes of the configuration and of maintenance. */
  readonly config: TransactionConnection;
  /** Writes of data stores, so that code which writes much and the configuration do not delay each other. */
  readonly data: TransactionConnection;
  readonly routes: Routes;
  readonly fullEmitters: FullEmitters;
  /** The identity of this process among those that share the database. */
  readonly node: Node;
  readonly notices: Notices;
  readonly vacuum: HotTableVacuum;
  readonly clock: DatabaseClock;
  /** Begins every emit id of this store. */
  readonly storeTag: string;
  readonly seal: Seal;
}
