// Caches the descriptions of components by their code: only the first of many sources of one component starts a
// process. Owners share none: the code ran as one of them, in its turn.
//
// Entries expire soon, since a component's description may change over time, with defaults that are dates for one.

import { createHash } from 'node:crypto';
import type { Deployment } from '../../domain/resource.ts';
import { LruCache } from '../pool/lru-cache.ts';
import type { DescribeResult } from '../runner.ts';

const MAX_KEPT = 500;
const KEPT_MS = 60_000;

interface CachedDescription {
  readonly described: Promise<DescribeResult>;
  readonly untilMs: number;
}

export class DescriptionCache {
  readonly #cache = new LruCache<CachedDescription>({ max: MAX_KEPT });

  /** Returns the cached description of the same code, or that of `describe`. Failures are not cached. */
  get(
    { ownerId, steps }: Deployment,
    env: Readonly<Record<string, string>>,
    ask: () => Promise<DescribeResult>,
  ): Promise<DescribeResult> {
    const [first] = steps;
    const parts = [ownerId, first?.namespace ?? '', first?.bundle ?? '', first?.sourceMap ?? '', JSON.stringify(env)];
    const key = createHash('sha256').update(JSON.stringify(parts)).digest('base64');
    const known = this.#cache.get(key);
    if (known && known.untilMs > performance.now()) return known.described;
    const described = ask();
    const entry = { described, untilMs: performance.now() + KEPT_MS };
    this.#cache.set(key, entry);
    void described.then(
      ({ ok }) => ok || this.#forget(key, entry),
      () => this.#forget(key, entry),
    );
    return described;
  }

  #forget(key: string, entry: CachedDescription): void {
    if (this.#cache.get(key) === entry) this.#cache.delete(key);
  }
}
