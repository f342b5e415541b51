// Puts the texts of a message back into their places (child/bulk.ts). A value that is no number stays, and is checked
// by the message's reader. A number without a text, or of a text that was used already, throws.

import { LIMITS } from '../../domain/limits.ts';
import { list } from './inbound-values.ts';

type Message = Readonly<Record<string, unknown>>;

const MAX_TEXTS =
  LIMITS.exportsPerRun + LIMITS.dbWritesPerRun + 2 + 3 * LIMITS.emissionsPerRun + LIMITS.logBytes / LIMITS.logLineBytes;

/** Returns the whole message. `take` returns the next bytes of the frame. */
export function withBulk(message: Message, take: (bytes: unknown) => Buffer): Message {
  if (message.bulk === undefined) return message;
  const texts: (Buffer | null)[] = list(message.bulk, MAX_TEXTS).map(take);
  const put = (given: unknown): unknown => {
    if (typeof given !== 'number') return given;
    const bytes = texts[given];
    if (!bytes) throw new RangeError('a text that is not there');
    texts[given] = null;
    return bytes.toString('utf8');
  };
  const putAll = (given: unknown): unknown => {
    if (typeof given !== 'object' || given === null) return given;
    return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, put(value)]));
  };
  const at = (given: unknown, places: readonly number[]): unknown =>
    Array.isArray(given) ? given.map((value, i) => (places.includes(i) ? put(value) : value)) : given;
  const each = (given: unknown, places: readonly number[]): unknown =>
    Array.isArray(given) ? given.map((value) => at(value, places)) : given;
  const { step, outgoing, logs, wait, dbWrites } = message;
  const stepWithReturned = at(step, [4]);
  return {
    ...message,
    step: Array.isArray(stepWithReturned) ? stepWithReturned.map((v, i) => (i === 5 ? putAll(v) : v)) : step,
    outgoing: each(outgoing, [2, 3, 4]),
    logs: each(logs, [3]),
    wait: at(wait, [2]),
    dbWrites: putAll(dbWrites),
  };
}
