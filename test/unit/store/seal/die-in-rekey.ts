// Loaded into `errand store rekey` (NODE_OPTIONS): kills it behind the statement numbered DIE_AT of its transaction.

import { StatementSync } from 'node:sqlite';

let left = Number(process.env.DIE_AT);
let isBegun = false;

const run = StatementSync.prototype.run as (...values: unknown[]) => ReturnType<StatementSync['run']>;
StatementSync.prototype.run = function (this: StatementSync, ...values: unknown[]) {
  const result = run.apply(this, values);
  isBegun ||= this.sourceSQL === 'BEGIN IMMEDIATE';
  // A signal that a process sends to itself this way has arrived before the call returns.
  if (isBegun && --left === 0) process.kill(process.pid, 'SIGKILL');
  return result;
};
