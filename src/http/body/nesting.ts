// Checks the depth of events before they are accepted: code could not send on a deeper one.

import { isUtf8 } from 'node:buffer';
import { jsonDepth } from '../../domain/json-text.ts';
import { LIMITS } from '../../domain/limits.ts';
import { Refusal } from '../../domain/refusal.ts';

/** Returns how deep arrays and objects are nested; null when the bytes are not JSON text in UTF-8. */
export function depthOf(json: Uint8Array): number | null {
  return isUtf8(json) ? jsonDepth(json) : null;
}

/** Throws for JSON of so many levels, as `depthOf` counts them. */
export function checkDepth(levels: number): void {
  if (levels <= LIMITS.nestingDepth) return;
  throw new Refusal('malformed', `The event is nested deeper than ${LIMITS.nestingDepth} levels`);
}
