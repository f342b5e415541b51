// A schedule's tick, as both backends fire it.

/** One due time of a schedule trigger, and the one behind it. */
export interface Tick {
  readonly triggerId: string;
  readonly expectedAtMs: number;
  readonly nextAtMs: number;
}

/** Throws when the tick would be followed by itself, or by one before it: then it would be fired again and again. */
export function checkTick({ triggerId, expectedAtMs, nextAtMs }: Tick): void {
  if (nextAtMs > expectedAtMs) return;
  throw new RangeError(`the tick of ${triggerId} at ${expectedAtMs} is to be followed by one at ${nextAtMs}`);
}
