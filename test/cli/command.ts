// Runs commands of the command line as processes of their own, with a home folder that has no profiles.

import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BARE_ENV } from '../support/bare-env.ts';
import type { Json } from '../support/client.ts';

const ENTRY = join(import.meta.dirname, '../../src/errand.ts');

export interface Result {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  /** What it has printed so far. */
  stdout(): string;
  stderr(): string;
  interrupt(): void;
  readonly ended: Promise<Result>;
}

export interface Shell extends AsyncDisposable {
  readonly home: string;
  /** `input`: its standard input. */
  run(
    args: readonly string[],
    more?: { readonly input?: string; readonly env?: Record<string, string> },
  ): Promise<Result>;
  /** Asserts that it ends with 0, and returns what it prints as JSON. */
  json(...args: readonly string[]): Promise<Json>;
  start(...args: readonly string[]): Running;
}

/** `server`: what commands talk to; null: none is named. */
export async function openShell(server: { readonly url: string; readonly key: string } | null): Promise<Shell> {
  const home = await mkdtemp(join(tmpdir(), 'errand-cli-'));
  const named = server === null ? [] : ['--url', server.url];
  const start = (args: readonly string[], env: Record<string, string> = {}, input?: string) => {
    const child = spawn(process.execPath, [ENTRY, ...args], {
      cwd: home,
      env: { ...BARE_ENV, HOME: home, ...(server === null ? {} : { ERRAND_API_KEY: server.key }), ...env },
    });
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (part) => {
      stdout += part;
    });
    child.stderr.on('data', (part) => {
      stderr += part;
    });
    child.stdin.end(input);
    // It may end before it has read anything.
    child.stdin.on('error', () => undefined);
    const ended = new Promise<Result>((resolve) => {
      child.on('close', (code) => resolve({ code, stdout, stderr }));
    });
    return { stdout: () => stdout, stderr: () => stderr, interrupt: () => child.kill('SIGINT'), ended };
  };
  return {
    home,
    run: (args, { input, env } = {}) => start(args, env, input).ended,
    json: async (...args) => {
      const { code, stdout, stderr } = await start([...args, ...named, '--json']).ended;
      if (code !== 0) throw new Error(`errand ${args.join(' ')} ended with ${code}: ${stderr}`);
      return JSON.parse(stdout);
    },
    start: (...args) => start([...args, ...named]),
    [Symbol.asyncDispose]: () => rm(home, { recursive: true, force: true }),
  };
}
