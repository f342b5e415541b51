// Vacuums the hot tables, whose rows live for milliseconds. Autovacuum looks once a minute, when a busy service has left some
// hundred thousand dead rows; so a process vacuums once it has ended enough rows (a day's events in a few minutes: open_runs
// has 13 MB instead of 76). Without the right to vacuum, autovacuum does it.

import type { Log } from '../../../ports.ts';
import type { Pool } from '../connection/pool.ts';

const ROWS_BETWEEN = 50_000;

export class HotTableVacuum {
  readonly #pool: Pool;
  readonly #log: Log;
  #rows = 0;
  #isUnderWay = false;

  constructor(pool: Pool, log: Log) {
    this.#pool = pool;
    this.#log = log;
  }

  /** Counts rows that have left the hot tables, and vacuums when there are enough. */
  ended(rows: number): void {
    this.#rows += rows;
    if (this.#rows < ROWS_BETWEEN || this.#isUnderWay) return;
    this.#rows = 0;
    this.#isUnderWay = true;
    // Tables that another node is vacuuming are skipped. Files are not truncated: the space is needed again.
    this.#pool
      .write('VACUUM (SKIP_LOCKED, TRUNCATE false) open_runs, open_deliveries, listener_queues, ledger')
      .catch((error) => this.#log.debug({ err: error }, 'hot tables could not be swept'))
      .finally(() => {
        this.#isUnderWay = false;
      });
  }
}
