// Errand as a process of its own, to be stopped and killed.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { folderOutside } from '../../src/server/code-isolation.ts';
import { BARE_ENV } from './bare-env.ts';
import { databaseFor } from './database.ts';

const ROOT = join(import.meta.dirname, '../..');

export interface ErrandProcess extends AsyncDisposable {
  readonly child: ChildProcess;
  readonly url: string;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Resolves with the exit code and signal. */
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

/**
 * Resolves when it listens; rejects with its stderr when it exits before that. `root`: where the program is, in a copy.
 * `program`: its file, and arguments.
 */
export async function spawnErrand(
  env: Record<string, string>,
  root = ROOT,
  [file = '', ...args]: readonly string[] = ['src/main.ts'],
): Promise<ErrandProcess> {
  const database = await databaseFor(env, env.ERRAND_DATA_DIR ?? '');
  const child = spawn(process.execPath, [join(root, file), ...args], {
    env: { ...BARE_ENV, ERRAND_PORT: '0', ERRAND_OWNERS_WITHOUT_JAIL: '1000', ...database.settings, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stderr.on('data', (part) => {
    stderr += part;
  });
  const exited = once(child, 'exit').then(([code, signal]) => ({ code, signal }));
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (part) => {
      stdout += part;
      const found = /listens on (\S+)/.exec(stdout)?.[1];
      if (found !== undefined) resolve(found);
    });
    exited.then(({ code }) => reject(new Error(`errand exited with ${code}: ${stderr}`)));
  }).catch(async (error) => {
    await database[Symbol.asyncDispose]();
    throw error;
  });
  return {
    child,
    url,
    stdout: () => stdout,
    stderr: () => stderr,
    exited,
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
      await exited;
      // What a killed server left outside its data dir.
      await rm(folderOutside(env.ERRAND_DATA_DIR ?? ''), { recursive: true, force: true });
      await database[Symbol.asyncDispose]();
    },
  };
}
