// Items by the time at which they are due, in a binary heap. Outdated entries stay in it: the caller that takes one checks it.

export interface Entry<T> {
  readonly atMs: number;
  readonly item: T;
}

export class DueHeap<T> {
  #entries: Entry<T>[] = [];

  get size(): number {
    return this.#entries.length;
  }

  first(): Entry<T> | undefined {
    return this.#entries[0];
  }

  push(entry: Entry<T>): void {
    const entries = this.#entries;
    let i = entries.length;
    entries.push(entry);
    while (i > 0) {
      const parent = (i - 1) >> 1;
      const above = entries[parent] as Entry<T>;
      if (above.atMs <= entry.atMs) break;
      entries[i] = above;
      i = parent;
    }
    entries[i] = entry;
  }

  /** Removes the first entry. */
  shift(): void {
    const entries = this.#entries;
    const last = entries.pop();
    if (last === undefined || entries.length === 0) return;
    let i = 0;
    for (;;) {
      let child = 2 * i + 1;
      if (child >= entries.length) break;
      const right = entries[child + 1];
      if (right !== undefined && right.atMs < (entries[child] as Entry<T>).atMs) child++;
      const below = entries[child] as Entry<T>;
      if (below.atMs >= last.atMs) break;
      entries[i] = below;
      i = child;
    }
    entries[i] = last;
  }

  keep(holds: (entry: Entry<T>) => boolean): void {
    const kept = this.#entries.filter(holds);
    this.#entries = [];
    for (const entry of kept) this.push(entry);
  }
}
