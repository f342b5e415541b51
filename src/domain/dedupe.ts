// Which emissions of a run its source has emitted before. Pure: the store reads the remembered ids, `judge` decides, and the
// store writes the new ids together with the emissions. Each channel is judged separately: an id emitted on one channel is
// new on another.

import type { NewEmission } from './emission.ts';
import { LIMITS } from './limits.ts';
import type { Dedupe } from './resource.ts';

type Item = Pick<NewEmission, 'itemId' | 'name'>;

export interface Deduplicated<T> {
  /** Emissions that are no repeats, in order. */
  readonly fresh: readonly T[];
  /** Ids to remember from now on, newest last within each channel. */
  readonly remembered: readonly string[];
}

/** Returns an id as the store remembers it. */
export type Spelling = (itemId: string) => string;

/** Separates the channel's name from the id in a remembered entry. Entries of the default channel have no separator. */
const SEPARATOR = '\u001f';

/**
 * Removes repeats from emissions. `remembered`: the result of the last call. An emission without an id passes; earlier code
 * refuses it where ids are required.
 */
export function deduplicate<T extends Item>(
  strategy: Dedupe,
  { remembered, emissions }: { remembered: readonly string[]; emissions: readonly T[] },
  spell: Spelling = (itemId) => itemId,
): Deduplicated<T> {
  const isOneChannel =
    emissions.every(({ name }) => name === '') && !remembered.some((entry) => entry.includes(SEPARATOR));
  const spellPlain: Spelling = (itemId) => withoutSeparator(spell(itemId));
  if (isOneChannel) return STRATEGIES[strategy]({ remembered, emissions }, spellPlain);
  const channels = new Map<string, { readonly remembered: string[]; readonly emissions: T[] }>();
  const channelNamed = (prefix: string) => {
    const known = channels.get(prefix) ?? { remembered: [], emissions: [] };
    // The channels with the latest emissions come last.
    channels.delete(prefix);
    channels.set(prefix, known);
    return known;
  };
  for (const entry of remembered) {
    const prefix = entry.slice(0, entry.indexOf(SEPARATOR) + 1);
    channelNamed(prefix).remembered.push(entry.slice(prefix.length));
  }
  for (const emission of emissions) channelNamed(prefixOf(emission.name, spell)).emissions.push(emission);
  const fresh = new Set<T>();
  const now: string[][] = [];
  for (const [prefix, channel] of channels) {
    const judged = STRATEGIES[strategy](channel, spellPlain);
    for (const emission of judged.fresh) fresh.add(emission);
    now.push(judged.remembered.map((id) => prefix + id));
  }
  return {
    fresh: emissions.filter((emission) => fresh.has(emission)),
    remembered: now.slice(-LIMITS.dedupeChannels).flat(),
  };
}

/** Returns what stands before the ids of a channel. The name is encoded, so it contains no separator. */
function prefixOf(channel: string, spell: Spelling): string {
  return channel === '' ? '' : spell(encodeURIComponent(channel.toWellFormed())) + SEPARATOR;
}

/** Returns the channel and the id of a remembered entry, as far as they are remembered: one that is long is its hash. */
export function seenIdOf(entry: string): { readonly name: string; readonly itemId: string } {
  const at = entry.indexOf(SEPARATOR);
  if (at < 0) return { name: '', itemId: entry };
  const name = entry.slice(0, at);
  return { name: decoded(name), itemId: entry.slice(at + 1) };
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

function withoutSeparator(id: string): string {
  return id.includes(SEPARATOR) ? encodeURIComponent(id.toWellFormed()) : id;
}

type Strategy = <T extends Item>(
  of: { remembered: readonly string[]; emissions: readonly T[] },
  spell: Spelling,
) => Deduplicated<T>;

const STRATEGIES: Readonly<Record<Dedupe, Strategy>> = {
  unique: ({ remembered, emissions }, spell) => {
    // All ids of this run count, whatever their number; a repeat keeps the place of the first.
    const known = new Set(remembered);
    const fresh = emissions.filter(({ itemId }) => {
      if (itemId === null) return true;
      const before = known.size;
      return known.add(spell(itemId)).size > before;
    });
    return { fresh, remembered: [...known].slice(-LIMITS.uniqueIds) };
  },

  greatest: ({ remembered, emissions }) => {
    const last = remembered.at(-1);
    let greatest = last === undefined ? Number.NEGATIVE_INFINITY : numberOf(last);
    const fresh = emissions.filter(({ itemId }) => {
      if (itemId === null) return true;
      const number = numberOf(itemId);
      const isGreater = number > greatest;
      if (isGreater) greatest = number;
      return isGreater;
    });
    const isKept = typeof greatest === 'bigint' || Number.isFinite(greatest);
    return { fresh, remembered: isKept ? [String(greatest)] : remembered };
  },

  last: ({ remembered, emissions }, spell) => {
    const newest = remembered.at(-1);
    const at = emissions.findLastIndex(({ itemId }) => itemId !== null && spell(itemId) === newest);
    const fresh = emissions.slice(at + 1);
    const last = fresh.findLast(({ itemId }) => itemId !== null)?.itemId;
    return { fresh, remembered: typeof last === 'string' ? [spell(last)] : remembered };
  },
};

/** Returns an id as a number: an integer exactly, since many services have ids of 19 digits, and a double tells 16 apart. */
function numberOf(itemId: string): bigint | number {
  return /^\s*-?\d+\s*$/.test(itemId) ? BigInt(itemId) : Number(itemId);
}

/** Returns the remembered ids that were removed, and those that were added, in order. */
export function changeOf(
  before: readonly string[],
  now: readonly string[],
): { removed: readonly string[]; added: readonly string[] } {
  const [had, has] = [new Set(before), new Set(now)];
  return { removed: before.filter((id) => !has.has(id)), added: now.filter((id) => !had.has(id)) };
}
