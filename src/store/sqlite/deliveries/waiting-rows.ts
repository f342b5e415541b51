// Rows of waiting deliveries that a transaction has read ahead of its claims. The ends of many attempts share a transaction and each
// claims one or two of the next deliveries: a statement for each of these claims took a tenth of a delivery's time.
//
// Rows are kept for one transaction, and dropped when anything but a claim changes what waits for their listener. A new delivery
// drops none: it comes last.

import type { WaitingState } from '../../../domain/delivery/progress.ts';
import type { Row } from '../database.ts';

/** How many rows of a listener and state are read first; twice as many with each further read. */
const ROWS_AT_FIRST = 2;
const MAX_ROWS = 16;

interface ReadAhead {
  rows: Row[];
  limit: number;
}

export class WaitingRows {
  readonly #read: Readonly<Record<WaitingState, Map<string, ReadAhead>>> = { pending: new Map(), retrying: new Map() };

  /** Takes the next row of a listener; undefined: there is none. `read` reads the first rows, as the transaction has left them. */
  take(listenerId: string, state: WaitingState, read: (limit: number) => Row[]): Row | undefined {
    const known = this.#read[state].get(listenerId) ?? { rows: [], limit: ROWS_AT_FIRST };
    if (known.rows.length === 0) {
      known.rows = read(known.limit);
      known.limit = Math.min(2 * known.limit, MAX_ROWS);
      this.#read[state].set(listenerId, known);
    }
    return known.rows.shift();
  }

  /** Returns the row that is taken next, if it was read. */
  next(listenerId: string, state: WaitingState): Row | undefined {
    return this.#read[state].get(listenerId)?.rows[0];
  }

  /** Drops the rows of a listener: other deliveries may come first now. */
  drop(listenerId: string): void {
    for (const state of ['pending', 'retrying'] as const) {
      const known = this.#read[state].get(listenerId);
      if (known) known.rows = [];
    }
  }

  /** Drops all rows: a transaction begins. */
  clear(): void {
    for (const state of ['pending', 'retrying'] as const) this.#read[state].clear();
  }
}
