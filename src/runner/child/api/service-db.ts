// Implements `$.service.db` of sources and steps: synchronous, JSON values, written with the end of the run.

import { ConfigurationError, platformError } from '../errors.ts';
import { jsonOf } from '../json-text.ts';
import type { ChildLimits } from '../protocol.ts';
import { quoted } from '../text.ts';

export interface ServiceDb {
  /** Returns a value, parsed again for each call; undefined when absent. */
  get(name: unknown): unknown;
  /** Sets a value; undefined clears it. */
  set(name: unknown, value: unknown): void;
}

/**
 * Bounds what one run writes, over all of its steps. A value that is set again counts once: sources set a list that grows after
 * each item.
 */
export class DbBudget {
  readonly #limits: Pick<ChildLimits, 'resultBytes' | 'dbWritesPerRun'>;
  #bytes = 0;
  #names = 0;

  constructor(limits: Pick<ChildLimits, 'resultBytes' | 'dbWritesPerRun'>) {
    this.#limits = limits;
  }

  /** Counts a write. Throws beyond the bounds, and counts nothing then. `replaced`: the bytes of this name that were counted before. */
  count(bytes: number, replaced: number | undefined): void {
    const { resultBytes, dbWritesPerRun } = this.#limits;
    const total = this.#bytes + bytes - (replaced ?? 0);
    if (total > resultBytes)
      throw platformError('PayloadTooLarge', `A run may write at most ${resultBytes} bytes to the db`);
    if (replaced === undefined && this.#names >= dbWritesPerRun)
      throw platformError('PayloadTooLarge', `A run may write at most ${dbWritesPerRun} names of the db`);
    this.#bytes = total;
    if (replaced === undefined) this.#names++;
  }
}

/**
 * Returns the db of a run. `stored` is its content before the run; `writes` receives the run's changes: name → JSON
 * text, or null to clear.
 */
export function serviceDb(
  stored: Readonly<Record<string, string>>,
  writes: Map<string, string | null>,
  budget: DbBudget,
): ServiceDb {
  return {
    get(name) {
      const key = String(name);
      const written = writes.get(key);
      const text = written === undefined && Object.hasOwn(stored, key) ? stored[key] : written;
      return typeof text === 'string' ? JSON.parse(text) : undefined;
    },
    set(name, value) {
      const text = value === undefined ? null : jsonOf(value, { what: 'The value', levels: null });
      const key = String(name);
      if (!key.isWellFormed()) throw new ConfigurationError(`A name in the db is valid Unicode, not ${quoted(key)}`);
      const before = writes.get(key);
      budget.count(bytesOf(key, text), before === undefined ? undefined : bytesOf(key, before));
      writes.set(key, text);
    },
  };
}

function bytesOf(key: string, text: string | null): number {
  return Buffer.byteLength(key) + (text === null ? 0 : Buffer.byteLength(text));
}
