// The rows leased to this process, by number. Needed only when the database has leases that this process does not know: those of
// a commit whose answer was lost, and whose outcome was not known in time. Such rows are released.

import type { DeliveryLease } from '../../../domain/delivery/delivery.ts';
import type { RunLease } from '../../../domain/run/run.ts';
import type { Claims } from '../../contract/store.ts';
import { number } from '../../rows/cells.ts';
import type { Pool } from '../connection/pool.ts';
import { leaseKey } from '../log/batch-needs.ts';
import type { Node } from './node.ts';

interface LeaseReader {
  readonly pool: Pool;
  readonly node: Node;
}

interface Unknown {
  readonly runs: readonly RunLease[];
  readonly deliveries: readonly DeliveryLease[];
}

interface Lease {
  readonly number: number;
  readonly fence: number;
}

export class LeasedRows {
  readonly runs = new Set<number>();
  readonly deliveries = new Set<number>();
  /** Leases that were unknown at the last look. A claim that was just committed is unknown for a moment, too. */
  #suspects = new Set<string>();

  add(claims: Pick<Claims, 'runs' | 'deliveries'>): void {
    for (const { run } of claims.runs) this.runs.add(run);
    for (const { delivery } of claims.deliveries) this.deliveries.add(delivery);
  }

  /** Returns leases of this node that this process does not know, if the last look found them, too. */
  async readUnknown(core: LeaseReader): Promise<Unknown> {
    const runs = await this.#unknown(core, { table: 'open_runs', key: 'run', state: 'running', known: this.runs });
    const deliveries = await this.#unknown(core, {
      table: 'open_deliveries',
      key: 'delivery',
      state: 'sending',
      known: this.deliveries,
    });
    const all = [...runs, ...deliveries].map(({ number, fence }) => leaseKey(number, fence));
    const isSure = ({ number, fence }: Lease): boolean => this.#suspects.has(leaseKey(number, fence));
    const unknown = {
      runs: runs.filter(isSure).map(({ number, fence }) => ({ run: number, fence })),
      deliveries: deliveries.filter(isSure).map(({ number, fence }) => ({ delivery: number, fence })),
    };
    if (all.length === 0) core.node.mayHoldUnknown = false;
    this.#suspects = new Set(all);
    return unknown;
  }

  async #unknown(
    core: LeaseReader,
    of: { table: string; key: string; state: string; known: ReadonlySet<number> },
  ): Promise<Lease[]> {
    const rows = await core.pool.all(
      `SELECT ${of.key} AS number, fence FROM ${of.table} WHERE node = $1 AND state = '${of.state}'`,
      core.node.id,
    );
    return rows
      .map((row) => ({ number: number(row, 'number'), fence: number(row, 'fence') }))
      .filter(({ number }) => !of.known.has(number));
  }
}
