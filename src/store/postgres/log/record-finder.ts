// Finds single records by a key of an untrusted request: never from a cache, since another node may just have changed or
// deleted the record. The keys of one tick of the event loop share one query, so a thousand requests cost as many round trips
// as one.

/** The most keys of one query: with more, the first would wait for the last. */
const MAX_KEYS = 500;

interface PendingRead<T> {
  readonly found: Promise<T | undefined>;
  readonly resolve: (found: T | undefined) => void;
  readonly reject: (error: unknown) => void;
}

export class RecordFinder<T> {
  readonly #read: (keys: readonly string[]) => Promise<ReadonlyMap<string, T>>;
  #asked = new Map<string, PendingRead<T>>();

  /** `read`: returns the current records by key. */
  constructor(read: (keys: readonly string[]) => Promise<ReadonlyMap<string, T>>) {
    this.#read = read;
  }

  /** Returns the record as it is after this call. */
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

  async #answer(asked: readonly (readonly [string, PendingRead<T>])[]): Promise<void> {
    try {
      const found = await this.#read(asked.map(([key]) => key));
      for (const [key, { resolve }] of asked) resolve(found.get(key));
    } catch (error) {
      for (const [, { reject }] of asked) reject(error);
    }
  }
}
