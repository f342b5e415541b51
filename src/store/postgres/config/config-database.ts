// The configuration's verbs on Postgres: reads use the pool, each write has its own transaction.

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
import type { Steps, VerbStep } from '../../config/steps.ts';
import type { MeasuredPart } from '../../contract/quotas.ts';
import type { SetBack } from '../../contract/store.ts';
import { LedgerChanges } from '../../log/ledger.ts';
import { text } from '../../rows/cells.ts';
import { toApiKey, toTrigger } from '../../rows/resource-rows.ts';
import { IS_ABANDONED } from '../claims/expired-leases.ts';
import { NOW_SQL } from '../connection/clock.ts';
import type { NotifyChannel } from '../connection/notify.ts';
import type { TransactionConnection, Tx } from '../connection/transaction-connection.ts';
import { arrayLiteral, type Row, type Value } from '../connection/values.ts';
import type { Core } from '../core.ts';
import { turnBackDeliveries } from '../deliveries/turn-back.ts';
import { writeLedger } from '../log/ledger.ts';
import { RecordFinder } from '../log/record-finder.ts';
import { cancelWaiting } from '../runs/cancel.ts';
import { type ConfigWriting, configWrite, lockOwner, queueWrite } from './config-write.ts';
import { lockDeliveries } from './webhooks.ts';

const DIALECT: Dialect<Value> = {
  kind: 'postgres',
  placeholder: (n) => `$${n}`,
  value: (cell) => cell,
  list: arrayLiteral,
  rows: ({ columns, rows }, put) => {
    const arrays = columns.map(([, type], i) => `${put(arrayLiteral(rows.map((row) => row[i] ?? null)))}::${type}[]`);
    return `unnest(${arrays.join(', ')}) AS given (${columns.map(([name]) => name).join(', ')})`;
  },
};

export function configDatabase(core: Core): ConfigDatabase {
  const { pool, config, data } = core;
  const write = async <T>(
    connection: TransactionConnection,
    verb: ConfigVerb<T>,
    before?: (tx: Tx) => void,
  ): Promise<T> => {
    let channels: ReadonlySet<NotifyChannel> = new Set();
    const value = await connection.transact(async (tx) => {
      before?.(tx);
      const ledger = new LedgerChanges();
      const now = sql`coalesce(CAST (${core.clock.overrideMs()} AS BIGINT), ${raw(NOW_SQL)})`;
      const effects = new Effects(core, { tx, nowMs: core.clock.nowMs(), ledger }, now);
      channels = effects.channels;
      const value = await runSteps(tx, verb(effects));
      writeLedger(tx, ledger, core.node.slot);
      return value;
    });
    for (const channel of channels) core.notices.tell(channel);
    return value;
  };
  return {
    all: (statement) => sent(statement, (text, values) => pool.all(text, ...values)),
    get: (statement) => sent(statement, (text, values) => pool.get(text, ...values)),
    planned: (statement) => sent(statement, (text, values) => pool.planned(text, ...values)),
    write: (verb) => write(config, verb),
    writeData: (verb) => write(data, verb),
    writeRouting: (ownerId, verb) => writeAndNotify(core, (inTx) => configWrite(core, ownerId, inTx), verb),
    writeListener: ({ ownerId, id, hasOperations = false }, verb) => {
      const before = (tx: Tx): void => {
        if (hasOperations) lockOperations(tx, id);
        lockTriggers(tx, { ownerId, id });
      };
      return writeAndNotify(core, (inTx) => queueWrite(core, { ownerId, id, before }, inTx), verb);
    },
    writeLocked: (ownerId, verb) => write(config, verb, (tx) => lockOwner(tx, ownerId)),
    // Like a read, it is tried again after a broken connection.
    put: async (statement) => void (await sent(statement, (text, values) => pool.all(text, ...values))),
    marks: { column: raw('node'), self: () => core.node.id, isAbandoned: () => raw(IS_ABANDONED) },
    hotReads: hotReads(core),
    moreMeasured: WAITING_RUNS,
    moreOwned: MORE_OWNED,
    openRuns: OPEN_RUNS,
    pauseInMemory: () => null,
  };
}

/** Locks a webhook's operations, so that none is being stepped. */
function lockOperations(tx: Tx, webhookId: string): void {
  void tx.query(
    `SELECT 1 FROM operations WHERE webhook_id = $1 AND state IN ('running', 'paused') ORDER BY id FOR UPDATE`,
    webhookId,
  );
}

/** Locks a runnable's triggers before its queue, as the batch does that fires them. */
function lockTriggers(tx: Tx, { ownerId, id }: Listener): void {
  void tx.query('SELECT 1 FROM triggers WHERE owner_id = $1 AND runnable_id = $2 ORDER BY id FOR UPDATE', ownerId, id);
}

const OPEN_RUNS: OpenRunsSql = {
  thatGoOn: raw('open_runs AS o WHERE o.carried IS NOT NULL AND o.deployment_id = d.id'),
  ofRunnable: raw('open_runs AS o WHERE o.runnable_id = d.runnable_id'),
};

const MORE_OWNED: readonly OwnedTable[] = [
  { table: 'open_deliveries', key: 'delivery', column: 'owner_id', of: 'owners' },
  { table: 'open_runs', key: 'run', column: 'owner_id', of: 'owners' },
  { table: 'listener_queues', key: 'owner_id, listener_id', column: 'owner_id', of: 'owners' },
  { table: 'answers', key: 'run', column: 'owner_id', of: 'owners' },
];

/** Open runs keep their details in a separate table. */
const WAITING_RUNS: readonly MeasuredPart[] = [
  { table: 'open_runs', key: ['run'], before: [-1], bytes: 'coalesce(octet_length(detail_so_far), 0)' },
];

function hotReads({ pool }: Core): ConfigDatabase['hotReads'] {
  const keys = new RecordFinder(async (hashes) => {
    const rows = await pool.all(
      `SELECT k.*, o.purge_at_ms AS owner_purge_at_ms FROM api_keys AS k JOIN owners AS o ON o.id = k.owner_id
        WHERE k.hash = ANY($1::text[]) AND k.revoked_at_ms IS NULL`,
      arrayLiteral(hashes),
    );
    return new Map(rows.map((row) => [text(row, 'hash'), toApiKey(row)]));
  });
  const triggers = new RecordFinder(async (secretParts) => {
    const rows = await pool.all(
      `SELECT t.*, o.purge_at_ms AS owner_purge_at_ms FROM triggers AS t JOIN runnables AS r ON r.id = t.runnable_id
        JOIN owners AS o ON o.id = t.owner_id
        WHERE t.key = ANY($1::text[]) AND r.active`,
      arrayLiteral(secretParts),
    );
    return new Map(rows.map((row) => [text(row, 'key'), toTrigger(row)]));
  });
  return { keyByHash: (keyHash) => keys.find(keyHash), triggerByKey: (key) => triggers.find(key) };
}

type InTransaction = <T>(verb: (w: ConfigWriting) => Promise<T>) => Promise<T>;

/** Writes, and then notifies the other nodes of the verb's effects. */
async function writeAndNotify<T>(core: Core, write: InTransaction, verb: ConfigVerb<T>): Promise<T> {
  let channels: ReadonlySet<NotifyChannel> = new Set();
  const value = await write((w) => {
    const effects = new Effects(core, w, sql`CAST (${w.nowMs} AS BIGINT)`);
    channels = effects.channels;
    return runSteps(w.tx, verb(effects));
  });
  for (const channel of channels) core.notices.tell(channel);
  return value;
}

class Effects implements Writing {
  readonly nowMs: number;
  readonly now: Sql;
  readonly channels = new Set<NotifyChannel>();
  readonly #core: Core;
  readonly #w: ConfigWriting;

  constructor(core: Core, w: ConfigWriting, now: Sql) {
    this.#core = core;
    this.#w = w;
    this.nowMs = w.nowMs;
    this.now = now;
  }

  nextTurn(): Sql {
    return raw(`(SELECT coalesce(max(turn), 0) + 1 FROM operations WHERE state = 'running')`);
  }

  /**
   * Lets the next claim look at the queue: With another throttle the next run may begin at another time, at any node, so the
   * next claim looks at the queue.
   */
  throttleChanged({ ownerId, id }: Listener, hasThrottle: boolean): void {
    void this.#w.tx.query(
      `UPDATE listener_queues SET ready_at_ms = CASE WHEN waiting > 0 THEN 0 END, starts = CASE WHEN $3::boolean THEN starts END
        WHERE owner_id = $1 AND listener_id = $2 AND starts IS NOT NULL`,
      ownerId,
      id,
      hasThrottle,
    );
    this.channels.add('runs');
  }

  /** Cancels queued runs, and notifies other nodes, where callers may wait for them. */
  async cancelRuns(of: Listener): Promise<void> {
    await cancelWaiting(this.#w, of);
    this.channels.add('answers');
  }

  /** Notifies the other nodes: a stream there may be of such a key. */
  keysChanged(): void {
    this.channels.add('keys');
  }

  /** Does nothing: every node reads the version of the owner's configuration. */
  webhookWritten(): void {}

  ownerRemoved(ownerId: string): void {
    void this.#w.tx.query('DELETE FROM versions WHERE owner_id = $1', ownerId);
  }

  async turnBackDeliveries(by: SetBack): Promise<void> {
    await turnBackDeliveries(this.#w.tx, by);
    this.channels.add('deliveries');
  }

  async lockDeliveries(of: Listener): Promise<LockedDeliveries | undefined> {
    const { channels } = this;
    return lockDeliveries(this.#w, of, { node: this.#core.node.id, onResent: () => channels.add('deliveries') });
  }
}

function sent<T>(statement: Sql, send: (text: string, values: Value[]) => Promise<T>): Promise<T> {
  const { text, values } = render(statement, DIALECT);
  return send(text, values);
}

/** Runs the steps of a verb. If it throws, the caller's transaction rolls back. */
export async function runSteps<T>(tx: Tx, steps: Steps<T>): Promise<T> {
  let step = steps.next();
  while (!step.done) {
    const { value: wanted } = step;
    if (wanted.kind === 'send') void query(tx, wanted.statement);
    step = steps.next(wanted.kind === 'send' ? undefined : await answer(tx, wanted));
  }
  return step.value;
}

function answer(tx: Tx, wanted: Exclude<VerbStep, { kind: 'send' }>): unknown {
  return wanted.kind === 'work'
    ? wanted.work()
    : Promise.all(wanted.statements.map((statement) => query(tx, statement)));
}

function query(tx: Tx, statement: Sql): Promise<Row[]> {
  return sent(statement, (text, values) => tx.query(text, ...values));
}
