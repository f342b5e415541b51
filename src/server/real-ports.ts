// The ports of the real world: the clock on the wall, the system's randomness.

import { randomBytes } from 'node:crypto';
import { resourceId } from '../domain/ids.ts';
import type { Clock, Ids, Random } from '../ports.ts';

const ID_RANDOM_BYTES = 9;
const SECRET_BYTES = 18;

export const clock: Clock = { nowMs: () => Date.now() };

export const random: Random = { bytes: (count) => randomBytes(count), fraction: () => Math.random() };

/** `clock`: the one that the store goes by, so that ids of all nodes that share it sort by the time they were made. */
export function createIds(clock: Clock, random: Random): Ids {
  let lastMs = 0;
  return {
    // Each has a millisecond of its own, ahead of the clock in a burst: what is made at once, as the triggers of one
    // workflow are, is listed in the order in which it was made.
    next: (prefix) => {
      lastMs = Math.max(clock.nowMs(), lastMs + 1);
      return resourceId(prefix, lastMs, random.bytes(ID_RANDOM_BYTES));
    },
    secret: () => Buffer.from(random.bytes(SECRET_BYTES)).toString('base64url'),
  };
}
