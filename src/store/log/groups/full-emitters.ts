// Emitters that have as many groups of errors as are kept. Code that throws a new message every time, by mistake or to do harm,
// would otherwise make groups without end. What such an emitter fails with and has no group yet is counted in one more group,
// so each error is in exactly one group, and counts stay exact.
//
// A process knows it of an emitter from the transaction on that made the last group. What is written at the same time, by this
// process and others, may make some more; counting first would cost every error a query and a lock on its emitter.

import { FINGERPRINT_VERSION, OTHER_ERRORS } from '../../../domain/errors/fingerprint.ts';
import { LIMITS, MINUTE_MS } from '../../../domain/limits.ts';
import type { NewGroup } from '../port.ts';

type Emitter = Pick<NewGroup, 'ownerId' | 'emitterId'>;

interface Groups {
  readonly ids: ReadonlySet<string>;
  readonly readAtMs: number;
}

/** Emitters that are remembered, with up to LIMITS.groupsPerEmitter ids of 20 bytes each. */
const REMEMBERED = 256;
/** How long it takes until it is noticed that retention has made room. */
const READ_AGAIN_MS = MINUTE_MS;

const keyOf = ({ ownerId, emitterId }: Emitter): string => `${ownerId} ${emitterId}`;

export class FullEmitters {
  readonly #groups = new Map<string, Groups>();

  /**
   * Returns whether a new error that would be of this group is to be counted in the one for other errors. A rule makes one group
   * of many: it is what an owner does about an emitter that is full.
   */
  hasNoRoomFor(group: NewGroup): boolean {
    if (group.rule !== null) return false;
    const groups = this.#groups.get(keyOf(group));
    return groups !== undefined && !groups.ids.has(group.id);
  }

  /** Returns whether it is time to read again how many groups a full emitter has. */
  isStale(of: Emitter, nowMs: number): boolean {
    const groups = this.#groups.get(keyOf(of));
    return groups !== undefined && Math.abs(nowMs - groups.readAtMs) >= READ_AGAIN_MS;
  }

  /** Notes the groups of an emitter. `ids`: all of them; of an emitter that is not full none is needed. */
  noteGroups(of: Emitter, ids: readonly string[], nowMs: number): void {
    const key = keyOf(of);
    this.#groups.delete(key);
    if (ids.length < LIMITS.groupsPerEmitter) return;
    const [oldest] = this.#groups.keys();
    if (this.#groups.size >= REMEMBERED && oldest !== undefined) this.#groups.delete(oldest);
    this.#groups.set(key, { ids: new Set(ids), readAtMs: nowMs });
  }
}

/** What makes the id of the group for other errors. */
export const OTHERS_KEY = JSON.stringify([FINGERPRINT_VERSION, 'others']);

/** Returns the group for other errors of a group's emitter. `id`: its id. */
export function othersOf(group: NewGroup, id: string): NewGroup {
  return { ...group, id, fingerprint: OTHER_ERRORS, rule: null };
}
