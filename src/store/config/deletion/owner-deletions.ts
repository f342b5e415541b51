// Owners that are being deleted: deletion, restoring, and the steps that lead to the purge. Nothing is kept of a deletion but two
// columns of the owner, so a step that a kill has lost is made again.

import { CANCEL } from '../../../domain/delivery/progress.ts';
import { DELETION } from '../../../domain/owners/deletion.ts';
import type { Owner } from '../../../domain/resource.ts';
import type { OwnerDeletionStore, OwnerSweep, PurgeRecord } from '../../contract/owner-deletions.ts';
import { OPEN_DELIVERIES, OPEN_RUNS } from '../../log/log-tables.ts';
import { number, text } from '../../rows/cells.ts';
import { OPEN_DELIVERY } from '../../rows/delivery-rows.ts';
import { toOwner } from '../../rows/resource-rows.ts';
import { OPEN_RUN } from '../../rows/run-rows.ts';
import type { ConfigCore } from '../config-database.ts';
import { differs, FOR_UPDATE, raw, type Sql, sql } from '../sql.ts';
import { get, type Steps, send, work } from '../steps.ts';
import { restoreWatches } from '../watch/watches.ts';
import { purgeBeganMs, purgeBegins, purgeStep, removeOwner } from './purge.ts';

/** How much waiting work one step cancels on SQLite, which does nothing else meanwhile. */
const CANCELLED_PER_STEP = 1000;
/** Listeners that one look finds. */
const LISTENERS_PER_STEP = 50;
const RUNNING_PER_STEP = 100;

/** SQLite reads what is open of all owners: the index of an owner has all that is over, too. */
const OWNER = differs({ sqlite: '+owner_id', postgres: 'owner_id' });
const OPEN = { run: raw(OPEN_RUN), delivery: raw(OPEN_DELIVERY) };

/** Last hooks that run at a time, each in a process of its own. */
const SOURCES_PER_STEP = 4;

const NOTHING: OwnerSweep = { isMore: false, nextAtMs: null, running: [], sources: [], purging: [], purged: [] };
const MORE: OwnerSweep = { ...NOTHING, isMore: true };

const one = (ownerId: string): Sql => sql`SELECT * FROM owners WHERE id = ${ownerId}`;

export function ownerDeletionVerbs(core: ConfigCore): Omit<OwnerDeletionStore, 'readEmissions'> {
  const { database } = core;
  return {
    deleteOwner: async (ownerId, { askedAtMs, purgeAtMs }) => {
      if (!(await database.get(one(ownerId)))) return undefined;
      return database.writeRouting(ownerId, function* (w) {
        if (!(yield* get(sql`SELECT 1 AS one FROM owners WHERE id < ${ownerId} LIMIT 1`))) return 'first';
        yield* send(sql`UPDATE owners SET deleted_at_ms = ${askedAtMs}, purge_at_ms = ${purgeAtMs}
          WHERE id = ${ownerId} AND purge_at_ms IS NULL`);
        w.keysChanged();
        const row = yield* get(one(ownerId));
        return row && toOwner(row);
      });
    },

    restoreOwner: async (ownerId, settle) => {
      if (!(await database.get(one(ownerId)))) return undefined;
      return database.writeRouting(ownerId, function* (w) {
        const row = yield* get(sql`${one(ownerId)} ${FOR_UPDATE}`);
        if (!row) return undefined;
        const before = toOwner(row);
        if (!before.deletion) return before;
        if (before.deletion.hasBegun) return 'purging';
        yield* send(sql`UPDATE owners SET deleted_at_ms = NULL, purge_at_ms = NULL WHERE id = ${ownerId}`);
        yield* restoreWatches(ownerId, { fromMs: before.deletion.askedAtMs, nowMs: w.nowMs, settle });
        return { ...before, deletion: null };
      });
    },

    sweepOwners: async (recordOf) => {
      const rows = await database.all(sql`SELECT * FROM owners WHERE purge_at_ms IS NOT NULL ORDER BY purge_at_ms, id`);
      const swept: OwnerSweep[] = [];
      for (const row of rows) swept.push(await sweepOwner(core, toOwner(row), recordOf));
      return together(swept);
    },
  };
}

function together(swept: readonly OwnerSweep[]): OwnerSweep {
  const times = swept.flatMap(({ nextAtMs }) => (nextAtMs === null ? [] : [nextAtMs]));
  return {
    isMore: swept.some(({ isMore }) => isMore),
    nextAtMs: times.length === 0 ? null : Math.min(...times),
    running: swept.flatMap(({ running }) => running),
    sources: swept.flatMap(({ sources }) => sources),
    purging: swept.flatMap(({ purging }) => purging),
    purged: swept.flatMap(({ purged }) => purged),
  };
}

async function sweepOwner(core: ConfigCore, owner: Owner, recordOf: PurgeRecord): Promise<OwnerSweep> {
  const { database, clock } = core;
  const { id, deletion } = owner;
  if (await stop(core, id)) return MORE;
  const nowMs = clock.nowMs();
  if (!deletion || deletion.purgeAtMs > nowMs) return { ...NOTHING, nextAtMs: deletion?.purgeAtMs ?? null };
  if (!deletion.hasBegun) {
    // One restores it or one begins: both change the row only as the other has not.
    await database.put(sql`UPDATE owners SET purge = ${purgeBegins(nowMs)}
      WHERE id = ${id} AND purge IS NULL AND purge_at_ms <= ${nowMs}`);
    return MORE;
  }
  const underWay = await findUnderWay(core, id);
  if (underWay) return { ...underWay, nextAtMs: nowMs + DELETION.underWayMs };
  const sources = await findEnabled(core, owner);
  if (sources.length > 0) return { ...NOTHING, sources, nextAtMs: nowMs + DELETION.underWayMs };
  const step = await database.write((w) => purgeStep(w, id, database.moreOwned));
  if (step.kind === 'more') return { ...MORE, purging: [id] };
  if (step.kind === 'waits') return { ...NOTHING, nextAtMs: step.untilMs, purging: [id] };
  const isGone = await database.writeRouting(id, (w) => removeOwner(w, owner, recordOf));
  return { ...NOTHING, purged: isGone ? [owner] : [] };
}

/** Returns sources of an owner whose last hook is to run before the purge goes on. */
async function findEnabled({ database, clock }: ConfigCore, { id: ownerId }: Owner): Promise<OwnerSweep['sources']> {
  const row = await database.get(sql`SELECT purge FROM owners WHERE id = ${ownerId} AND purge IS NOT NULL`);
  if (!row || clock.nowMs() >= purgeBeganMs(row) + DELETION.hooksMs) return [];
  const rows = await database.all(sql`SELECT id FROM runnables WHERE owner_id = ${ownerId} AND substr(id, 1, 3) = 'dc_'
    AND active = ${true} ORDER BY id LIMIT ${SOURCES_PER_STEP}`);
  return rows.map((row) => ({ ownerId, id: text(row, 'id') }));
}

/** Cancels work that waits for listeners of the owner. Returns whether there was any. */
async function stop({ database }: ConfigCore, ownerId: string): Promise<boolean> {
  const runs = await database.all(sql`SELECT DISTINCT runnable_id AS id FROM ${OPEN_RUNS}
    WHERE state IN ('queued', 'waiting') AND ${OPEN.run} AND ${OWNER} = ${ownerId} LIMIT ${LISTENERS_PER_STEP}`);
  for (const row of runs) {
    const of = { ownerId, id: text(row, 'id') };
    await database.writeListener(of, function* (w) {
      if (yield* isDeleting(ownerId)) yield* work(() => w.cancelRuns(of, CANCELLED_PER_STEP));
    });
  }
  const deliveries = await database.all(sql`SELECT DISTINCT listener_id AS id FROM ${OPEN_DELIVERIES}
    WHERE state IN ('pending', 'retrying', 'held') AND ${OPEN.delivery} AND ${OWNER} = ${ownerId} LIMIT ${LISTENERS_PER_STEP}`);
  for (const row of deliveries) {
    const of = { ownerId, id: text(row, 'id') };
    await database.writeListener(of, function* (w) {
      if (!(yield* isDeleting(ownerId))) return;
      const queue = yield* work(() => w.lockDeliveries(of));
      if (queue) yield* work(() => queue.move(CANCEL, CANCELLED_PER_STEP));
    });
  }
  const operation = await database.get(sql`SELECT id FROM operations
    WHERE owner_id = ${ownerId} AND state IN ('running', 'paused') LIMIT 1`);
  if (operation) {
    await database.write(function* ({ nowMs }) {
      if (!(yield* isDeleting(ownerId))) return;
      yield* send(sql`UPDATE operations SET state = 'cancelled', reason = 'the owner is being deleted',
          updated_at_ms = ${nowMs}, ended_at_ms = ${nowMs}
        WHERE owner_id = ${ownerId} AND state IN ('running', 'paused')`);
    });
  }
  return runs.length + deliveries.length > 0 || operation !== undefined;
}

/** Returns whether the owner is being deleted, which does not change until the transaction is over. */
function* isDeleting(ownerId: string): Steps<boolean> {
  const row = yield* get(
    sql`SELECT 1 AS one FROM owners WHERE id = ${ownerId} AND purge_at_ms IS NOT NULL ${FOR_UPDATE}`,
  );
  return row !== undefined;
}

/** Returns what is under way of an owner, whose purge waits for its end; null: nothing. */
async function findUnderWay({ database }: ConfigCore, ownerId: string): Promise<OwnerSweep | null> {
  const running = await database.all(sql`SELECT run FROM ${OPEN_RUNS}
    WHERE state = 'running' AND ${OPEN.run} AND ${OWNER} = ${ownerId} LIMIT ${RUNNING_PER_STEP}`);
  const sending = await database.get(sql`SELECT 1 AS one FROM ${OPEN_DELIVERIES}
    WHERE state = 'sending' AND ${OPEN.delivery} AND ${OWNER} = ${ownerId} LIMIT 1`);
  if (running.length === 0 && !sending) return null;
  return { ...NOTHING, running: running.map((row) => ({ ownerId, run: number(row, 'run') })) };
}
