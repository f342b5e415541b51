// A bounded cache that drops the least recently used values first.

interface Bounds<T> {
  readonly max: number;
  readonly maxWeight?: number;
  readonly weigh?: (value: T) => number;
}

export class LruCache<T> {
  readonly #bounds: Bounds<T>;
  /** In order of use: the value used last comes last. */
  readonly #values = new Map<string, T>();
  #weight = 0;

  constructor(bounds: Bounds<T>) {
    this.#bounds = bounds;
  }

  get(key: string): T | undefined {
    const value = this.#values.get(key);
    if (value === undefined) return undefined;
    this.#values.delete(key);
    this.#values.set(key, value);
    return value;
  }

  set(key: string, value: T): void {
    this.delete(key);
    this.#values.set(key, value);
    this.#weight += this.#weigh(value);
    const { max, maxWeight = Number.POSITIVE_INFINITY } = this.#bounds;
    for (const oldest of this.#values.keys()) {
      if (this.#values.size <= max && this.#weight <= maxWeight) return;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    const value = this.#values.get(key);
    if (value === undefined) return;
    this.#values.delete(key);
    this.#weight -= this.#weigh(value);
  }

  #weigh(value: T): number {
    return this.#bounds.weigh?.(value) ?? 0;
  }
}
