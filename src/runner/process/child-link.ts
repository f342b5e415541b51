// The server's end of a child process: starts it, exchanges frames with it, and reports how it ended.
//
// User code can forge everything that comes in. The worst consequence is the end of that process.

import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import { LIMITS } from '../../domain/limits.ts';
import type { Deployment } from '../../domain/resource.ts';
import { encodeFrame, type FrameBounds, FrameReader, FrameWriter } from '../child/frames.ts';
import type { InitMessage, RunMessage, ToChild } from '../child/protocol.ts';
import type { Isolation, StartedProcess } from '../isolation/isolation.ts';
import type { Workdirs } from '../isolation/workdir.ts';
import { isExiting } from '../pool/cpu.ts';
import { isOverMemory, usedMemoryMb } from '../pool/memory.ts';
import type { Priorities } from '../pool/priority.ts';
import { isOurComponent, isSource } from '../pool/process-keys.ts';
import { LARGE_BYTES, type MessageThrottle, type Reservation } from './message-throttle.ts';
import { StderrTail } from './stderr-tail.ts';

/**
 * The largest honest frame: results, sends, an answer and a source's db, and the JSON around them. Many or long texts
 * are outside of the JSON (child/bulk.ts), which has up to 64 KiB of other texts, escaped, and a run's bound of lines,
 * sends, exports and names.
 */
const MAX_JSON_BYTES = 8 * 1024 * 1024;
const FRAME_BOUNDS: FrameBounds = {
  maxBytes: 4 * LIMITS.resultBytes + LIMITS.logBytes + 2 * 1024 * 1024 + MAX_JSON_BYTES,
  maxJsonBytes: MAX_JSON_BYTES,
  maxValues: 250_000,
};
/** For replies that the process does not read: beyond this it gets no further one. */
const MAX_UNREAD_BYTES = 4 * 1024 * 1024;
/** A process with a closed pipe has so long to end by itself, so that the reason of its end can be reported. */
const PIPE_CLOSED_MS = 100;
const CUT_TRIES = 50;
/** Messages read at a time. Their consequences in this turn take longer than reading them. */
const READ_AT_ONCE = 32;
/** How often a throttled message checks whether other owners are still active. */
const THROTTLE_CHECK_MS = 500;

export interface LinkOptions {
  readonly workdirs: Workdirs;
  readonly isolation: Isolation;
  readonly deployment: Deployment;
  readonly memoryMb: number;
  readonly env: Readonly<Record<string, string>>;
  readonly mode: InitMessage['mode'];
  /** None: its priority never changes. */
  readonly priorities?: Priorities;
  /** None: everything is read at once. */
  readonly throttle?: MessageThrottle;
  readonly query?: InitMessage['query'];
}

export interface Death {
  /** `memory`: the process was killed for using more than its bound. */
  readonly kind: 'exit' | 'start' | 'garbage' | 'memory';
  readonly code: number | null;
  readonly signal: string | null;
  readonly detail: string;
}

interface LinkEvents {
  /** Throws to refuse the message, which ends the process. `take` returns the message's bytes. */
  readonly onMessage: (message: Readonly<Record<string, unknown>>, take: (bytes: unknown) => Buffer) => void;
  /** Called once, when the process is gone; `removed` settles when its folder is deleted. */
  readonly onDeath: (death: Death, removed: Promise<void>) => void;
}

export class ChildLink {
  /** The process's own memory at the last sample. */
  usedMb = 0;
  readonly #options: LinkOptions;
  readonly #events: LinkEvents;
  readonly #writer: FrameWriter;
  #started: StartedProcess | null = null;
  #dir: string | null = null;
  #prepared: { close(): void } | null = null;
  /** Frames wait here until the code is written and the first message is sent. */
  #unsent: Buffer[] | null = [];
  #pipe: Socket | undefined;
  /** What has arrived and was not handled yet, by frame. */
  readonly #unread: Generator<void>[] = [];
  /** For the large message that is arriving. */
  #reservation: Reservation | null = null;
  #throttled: NodeJS.Timeout | undefined;
  #isUnthrottled = false;
  #stderr: StderrTail | null = null;
  #garbage: string | null = null;
  #isOverMemory = false;
  #cutting: NodeJS.Timeout | undefined;
  /** The process lived on without its pipe. */
  #isCut = false;
  #killed = false;
  #dead = false;
  #isLowPriority = false;
  /** The process that was given a low priority. */
  #lowPriorityPid: number | null = null;

  constructor(options: LinkOptions, events: LinkEvents) {
    this.#options = options;
    this.#events = events;
    // One write per turn. Measured at 100 in flight, a trivial step: 60k runs/s.
    this.#writer = new FrameWriter(
      (frame) => this.#write(frame),
      (flush) => setImmediate(flush),
    );
    this.#start().catch((error: unknown) => this.#fail(error));
  }

  get pid(): number | undefined {
    return this.#started?.pid();
  }

  postRun(message: RunMessage, event: Uint8Array): void {
    this.#writer.push(message, event);
  }

  /** Sends a message. `blob`: the bytes that the message owns. */
  post(message: ToChild, blob: Uint8Array | null = null): void {
    this.#writer.push(message, blob);
  }

  /** Resolves when the process has read most of what it was sent, or is gone. */
  async drained(): Promise<void> {
    const pipe = this.#started?.process.stdio?.[3] as Socket | undefined;
    if (this.#dead || !pipe?.writableNeedDrain || pipe.writableLength < MAX_UNREAD_BYTES) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        pipe.off('drain', done);
        pipe.off('close', done);
        resolve();
      };
      pipe.on('drain', done);
      pipe.on('close', done);
    });
  }

  /** Kills the process, at once and for good; `onDeath` follows. */
  kill(): void {
    this.#killed = true;
    this.#started?.kill();
    this.unthrottle();
  }

  /** Reads at once whatever arrives from now on: the process's end is awaited. */
  unthrottle(): void {
    this.#isUnthrottled = true;
    if (this.#throttled === undefined) return;
    clearTimeout(this.#throttled);
    this.#throttled = undefined;
    if (this.#reservation) this.#options.throttle?.release(this.#reservation);
    this.#flow();
  }

  /** Kills the process when it uses more memory than its bound. Returns whether it did. */
  endIfOverMemory(): boolean {
    const { pid } = this;
    if (this.#killed || pid === undefined) return false;
    this.usedMb = usedMemoryMb(pid) ?? 0;
    if (!isOverMemory(this.usedMb, this.#options.memoryMb)) return false;
    this.#isOverMemory = true;
    this.kill();
    return true;
  }

  /**
   * Lets the process have only the CPU that no other process wants, or ends that. Returns false where that is not
   * permitted.
   */
  setLowPriority(isLowPriority: boolean): boolean {
    this.#isLowPriority = isLowPriority;
    // Of bwrap's two processes the inner one is known later; until then, it inherits the priority of the outer one.
    const pid = this.pid ?? this.#started?.process.pid;
    const low = isLowPriority ? (pid ?? null) : null;
    if (this.#killed || this.#started === null || pid === undefined || low === this.#lowPriorityPid) return true;
    const isDone =
      this.#started.setLowPriority?.(isLowPriority) || (this.#options.priorities?.set(pid, isLowPriority) ?? true);
    if (isDone) this.#lowPriorityPid = low;
    return isDone;
  }

  async #start(): Promise<void> {
    const { workdirs, isolation, deployment, memoryMb, env, mode, query } = this.#options;
    // A process that runs sources tracks whose code is running (child/component/instances.ts).
    const sourceId = mode === 'describe' && isSource(deployment) ? deployment.runnableId : null;
    const user = isolation.userOf(deployment.ownerId);
    const dir = await workdirs.make(user);
    this.#dir = dir;
    const isOurs = isOurComponent(deployment);
    this.#prepared = await isolation.prepare({ dir, isOurs, user, ownerId: deployment.ownerId });
    if (this.#killed) throw new Error('it was ended before it was started');
    const started = isolation.start({ dir, memoryMb, sourceId, isOurs, user });
    this.#started = started;
    this.setLowPriority(this.#isLowPriority);
    const child = started.process;
    child.on('error', (error) => this.#fail(error));
    child.on('close', (code, signal) => this.#onClose(code, signal));
    this.#listen(child);
    if (child.pid !== undefined) workdirs.notePid(dir, child.pid);
    const steps = await workdirs.fill(dir, deployment, isolation.inside(dir).dir);
    // Public components read it; a process of sources says which one by other means.
    const names: Record<string, string> = isSource(deployment) ? {} : { PIPEDREAM_WORKFLOW_ID: deployment.runnableId };
    this.#open({ t: 'init', mode, steps, env: { ...names, ...env }, limits: LIMITS, query });
  }

  #listen(child: ChildProcess): void {
    for (const stream of child.stdio ?? []) stream?.on('error', () => {}); // the process is dead: nothing new
    if (child.stderr !== null) {
      const tail = new StderrTail(child.stderr);
      child.on('exit', () => tail.end());
      this.#stderr = tail;
    }
    child.on('exit', () => this.unthrottle());
    const reader = new FrameReader(FRAME_BOUNDS, (messages, blobs) => this.#onFrame(messages, blobs));
    const pipe = child.stdio?.[3] as Socket | undefined;
    this.#pipe = pipe;
    pipe?.on('data', (chunk: Buffer) => {
      if (this.#garbage !== null) return;
      try {
        reader.push(chunk);
        if (this.#reservation === null && reader.arriving > LARGE_BYTES) this.#reserve(reader.arriving);
      } catch (error) {
        this.#onGarbage(error);
      }
    });
    // A process whose pipe is closed cannot be used any more.
    pipe?.on('close', () => {
      if (!this.#killed && !this.#dead) this.#cutting = setTimeout(() => this.#cut(), PIPE_CLOSED_MS);
    });
  }

  /** Kills a process that lives on without its pipe. One that is ending says why as soon as it gets the CPU. */
  #cut(triesLeft = CUT_TRIES): void {
    this.#isCut = triesLeft === 0 || this.pid === undefined || !isExiting(this.pid);
    if (this.#isCut) this.kill();
    else this.#cutting = setTimeout(() => this.#cut(triesLeft - 1), PIPE_CLOSED_MS);
  }

  #onGarbage(error: unknown): void {
    this.#garbage ??= String(error);
    this.kill();
  }

  #onFrame(messages: unknown, blobs: Buffer): void {
    // Empty frames carry nothing, and could be sent endlessly.
    if (!Array.isArray(messages) || messages.length === 0) throw new TypeError('a frame without messages');
    this.#reservation = null;
    this.#unread.push(this.#messagesOf(messages, blobs));
    if (this.#unread.length === 1) this.#read();
  }

  /** Handles a bounded number of messages at a time: a thousand runs that end together delay no other work. */
  #read(): void {
    for (let count = 0; count < READ_AT_ONCE && this.#readOne(); count++);
    if (this.#hasUnread()) setImmediate(() => this.#read());
    this.#flow();
  }

  #hasUnread(): boolean {
    return this.#unread.length > 0 && this.#garbage === null;
  }

  #reserve(bytes: number): void {
    const { throttle, deployment } = this.#options;
    if (throttle === undefined || this.#isUnthrottled) return;
    const reservation = throttle.reserve(deployment.ownerId, bytes);
    this.#reservation = reservation;
    const wait = (): void => {
      const ms = throttle.waitMs(reservation);
      this.#throttled = ms === 0 ? undefined : setTimeout(wait, Math.min(ms, THROTTLE_CHECK_MS));
      this.#flow();
    };
    wait();
  }

  /** Resumes or pauses reading from the pipe. */
  #flow(): void {
    if (this.#hasUnread() || this.#throttled !== undefined) this.#pipe?.pause();
    else this.#pipe?.resume();
  }

  /** Handles one message. Returns false when there is none. */
  #readOne(): boolean {
    const [first] = this.#unread;
    if (first === undefined || this.#garbage !== null) return false;
    try {
      if (first.next().done) this.#unread.shift();
    } catch (error) {
      this.#onGarbage(error);
    }
    return true;
  }

  /** Handles one message with each step of the generator. */
  *#messagesOf(messages: readonly unknown[], blobs: Buffer): Generator<void> {
    let at = 0;
    const take = (bytes: unknown): Buffer => {
      if (!Number.isSafeInteger(bytes) || (bytes as number) < 0 || at + (bytes as number) > blobs.length) {
        throw new RangeError('a message without its bytes');
      }
      at += bytes as number;
      return blobs.subarray(at - (bytes as number), at);
    };
    for (const message of messages) {
      if (typeof message !== 'object' || message === null || Array.isArray(message)) throw new TypeError('no message');
      this.#events.onMessage(message as Record<string, unknown>, take);
      yield;
    }
  }

  #write(frame: Buffer): void {
    if (this.#unsent !== null) this.#unsent.push(frame);
    else (this.#started?.process.stdio?.[3] as Socket | undefined)?.write(frame);
  }

  #open(init: InitMessage): void {
    const unsent = this.#unsent ?? [];
    this.#unsent = null;
    for (const frame of [encodeFrame([init], []), ...unsent]) this.#write(frame);
  }

  #onClose(code: number | null, signal: string | null): void {
    while (this.#readOne()); // what the process sent last
    const own = this.#garbage === null && !this.#isCut ? 'exit' : 'garbage';
    const { isOutOfMemory = false, ...ending } = this.#started?.ending({ code, signal }) ?? { code, signal };
    const kind = this.#isOverMemory || isOutOfMemory ? 'memory' : own;
    this.#die({ kind, ...ending, detail: this.#garbage ?? this.#stderr?.text ?? '' });
  }

  /** Reports that the process could not be started. */
  #fail(error: unknown): void {
    this.kill();
    this.#die({
      kind: 'start',
      code: null,
      signal: null,
      detail: error instanceof Error ? error.message : String(error),
    });
  }

  #die(death: Death): void {
    if (this.#dead) return;
    this.#dead = true;
    clearTimeout(this.#cutting);
    clearTimeout(this.#throttled);
    this.#prepared?.close();
    this.#events.onDeath(death, this.#dir === null ? Promise.resolve() : this.#options.workdirs.remove(this.#dir));
  }
}
