// Copies the WAL into the database, in a worker thread with its own connection: a checkpoint syncs both files, which would stop
// the event loop in the writer's COMMIT, where SQLite does it by default.
//
// A checkpoint beside a writer never catches up: commits go on into the WAL, which begins again only when all of it is copied. So
// there are two steps. Whenever the WAL has grown by some pages, they are copied beside the writer. Once it is long, commits are
// held for a second step, which has little left to copy; the next commit begins the WAL again.
//
// While another process reads, e.g. a backup, SQLite copies only the pages that it does not need, and the WAL grows.
//
// The worker starts with the first checkpoint, and ends when idle, so that an idle server does not keep its memory.

import { Worker } from 'node:worker_threads';
import type { Log } from '../../../ports.ts';
import { number, present } from '../../rows/cells.ts';
import type { Connection, Row } from '../database.ts';

/** 4 MB. */
const STEP_PAGES = 1000;
const LONG_PAGES = 2 * STEP_PAGES;
const IDLE_MS = 10_000;

/** SQLite's result codes for a failed sync of a file, and of its folder. */
const FAILED_SYNCS = [1034, 1290];

const WORK = `
  const { DatabaseSync } = require('node:sqlite');
  const { parentPort, workerData } = require('node:worker_threads');
  const db = new DatabaseSync(workerData, { timeout: 0 });
  const checkpoint = db.prepare('PRAGMA wal_checkpoint(PASSIVE)');
  parentPort.on('message', () => {
    try {
      parentPort.postMessage(checkpoint.get());
    } catch ({ message, errcode }) {
      parentPort.postMessage({ message, errcode });
    }
  });`;

/** Pages in the WAL, and how many of them are copied into the database. */
interface Position {
  readonly log: number;
  readonly checkpointed: number;
}

interface CheckpointFailure {
  readonly message: string;
  readonly errcode?: number;
}

export interface CheckpointerOptions {
  /** The file of the database. */
  readonly path: string;
  readonly writer: Connection;
  readonly log?: Log;
  /** Called when a sync has failed: the content of the files is unknown. */
  readonly onFailedSync: (error: Error) => void;
  /** Holds commits until the returned function is called. */
  readonly holdCommits: () => () => void;
  /** How long the worker stays when it has nothing to do. */
  readonly idleMs?: number;
}

export class Checkpointer {
  readonly #options: CheckpointerOptions;
  #worker: Worker | null = null;
  #idle: NodeJS.Timeout | undefined;
  #isWorking = false;
  #working: Promise<void> = Promise.resolve();
  #isHeld = false;
  #isStopped = false;
  /** Pages of the WAL at which the next checkpoint begins. */
  #nextAt = STEP_PAGES;
  #lastLog = 0;
  #answered: (result: Position | CheckpointFailure) => void = () => undefined;
  #died: (error: unknown) => void = () => undefined;

  constructor(options: CheckpointerOptions) {
    this.#options = options;
  }

  /** Replaces SQLite's own checkpoints, unless this SQLite cannot report the length of the WAL (before 3.51). */
  start(): void {
    const { writer } = this.#options;
    const version = String(writer.get('SELECT sqlite_version() AS version')?.version);
    const [major = 0, minor = 0] = version.split('.').map(Number);
    if (major > 3 || minor >= 51) writer.exec('PRAGMA wal_autocheckpoint = 0');
    else this.#isStopped = true;
  }

  /** Called after each commit of the writer. */
  committed(): void {
    if (this.#isWorking || this.#isHeld || this.#isStopped) return;
    const log = this.#logPages();
    if (log < this.#lastLog) this.#nextAt = STEP_PAGES;
    this.#lastLog = log;
    if (log < this.#nextAt) return;
    this.#isWorking = true;
    this.#working = this.#work().finally(() => {
      this.#isWorking = false;
    });
  }

  /**
   * Begins no checkpoint until what it returns is called. Resolves when none is under way; with null when the store is
   * closing, or SQLite makes checkpoints by itself.
   */
  async hold(): Promise<(() => void) | null> {
    while (this.#isWorking) await this.#working;
    if (this.#isStopped) return null;
    this.#isHeld = true;
    return () => {
      this.#isHeld = false;
      this.committed();
    };
  }

  /** Returns how many pages of the WAL that are not in the database yet. */
  uncopiedPages(): number {
    const { log, checkpointed } = this.#position();
    return log - checkpointed;
  }

  /** Resolves when no checkpoint is under way any more. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#idle);
    await this.#worker?.terminate();
    this.#worker = null;
  }

  async #work(): Promise<void> {
    const { log, onFailedSync } = this.#options;
    try {
      await this.#steps();
    } catch (error) {
      if (this.#isStopped) return;
      if (FAILED_SYNCS.includes((error as CheckpointFailure).errcode ?? 0)) return onFailedSync(error as Error);
      log?.warn({ err: error }, 'could not copy the WAL into the database; it grows until that works again');
    } finally {
      if (!this.#isStopped) this.#nextAt = this.#logPages() + STEP_PAGES;
    }
  }

  async #steps(): Promise<void> {
    const first = await this.#checkpoint();
    if (this.#isStopped || first.checkpointed < first.log || this.#logPages() < LONG_PAGES) return;
    const release = this.#options.holdCommits();
    try {
      await this.#checkpoint();
    } finally {
      release();
    }
  }

  async #checkpoint(): Promise<Position> {
    clearTimeout(this.#idle);
    const result = await this.#requestCheckpoint();
    this.#idle = setTimeout(() => this.#end(), this.#options.idleMs ?? IDLE_MS).unref();
    if ('message' in result) throw Object.assign(new Error(result.message), { errcode: result.errcode });
    return result;
  }

  async #requestCheckpoint(): Promise<Position | CheckpointFailure> {
    try {
      this.#worker ??= this.#startWorker();
      this.#worker.postMessage(null);
      return await new Promise((resolve, reject) => {
        this.#answered = resolve;
        this.#died = reject;
      });
    } catch (error) {
      // There may be no memory for a thread. Then the writer copies the WAL, and blocks the event loop.
      if (this.#isStopped) throw error;
      this.#worker = null;
      return toPosition(this.#options.writer.get('PRAGMA wal_checkpoint(PASSIVE)'));
    }
  }

  #startWorker(): Worker {
    const workerData = this.#options.path;
    const worker = new Worker(WORK, {
      eval: true,
      workerData,
      execArgv: ['--no-warnings'],
      env: {},
      name: 'checkpoints',
    });
    worker.unref();
    worker.on('message', (result: Position | CheckpointFailure) => this.#answered(result));
    // One that was idle may end when the next one is at work already, which is not to be given up for that.
    const died = (error: unknown): void => {
      if (this.#worker === worker) this.#died(error);
    };
    worker.on('error', died);
    worker.on('exit', () => died(new Error('the thread has ended')));
    return worker;
  }

  #end(): void {
    void this.#worker?.terminate();
    this.#worker = null;
  }

  #logPages(): number {
    try {
      return this.#position().log;
    } catch {
      return this.#lastLog; // the next commit asks again, and reports a failure of storage
    }
  }

  /** Asks without copying anything. */
  #position(): Position {
    return toPosition(this.#options.writer.get('PRAGMA wal_checkpoint(NOOP)'));
  }
}

function toPosition(given: Row | undefined): Position {
  const row = present(given);
  return { log: number(row, 'log'), checkpointed: number(row, 'checkpointed') };
}
