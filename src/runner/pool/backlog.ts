// Runs that wait for room in a process that is there: of sources that share it, so many run at once. After a restart,
// thousands of them are due together.

import type { Flight } from '../process/flight.ts';

export class Backlog {
  /** By key. */
  readonly #flights = new Map<string, Set<Flight>>();

  add(flight: Flight): void {
    const waiting = this.#flights.get(flight.key);
    if (waiting === undefined) this.#flights.set(flight.key, new Set([flight]));
    else waiting.add(flight);
  }

  /** The one that has waited longest. */
  take(key: string): Flight | undefined {
    const [first] = this.#flights.get(key) ?? [];
    if (first !== undefined) this.remove(first);
    return first;
  }

  /** False when it does not wait here. */
  remove(flight: Flight): boolean {
    const waiting = this.#flights.get(flight.key);
    const had = waiting?.delete(flight) ?? false;
    if (waiting?.size === 0) this.#flights.delete(flight.key);
    return had;
  }

  takeAll(): Flight[] {
    const all = [...this.#flights.values()].flatMap((waiting) => [...waiting]);
    this.#flights.clear();
    return all;
  }
}
