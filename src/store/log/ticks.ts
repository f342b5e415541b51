// A schedule's tick.

import type { NewEmission } from '../../domain/emission.ts';
import type { Appended, Tick } from '../contract/store.ts';
import { appendedOf } from './append.ts';
import type { LogWriter } from './port.ts';
import { writeEmission } from './write-emission.ts';

/** Throws when the next tick is not later: then the trigger would fire again and again. */
export function checkTick({ triggerId, expectedAtMs, nextAtMs }: Tick): void {
  if (nextAtMs > expectedAtMs) return;
  throw new RangeError(`the tick of ${triggerId} at ${expectedAtMs} is to be followed by one at ${nextAtMs}`);
}

/** See TimeStore. */
export function fireTrigger(log: LogWriter, tick: Tick, emission: NewEmission): Appended | null {
  return log.takeTick(tick) ? appendedOf(log, writeEmission(log, emission)) : null;
}
