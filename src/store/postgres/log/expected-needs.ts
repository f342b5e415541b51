// What verbs of a kind have needed so far: with it a batch locks its digests and queues and reads its owners in the first round
// trip, in place of a second and a third one. Only a guess: the plan says what is needed. A batch that needs a digest or queue that
// it has not locked is repeated without a guess, since they are locked together, in the order of their keys.

import { groupsKeyOf } from '../../../domain/delivery/digest.ts';
import type { NewEmission } from '../../../domain/emission.ts';
import { type DigestNeed, pairKey, type QueueNeed } from './batch-needs.ts';

/** A kind whose verbs have needed more queues than this, as with filters among many listeners, is not guessed. */
const MAX_QUEUES = 8;
const MAX_KINDS = 10_000;

export interface ExpectableVerb {
  /** Verbs of one kind need about the same queues. Left out by verbs that lock rows of other tables before queues. */
  readonly kind?: string | null;
  /** Digests that the verb looks at if others of its kind have looked at theirs. */
  readonly digests?: readonly Pick<DigestNeed, 'ownerId' | 'digestKey'>[];
}

/** Returns the digests that a mail may be counted in. */
export function digestsOf({
  ownerId,
  digestKey,
}: Pick<NewEmission, 'ownerId' | 'digestKey'>): Pick<DigestNeed, 'ownerId' | 'digestKey'>[] {
  if (digestKey === null) return [];
  return [digestKey, groupsKeyOf(digestKey)].map((key) => ({ ownerId, digestKey: key }));
}

/** What one verb was seen to need. */
export class Seen {
  readonly owners = new Set<string>();
  readonly queues = new Map<string, QueueNeed>();
  /** Null: it has looked at no digest. */
  digestWindowMs: number | null = null;
}

/** What the verbs of a batch are expected to need. */
export interface Expected {
  readonly owners: Set<string>;
  /** Both are empty when that of some verb is not known. */
  readonly digests: Map<string, DigestNeed>;
  readonly queues: Map<string, QueueNeed>;
}

export class ExpectedNeeds {
  readonly #kinds = new Map<string, Seen>();

  /** Adds what a verb has needed. */
  note({ kind = null }: ExpectableVerb, seen: Seen): void {
    if (kind === null) return;
    const known = this.#kinds.get(kind);
    if (known === undefined) {
      if (this.#kinds.size >= MAX_KINDS) this.#kinds.clear();
      this.#kinds.set(kind, seen);
      return;
    }
    known.digestWindowMs = seen.digestWindowMs ?? known.digestWindowMs;
    for (const ownerId of seen.owners) known.owners.add(ownerId);
    if (known.queues.size > MAX_QUEUES) return;
    for (const [key, queue] of seen.queues) known.queues.set(key, queue);
  }

  forget(verbs: readonly ExpectableVerb[]): void {
    for (const { kind = null } of verbs) if (kind !== null) this.#kinds.delete(kind);
  }

  of(verbs: readonly ExpectableVerb[]): Expected {
    const expected: Expected = { owners: new Set(), digests: new Map(), queues: new Map() };
    let isKnown = true;
    for (const verb of verbs) isKnown = this.#add(verb, expected) && isKnown;
    if (!isKnown) {
      expected.digests.clear();
      expected.queues.clear();
    }
    return expected;
  }

  /** Returns whether it is known what the verb needs. */
  #add({ kind = null, digests = [] }: ExpectableVerb, { owners, digests: all, queues }: Expected): boolean {
    const seen = kind === null ? undefined : this.#kinds.get(kind);
    if (seen === undefined) return false;
    for (const ownerId of seen.owners) owners.add(ownerId);
    for (const [key, queue] of seen.queues) queues.set(key, queue);
    const { digestWindowMs: windowMs } = seen;
    if (windowMs !== null) for (const of of digests) all.set(pairKey(of.ownerId, of.digestKey), { ...of, windowMs });
    return seen.queues.size <= MAX_QUEUES && (windowMs === null || digests.length > 0);
  }
}
