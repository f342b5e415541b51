// What a source remembers between its runs: `$.service.db` and the ids that dedupe has seen. Written with the end of
// the run, in the transaction of its emissions.

import type { NewEmission } from '../../domain/emission.ts';
import type { RunEnd } from '../../domain/end.ts';
import { LIMITS } from '../../domain/limits.ts';
import type { Dedupe } from '../../domain/resource.ts';
import type { Core } from './core.ts';
import type { Writing } from './write.ts';

export interface Remembered {
  /** The emissions that are not repeats. */
  readonly emissions: readonly NewEmission[];
  /** How many were. */
  readonly suppressed: number;
}

/** Writes db and dedupe memory. An emission without an id passes. */
export function applySource(
  core: Core,
  w: Writing,
  ended: { source: NonNullable<RunEnd['source']>; emissions: readonly NewEmission[] },
): Remembered {
  const { source, emissions } = ended;
  const row = core.writer.get('SELECT dedupe FROM runnables WHERE id = ?', source.id);
  // It was deleted while it ran: there is nobody left to remember anything.
  if (!row) return { emissions, suppressed: 0 };
  for (const [name, value] of Object.entries(source.dbWrites)) writeDb(core, source.id, [name, value]);
  const strategy = row.dedupe as Dedupe | null;
  const memory = new Memory(core, w, source.id);
  const fresh = strategy === null ? emissions : STRATEGIES[strategy](memory, emissions);
  return { emissions: fresh, suppressed: emissions.length - fresh.length };
}

function writeDb(core: Core, sourceId: string, [name, value]: readonly [string, string | null]): void {
  if (value === null) core.writer.run('DELETE FROM source_db WHERE source_id = ? AND name = ?', sourceId, name);
  else
    core.writer.run('INSERT OR REPLACE INTO source_db (source_id, name, value) VALUES (?,?,?)', sourceId, name, value);
}

type Strategy = (memory: Memory, emissions: readonly NewEmission[]) => readonly NewEmission[];

const STRATEGIES: Readonly<Record<Dedupe, Strategy>> = {
  unique: (memory, emissions) => {
    const fresh = emissions.filter((e) => e.itemId === null || memory.add(e.itemId));
    memory.keepNewest(LIMITS.uniqueIds);
    return fresh;
  },

  greatest: (memory, emissions) => {
    let greatest = Number(memory.newest() ?? Number.NEGATIVE_INFINITY);
    const fresh = emissions.filter((e) => {
      if (e.itemId === null) return true;
      const isGreater = Number(e.itemId) > greatest;
      if (isGreater) greatest = Number(e.itemId);
      return isGreater;
    });
    if (Number.isFinite(greatest)) memory.replace(String(greatest));
    return fresh;
  },

  last: (memory, emissions) => {
    const newest = memory.newest();
    const at = newest === undefined ? -1 : emissions.findLastIndex((e) => e.itemId === newest);
    const fresh = emissions.slice(at + 1);
    const last = fresh.findLast((e) => e.itemId !== null)?.itemId;
    if (last !== undefined && last !== null) memory.replace(last);
    return fresh;
  },
};

/** The ids of one source, newest last. */
class Memory {
  readonly #core: Core;
  readonly #w: Writing;
  readonly #sourceId: string;

  constructor(core: Core, w: Writing, sourceId: string) {
    this.#core = core;
    this.#w = w;
    this.#sourceId = sourceId;
  }

  /** False when it is there already. */
  add(itemId: string): boolean {
    const sql = 'INSERT OR IGNORE INTO dedupe (source_id, item_id, entry) VALUES (?,?,?)';
    return this.#core.writer.run(sql, this.#sourceId, itemId, this.#w.tx.number()) === 1;
  }

  newest(): string | undefined {
    const sql = 'SELECT item_id FROM dedupe WHERE source_id = ? ORDER BY entry DESC LIMIT 1';
    return this.#core.writer.get(sql, this.#sourceId)?.item_id as string | undefined;
  }

  replace(itemId: string): void {
    this.#core.writer.run('DELETE FROM dedupe WHERE source_id = ?', this.#sourceId);
    this.add(itemId);
  }

  keepNewest(count: number): void {
    this.#core.writer.run(
      `DELETE FROM dedupe WHERE source_id = ? AND entry <= (SELECT entry FROM dedupe WHERE source_id = ?
        ORDER BY entry DESC LIMIT 1 OFFSET ${count})`,
      this.#sourceId,
      this.#sourceId,
    );
  }
}
