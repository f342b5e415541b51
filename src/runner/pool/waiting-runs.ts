// Runs that wait for a process, by owner and in order of arrival; runs that will share a process form a group.

import type { RunInFlight } from '../process/run-in-flight.ts';

export interface WaitingGroup {
  readonly ownerId: string;
  /** The key of the process that the runs will share; null: the group's one run shares its process with no other. */
  readonly key: string | null;
  readonly runs: RunInFlight[];
}

export class WaitingRuns {
  /** By owner, in round-robin order: the owner that was served last comes last. */
  readonly #owners = new Map<string, Map<string, WaitingGroup>>();
  #processes = 0;

  /** Returns how many processes the waiting runs need. */
  get processes(): number {
    return this.#processes;
  }

  /** Returns the owners in round-robin order. */
  get owners(): readonly string[] {
    return [...this.#owners.keys()];
  }

  add(run: RunInFlight): void {
    const { ownerId } = run.request.deployment;
    let groups = this.#owners.get(ownerId);
    if (groups === undefined) {
      groups = new Map();
      this.#owners.set(ownerId, groups);
    }
    const group = groups.get(keyOf(run));
    if (group !== undefined) {
      group.runs.push(run);
      return;
    }
    groups.set(keyOf(run), { ownerId, key: run.request.alone ? null : run.key, runs: [run] });
    this.#processes++;
  }

  /** Removes a run. Returns false when it does not wait here. */
  remove(run: RunInFlight): boolean {
    const group = this.#owners.get(run.request.deployment.ownerId)?.get(keyOf(run));
    const index = group?.runs.indexOf(run) ?? -1;
    if (group === undefined || index < 0) return false;
    group.runs.splice(index, 1);
    if (group.runs.length === 0) this.#drop(run);
    return true;
  }

  /** Returns how many processes one owner's runs need. */
  countOf(ownerId: string): number {
    return this.#owners.get(ownerId)?.size ?? 0;
  }

  /** Returns the groups of an owner in order of arrival. */
  groupsOf(ownerId: string): Iterable<WaitingGroup> {
    return this.#owners.get(ownerId)?.values() ?? [];
  }

  /** Removes a group and returns its runs; its owner becomes the last in the round robin. */
  take(group: WaitingGroup): readonly RunInFlight[] {
    const [first] = group.runs;
    if (first === undefined) return [];
    this.#drop(first);
    const rest = this.#owners.get(group.ownerId);
    if (rest !== undefined) {
      this.#owners.delete(group.ownerId);
      this.#owners.set(group.ownerId, rest);
    }
    return group.runs;
  }

  takeAll(): readonly RunInFlight[] {
    const all = [...this.#owners.values()].flatMap((groups) => [...groups.values()].flatMap(({ runs }) => runs));
    this.#owners.clear();
    this.#processes = 0;
    return all;
  }

  #drop(run: RunInFlight): void {
    const { ownerId } = run.request.deployment;
    const groups = this.#owners.get(ownerId);
    if (!groups?.delete(keyOf(run))) return;
    this.#processes--;
    if (groups.size === 0) this.#owners.delete(ownerId);
  }
}

function keyOf({ request, key }: RunInFlight): string {
  return request.alone ? `run ${request.run}` : key;
}
