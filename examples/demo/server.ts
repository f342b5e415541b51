// Errand as a child process on a store of its own, as `npm start` would run it.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';

const MAIN = join(import.meta.dirname, '../../src/main.ts');

export interface Server {
  readonly url: string;
  readonly dataDir: string;
  readonly key: string;
  /** What it has logged: for when something goes wrong. */
  log(): string;
  /** Asks it to stop; resolves with its exit code. */
  stop(): Promise<number | null>;
  /** kill -9. */
  kill(): Promise<void>;
}

/** The same port at every start, so that the addresses of triggers stay good. */
export async function startServer({ dataDir, port }: { dataDir: string; port: number }): Promise<Server> {
  // Settings that the caller has for a server of their own are not for this one.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('ERRAND_')));
  const child = spawn(process.execPath, [MAIN], {
    env: {
      ...env,
      ERRAND_DATA_DIR: dataDir,
      ERRAND_PORT: String(port),
      ERRAND_MAIL_TO: 'you@example.com',
      ERRAND_ALLOW_TARGETS: '127.0.0.0/8',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    // Ctrl-C is for us, who then ask it to stop: a second signal would make it leave at once.
    detached: true,
  });
  const killLeftOver = (): void => void child.kill('SIGKILL');
  process.once('exit', killLeftOver);
  let log = '';
  child.stderr.on('data', (part: Buffer) => {
    log += part;
  });
  const exited = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  exited.finally(() => process.off('exit', killLeftOver));
  const url = await Promise.race([
    listening(child),
    exited.then(([code]) => Promise.reject(new Error(`the server ended with code ${code}:\n${log}`))),
  ]);
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    return (await exited)[0];
  };
  return {
    url,
    dataDir,
    key: (await readFile(join(dataDir, 'api-key'), 'utf8')).trim(),
    log: () => log,
    stop: () => end('SIGTERM'),
    kill: async () => void (await end('SIGKILL')),
  };
}

function listening({ stdout }: ChildProcess): Promise<string> {
  let text = '';
  return new Promise((resolve) => {
    stdout?.on('data', (part: Buffer) => {
      text += part;
      const url = /listens on (\S+)/.exec(text)?.[1];
      if (url !== undefined) resolve(url);
    });
  });
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no free port');
  return address.port;
}
