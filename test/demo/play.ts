// Runs examples/demo.ts as a user would, with a temporary folder of its own, so that what it leaves behind shows.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const DEMO = join(import.meta.dirname, '../../examples/demo.ts');

export interface Play extends AsyncDisposable {
  readonly child: ChildProcess;
  readonly tmp: string;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Resolves with the exit code once all of its output is there. */
  readonly ended: Promise<number | null>;
}

export interface PlayOptions {
  readonly args?: readonly string[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export async function play({ args = [], cwd, env = {} }: PlayOptions = {}): Promise<Play> {
  const tmp = await mkdtemp(join(tmpdir(), 'demo-test-'));
  const child = spawn(process.execPath, [DEMO, ...args], {
    cwd: cwd ?? tmp,
    env: { ...process.env, TMPDIR: tmp, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (part) => {
    stdout += part;
  });
  child.stderr?.setEncoding('utf8').on('data', (part) => {
    stderr += part;
  });
  const ended = once(child, 'close').then(([code]) => code as number | null);
  return {
    child,
    tmp,
    stdout: () => stdout,
    stderr: () => stderr,
    ended,
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
      await ended;
      await rm(tmp, { recursive: true, force: true });
    },
  };
}
