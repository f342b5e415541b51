// A server under test: a process of its own that is killed, paused and started again on one data dir and one port, so that
// the addresses of its triggers stay good. Several that share a database are several of these.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { BARE_ENV } from '../support/bare-env.ts';
import { quietPort } from './port.ts';

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

/** What a server said that it took over from one that was gone. */
export interface Rescue extends Rescued {
  readonly at: number;
}

/** One life of the process. */
export interface Life {
  readonly startedAt: number;
  /** Null until it listens. */
  readyAt: number | null;
  /** Resolves when it listens; rejects when it ends before. */
  readonly ready: Promise<void>;
  readonly exited: Promise<Exit>;
  readonly rescues: Rescue[];
}

export interface ServerOptions {
  /** In reports. */
  readonly name: string;
  readonly dataDir: string;
  /** Settings beside the usual ones. */
  readonly env?: Readonly<Record<string, string>>;
  /** A module that the process loads before the server's own. */
  readonly preload?: string;
}

export class Server {
  readonly name: string;
  readonly dataDir: string;
  readonly url: string;
  readonly #env: Readonly<Record<string, string>>;
  readonly #preload: readonly string[];
  readonly #port: number;
  #child: ChildProcess | undefined;
  #life: Life | undefined;
  /** Warnings and errors of its log, by name. */
  readonly complaints = new Map<string, number>();
  readonly lastLines: string[] = [];
  /** Results that were refused, since the lease had gone to another one meanwhile. */
  readonly late = { runs: 0, deliveries: 0 };
  /** Ends that nobody asked for, and whether it listened by then. */
  readonly deaths: (Exit & { readonly wasReady: boolean })[] = [];
  #isAskedToEnd = false;
  /** In all its lives. */
  readonly rescues: Rescue[] = [];
  /** The folder of the program that the next start runs. */
  program = ROOT;

  constructor({ name, dataDir, env = {}, preload }: ServerOptions, port: number) {
    this.name = name;
    this.dataDir = dataDir;
    this.#env = env;
    this.#preload = preload === undefined ? [] : ['--import', preload];
    this.#port = port;
    this.url = `http://127.0.0.1:${port}`;
  }

  static async on(options: ServerOptions): Promise<Server> {
    return new Server(options, await quietPort());
  }

  start(): Life {
    const child = spawn(process.execPath, [...this.#preload, join(this.program, 'src/main.ts')], {
      env: {
        ...BARE_ENV,
        ERRAND_PORT: String(this.#port),
        ERRAND_DATA_DIR: this.dataDir,
        ERRAND_API_KEY: API_KEY,
        ERRAND_MAIL_TO: 'owner@example.com',
        ERRAND_ALLOW_TARGETS: '127.0.0.0/8',
        ERRAND_OWNERS_WITHOUT_JAIL: '1000',
        ...this.#env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#isAskedToEnd = false;
    const exited = once(child, 'exit').then(([code, signal]) => {
      if (!this.#isAskedToEnd) this.deaths.push({ code, signal, wasReady: life.readyAt !== null });
      return { code, signal };
    });
    const logRead = once(child.stderr, 'close');
    const { promise: ready, resolve, reject } = Promise.withResolvers<void>();
    const life: Life = { startedAt: Date.now(), readyAt: null, ready, exited, rescues: [] };
    child.stdout.on('data', (text: Buffer) => {
      if (life.readyAt !== null || !text.includes('listens on')) return;
      life.readyAt = Date.now();
      resolve();
    });
    this.#readLog(child, life);
    Promise.all([exited, logRead]).then(([{ code, signal }]) => {
      reject(new Error(`it ended before it listened: ${code ?? signal}: ${this.lastLines.at(-1) ?? ''}`));
    });
    ready.catch(() => {}); // killed before it listened: that is one of the moments that are tried
    this.#child = child;
    this.#life = life;
    return life;
  }

  get life(): Life {
    if (!this.#life) throw new Error('the server was never started');
    return this.#life;
  }

  /** Of the process that runs, or ran last. */
  get pid(): number {
    const pid = this.#child?.pid;
    if (pid === undefined) throw new Error('the server was never started');
    return pid;
  }

  get isRunning(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** SIGKILL: nothing that it wanted to do still happens. */
  async kill(): Promise<void> {
    this.#isAskedToEnd = true;
    this.#child?.kill('SIGKILL');
    await this.#life?.exited;
  }

  async terminate(): Promise<Exit> {
    this.#isAskedToEnd = true;
    this.#child?.kill('SIGTERM');
    return this.life.exited;
  }

  /** It stands still, and does not know. Its children go on. */
  pause(): void {
    this.#child?.kill('SIGSTOP');
  }

  resume(): void {
    this.#child?.kill('SIGCONT');
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
    if (isUsual && !line.includes('took over') && !line.includes('lease_lost')) return;
    const said = parsed(line);
    if (said.msg === RESCUED) {
      const rescue = { at: Date.parse(said.time ?? ''), runs: said.runs ?? 0, deliveries: said.deliveries ?? 0 };
      for (const rescues of [this.rescues, life.rescues]) rescues.push(rescue);
    }
    if (said.state === 'lease_lost') this.late[said.msg === 'run ended' ? 'runs' : 'deliveries']++;
    if (isUsual || said.msg.startsWith('webhooks may reach these addresses')) return;
    if (said.msg.startsWith('ERRAND_PUBLIC_URL is not set')) return;
    if (said.msg.startsWith('the key that seals the secrets')) return;
    const about = said.err?.message === undefined ? said.msg : `${said.msg}: ${said.err.message}`;
    this.complaints.set(about, (this.complaints.get(about) ?? 0) + 1);
    this.lastLines.push(line.slice(0, 600));
    if (this.lastLines.length > LOG_KEPT_LINES) this.lastLines.shift();
  }
}

const RESCUED = 'took over work of an earlier process';

interface Said {
  readonly msg: string;
  readonly time?: string;
  readonly state?: string;
  readonly runs?: number;
  readonly deliveries?: number;
  readonly err?: { readonly message: string };
}

function parsed(line: string): Said {
  try {
    return JSON.parse(line) as Said;
  } catch {
    return { msg: line.slice(0, 200) };
  }
}

/** Of all these together. */
export function sumOf(rescues: readonly Rescued[]): Rescued {
  return rescues.reduce(
    (sum, { runs, deliveries }) => ({ runs: sum.runs + runs, deliveries: sum.deliveries + deliveries }),
    {
      runs: 0,
      deliveries: 0,
    },
  );
}
