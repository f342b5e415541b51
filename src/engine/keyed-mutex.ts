// A mutex by key: tasks with the same key run one after the other, in the order in which they were asked for.

export class OneAtATime {
  readonly #last = new Map<string, Promise<unknown>>();

  async do<T>(name: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(name);
    const done = (before ?? Promise.resolve()).then(work, work);
    const settled = done.catch(() => undefined);
    this.#last.set(name, settled);
    try {
      return await done;
    } finally {
      if (this.#last.get(name) === settled) this.#last.delete(name);
    }
  }
}
