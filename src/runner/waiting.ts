// Runs that wait for a process: in order of arrival, those that will share one together.

import type { Flight } from './flight.ts';

export class Waiting {
  readonly #groups = new Map<string, Flight[]>();

  /** How many processes it would take. */
  get processes(): number {
    return this.#groups.size;
  }

  add(flight: Flight): void {
    const key = keyOf(flight);
    const group = this.#groups.get(key);
    if (group === undefined) this.#groups.set(key, [flight]);
    else group.push(flight);
  }

  /** False when it does not wait here. */
  remove(flight: Flight): boolean {
    const key = keyOf(flight);
    const group = this.#groups.get(key);
    const index = group?.indexOf(flight) ?? -1;
    if (group === undefined || index < 0) return false;
    group.splice(index, 1);
    if (group.length === 0) this.#groups.delete(key);
    return true;
  }

  /** Those that came first. */
  take(): Flight[] {
    const [first] = this.#groups;
    if (first === undefined) return [];
    this.#groups.delete(first[0]);
    return first[1];
  }
}

function keyOf({ request, key }: Flight): string {
  return request.alone ? `run ${request.run}` : key;
}
