// The configuration's verbs on Postgres: reads over the pool, each write in a transaction of its own.

import type { ConfigDatabase, Verb } from '../../config/config-database.ts';
import { type Dialect, render, type Sql } from '../../config/sql.ts';
import type { Ask, Steps } from '../../config/steps.ts';
import type { Lane, Tx } from '../connection/transaction-connection.ts';
import { arrayLiteral, type Row, type Value } from '../connection/values.ts';
import type { Core } from '../core.ts';

const DIALECT: Dialect<Value> = {
  kind: 'postgres',
  placeholder: (n) => `$${n}`,
  value: (cell) => cell,
  list: arrayLiteral,
};

export function configDatabase(core: Core): ConfigDatabase {
  const { pool, config, data, clock } = core;
  const write = <T>(lane: Lane, verb: Verb<T>): Promise<T> =>
    lane.transact((tx) => runSteps(tx, verb({ nowMs: clock.nowMs() })));
  return {
    all: (statement) => sent(statement, (text, values) => pool.all(text, ...values)),
    get: (statement) => sent(statement, (text, values) => pool.get(text, ...values)),
    planned: (statement) => sent(statement, (text, values) => pool.planned(text, ...values)),
    write: (verb) => write(config, verb),
    writeData: (verb) => write(data, verb),
  };
}

function sent<T>(statement: Sql, send: (text: string, values: Value[]) => Promise<T>): Promise<T> {
  const { text, values } = render(statement, DIALECT);
  return send(text, values);
}

/** Asks step by step. A verb that throws, or fails, rolls back. */
async function runSteps<T>(tx: Tx, steps: Steps<T>): Promise<T> {
  let step = steps.next();
  while (!step.done) {
    const { value: ask } = step;
    if (ask.kind === 'send') void query(tx, ask.statement);
    step = steps.next(ask.kind === 'send' ? undefined : await answer(tx, ask));
  }
  return step.value;
}

function answer(tx: Tx, ask: Exclude<Ask, { kind: 'send' }>): unknown {
  return ask.kind === 'work' ? ask.work() : Promise.all(ask.statements.map((statement) => query(tx, statement)));
}

function query(tx: Tx, statement: Sql): Promise<Row[]> {
  return sent(statement, (text, values) => tx.query(text, ...values));
}
