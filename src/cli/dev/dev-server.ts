// The server of `errand dev`: a process of its own, so that what it prints can be shown in our own words, and its end seen.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { extname } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { ENDS_WITH_PARENT } from '../../ends-with-parent.ts';

/** A line of the server's log; other lines are a complaint before it had one. */
export interface LogLine {
  readonly level: number;
  readonly msg: string;
  readonly file?: string;
  readonly problems?: readonly string[];
  readonly err?: { readonly message?: string };
}

export interface DevServer {
  /** Resolves with its address; null: it ended before it listened. */
  readonly url: Promise<string | null>;
  /** Resolves with its exit code. */
  readonly ended: Promise<number>;
  stop(): void;
}

interface Listening {
  readonly onLog: (line: LogLine) => void;
  /** Each line of its greeting, and what is no line of its log. */
  readonly onText: (line: string) => void;
}

/** The same file in the checkout and in the package. */
const ERRAND = fileURLToPath(new URL(`../../errand${extname(import.meta.url)}`, import.meta.url));

export function startServer(env: NodeJS.ProcessEnv, { onLog, onText }: Listening): DevServer {
  const child: ChildProcess = spawn(process.execPath, [...process.execArgv, ERRAND, 'start'], {
    env,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  // One that has ended at once says why by itself.
  child.send(ENDS_WITH_PARENT, () => undefined);
  const { stdout, stderr } = child;
  if (!stdout || !stderr) throw new Error('the server has no pipes');
  const ended = once(child, 'close').then(() => child.exitCode ?? 1);
  const url = new Promise<string | null>((resolve) => {
    ended.then(() => resolve(null));
    createInterface({ input: stdout }).on('line', (line) => {
      const found = /listens on (\S+)/.exec(line)?.[1];
      onText(line);
      if (found !== undefined) resolve(found);
    });
  });
  createInterface({ input: stderr }).on('line', (line) => {
    const parsed = logLineOf(line);
    if (parsed) onLog(parsed);
    else onText(line);
  });
  return { url, ended, stop: () => void child.kill('SIGTERM') };
}

function logLineOf(line: string): LogLine | null {
  if (!line.startsWith('{')) return null;
  try {
    const { level, msg, ...more } = JSON.parse(line) as Partial<LogLine>;
    return typeof level === 'number' && typeof msg === 'string' ? { ...more, level, msg } : null;
  } catch {
    return null;
  }
}
