// Implements a source's `$.service.db`: synchronous, JSON values, written with the end of the run.

import { platformError } from '../errors.ts';
import { jsonOf } from '../json-text.ts';
import type { ChildLimits } from '../protocol.ts';

export interface SourceDb {
  /** Returns a value, parsed again for each call; undefined when absent. */
  get(name: unknown): unknown;
  /** Sets a value; undefined clears it. */
  set(name: unknown, value: unknown): void;
}

/**
 * Returns the db of a run. `stored` is its content before the run; `writes` receives the run's changes: name → JSON
 * text, or null to clear.
 */
export function sourceDb(
  stored: Readonly<Record<string, string>>,
  writes: Map<string, string | null>,
  { resultBytes, dbWritesPerRun }: Pick<ChildLimits, 'resultBytes' | 'dbWritesPerRun'>,
): SourceDb {
  let bytes = 0;
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
      bytes += Buffer.byteLength(key) + (text === null ? 0 : Buffer.byteLength(text));
      if (bytes > resultBytes)
        throw platformError('PayloadTooLarge', `A run may write at most ${resultBytes} bytes to the db`);
      if (!writes.has(key) && writes.size >= dbWritesPerRun)
        throw platformError('PayloadTooLarge', `A run may write at most ${dbWritesPerRun} names of the db`);
      writes.set(key, text);
    },
  };
}
