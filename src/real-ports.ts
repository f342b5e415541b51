// The ports of the real world: the clock on the wall, the system's randomness.

import { randomBytes } from 'node:crypto';
import { resourceId } from './domain/ids.ts';
import type { Clock, Ids, Random } from './ports.ts';

const ID_RANDOM_BYTES = 9;
const SECRET_BYTES = 18;

export const clock: Clock = { nowMs: () => Date.now() };

export const random: Random = { bytes: (count) => randomBytes(count), fraction: () => Math.random() };

export const ids: Ids = {
  next: (prefix) => resourceId(prefix, clock.nowMs(), random.bytes(ID_RANDOM_BYTES)),
  secret: () => randomBytes(SECRET_BYTES).toString('base64url'),
};
