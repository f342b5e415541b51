// The depth of events is judged before they are accepted: what code could not send on is not taken in either.

import { isUtf8 } from 'node:buffer';
import { Refusal } from '../../domain/fault.ts';
import { jsonDepth } from '../../domain/json-text.ts';
import { LIMITS } from '../../domain/limits.ts';

/** Returns how many arrays and objects are within each other; null when the bytes are no JSON text in UTF-8. */
export function depthOf(json: Uint8Array): number | null {
  return isUtf8(json) ? jsonDepth(json) : null;
}

/** Throws for JSON with so many levels, as `depthOf` counts them. */
export function checkDepth(levels: number): void {
  if (levels <= LIMITS.nestingDepth) return;
  throw new Refusal('malformed', `The event is nested deeper than ${LIMITS.nestingDepth} levels`);
}
