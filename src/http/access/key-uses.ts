// When keys were used last: written once in a while for each key, and no request waits for the write.

import type { ApiKey } from '../../domain/keys.ts';
import { LIMITS } from '../../domain/limits.ts';
import type { Store } from '../../store/contract/store.ts';

/** Keys that are remembered at a time. */
const REMEMBERED = 10_000;

export class KeyUses {
  readonly #store: Pick<Store, 'touchKey'>;
  /** When this process wrote it last, or tried to. */
  readonly #writtenAtMs = new Map<string, number>();

  constructor(store: Pick<Store, 'touchKey'>) {
    this.#store = store;
  }

  /** The key as it was just looked up, which has what other processes wrote. */
  used({ id, lastUsedAtMs }: Pick<ApiKey, 'id' | 'lastUsedAtMs'>, nowMs: number): void {
    const lastMs = Math.max(lastUsedAtMs ?? 0, this.#writtenAtMs.get(id) ?? 0);
    if (nowMs - lastMs < LIMITS.keyUsedMs) return;
    if (this.#writtenAtMs.size >= REMEMBERED) this.#writtenAtMs.clear();
    this.#writtenAtMs.set(id, nowMs);
    // Storage that fails is told by everything else.
    this.#store.touchKey(id, nowMs).catch(() => undefined);
  }
}
