// The round robin of run claims: over owners, and within each owner over its workflows and sources. A round robin over
// workflows alone would give an owner with a thousand workflows a thousand shares.

interface Owned {
  readonly ownerId: string;
}

export class OwnerRoundRobin {
  /** The owners of the last round; the owner served last comes last. */
  #order: readonly string[] = [];

  /**
   * Offers the items a slot each, round after round, one item of each owner at a time. An item for which `takes` returns
   * false is offered no more.
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

/** The items of one owner. */
class Queue<T> {
  #round: readonly T[];
  #at = 0;
  #next: T[] = [];

  constructor(items: readonly T[]) {
    this.#round = items;
  }

  /** Offers the items in order until one takes. Returns false when none does. */
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
