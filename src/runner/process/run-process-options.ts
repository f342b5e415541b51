// What a process of runs is given, and whom it tells of its changes.

import type { Clock, Log } from '../../ports.ts';
import type { LateFailure } from '../runner.ts';
import type { LinkOptions } from './child-link.ts';
import type { RunInFlight } from './run-in-flight.ts';

/** `deployment` is the one that the process was started for; of sources that share it (process-keys.ts), the first. */
export interface RunProcessOptions extends Omit<LinkOptions, 'mode' | 'query'> {
  /** Runs with this key share the process. */
  readonly key: string;
  readonly clock: Clock;
  readonly log: Log;
  /** How long the process may take to answer a halt, of the time in which it can (answer-time.ts). */
  readonly graceMs: number;
  /** How long the process fails the runs of code that it could not load; then a new process loads the code again. */
  readonly brokenMs: number;
  /** Called with an exception of a run that has ended. */
  readonly onLate?: ((late: LateFailure) => void) | undefined;
  /** Called when a run that was held begins. */
  readonly onBegun: (run: RunInFlight) => void;
  /** Called when the process is up, with each run that it was started with. */
  readonly onUp: (run: RunInFlight) => void;
  /** Called when the last run in flight has ended and the process takes more, or when it has loaded its code. */
  readonly onFree: () => void;
  /** Called when its code ends the process early, before any of its runs was over. */
  readonly onEndedEarly: () => void;
  /** Called when the process and its folder are gone. */
  readonly onGone: () => void;
}
