// When keys were last used: written now and then for each key; no request waits for the write.

import type { ApiKey } from '../../domain/keys.ts';
import { LIMITS } from '../../domain/limits.ts';
import type { Store } from '../../store/contract/store.ts';

/** Keys that are remembered at a time. */
const REMEMBERED = 10_000;

export class KeyUses {
  readonly #store: Pick<Store, 'touchKey'>;
  /** When this process last wrote it, or tried to. */
  readonly #writtenAtMs = new Map<string, number>();

  constructor(store: Pick<Store, 'touchKey'>) {
    this.#store = store;
  }

  /** Records a use. `key`: as just read, with what other processes wrote. */
  used({ id, lastUsedAtMs }: Pick<ApiKey, 'id' | 'lastUsedAtMs'>, nowMs: number): void {
    const lastMs = Math.max(lastUsedAtMs ?? 0, this.#writtenAtMs.get(id) ?? 0);
    if (nowMs - lastMs < LIMITS.keyUsedMs) return;
    if (this.#writtenAtMs.size >= REMEMBERED) this.#writtenAtMs.clear();
    this.#writtenAtMs.set(id, nowMs);
    // A failing store is reported by every other request.
    this.#store.touchKey(id, nowMs).catch(() => undefined);
  }
}
