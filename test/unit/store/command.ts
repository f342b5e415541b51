// `errand …` as somebody at a terminal calls it.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { BARE_ENV } from '../../support/bare-env.ts';
import type { Json } from '../../support/client.ts';

const ERRAND = join(import.meta.dirname, '../../../src/errand.ts');

export interface Called {
  readonly status: number | null;
  readonly stderr: string;
  readonly stdout: string;
  /** What it printed. */
  readonly json: () => Json;
}

export function startCommand(args: readonly string[], env: Record<string, string>) {
  const child: ChildProcess = spawn(process.execPath, [ERRAND, ...args], {
    env: { ...BARE_ENV, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  return { child, called: finished(child) };
}

/** `input`: on its standard input. */
export function call(args: readonly string[], env: Record<string, string>, input = ''): Promise<Called> {
  const { child, called } = startCommand(args, env);
  // It may be over before it has read anything.
  child.stdin?.on('error', () => undefined).end(input);
  return called;
}

async function finished(child: ChildProcess): Promise<Called> {
  if (!child.stdout || !child.stderr) throw new Error('no pipes');
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { status: child.exitCode, stdout, stderr, json: () => JSON.parse(stdout) };
}
