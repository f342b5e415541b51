// An answer that `$.respond`, or `respond` of a source, cannot send: its run fails, and its caller is told that there was one.

import type { Fault } from './run.ts';

/** What the message of such an error begins with. Callers are not shown the rest, which may quote the workflow's data. */
export const REFUSED_ANSWER = 'respond was refused: ';

/** Returns whether a run failed with the error of an answer that was refused. */
export function isOfRefusedAnswer({ msg }: Pick<Fault, 'msg'>): boolean {
  return msg.startsWith(REFUSED_ANSWER);
}
