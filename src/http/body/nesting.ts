// The depth of events is judged before they are accepted: what code could not send on is not taken in either.

import { Refusal } from '../../domain/fault.ts';
import { LIMITS } from '../../domain/limits.ts';

/** Throws for JSON with so many levels, as `jsonDepth` counts them. */
export function checkDepth(levels: number): void {
  if (levels <= LIMITS.nestingDepth) return;
  throw new Refusal('malformed', `The event is nested deeper than ${LIMITS.nestingDepth} levels`);
}
