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

/** Bounds what one run writes, over all of its steps. */
export class DbBudget {
  readonly #limits: Pick<ChildLimits, 'resultBytes' | 'dbWritesPerRun'>;
  #bytes = 0;
  #names = 0;

  constructor(limits: Pick<ChildLimits, 'resultBytes' | 'dbWritesPerRun'>) {
    this.#limits = limits;
  }

  /** Counts a write. Throws beyond the bounds. `isNew`: this name was not written before. */
  count(bytes: number, isNew: boolean): void {
    const { resultBytes, dbWritesPerRun } = this.#limits;
    this.#bytes += bytes;
    if (this.#bytes > resultBytes)
      throw platformError('PayloadTooLarge', `A run may write at most ${resultBytes} bytes to the db`);
    if (!isNew) return;
    if (this.#names >= dbWritesPerRun)
      throw platformError('PayloadTooLarge', `A run may write at most ${dbWritesPerRun} names of the db`);
    this.#names++;
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
      budget.count(Buffer.byteLength(key) + (text === null ? 0 : Buffer.byteLength(text)), !writes.has(key));
      writes.set(key, text);
    },
  };
}
