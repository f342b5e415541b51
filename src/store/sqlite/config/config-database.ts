// The configuration's verbs on SQLite: each runs at once, in the batch's order, within the transaction of its batch.

import type { ConfigDatabase, Verb, Writing } from '../../config/config-database.ts';
import { type Dialect, render, type Sql } from '../../config/sql.ts';
import type { Ask, Steps } from '../../config/steps.ts';
import type { Core } from '../core.ts';
import type { Connection, Row, Value } from '../database.ts';
import type { Transaction } from '../log/transaction.ts';

const DIALECT: Dialect<Value> = {
  kind: 'sqlite',
  placeholder: () => '?',
  value: (cell) => (typeof cell === 'boolean' ? Number(cell) : cell),
  list: (texts) => JSON.stringify(texts),
};

const READS = /^\s*SELECT/i;

/** A value, or what a verb threw before it had written anything. */
type Outcome<T> = { readonly value: T } | { readonly thrown: unknown };

export function configDatabase(core: Core): ConfigDatabase {
  const { batch, reader } = core;
  const write = async <T>(verb: Verb<T>): Promise<T> => {
    const outcome = await batch.write((tx) => new Run(core, tx).outcomeOf(verb));
    if ('thrown' in outcome) throw outcome.thrown;
    return outcome.value;
  };
  return {
    all: async (statement) => rowsOf(reader, statement),
    get: async (statement) => rowsOf(reader, statement)[0],
    planned: async (statement) => rowsOf(reader, statement),
    write,
    writeData: write,
  };
}

function rowsOf(connection: Connection, statement: Sql): Row[] {
  const { text, values } = render(statement, DIALECT);
  return connection.all(text, ...values);
}

/** One verb on its way through its steps. */
class Run implements Writing {
  readonly nowMs: number;
  readonly #core: Core;
  /** It has done something that only a rollback undoes, or storage has failed. */
  #isMarked = false;

  constructor(core: Core, tx: Transaction) {
    this.#core = core;
    this.nowMs = tx.nowMs;
  }

  /**
   * A verb that refuses something is no reason to roll back the other verbs of its batch: what it throws before it has
   * written anything is a value here.
   */
  outcomeOf<T>(verb: Verb<T>): Outcome<T> {
    try {
      return { value: this.#valueOf(verb(this)) };
    } catch (thrown) {
      if (this.#isMarked) throw thrown;
      return { thrown };
    }
  }

  #valueOf<T>(steps: Steps<T>): T {
    let step = steps.next();
    while (!step.done) step = steps.next(this.#answer(step.value));
    return step.value;
  }

  #answer(ask: Ask): unknown {
    const wasMarked = this.#isMarked;
    this.#isMarked = true;
    if (ask.kind === 'work') return ask.work();
    const statements = ask.kind === 'send' ? [ask.statement] : ask.statements;
    const rows = statements.map((statement) => rowsOf(this.#core.writer, statement));
    this.#isMarked = wasMarked || !statements.every(({ texts }) => READS.test(texts[0] ?? ''));
    return rows;
  }
}
