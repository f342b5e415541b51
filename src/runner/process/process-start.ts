// How far a process has come with its start: from its fork, over its first message, to the end of loading its code.

import type { RunMessage } from '../child/protocol.ts';
import { readLoading } from './inbound.ts';
import type { Loading, RunInFlight } from './run-in-flight.ts';

export class ProcessStart implements Loading {
  step: number | null = 0;
  #isUp = false;
  readonly #loading = Promise.withResolvers<boolean>();

  get isLoading(): boolean {
    return this.step !== null;
  }

  /** Settles when the code is loaded; false: it could not be, or the process is gone. */
  get loaded(): Promise<boolean> {
    return this.#loading.promise;
  }

  /** Notes that the process was given the run, at a time by `performance.now()`. Returns what a process that is starting is told of it. */
  awaitedBy(run: RunInFlight, atMs: number): Pick<RunMessage, 'timeoutMs'> {
    run.loading = this;
    if (this.#isUp) return {};
    run.startingSince = atMs;
    return { timeoutMs: run.request.timeoutMs };
  }

  /** Notes a message; the first comes before any code is loaded. `onUp`: called then, with each run that waits for it. */
  heard(runs: ReadonlyMap<number, RunInFlight>, onUp: (run: RunInFlight) => void): void {
    if (this.#isUp) return;
    this.#isUp = true;
    for (const run of runs.values()) {
      run.startingSince = null;
      if (run.halted === null) onUp(run);
    }
  }

  /** Notes which step's code is loaded next. */
  next(message: Readonly<Record<string, unknown>>): void {
    this.step = readLoading(message);
  }

  end(isWell: boolean): void {
    this.step = null;
    this.#loading.resolve(isWell);
  }

  /** Notes that the process is gone, wherever it was. */
  cutOff(): void {
    this.#loading.resolve(false);
  }
}
