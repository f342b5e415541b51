// Runs that wait for room in a process that exists: sources that share a process run a bounded number at a time. After
// a restart of the server, thousands of them are due together.

import type { RunInFlight } from '../process/run-in-flight.ts';

export class Backlog {
  /** By key. */
  readonly #runs = new Map<string, Set<RunInFlight>>();

  add(run: RunInFlight): void {
    const waiting = this.#runs.get(run.key);
    if (waiting === undefined) this.#runs.set(run.key, new Set([run]));
    else waiting.add(run);
  }

  /** Removes and returns the run that has waited longest. */
  take(key: string): RunInFlight | undefined {
    const [first] = this.#runs.get(key) ?? [];
    if (first !== undefined) this.remove(first);
    return first;
  }

  /** Removes a run. Returns false when it does not wait here. */
  remove(run: RunInFlight): boolean {
    const waiting = this.#runs.get(run.key);
    const had = waiting?.delete(run) ?? false;
    if (waiting?.size === 0) this.#runs.delete(run.key);
    return had;
  }

  takeAll(): RunInFlight[] {
    const all = [...this.#runs.values()].flatMap((waiting) => [...waiting]);
    this.#runs.clear();
    return all;
  }
}
