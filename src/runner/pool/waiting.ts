// Runs that wait for a process: those that will share one together, in order of arrival, by owner.

import type { Flight } from '../process/flight.ts';

export interface Group {
  readonly ownerId: string;
  /** Of the process that its runs share; null: its one run shares with none. */
  readonly key: string | null;
  readonly flights: Flight[];
}

export class Waiting {
  /** By owner; the owner that was served last comes last. */
  readonly #owners = new Map<string, Map<string, Group>>();
  #processes = 0;

  /** How many processes it would take. */
  get processes(): number {
    return this.#processes;
  }

  /** In the order of turns. */
  get owners(): readonly string[] {
    return [...this.#owners.keys()];
  }

  add(flight: Flight): void {
    const { ownerId } = flight.request.deployment;
    let groups = this.#owners.get(ownerId);
    if (groups === undefined) {
      groups = new Map();
      this.#owners.set(ownerId, groups);
    }
    const group = groups.get(keyOf(flight));
    if (group !== undefined) {
      group.flights.push(flight);
      return;
    }
    groups.set(keyOf(flight), { ownerId, key: flight.request.alone ? null : flight.key, flights: [flight] });
    this.#processes++;
  }

  /** False when it does not wait here. */
  remove(flight: Flight): boolean {
    const group = this.#owners.get(flight.request.deployment.ownerId)?.get(keyOf(flight));
    const index = group?.flights.indexOf(flight) ?? -1;
    if (group === undefined || index < 0) return false;
    group.flights.splice(index, 1);
    if (group.flights.length === 0) this.#drop(flight);
    return true;
  }

  /** How many processes it would take for one owner. */
  countOf(ownerId: string): number {
    return this.#owners.get(ownerId)?.size ?? 0;
  }

  /** Of an owner, those that came first first. */
  groupsOf(ownerId: string): Iterable<Group> {
    return this.#owners.get(ownerId)?.values() ?? [];
  }

  /** It waits no more; its owner is the last whose turn comes. */
  take(group: Group): readonly Flight[] {
    const [first] = group.flights;
    if (first === undefined) return [];
    this.#drop(first);
    const rest = this.#owners.get(group.ownerId);
    if (rest !== undefined) {
      this.#owners.delete(group.ownerId);
      this.#owners.set(group.ownerId, rest);
    }
    return group.flights;
  }

  takeAll(): readonly Flight[] {
    const all = [...this.#owners.values()].flatMap((groups) => [...groups.values()].flatMap(({ flights }) => flights));
    this.#owners.clear();
    this.#processes = 0;
    return all;
  }

  #drop(flight: Flight): void {
    const { ownerId } = flight.request.deployment;
    const groups = this.#owners.get(ownerId);
    if (!groups?.delete(keyOf(flight))) return;
    this.#processes--;
    if (groups.size === 0) this.#owners.delete(ownerId);
  }
}

function keyOf({ request, key }: Flight): string {
  return request.alone ? `run ${request.run}` : key;
}
