// The ledger of a salvaged store. Open work is counted by the rows. Of ended work the ledger keeps its figures, but at least those
// of the rows: retention deletes rows, but does not change the ledger.

import { DELIVERY_STATES } from '../../../domain/delivery/delivery.ts';
import { ERRORS } from '../../../domain/emission.ts';
import { RUN_STATES } from '../../../domain/run/run.ts';
import { FURTHER_ERRORS } from '../../check/checks.ts';
import { number, text } from '../../rows/cells.ts';
import type { Connection } from '../database.ts';

/** What was repaired, in words, and in how many rows. */
export interface Repair {
  readonly what: string;
  readonly rows: number;
}

const OPEN = new Set(['queued', 'running', 'waiting', 'pending', 'sending', 'retrying', 'held']);
const FACTS = [...RUN_STATES.map((state) => `runs.${state}`), ...DELIVERY_STATES.map((state) => `deliveries.${state}`)];

const ROWS = `SELECT owner_id, 'runs.' || state AS fact, count(*) AS n FROM runs GROUP BY owner_id, state
  UNION ALL SELECT owner_id, 'deliveries.' || state, count(*) FROM deliveries GROUP BY owner_id, state
  UNION ALL SELECT owner_id, 'emissions', count(*) FROM emissions GROUP BY owner_id
  UNION ALL SELECT owner_id, 'errors', count(*) FROM emissions WHERE name = '${ERRORS}' GROUP BY owner_id`;

export function repairLedger(writer: Connection): Repair[] {
  const told = factsOf(writer, 'SELECT owner_id, fact, n FROM ledger');
  const rows = factsOf(writer, ROWS);
  let changed = 0;
  for (const ownerId of new Set([...told.keys(), ...rows.keys()])) {
    const before = told.get(ownerId) ?? new Map<string, number>();
    for (const [fact, n] of settled(before, rows.get(ownerId) ?? new Map())) {
      if ((before.get(fact) ?? 0) === n) continue;
      writer.run('INSERT OR REPLACE INTO ledger (owner_id, fact, n) VALUES (?, ?, ?)', ownerId, fact, n);
      changed++;
    }
  }
  return changed === 0 ? [] : [{ what: 'figures of the ledger, counted again', rows: changed }];
}

type Facts = Map<string, number>;

function settled(told: Facts, rows: Facts): Facts {
  const facts: Facts = new Map();
  const most = (fact: string): number => Math.max(told.get(fact) ?? 0, rows.get(fact) ?? 0);
  for (const fact of FACTS) {
    const state = fact.slice(fact.indexOf('.') + 1);
    facts.set(fact, OPEN.has(state) ? (rows.get(fact) ?? 0) : most(fact));
  }
  facts.set('emissions', most('emissions'));
  // Each failed run and each exhausted delivery has emitted one error; others are further errors.
  const failures = (facts.get('runs.failed') ?? 0) + (facts.get('deliveries.exhausted') ?? 0);
  const further = Math.max(told.get(FURTHER_ERRORS) ?? 0, most('errors') - failures);
  facts.set('errors', failures + further);
  facts.set(FURTHER_ERRORS, further);
  return facts;
}

function factsOf(writer: Connection, sql: string): Map<string, Facts> {
  const owners = new Map<string, Facts>();
  for (const row of writer.all(sql)) {
    const owner = text(row, 'owner_id');
    const facts = owners.get(owner) ?? new Map<string, number>();
    owners.set(owner, facts);
    facts.set(text(row, 'fact'), number(row, 'n'));
  }
  return owners;
}
