// Work that others do on the same machine: processes that never sleep.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

export async function startBusy(count: number): Promise<AsyncDisposable> {
  const busy: ChildProcess[] = Array.from({ length: count }, () =>
    spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }),
  );
  return {
    async [Symbol.asyncDispose]() {
      for (const child of busy) {
        if (child.exitCode !== null || child.signalCode !== null) continue;
        const gone = once(child, 'exit');
        child.kill('SIGKILL');
        await gone;
      }
    },
  };
}
