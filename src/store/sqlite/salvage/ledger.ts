// The ledger of a salvaged store. Open work is counted by the rows. Of ended work the ledger keeps its figures, but at least those
// of the rows: retention deletes rows, but does not change the ledger.

import { countsOfRows, FACTS, FURTHER_ERRORS, factsIn, OPEN_FACTS } from '../../check/checks.ts';
import type { Connection } from '../database.ts';

/** What was repaired, in words, and in how many rows. */
export interface SalvageRepair {
  readonly what: string;
  readonly rows: number;
}

const ROWS = countsOfRows('runs', 'deliveries').join(' UNION ALL ');

export function repairLedger(writer: Connection): SalvageRepair[] {
  const counted = factsIn(writer.all('SELECT owner_id, fact, n FROM ledger'));
  const rows = factsIn(writer.all(ROWS));
  let changed = 0;
  for (const ownerId of new Set([...counted.keys(), ...rows.keys()])) {
    const before = counted.get(ownerId) ?? new Map<string, number>();
    for (const [fact, n] of settled(before, rows.get(ownerId) ?? new Map())) {
      if ((before.get(fact) ?? 0) === n) continue;
      writer.run('INSERT OR REPLACE INTO ledger (owner_id, fact, n) VALUES (?, ?, ?)', ownerId, fact, n);
      changed++;
    }
  }
  return changed === 0 ? [] : [{ what: 'figures of the ledger, counted again', rows: changed }];
}

type Facts = Map<string, number>;

function settled(counted: Facts, rows: Facts): Facts {
  const facts: Facts = new Map();
  const most = (fact: string): number => Math.max(counted.get(fact) ?? 0, rows.get(fact) ?? 0);
  for (const fact of FACTS) facts.set(fact, OPEN_FACTS.has(fact) ? (rows.get(fact) ?? 0) : most(fact));
  // Each failed run and each exhausted delivery has emitted one error; others are further errors.
  const failures = (facts.get('runs.failed') ?? 0) + (facts.get('deliveries.exhausted') ?? 0);
  const further = Math.max(counted.get(FURTHER_ERRORS) ?? 0, most('errors') - failures);
  facts.set('errors', failures + further);
  facts.set(FURTHER_ERRORS, further);
  return facts;
}
