// The configuration's verbs on SQLite: each runs whole, within the transaction of its batch.

import type {
  ConfigDatabase,
  ConfigVerb,
  Listener,
  LockedDeliveries,
  OpenRunsSql,
  OwnedTable,
  Writing,
} from '../../config/config-database.ts';
import { type Dialect, raw, render, type Sql, sql } from '../../config/sql.ts';
import type { VerbStep } from '../../config/steps.ts';
import type { SetBack } from '../../contract/store.ts';
import { toApiKey } from '../../rows/resource-rows.ts';
import { OPEN_RUN } from '../../rows/run-rows.ts';
import type { Core } from '../core.ts';
import type { Connection, Row, Value } from '../database.ts';
import { turnBackDeliveries } from '../deliveries/turn-back.ts';
import type { Transaction } from '../log/transaction.ts';
import { cancelRuns } from '../partial-index.ts';
import { forgetRoute, OpenDeliveries } from './webhooks.ts';

const DIALECT: Dialect<Value> = {
  kind: 'sqlite',
  placeholder: () => '?',
  value: (cell) => (typeof cell === 'boolean' ? Number(cell) : cell),
  list: (texts) => JSON.stringify(texts),
  rows: ({ columns, rows }, put) => {
    const cells = columns.map(([name], i) => `value ->> ${i} AS ${name}`).join(', ');
    return `(SELECT ${cells} FROM json_each(${put(JSON.stringify(rows))})) AS given`;
  },
};

const OPEN_RUNS: OpenRunsSql = {
  thatGoOn: raw('runs AS o WHERE o.carried IS NOT NULL AND o.deployment_id = d.id'),
  ofRunnable: raw(`runs AS o WHERE ${OPEN_RUN} AND o.runnable_id = d.runnable_id`),
};

const KEY_BY_HASH = `SELECT api_keys.*, owners.purge_at_ms AS owner_purge_at_ms
  FROM api_keys JOIN owners ON owners.id = api_keys.owner_id WHERE api_keys.hash = ? AND api_keys.revoked_at_ms IS NULL`;
const MORE_OWNED: readonly OwnedTable[] = [
  { table: 'throttles', key: 'runnable_id', column: 'runnable_id', of: 'runnables' },
  { table: 'webhook_health', key: 'webhook_id', column: 'webhook_id', of: 'webhooks' },
];
const SETUP = { writes: 'setup' } as const;
const READS = /^\s*SELECT/i;

/** A value, or the error that a verb threw before it had written anything. */
type Outcome<T> = { readonly value: T } | { readonly thrown: unknown };

export function configDatabase(core: Core): ConfigDatabase {
  const { batch, owners, reader, routes, boot } = core;
  const write = async <T>(verb: ConfigVerb<T>): Promise<T> => {
    const outcome = await batch.write((tx) => new ConfigRun(core, tx).outcomeOf(verb), SETUP);
    return settled(outcome);
  };
  const writeRouting = async <T>(verb: ConfigVerb<T>): Promise<T> => {
    const outcome = await batch.write((tx) => {
      routes.forget();
      tx.onRollback(() => routes.forget());
      const made = new ConfigRun(core, tx).outcomeOf(verb);
      routes.forget();
      return made;
    }, SETUP);
    return settled(outcome);
  };
  return {
    all: async (statement) => rowsOf(reader, statement),
    get: async (statement) => rowsOf(reader, statement)[0],
    planned: async (statement) => rowsOf(reader, statement),
    write,
    writeRouting: (_ownerId, verb) => writeRouting(verb),
    writeListener: (_of, verb) => writeRouting(verb),
    writeLocked: (_ownerId, verb) => write(verb),
    put: (statement) =>
      batch.write(() => {
        const { text, values } = render(statement, DIALECT);
        core.writer.run(text, ...values);
      }, SETUP),
    writeData: write,
    marks: { column: raw('boot'), self: () => boot, isAbandoned: () => sql`c.boot < ${boot}` },
    hotReads: {
      keyByHash: async (keyHash) => {
        const row = reader.get(KEY_BY_HASH, keyHash);
        const found = row && toApiKey(row);
        if (found) owners.seen(found.ownerId);
        return found;
      },
      triggerByKey: async (key) => {
        const found = routes.trigger(key);
        if (found) owners.seen(found.ownerId);
        return found;
      },
    },
    moreMeasured: [],
    moreOwned: MORE_OWNED,
    openRuns: OPEN_RUNS,
    pauseInMemory: (listenerId) => core.queues.find(listenerId)?.pausedUntilMs ?? null,
  };
}

/** Runs the steps of a verb within a transaction. */
export function runSteps<T>(core: Core, tx: Transaction, verb: ConfigVerb<T>): T {
  return new ConfigRun(core, tx).valueOf(verb);
}

function settled<T>(outcome: Outcome<T>): T {
  if ('thrown' in outcome) throw outcome.thrown;
  return outcome.value;
}

function rowsOf(connection: Connection, statement: Sql): Row[] {
  const { text, values } = render(statement, DIALECT);
  return connection.all(text, ...values);
}

/** Runs the steps of one verb. */
class ConfigRun implements Writing {
  readonly nowMs: number;
  readonly now: Sql;
  readonly #core: Core;
  readonly #tx: Transaction;
  /** Set once the verb has written, or storage has failed: then only a rollback undoes it. */
  #isMarked = false;

  constructor(core: Core, tx: Transaction) {
    this.#core = core;
    this.#tx = tx;
    this.nowMs = tx.nowMs;
    this.now = sql`${tx.nowMs}`;
  }

  /**
   * Runs a verb. An error that it throws before it has written anything is a value, so that the other verbs of its batch are not
   * rolled back.
   */
  outcomeOf<T>(verb: ConfigVerb<T>): Outcome<T> {
    try {
      return { value: this.valueOf(verb) };
    } catch (thrown) {
      if (this.#isMarked) throw thrown;
      return { thrown };
    }
  }

  valueOf<T>(verb: ConfigVerb<T>): T {
    const steps = verb(this);
    let step = steps.next();
    while (!step.done) step = steps.next(this.#answer(step.value));
    return step.value;
  }

  nextTurn(): Sql {
    return sql`${this.#tx.number()}`;
  }

  throttleChanged({ id }: Listener, hasThrottle: boolean): void {
    if (!hasThrottle) this.#core.throttles.forget(id);
  }

  cancelRuns({ ownerId, id }: Listener, most?: number): void {
    const tx = this.#tx;
    this.#core.throttles.forget(id);
    for (const state of ['queued', 'waiting']) {
      const waiting = sql`state = ${state} AND ${raw(OPEN_RUN)} AND runnable_id = ${id}`;
      const which =
        most === undefined ? waiting : sql`run IN (SELECT run FROM runs WHERE ${waiting} ORDER BY run LIMIT ${most})`;
      const { text, values } = render(cancelRuns(tx.nowMs, which), DIALECT);
      const cancelled = this.#core.writer.run(text, ...values);
      tx.runsMoved(ownerId, { from: state, to: 'cancelled', n: cancelled });
      if (state === 'queued') tx.runsOpened(id, -cancelled);
    }
  }

  /** Does nothing: there is no other node. */
  keysChanged(): void {}

  webhookWritten(id: string): void {
    forgetRoute(this.#core, this.#tx, id);
  }

  /** Does nothing: nothing but the owner's row told of it. */
  ownerRemoved(): void {}

  turnBackDeliveries(by: SetBack): void {
    turnBackDeliveries(this.#core, by);
  }

  lockDeliveries(of: Listener): LockedDeliveries {
    return new OpenDeliveries(this.#core, this.#tx, of);
  }

  #answer(wanted: VerbStep): unknown {
    const wasMarked = this.#isMarked;
    this.#isMarked = true;
    if (wanted.kind === 'work') return wanted.work();
    const statements = wanted.kind === 'send' ? [wanted.statement] : wanted.statements;
    const rows = statements.map((statement) => rowsOf(this.#core.writer, statement));
    this.#isMarked = wasMarked || !statements.every(({ texts }) => READS.test(texts[0] ?? ''));
    return rows;
  }
}
