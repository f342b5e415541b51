// When a process seals. One of an older version, which shares the database while its processes are replaced one by one,
// could not read what is sealed: so nobody seals before the last of them is gone. Then each process seals whatever it
// finds plain, its own rows of that time and those of the older version; which of them is first makes no difference.

import type { Log } from '../../../ports.ts';
import { createSeal, type Seal } from '../../seal/seal.ts';
import { ROWS_PER_STEP, SEALED_COLUMNS, type SealedColumn } from '../../seal/sealed-columns.ts';
import type { Pool } from '../connection/pool.ts';
import { findOlder } from '../maintenance/older.ts';

const LOOK_AGAIN_MS = 5000;

export interface SealingOptions {
  readonly pool: Pool;
  readonly log: Log;
  readonly key: Uint8Array;
}

export class Sealing {
  readonly #options: SealingOptions;
  readonly #seal: Seal;
  #isOn = false;
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;
  #done: Promise<void> = Promise.resolve();

  private constructor(options: SealingOptions) {
    this.#options = options;
    this.#seal = createSeal(options.key);
  }

  /** Seals in the background what is there already. */
  static async begin(options: SealingOptions): Promise<Sealing> {
    const made = new Sealing(options);
    made.#isOn = !(await made.#hasOlder());
    made.#done = made.#go();
    return made;
  }

  get seal(): Seal {
    return {
      seal: (plain, place) => (this.#isOn ? this.#seal.seal(plain, place) : plain),
      open: (text, place) => this.#seal.open(text, place),
      openOnce: (text, place) => this.#seal.openOnce(text, place),
      derive: (purpose) => this.#seal.derive(purpose),
    };
  }

  /** Waits for the statement under way. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#done;
  }

  async #go(): Promise<void> {
    try {
      this.#isOn ||= !(await this.#hasOlder());
      if (this.#isOn) return await this.#sealAll();
    } catch (error) {
      // The next start finds what this one has left plain.
      if (this.#isOn) return this.#options.log.warn({ err: error }, 'could not seal what was written before');
    }
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#done = this.#go();
    }, LOOK_AGAIN_MS).unref();
  }

  async #hasOlder(): Promise<boolean> {
    return (await this.#options.pool.get(findOlder('seals'))) !== undefined;
  }

  async #sealAll(): Promise<void> {
    for (const column of SEALED_COLUMNS) {
      for (let after: string | null = ''; after !== null && !this.#isClosed; ) after = await this.#step(column, after);
    }
  }

  /** Returns the last one it looked at; null: it was the last. */
  async #step({ table, column, place }: SealedColumn, after: string): Promise<string | null> {
    const { pool } = this.#options;
    const rows = await pool.all(
      `SELECT id, ${column} AS text FROM ${table} WHERE id > $1 AND ${column} NOT LIKE 'sealed%'
        ORDER BY id LIMIT ${ROWS_PER_STEP}`,
      after,
    );
    for (const { id, text } of rows as { id: string; text: string }[]) {
      if (this.#isClosed) return null;
      // Unless somebody has changed it meanwhile, and with that sealed it.
      await pool.write(
        `UPDATE ${table} SET ${column} = $3 WHERE id = $1 AND ${column} = $2`,
        id,
        text,
        this.#seal.seal(text, place(id)),
      );
    }
    return rows.length < ROWS_PER_STEP ? null : (rows.at(-1)?.id as string);
  }
}
