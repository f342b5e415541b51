// A process that writes into a store as fast as it can, as a busy server does.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { until } from '../../support/wait.ts';

const WRITER = join(import.meta.dirname, '../../contract/sqlite.test.ts');

export interface BusyWriter extends AsyncDisposable {
  /** Resolves when it was answered so often from now on. */
  wrote(count: number): Promise<void>;
}

export async function startWriter(directory: string): Promise<BusyWriter> {
  // Without the test runner's own variables: the child is no test file.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const child = fork(WRITER, ['writer', directory], { env, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const gone = once(child, 'close');
  let answers = 0;
  child.on('message', () => {
    answers++;
  });
  return {
    wrote: async (count) => {
      const enough = answers + count;
      await until(`${count} answers`, () => answers >= enough);
    },
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await gone;
    },
  };
}
