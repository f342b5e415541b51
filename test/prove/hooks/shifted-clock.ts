// The wall clock of one server, set forward and back while it runs.

import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Names the file to the server. */
export const OFFSET_FILE = 'PROVE_CLOCK_OFFSET_FILE';

export class ShiftedClock {
  readonly preload = join(import.meta.dirname, 'shifted-date.ts');
  readonly #path: string;
  #offsetMs = 0;
  #latestMs = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** Of the server's environment. */
  get env(): Readonly<Record<string, string>> {
    return { [OFFSET_FILE]: this.#path };
  }

  get offsetMs(): number {
    return this.#offsetMs;
  }

  set(offsetMs: number): void {
    this.#offsetMs = offsetMs;
    this.#latestMs = Math.max(this.#latestMs, offsetMs);
    // Never read half written.
    writeFileSync(`${this.#path}.new`, String(offsetMs));
    renameSync(`${this.#path}.new`, this.#path);
  }

  /** As late as it ever was: nothing that was to be due by it lies ahead for longer than it did. */
  setToLatest(): void {
    this.set(this.#latestMs);
  }
}
