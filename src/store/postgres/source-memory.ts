// What a source remembers between its runs: `$.service.db` and the ids that dedupe has seen. Written with the end of
// the run, in the transaction of its emissions.

import { createHash } from 'node:crypto';
import type { NewEmission } from '../../domain/emission.ts';
import type { RunEnd } from '../../domain/end.ts';
import { LIMITS } from '../../domain/limits.ts';
import type { Dedupe } from '../../domain/resource.ts';
import type { Pass } from './pass.ts';

export interface Remembered {
  /** The emissions that are not repeats. */
  readonly emissions: readonly NewEmission[];
  /** How many were. */
  readonly suppressed: number;
}

/** Longer ids are remembered by their hash: an index entry has its limit. */
const LONGEST_ID = 500;

/** Plans db and dedupe memory. An emission without an id passes. */
export function applySource(
  pass: Pass,
  ended: { source: NonNullable<RunEnd['source']>; emissions: readonly NewEmission[] },
): Remembered {
  const { source, emissions } = ended;
  // It was deleted while it ran: there is nobody left to remember anything.
  if (!pass.reads.strategies.has(source.id)) return { emissions, suppressed: 0 };
  for (const [name, value] of Object.entries(source.dbWrites)) {
    pass.plan.dbWrites.set(`${source.id} ${name}`, { sourceId: source.id, name, value });
  }
  const strategy = (pass.reads.strategies.get(source.id) ?? null) as Dedupe | null;
  if (strategy === null) return { emissions, suppressed: 0 };
  const memory = new Memory(pass, source.id);
  const fresh = STRATEGIES[strategy](memory, emissions);
  memory.save();
  return { emissions: fresh, suppressed: emissions.length - fresh.length };
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
    const at =
      newest === undefined ? -1 : emissions.findLastIndex((e) => e.itemId !== null && kept(e.itemId) === newest);
    const fresh = emissions.slice(at + 1);
    const last = fresh.findLast((e) => e.itemId !== null)?.itemId;
    if (last !== undefined && last !== null) memory.replace(last);
    return fresh;
  },
};

/** An id as it is remembered. */
export function kept(itemId: string): string {
  return itemId.length <= LONGEST_ID ? itemId : `sha256:${createHash('sha256').update(itemId).digest('hex')}`;
}

/** The ids of one source, newest last: what stands in the database, and this pass's changes. */
class Memory {
  readonly #pass: Pass;
  readonly #sourceId: string;
  readonly #before: readonly string[];
  #now: string[];

  constructor(pass: Pass, sourceId: string) {
    this.#pass = pass;
    this.#sourceId = sourceId;
    this.#before = pass.reads.itemIds.get(sourceId) ?? [];
    const earlier = pass.memories.get(sourceId);
    const standing = this.#before.filter((id) => !earlier?.removed.includes(id));
    this.#now = [...standing, ...(earlier?.added.map(([id]) => id) ?? [])];
  }

  /** False when it is there already. */
  add(itemId: string): boolean {
    const id = kept(itemId);
    if (this.#now.includes(id)) return false;
    this.#now.push(id);
    return true;
  }

  newest(): string | undefined {
    return this.#now.at(-1);
  }

  replace(itemId: string): void {
    this.#now = [kept(itemId)];
  }

  keepNewest(count: number): void {
    this.#now = this.#now.slice(-count);
  }

  save(): void {
    const known = new Set(this.#before);
    const now = new Set(this.#now);
    this.#pass.memories.set(this.#sourceId, {
      removed: this.#before.filter((id) => !now.has(id)),
      added: this.#now.filter((id) => !known.has(id)).map((id) => [id, this.#pass.numbers.next()]),
    });
  }
}
