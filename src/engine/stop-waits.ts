// What a stop waits for, by name. It waits for one part after the other, and while a database does not answer each part waits for
// its statement: together for longer than a supervisor does, which would then kill the process without a word.

import type { Log } from '../ports.ts';

export class StopWaits {
  readonly #names = new Set<string>();

  /** Waits for parts that stop. */
  async for(parts: Readonly<Record<string, Promise<unknown> | undefined>>): Promise<void> {
    const each = Object.entries(parts).map(async ([name, part]) => {
      if (part === undefined) return;
      this.#names.add(name);
      await part.finally(() => this.#names.delete(name));
    });
    await Promise.all(each);
  }

  /** Waits for the whole stop, at most for `withinMs`: then the log has what it waited for, and the process should end. */
  async within(stopping: Promise<void>, { withinMs, log }: { withinMs: number | undefined; log: Log }): Promise<void> {
    if (withinMs === undefined) return stopping;
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(() => {
      log.warn(
        { waited_for: [...this.#names] },
        'ending without waiting any longer: what is not written is taken over as after a crash, and nothing accepted is lost',
      );
      resolve();
    }, withinMs);
    await Promise.race([stopping, late]).finally(() => clearTimeout(timer));
  }
}
