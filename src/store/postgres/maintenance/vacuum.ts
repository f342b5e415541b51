// Rows of the hot tables live for milliseconds, and leave their room behind. Autovacuum looks once a minute, by when a
// busy service has left some hundred thousand; so the process that has ended many vacuums as soon as there are enough of
// them (a day's worth of events in a few minutes: open_runs at 13 MB and not at 76). Where it has no right to, autovacuum
// does it.

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

  /** So many rows have left the hot tables. */
  ended(rows: number): void {
    this.#rows += rows;
    if (this.#rows < ROWS_BETWEEN || this.#isUnderWay) return;
    this.#rows = 0;
    this.#isUnderWay = true;
    // Another node that sweeps at the moment is not waited for. The files keep their length: they are needed again.
    this.#pool
      .write('VACUUM (SKIP_LOCKED, TRUNCATE false) open_runs, open_deliveries, listener_queues, ledger')
      .catch((error) => this.#log.debug({ err: error }, 'hot tables could not be swept'))
      .finally(() => {
        this.#isUnderWay = false;
      });
  }
}
