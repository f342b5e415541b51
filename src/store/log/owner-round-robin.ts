// Whose queued run is claimed next: one owner after the other, and of each owner one workflow or source after the other. By
// workflow alone, an owner with a thousand of them had a thousand parts.

interface Owned {
  readonly ownerId: string;
}

export class OwnerRoundRobin {
  /** The owners that were there last time; the one that was served last comes last. */
  #order: readonly string[] = [];

  /**
   * Offers each of the items a turn, again and again in their order, and one item of each owner at a time. `takes`: false, and
   * it gets no more turns.
   */
  goRound<T extends Owned>(items: readonly T[], takes: (item: T) => boolean): void {
    const queues = this.#queues(items);
    const served = new Set<string>();
    const going = new Map(queues);
    while (going.size > 0) {
      for (const [ownerId, queue] of going) {
        if (queue.serve(takes)) {
          served.delete(ownerId);
          served.add(ownerId);
        } else going.delete(ownerId);
      }
    }
    this.#order = [...[...queues.keys()].filter((ownerId) => !served.has(ownerId)), ...served];
  }

  #queues<T extends Owned>(items: readonly T[]): ReadonlyMap<string, Queue<T>> {
    const found = Map.groupBy(items, ({ ownerId }) => ownerId);
    const known = new Set(this.#order);
    const inOrder = [...[...found.keys()].filter((ownerId) => !known.has(ownerId)), ...this.#order];
    return new Map(
      inOrder.flatMap((ownerId) => {
        const own = found.get(ownerId);
        return own === undefined ? [] : [[ownerId, new Queue(own)] as const];
      }),
    );
  }
}

/** One owner's. */
class Queue<T> {
  #round: readonly T[];
  #at = 0;
  #next: T[] = [];

  constructor(items: readonly T[]) {
    this.#round = items;
  }

  /** The next one that takes its turn; false: there is none. */
  serve(takes: (item: T) => boolean): boolean {
    for (;;) {
      if (this.#at === this.#round.length) {
        [this.#round, this.#at, this.#next] = [this.#next, 0, []];
        if (this.#round.length === 0) return false;
      }
      const item = this.#round[this.#at++] as T;
      if (!takes(item)) continue;
      this.#next.push(item);
      return true;
    }
  }
}
