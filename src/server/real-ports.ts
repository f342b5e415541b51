// The real ports: the system's clock and randomness; and who calls.

import { randomBytes } from 'node:crypto';
import { userInfo } from 'node:os';
import { PREFIX, resourceId } from '../domain/ids.ts';
import type { Clock, Ids, Random } from '../ports.ts';
import type { CommandRecord } from '../store/rows/command-record.ts';

const ID_RANDOM_BYTES = 9;
const SECRET_BYTES = 18;

export const clock: Clock = { nowMs: () => Date.now() };

export const random: Random = { bytes: (count) => randomBytes(count), fraction: () => Math.random() };

/** Creates the source of ids. `clock`: the store's, so that ids of all nodes that share it sort by time. */
export function createIds(clock: Clock, random: Random): Ids {
  let lastMs = 0;
  return {
    // Each id has a millisecond of its own, ahead of the clock in a burst, so that ids made together, such as those of a
    // workflow's triggers, sort in the order in which they were made.
    next: (prefix) => {
      lastMs = Math.max(clock.nowMs(), lastMs + 1);
      return resourceId(prefix, lastMs, random.bytes(ID_RANDOM_BYTES));
    },
    secret: () => Buffer.from(random.bytes(SECRET_BYTES)).toString('base64url'),
  };
}

/** Returns the audit record of a command on the whole store. `from`: where its user has called it. */
export function commandRecord(operation: string, command: string, from = 'the command line'): CommandRecord {
  const id = createIds(clock, random).next(PREFIX.audit);
  return { id, label: `${userName()}, from ${from}`, operation, command, atMs: clock.nowMs() };
}

/** Returns the caller's user name; a container may have a user without a name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.()}`;
  }
}
