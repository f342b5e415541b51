// Loaded into `errand store salvage` (NODE_OPTIONS): kills it before the call numbered DIE_AT of those that read or write a store
// or a file. COUNT_IN: a file that says how many there were.

import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { DatabaseSync, StatementSync } from 'node:sqlite';

type Call = (this: unknown, ...args: never[]) => unknown;

const dieAt = Number(process.env.DIE_AT ?? Number.NaN);
const countIn = process.env.COUNT_IN;
let count = 0;

function hook(owner: object, names: readonly string[]): void {
  const calls = owner as Record<string, Call>;
  for (const name of names) {
    const real = calls[name] as Call;
    calls[name] = function (this: unknown, ...args) {
      if (++count === dieAt) process.kill(process.pid, 'SIGKILL');
      return real.apply(this, args);
    };
  }
}

hook(fs, ['copyFileSync', 'rmSync']);
hook(fs.promises, ['writeFile', 'rename', 'rm', 'mkdir']);
hook(DatabaseSync.prototype, ['exec', 'prepare', 'close']);
hook(StatementSync.prototype, ['run']);
syncBuiltinESMExports();

const { writeFileSync } = fs;
process.on('exit', () => {
  if (countIn !== undefined) writeFileSync(countIn, String(count));
});
