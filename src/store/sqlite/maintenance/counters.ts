// Compares counters with rows, and corrects those that differ: the ledger in the file, and the counts of listeners in memory. In
// one transaction, so that the rows, the ledger with its changes so far, and memory are of one moment.
//
// It blocks the event loop: 99,000 open rows took 12 ms, by indexes alone (250 ms when each row is read). So beyond
// LIMITS.openCounted open rows it does nothing; `errand store check` reads the file beside the server.

import { LIMITS } from '../../../domain/limits.ts';
import { OPEN_FACTS } from '../../check/checks.ts';
import type { CounterStore, Repair } from '../../contract/counters.ts';
import { number, numberOrNull, text } from '../../rows/cells.ts';
import { OPEN_DELIVERY } from '../../rows/delivery-rows.ts';
import { OPEN_RUN } from '../../rows/run-rows.ts';
import type { Core } from '../core.ts';
import type { Connection, Row } from '../database.ts';
import { type CountedState, noCounts, type QueueCounts } from '../deliveries/listener-queues.ts';
import type { Transaction } from '../log/transaction.ts';

const COUNTED: readonly CountedState[] = ['pending', 'retrying', 'sending'];

export function counterVerbs(core: Core): CounterStore {
  return {
    repairCounters: () =>
      core.batch.write((tx) => {
        const isChecked = isFew(core);
        return { isChecked, repairs: isChecked ? repair(core, tx) : [] };
      }),
  };
}

function isFew({ writer }: Core): boolean {
  const row = writer.get(
    `SELECT (SELECT count(*) FROM (SELECT 1 FROM runs WHERE ${OPEN_RUN} LIMIT $most))
      + (SELECT count(*) FROM (SELECT 1 FROM deliveries WHERE ${OPEN_DELIVERY} LIMIT $most)) AS n`.replaceAll(
      '$most',
      String(LIMITS.openCounted + 1),
    ),
  );
  return row !== undefined && number(row, 'n') <= LIMITS.openCounted;
}

function repair(core: Core, tx: Transaction): Repair[] {
  const figures = new Map<string, number>();
  const queued = new Map<string, number>();
  const counts = new Map<string, QueueCounts>();
  for (const row of openRuns(core)) {
    const [state, n] = [text(row, 'state'), number(row, 'n')];
    add(figures, `${text(row, 'owner')} runs.${state}`, n);
    if (state === 'queued') add(queued, text(row, 'id'), n);
  }
  for (const row of openDeliveries(core)) {
    const [id, state, n] = [text(row, 'id'), text<CountedState | 'held'>(row, 'state'), number(row, 'n')];
    add(figures, `${text(row, 'owner')} deliveries.${state}`, n);
    const known = counts.get(id) ?? noCounts();
    counts.set(id, known);
    if (state === 'held') continue;
    known[state] += n;
    if (state === 'retrying') known.retryAtMs = Math.min(known.retryAtMs, numberOrNull(row, 'due_at_ms') ?? 0);
  }
  return [
    ...repairLedger(core, tx, figures),
    ...repairRunQueues(core, tx, queued),
    ...repairDeliveryQueues(core, counts),
  ];
}

/** Counts open runs by the index alone; one row of each workflow or source gives its owner. */
function openRuns({ writer }: Core): Row[] {
  const runs = writer.all(
    `SELECT runnable_id AS id, state, count(*) AS n, min(run) AS one FROM runs WHERE ${OPEN_RUN} GROUP BY state, runnable_id`,
  );
  return runs.map((row) => ({ ...row, owner: ownerOf(writer, 'SELECT owner_id FROM runs WHERE run = ?', row) }));
}

/** Counts open deliveries in the same way; owners share mail and the places of requests, so those rows are read. */
function openDeliveries({ writer }: Core): Row[] {
  const groups = 'listener_id AS id, state, count(*) AS n, min(due_at_ms) AS due_at_ms';
  const own = writer.all(
    `SELECT ${groups}, min(delivery) AS one FROM deliveries
      WHERE listener_id >= 'wh_' AND ${OPEN_DELIVERY} GROUP BY listener_id, state`,
  );
  const shared = writer.all(
    `SELECT ${groups}, owner_id AS owner FROM deliveries
      WHERE listener_id < 'wh_' AND ${OPEN_DELIVERY} GROUP BY listener_id, state, owner_id`,
  );
  const ask = 'SELECT owner_id FROM deliveries WHERE delivery = ?';
  return [...own.map((row) => ({ ...row, owner: ownerOf(writer, ask, row) })), ...shared];
}

function ownerOf(writer: Connection, sql: string, row: Row): string {
  return text(writer.get(sql, number(row, 'one')) ?? {}, 'owner_id');
}

function add(to: Map<string, number>, key: string, n: number): void {
  to.set(key, (to.get(key) ?? 0) + n);
}

function repairLedger(core: Core, tx: Transaction, figures: ReadonlyMap<string, number>): Repair[] {
  const ledger = new Map<string, number>(tx.counted);
  for (const row of core.writer.all('SELECT owner_id, fact, n FROM ledger')) {
    add(ledger, `${text(row, 'owner_id')} ${text(row, 'fact')}`, number(row, 'n'));
  }
  const repairs: Repair[] = [];
  for (const key of new Set([...ledger.keys(), ...figures.keys()])) {
    const [ownerId, of] = key.split(' ') as [string, string];
    const [counted, found] = [ledger.get(key) ?? 0, figures.get(key) ?? 0];
    if (!OPEN_FACTS.has(of) || counted === found) continue;
    tx.count(ownerId, of, found - counted);
    repairs.push({ kind: 'ledger', ownerId, of, counted, found });
  }
  return repairs;
}

function repairRunQueues(core: Core, tx: Transaction, queued: ReadonlyMap<string, number>): Repair[] {
  const repairs: Repair[] = [];
  for (const of of new Set([...queued.keys(), ...core.openRuns.counts.keys(), ...tx.openedIds])) {
    const [counted, found] = [tx.runsWaiting(of), queued.get(of) ?? 0];
    if (counted === found) continue;
    tx.runsOpened(of, found - counted);
    repairs.push({ kind: 'waiting', ownerId: null, of, counted, found });
  }
  return repairs;
}

function repairDeliveryQueues({ queues }: Core, counts: ReadonlyMap<string, QueueCounts>): Repair[] {
  const repairs: Repair[] = [];
  for (const of of new Set([...counts.keys(), ...queues.listenerIds])) {
    const found = counts.get(of) ?? noCounts();
    const queue = queues.find(of) ?? noCounts();
    if (COUNTED.every((state) => queue[state] === found[state])) continue;
    const kinds = {
      waiting: (c: QueueCounts) => c.pending + c.retrying,
      taken: (c: QueueCounts) => c.sending,
    } as const;
    const before = { ...queue };
    queues.correct(of, found);
    const wrong = (['waiting', 'taken'] as const).filter((kind) => kinds[kind](before) !== kinds[kind](found));
    for (const kind of wrong.length > 0 ? wrong : (['ready'] as const)) {
      const of1 = kind === 'ready' ? 'waiting' : kind;
      repairs.push({ kind, ownerId: null, of, counted: kinds[of1](before), found: kinds[of1](found) });
    }
  }
  return repairs;
}
