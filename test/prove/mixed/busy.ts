// Work that others do on the same machine: processes that never sleep. What runs there besides counts, too: of ours, so many
// go on as are lacking to the load that is wanted, and the others stand still.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';

const LOOKED_EVERY_MS = 200;
const ADJUSTED_EVERY = 10;
/** Until the process that asked for it is gone. */
const SPIN = 'const parent = process.ppid; while (process.ppid === parent);';

/** Processes of the whole machine that run or want to; null where that is not told. */
function wanting(): number | null {
  try {
    return Number(/(\d+)\/\d+/.exec(readFileSync('/proc/loadavg', 'latin1'))?.[1]);
  } catch {
    return null;
  }
}

export async function startBusy(count: number): Promise<AsyncDisposable> {
  const busy: ChildProcess[] = Array.from({ length: count }, () =>
    spawn(process.execPath, ['-e', SPIN], { stdio: 'ignore' }),
  );
  let going = count;
  let seen: number[] = [];
  const adjust = (): void => {
    const now = wanting();
    if (now === null) return;
    seen.push(now);
    if (seen.length < ADJUSTED_EVERY) return;
    const mean = seen.reduce((sum, n) => sum + n, 0) / seen.length;
    seen = [];
    going = Math.min(count, Math.max(0, going + Math.round((count - mean) / 2)));
    for (const [at, child] of busy.entries()) child.kill(at < going ? 'SIGCONT' : 'SIGSTOP');
  };
  const timer = setInterval(adjust, LOOKED_EVERY_MS);
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      for (const child of busy) {
        if (child.exitCode !== null || child.signalCode !== null) continue;
        const gone = once(child, 'exit');
        child.kill('SIGKILL');
        await gone;
      }
    },
  };
}
