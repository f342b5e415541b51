// What this process holds, by number. Only for the one case in which the database knows of leases that this process does
// not: a commit whose answer was lost, and that nobody could tell of in time. What such a commit claimed is handed back.

import type { Claims } from '../../contract/store.ts';
import { number } from '../../rows/cells.ts';
import type { Core } from '../core.ts';
import { releaseLeases as releaseDeliveryLeases } from '../deliveries/deliveries.ts';
import { leaseKey } from '../log/batch-needs.ts';
import { releaseLeases } from '../runs/runs.ts';

interface Lease {
  readonly number: number;
  readonly fence: number;
}

export class Held {
  readonly runs = new Set<number>();
  readonly deliveries = new Set<number>();
  /** Unknown at the last look already. A claim that has just been committed is unknown for a moment too. */
  #suspects = new Set<string>();

  add(claims: Pick<Claims, 'runs' | 'deliveries'>): void {
    for (const { run } of claims.runs) this.runs.add(run);
    for (const { delivery } of claims.deliveries) this.deliveries.add(delivery);
  }

  /** Looks for leases of ours that nobody here knows of, and hands back those that were there at the last look too. */
  async releaseUnknown(core: Core): Promise<void> {
    const runs = await this.#unknown(core, { table: 'open_runs', key: 'run', state: 'running', known: this.runs });
    const deliveries = await this.#unknown(core, {
      table: 'open_deliveries',
      key: 'delivery',
      state: 'sending',
      known: this.deliveries,
    });
    const all = [...runs, ...deliveries].map(({ number, fence }) => leaseKey(number, fence));
    const isSure = ({ number, fence }: Lease): boolean => this.#suspects.has(leaseKey(number, fence));
    const sureRuns = runs.filter(isSure);
    const sureDeliveries = deliveries.filter(isSure);
    if (sureRuns.length > 0)
      await releaseLeases(
        core,
        sureRuns.map(({ number, fence }) => ({ run: number, fence })),
      );
    const leases = sureDeliveries.map(({ number, fence }) => ({ delivery: number, fence }));
    if (leases.length > 0) await releaseDeliveryLeases(core, leases);
    if (all.length === 0) core.node.mayHoldUnknown = false;
    this.#suspects = new Set(all);
  }

  async #unknown(
    core: Core,
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
