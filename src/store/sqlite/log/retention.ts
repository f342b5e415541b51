// Retention: deletes old emissions without open work, in steps of one short transaction each.

import { NUMBERS_PER_MS } from '../../../domain/ids.ts';
import { LIMITS } from '../../../domain/limits.ts';
import { pruneAudit } from '../../config/audit.ts';
import { number, text } from '../../rows/cells.ts';
import { runSteps } from '../config/config-database.ts';
import type { Core } from '../core.ts';
import type { Row } from '../database.ts';
import type { Transaction } from './transaction.ts';

const EMISSIONS_PER_STEP = 500;

interface Step {
  readonly emissions: number;
  readonly next: number | null;
}

/** See TimeStore. */
export function prune(core: Core, tx: Transaction, { beforeMs, from }: { beforeMs: number; from: number }): Step {
  core.writer.run('DELETE FROM idempotency WHERE expires_at_ms <= ?', tx.nowMs);
  core.writer.run('DELETE FROM operations WHERE ended_at_ms < ?', beforeMs);
  const isMoreAudit = runSteps(core, tx, () => pruneAudit(beforeMs));
  const before = beforeMs * NUMBERS_PER_MS;
  const { emissions, next } = pruneEmissions(core, tx, { before, from });
  // After the last emission, further steps only prune the audit log.
  return { emissions, next: next ?? (isMoreAudit ? before : null) };
}

function pruneEmissions(core: Core, tx: Transaction, of: { before: number; from: number }): Step {
  const rows = core.writer.all(
    'SELECT entry, emitter_id, name, flags & 8 AS listed FROM emissions WHERE entry >= ? AND entry < ? ORDER BY entry LIMIT ?',
    of.from,
    of.before,
    EMISSIONS_PER_STEP,
  );
  const oldestKept = new Map<string, number>();
  let emissions = 0;
  for (const row of rows) {
    const entry = number(row, 'entry');
    if (row.listed && entry >= oldestKeptOf(core, oldestKept, row)) continue;
    if (hasOpenWork(core, entry)) continue;
    deleteEmission(core, entry);
    emissions++;
  }
  if (emissions > 0) keepLastNumber(core, tx);
  const last = rows.length < EMISSIONS_PER_STEP ? undefined : rows.at(-1);
  return { emissions, next: last ? number(last, 'entry') + 1 : null };
}

/** Keeps numbers unique even if the newest rows are deleted and the clock was set back. */
function keepLastNumber(core: Core, tx: Transaction): void {
  core.writer.run("INSERT OR REPLACE INTO meta (name, value) VALUES ('last_number', ?)", String(tx.number()));
}

/** Returns the entry from which on a channel's emissions are kept at any age; 0: the channel has fewer. */
function oldestKeptOf(core: Core, known: Map<string, number>, row: Row): number {
  const emitterId = text(row, 'emitter_id');
  const name = text(row, 'name');
  const channel = `${emitterId} ${name}`;
  const found = known.get(channel);
  if (found !== undefined) return found;
  const oldest = core.writer.get(
    `SELECT entry FROM emissions WHERE emitter_id = ? AND name = ? AND flags & 8
      ORDER BY entry DESC LIMIT 1 OFFSET ${LIMITS.listedPerEmitterAndName - 1}`,
    emitterId,
    name,
  );
  const entry = oldest ? number(oldest, 'entry') : 0;
  known.set(channel, entry);
  return entry;
}

function hasOpenWork(core: Core, entry: number): boolean {
  const run = core.writer.get(
    "SELECT 1 FROM runs WHERE entry = ? AND state IN ('queued', 'running', 'waiting') LIMIT 1",
    entry,
  );
  if (run) return true;
  const delivery = core.writer.get(
    "SELECT 1 FROM deliveries WHERE entry = ? AND state NOT IN ('delivered', 'exhausted', 'cancelled') LIMIT 1",
    entry,
  );
  if (delivery) return true;
  return core.writer.get('SELECT 1 FROM digests WHERE newest_entry = ? LIMIT 1', entry) !== undefined;
}

function deleteEmission(core: Core, entry: number): void {
  core.writer.run('DELETE FROM attempts WHERE delivery IN (SELECT delivery FROM deliveries WHERE entry = ?)', entry);
  core.writer.run('DELETE FROM deliveries WHERE entry = ?', entry);
  core.writer.run('DELETE FROM runs WHERE entry = ?', entry);
  core.writer.run('DELETE FROM withheld WHERE entry = ?', entry);
  core.writer.run('DELETE FROM emissions WHERE entry = ?', entry);
}
