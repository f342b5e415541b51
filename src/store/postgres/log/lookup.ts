// Looking up single records by a key that strangers give, on every request: never from a cache, since another node may
// have changed or deleted the record a moment ago. What is asked for within one turn of the event loop is one query, so
// that a thousand requests cost as many round trips as one.

/** Keys of one query at most: more would keep the first waiting for the last. */
const MAX_KEYS = 500;

interface Asked<T> {
  readonly found: Promise<T | undefined>;
  readonly resolve: (found: T | undefined) => void;
  readonly reject: (error: unknown) => void;
}

export class Lookup<T> {
  readonly #read: (keys: readonly string[]) => Promise<ReadonlyMap<string, T>>;
  #asked = new Map<string, Asked<T>>();

  /** `read`: what stands at this moment, by key. */
  constructor(read: (keys: readonly string[]) => Promise<ReadonlyMap<string, T>>) {
    this.#read = read;
  }

  /** As it stands after this call. */
  find(key: string): Promise<T | undefined> {
    if (this.#asked.size === 0) setImmediate(() => this.#send());
    const known = this.#asked.get(key);
    if (known) return known.found;
    const { promise: found, resolve, reject } = Promise.withResolvers<T | undefined>();
    this.#asked.set(key, { found, resolve, reject });
    return found;
  }

  #send(): void {
    const asked = [...this.#asked];
    this.#asked = new Map();
    for (let from = 0; from < asked.length; from += MAX_KEYS) void this.#answer(asked.slice(from, from + MAX_KEYS));
  }

  async #answer(asked: readonly (readonly [string, Asked<T>])[]): Promise<void> {
    try {
      const found = await this.#read(asked.map(([key]) => key));
      for (const [key, { resolve }] of asked) resolve(found.get(key));
    } catch (error) {
      for (const [, { reject }] of asked) reject(error);
    }
  }
}
