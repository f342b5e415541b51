// Lets so many reads run at once; the others wait. The next one is of the owner with the fewest under way, so that an owner with very
// many streams, or with readers that catch up, holds up those of others for no longer than one read takes.

interface Owner {
  underWay: number;
  readonly waiting: (() => void)[];
}

export class Permits {
  /** Those with reads under way, or that wait. */
  readonly #owners = new Map<string, Owner>();
  #free: number;

  constructor(count: number) {
    this.#free = count;
  }

  async with<T>(ownerId: string, work: () => Promise<T>): Promise<T> {
    const owner = this.#owners.get(ownerId) ?? { underWay: 0, waiting: [] };
    this.#owners.set(ownerId, owner);
    if (this.#free > 0) {
      this.#free--;
      owner.underWay++;
    } else await new Promise<void>((resolve) => owner.waiting.push(resolve));
    try {
      return await work();
    } finally {
      owner.underWay--;
      if (owner.underWay + owner.waiting.length === 0) this.#owners.delete(ownerId);
      this.#handOn();
    }
  }

  #handOn(): void {
    let first: Owner | undefined;
    for (const owner of this.#owners.values()) {
      if (owner.waiting.length > 0 && owner.underWay < (first?.underWay ?? Number.POSITIVE_INFINITY)) first = owner;
    }
    const next = first?.waiting.shift();
    if (first === undefined || next === undefined) {
      this.#free++;
      return;
    }
    first.underWay++;
    next();
  }
}
