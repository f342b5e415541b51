// A real Postgres for tests: started, stopped, killed and started again on the same port and data.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../port.ts';
import { until } from '../wait.ts';
import { type Binaries, binaries, spawnOptions, type Version } from './binaries.ts';
import { fillDataFolder, newFolder } from './data-folder.ts';
import { Databases } from './databases.ts';
import { killTree } from './processes.ts';
import { Watchdog } from './watchdog.ts';

export interface PostgresOptions {
  readonly version?: Version;
  /** Where the data lies: empty or missing, and removed in the end. None: a folder of its own. */
  readonly dir?: string;
  /** A file system of its own that holds `dir`, unmounted in the end. */
  readonly mount?: string;
  readonly port?: number;
  readonly settings?: Readonly<Record<string, string>>;
  /** Settings as in production: what was committed survives `kill`. Without, all of them are for speed. */
  readonly durable?: boolean;
  /** Its end does not reject for deadlocks: its databases are looked at, or what runs on it is random, and meets the pairs that are left. */
  readonly toleratesDeadlocks?: boolean;
  /** Called once with the data folder, before the first start. */
  readonly prepare?: (dir: string) => Promise<void>;
}

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  // In the data folder, which is removed: killed servers would leave theirs in /dev/shm.
  dynamic_shared_memory_type: 'mmap',
  log_checkpoints: 'off',
  log_line_prefix: '%m [%p] %q%d ',
};

const QUICK = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  // It would visit each of hundreds of databases that live for a moment.
  autovacuum: 'off',
};

const SIGNALS = { fast: 'SIGINT', immediate: 'SIGQUIT' } as const;

const PORT_TRIES = 5;
/** Of the log of a server that ended by itself. */
const LAST_CHARS = 2000;

/** Resolves when it takes connections. */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const program = await binaries(options.version ?? 18);
  const dir = options.dir ?? (await newFolder(program, options.durable === true));
  const watchdog = new Watchdog(dir, options.mount);
  try {
    await fillDataFolder(program, dir);
    await options.prepare?.(dir);
    for (let tries = 1; ; tries++) {
      const port = options.port ?? (await freePort());
      const settings = { ...SETTINGS, ...(options.durable ? {} : QUICK), ...options.settings, port: String(port) };
      const { toleratesDeadlocks = false } = options;
      const server = new PostgresServer({ program, dir, port, settings, watchdog, toleratesDeadlocks });
      try {
        await server.start();
        return server;
      } catch (error) {
        const isTaken = options.port === undefined && /could not bind/.test((error as Error).message);
        if (!isTaken || tries === PORT_TRIES) throw error;
      }
    }
  } catch (error) {
    await watchdog.end();
    throw error;
  }
}

interface Parts {
  readonly program: Binaries;
  readonly dir: string;
  readonly port: number;
  readonly settings: Readonly<Record<string, string>>;
  readonly watchdog: Watchdog;
  readonly toleratesDeadlocks: boolean;
}

export class PostgresServer implements AsyncDisposable {
  readonly port: number;
  readonly dir: string;
  readonly databases: Databases;
  readonly #parts: Parts;
  #child: ChildProcess | undefined;
  /** Its end was asked for. */
  #isEnding = false;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.port = parts.port;
    this.dir = parts.dir;
    this.databases = new Databases(`postgres://postgres@127.0.0.1:${parts.port}/postgres`);
  }

  /** Of its superuser. */
  url(database?: string): string {
    return this.databases.url(database);
  }

  createDatabase(name: string, template?: string): Promise<void> {
    return this.databases.createDatabase(name, template);
  }

  dropDatabase(name: string): Promise<void> {
    return this.databases.dropDatabase(name);
  }

  /** On the same port and data. Rejects with its log when it exits instead. */
  async start(): Promise<void> {
    if (this.#child !== undefined) throw new Error('the server is running');
    const { program, dir, settings, watchdog } = this.#parts;
    const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const log = await open(this.#logPath, 'a');
    const { size: logged } = await log.stat();
    const child = spawn(program.postgres, ['-D', dir, ...flags], {
      ...spawnOptions(program),
      stdio: ['ignore', log.fd, log.fd],
      detached: true,
    });
    watchdog.watch(child.pid ?? null);
    // A test that forgets it ends all the same, and the watchdog sees to the rest.
    child.unref();
    this.#child = child;
    let failure: string | undefined;
    let isUp = false;
    this.#isEnding = false;
    child.on('error', (error) => {
      failure = error.message;
    });
    child.on('exit', (code, signal) => {
      failure = `exited with ${code ?? signal}`;
      this.#child = undefined;
      watchdog.watch(null);
      if (isUp && !this.#isEnding) this.#tellEnd(failure);
    });
    await log.close();
    await until('Postgres takes connections', () => failure !== undefined || this.#isReady(child));
    if (failure !== undefined) throw new Error(`postgres ${failure}: ${(await this.log()).slice(logged)}`);
    isUp = true;
  }

  /** `fast` ends sessions and writes everything down; `immediate` leaves that to the next start. May be called twice. */
  async stop(how: keyof typeof SIGNALS = 'fast'): Promise<void> {
    await this.databases.close();
    const child = this.#child;
    if (child === undefined) return;
    this.#isEnding = true;
    child.ref();
    const gone = once(child, 'exit');
    child.kill(SIGNALS[how]);
    await gone;
  }

  /** As if the machine lost power, but that the system's file cache survives. */
  async kill(): Promise<void> {
    await this.databases.close();
    const child = this.#child;
    if (child?.pid === undefined) return;
    this.#isEnding = true;
    child.ref();
    const gone = once(child, 'exit');
    await killTree(child.pid);
    await gone;
  }

  /** What the server wrote to its log so far. */
  log(): Promise<string> {
    return readFile(this.#logPath, 'utf8');
  }

  /** Stops it and removes its data. May be called twice. Rejects when transactions deadlocked: see src/store/postgres/log/batch-reads.ts. */
  async dispose(): Promise<void> {
    await this.stop('immediate');
    const [deadlock] = /^.*deadlock detected(?:\n(?!.*LOG:).*)*/m.exec(await this.log().catch(() => '')) ?? [];
    await this.#parts.watchdog.end();
    if (deadlock !== undefined && !this.#parts.toleratesDeadlocks)
      throw new Error(`two transactions waited for each other:\n${deadlock}`);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }

  /** Tests that use it would only see refused connections. */
  #tellEnd(how: string): void {
    const hasFolder = existsSync(join(this.dir, 'PG_VERSION'));
    const said = hasFolder && existsSync(this.#logPath) ? readFileSync(this.#logPath, 'utf8').slice(-LAST_CHARS) : '';
    const folder = hasFolder ? `its log ends with\n${said}` : `its data folder ${this.dir} was removed while it ran\n`;
    process.stderr.write(`a Postgres server of these tests ${how} by itself: ${folder}`);
  }

  get #logPath(): string {
    return join(this.dir, 'server.log');
  }

  /** As pg_ctl finds out; the file of a killed server names another process. */
  async #isReady({ pid }: ChildProcess): Promise<boolean> {
    const lines = await readFile(join(this.dir, 'postmaster.pid'), 'utf8').then(
      (text) => text.split('\n'),
      () => [],
    );
    return lines[0] === String(pid) && lines[7]?.trim() === 'ready';
  }
}
