// Which emissions of a run its source has emitted before. Pure: the store reads what the source remembers, this decides,
// and the store writes what it remembers from now on, with the emissions.

import type { NewEmission } from './emission.ts';
import { LIMITS } from './limits.ts';
import type { Dedupe } from './resource.ts';

type Item = Pick<NewEmission, 'itemId'>;

export interface Judged<T> {
  /** Those that are no repeats, in their order. */
  readonly fresh: readonly T[];
  /** The ids to remember from now on, newest last. */
  readonly remembered: readonly string[];
}

/** An id as the store remembers it. */
export type Spelling = (itemId: string) => string;

/** `remembered`: as judged the last time. An emission without an id passes: where that is an error, it never comes here. */
export function judge<T extends Item>(
  strategy: Dedupe,
  of: { remembered: readonly string[]; emissions: readonly T[] },
  spell: Spelling = (itemId) => itemId,
): Judged<T> {
  return STRATEGIES[strategy](of, spell);
}

type Strategy = <T extends Item>(
  of: { remembered: readonly string[]; emissions: readonly T[] },
  spell: Spelling,
) => Judged<T>;

const STRATEGIES: Readonly<Record<Dedupe, Strategy>> = {
  unique: ({ remembered, emissions }, spell) => {
    // Those of this run all count, however many they are; a repeat keeps the place of the first.
    const known = new Set(remembered);
    const fresh = emissions.filter(({ itemId }) => {
      if (itemId === null) return true;
      const before = known.size;
      return known.add(spell(itemId)).size > before;
    });
    return { fresh, remembered: [...known].slice(-LIMITS.uniqueIds) };
  },

  greatest: ({ remembered, emissions }) => {
    let greatest = Number(remembered.at(-1) ?? Number.NEGATIVE_INFINITY);
    const fresh = emissions.filter(({ itemId }) => {
      if (itemId === null) return true;
      const isGreater = Number(itemId) > greatest;
      if (isGreater) greatest = Number(itemId);
      return isGreater;
    });
    return { fresh, remembered: Number.isFinite(greatest) ? [String(greatest)] : remembered };
  },

  last: ({ remembered, emissions }, spell) => {
    const newest = remembered.at(-1);
    const at = emissions.findLastIndex(({ itemId }) => itemId !== null && spell(itemId) === newest);
    const fresh = emissions.slice(at + 1);
    const last = fresh.findLast(({ itemId }) => itemId !== null)?.itemId;
    return { fresh, remembered: typeof last === 'string' ? [spell(last)] : remembered };
  },
};

/** What of the ids that are remembered goes, and what is new, in order. */
export function changeOf(
  before: readonly string[],
  now: readonly string[],
): { removed: readonly string[]; added: readonly string[] } {
  const [had, has] = [new Set(before), new Set(now)];
  return { removed: before.filter((id) => !has.has(id)), added: now.filter((id) => !had.has(id)) };
}
