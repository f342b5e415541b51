// Writes of the configuration: one transaction each, in the order of the owner's version. With a new version, every node reads
// the owner's routing again at its next emission.

import type { Listener } from '../../config/config-database.ts';
import { LedgerChanges } from '../../log/ledger.ts';
import { number, present } from '../../rows/cells.ts';
import { lockQueue } from '../claims/queued-work.ts';
import { NOW_SQL } from '../connection/clock.ts';
import type { Tx } from '../connection/transaction-connection.ts';
import type { Core } from '../core.ts';
import { writeLedger } from '../log/ledger.ts';

export interface ConfigWriting {
  readonly tx: Tx;
  readonly nowMs: number;
  /** Written after the verb. */
  readonly ledger: LedgerChanges;
}

type Verb<T> = (w: ConfigWriting) => Promise<T>;

/** Runs a verb in a transaction. The verb may run again after a conflict: it keeps no state between tries. */
export function configWrite<T>(core: Core, ownerId: string, verb: Verb<T>): Promise<T> {
  return write(core, { ownerId, verb });
}

/**
 * Runs a verb that moves work which waits for a listener. Its queue is locked before the version, as in a batch that disables a
 * webhook. `before`: takes locks before that of the queue.
 */
export function queueWrite<T>(
  core: Core,
  { before, ...listener }: Listener & { before?: (tx: Tx) => void },
  verb: Verb<T>,
): Promise<T> {
  const lock = (tx: Tx): void => {
    before?.(tx);
    lockQueue(tx, listener);
  };
  return write(core, { ownerId: listener.ownerId, verb, before: lock });
}

/** Keeps other transactions from writing this owner's configuration. The version does not change, so nodes keep their routing. */
export function lockOwner(tx: Tx, ownerId: string): void {
  void tx.query(
    `INSERT INTO versions (owner_id, version) VALUES ($1, 1)
      ON CONFLICT (owner_id) DO UPDATE SET version = versions.version`,
    ownerId,
  );
}

interface Write<T> {
  readonly ownerId: string;
  readonly verb: Verb<T>;
  readonly before?: (tx: Tx) => void;
}

async function write<T>(core: Core, { ownerId, verb, before }: Write<T>): Promise<T> {
  const written = await core.config.transact(async (tx) => {
    before?.(tx);
    const [bumped] = await tx.query(
      `INSERT INTO versions (owner_id, version) VALUES ($1, 1)
        ON CONFLICT (owner_id) DO UPDATE SET version = versions.version + 1 RETURNING ${NOW_SQL} AS now_ms`,
      ownerId,
    );
    const ledger = new LedgerChanges();
    const value = await verb({
      tx,
      nowMs: core.clock.endReading(number(present(bumped), 'now_ms'), tx.beganAt),
      ledger,
    });
    writeLedger(tx, ledger, core.node.slot);
    return value;
  });
  // A schedule may have been created, or a webhook enabled.
  core.notices.tell('schedules');
  core.notices.tell('deliveries');
  return written;
}
