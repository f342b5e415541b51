// Runs that wait for a process: those that will share one together, in order of arrival, by owner.

import type { RunInFlight } from '../process/run-in-flight.ts';

export interface WaitingGroup {
  readonly ownerId: string;
  /** Of the process that its runs share; null: its one run shares with none. */
  readonly key: string | null;
  readonly runs: RunInFlight[];
}

export class WaitingRuns {
  /** By owner; the owner that was served last comes last. */
  readonly #owners = new Map<string, Map<string, WaitingGroup>>();
  #processes = 0;

  /** How many processes it would take. */
  get processes(): number {
    return this.#processes;
  }

  /** In the order of turns. */
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

  /** False when it does not wait here. */
  remove(run: RunInFlight): boolean {
    const group = this.#owners.get(run.request.deployment.ownerId)?.get(keyOf(run));
    const index = group?.runs.indexOf(run) ?? -1;
    if (group === undefined || index < 0) return false;
    group.runs.splice(index, 1);
    if (group.runs.length === 0) this.#drop(run);
    return true;
  }

  /** How many processes it would take for one owner. */
  countOf(ownerId: string): number {
    return this.#owners.get(ownerId)?.size ?? 0;
  }

  /** Of an owner, those that came first first. */
  groupsOf(ownerId: string): Iterable<WaitingGroup> {
    return this.#owners.get(ownerId)?.values() ?? [];
  }

  /** It waits no more; its owner is the last whose turn comes. */
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
