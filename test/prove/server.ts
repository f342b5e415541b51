// The server under test: a process of its own that is killed and started again on one data dir and one port, so that the
// addresses of its triggers stay good.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
/** What of its log is kept to be shown when something went wrong. */
const LOG_KEPT_LINES = 40;

export const API_KEY = 'prove-key-prove-key-prove-key';

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Rescued {
  readonly runs: number;
  readonly deliveries: number;
}

/** One life of the process. */
export interface Life {
  readonly startedAt: number;
  /** Null until it listens. */
  readyAt: number | null;
  /** Resolves when it listens; rejects when it ends before. */
  readonly ready: Promise<void>;
  readonly exited: Promise<Exit>;
  rescued: Rescued;
}

export class Server {
  readonly dataDir: string;
  readonly url: string;
  readonly #port: number;
  #child: ChildProcess | undefined;
  #life: Life | undefined;
  /** Warnings and errors of its log, by name. */
  readonly complaints = new Map<string, number>();
  readonly lastLines: string[] = [];

  constructor(dataDir: string, port: number) {
    this.dataDir = dataDir;
    this.#port = port;
    this.url = `http://127.0.0.1:${port}`;
  }

  static async on(dataDir: string): Promise<Server> {
    return new Server(dataDir, await freePort());
  }

  start(): Life {
    const child = spawn(process.execPath, [join(ROOT, 'src/main.ts')], {
      env: {
        PATH: process.env.PATH ?? '',
        ERRAND_PORT: String(this.#port),
        ERRAND_DATA_DIR: this.dataDir,
        ERRAND_API_KEY: API_KEY,
        ERRAND_MAIL_TO: 'owner@example.com',
        ERRAND_ALLOW_TARGETS: '127.0.0.0/8',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const exited = once(child, 'exit').then(([code, signal]) => ({ code, signal }));
    const { promise: ready, resolve, reject } = Promise.withResolvers<void>();
    const life: Life = { startedAt: Date.now(), readyAt: null, ready, exited, rescued: { runs: 0, deliveries: 0 } };
    child.stdout.on('data', (text: Buffer) => {
      if (life.readyAt !== null || !text.includes('listens on')) return;
      life.readyAt = Date.now();
      resolve();
    });
    this.#readLog(child, life);
    exited.then(({ code, signal }) => reject(new Error(`it ended before it listened: ${code ?? signal}`)));
    ready.catch(() => {}); // killed before it listened: that is one of the moments that are tried
    this.#child = child;
    this.#life = life;
    return life;
  }

  get life(): Life {
    if (!this.#life) throw new Error('the server was never started');
    return this.#life;
  }

  /** SIGKILL: nothing that it wanted to do still happens. */
  async kill(): Promise<void> {
    this.#child?.kill('SIGKILL');
    await this.#life?.exited;
  }

  async terminate(): Promise<Exit> {
    this.#child?.kill('SIGTERM');
    return this.life.exited;
  }

  #readLog(child: ChildProcess, life: Life): void {
    let rest = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() as string;
      for (const line of lines) this.#readLine(line, life);
    });
  }

  #readLine(line: string, life: Life): void {
    const isUsual = line.includes('"level":30');
    if (isUsual && !line.includes('took over')) return;
    const said = parsed(line);
    if (said.msg === 'took over what was under way') life.rescued = { runs: said.runs, deliveries: said.deliveries };
    if (isUsual || said.msg === 'webhooks may reach these addresses') return;
    const about = said.err?.message === undefined ? said.msg : `${said.msg}: ${said.err.message}`;
    this.complaints.set(about, (this.complaints.get(about) ?? 0) + 1);
    this.lastLines.push(line.slice(0, 600));
    if (this.lastLines.length > LOG_KEPT_LINES) this.lastLines.shift();
  }
}

interface Said extends Rescued {
  readonly msg: string;
  readonly err?: { readonly message: string };
}

function parsed(line: string): Said {
  try {
    return JSON.parse(line) as Said;
  } catch {
    return { msg: line.slice(0, 200), runs: 0, deliveries: 0 };
  }
}

async function freePort(): Promise<number> {
  const probe = createServer();
  probe.listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}
