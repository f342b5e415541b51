// What the metrics of a server say of work that waits in the whole store, whichever process is to do it.

import { MINUTE_MS, SECOND_MS } from '../../domain/limits.ts';

const LONG_MS = MINUTE_MS;
const QUEUES = [
  {
    kind: 'run',
    waits: 'a run has waited',
    why: 'its workflow has reached a limit (concurrency, throttle)',
    role: 'run',
  },
  { kind: 'delivery', waits: 'a delivery has been due', why: 'its receiver is slow', role: 'deliver' },
];

/** Returns a sentence for each queue whose first entry has waited for long. `metrics` is the text of `/metrics`. */
export function lateQueues(metrics: string): string[] {
  return QUEUES.flatMap(({ kind, waits, why, role }) => {
    const line = new RegExp(`^errand_queue_lag_seconds\\{kind="${kind}"\\} (\\S+)$`, 'm').exec(metrics);
    const ms = Number(line?.[1]) * SECOND_MS; // not a number while storage does not answer
    if (!(ms > LONG_MS)) return [];
    const seconds = Math.round(ms / SECOND_MS);
    return [`${waits} for ${seconds} s: ${why}, processes with the role ${role} have too much to do, or none runs`];
  });
}
