// The process that kills itself: it takes part in a scene, and dies behind the k-th statement of the verb that writes.
// Arguments: the store, the scene, the cast and the time as JSON, and k.

import { DatabaseSync, StatementSync } from 'node:sqlite';
import { type Cast, openAt, sceneOf } from './kill-scenes.ts';

const [path, name, cast, atMs, k] = process.argv.slice(2) as [string, string, string, string, string];

let left = Number.POSITIVE_INFINITY;

/** A signal that a process sends to itself this way has arrived before the call returns: nothing runs after it. */
function passed(sql: string): void {
  if (/^\s*(SELECT|PRAGMA)/i.test(sql)) return;
  left--;
  if (left === 0) process.kill(process.pid, 'SIGKILL');
}

const { exec } = DatabaseSync.prototype;
DatabaseSync.prototype.exec = function (sql) {
  exec.call(this, sql);
  passed(sql);
};

for (const verb of ['run', 'get', 'all'] as const) {
  const call = StatementSync.prototype[verb] as (...values: unknown[]) => unknown;
  Object.assign(StatementSync.prototype, {
    [verb](this: StatementSync, ...values: unknown[]) {
      const result = call.apply(this, values);
      passed(this.sourceSQL);
      return result;
    },
  });
}

const world = { ...(JSON.parse(cast) as Cast), ...(await openAt(path, Number(atMs))) };
const verb = await sceneOf(name).take(world);
left = Number(k);
await verb();
left = Number.POSITIVE_INFINITY;
await world.store.close();
