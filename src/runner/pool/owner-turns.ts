// Lets so many tasks run at a time, in turns of their owners.

import { nextInTurn } from '../../domain/owners/turns.ts';

interface WaitingTask {
  readonly ownerId: string;
  readonly begin: () => void;
}

export class OwnerTurns {
  readonly #places: number;
  readonly #waiting: WaitingTask[] = [];
  /** By owner; an owner without any is not there. */
  readonly #underWay = new Map<string, number>();
  #count = 0;

  constructor(places: number) {
    this.#places = places;
  }

  /** Resolves when the task may begin. Each one must be ended. */
  async begin(ownerId: string): Promise<void> {
    if (this.#count >= this.#places) {
      await new Promise<void>((resolve) => this.#waiting.push({ ownerId, begin: resolve }));
    } else this.#add(ownerId, 1);
  }

  end(ownerId: string): void {
    this.#add(ownerId, -1);
    const next = nextInTurn(this.#waiting, (id) => this.#underWay.get(id) ?? 0);
    if (next === undefined) return;
    this.#waiting.splice(this.#waiting.indexOf(next), 1);
    this.#add(next.ownerId, 1);
    next.begin();
  }

  #add(ownerId: string, more: number): void {
    this.#count += more;
    const count = (this.#underWay.get(ownerId) ?? 0) + more;
    if (count === 0) this.#underWay.delete(ownerId);
    else this.#underWay.set(ownerId, count);
  }
}
