// The server's end of one process that bundles (main.ts): sends requests, and ends the process when one request takes
// too long or all of them take too much memory. Keeps the end of its standard error for the log line about its end.

import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { encodeFrame, FrameReader } from '../child/frames.ts';
import type { Cgroup } from '../isolation/cgroups.ts';
import { innerOf, REPORT } from '../isolation/jail.ts';
import { MEMORY_SAMPLE_MS, usedMemoryMb } from '../pool/memory.ts';
import { afterAnswerTime } from '../process/answer-time.ts';
import type { BundleRequest, BundleRequestMessage, BundleResponse, BundleResponseMessage } from './protocol.ts';
import { CANNOT_READ } from './protocol.ts';

const START_MS = 20_000;
const STDERR_KEPT_CHARS = 4096;
/** A bundle with its map, and the list of its files. */
const MAX_FRAME_BYTES = 128 * 1024 * 1024;

export interface BundlerDeath {
  /**
   * `late`: a bundle took too long. `memory`: the process took too much memory. `closed`: its user may not read what it
   * needs. `killed`: the server ended it.
   */
  readonly kind: 'exit' | 'start' | 'late' | 'memory' | 'closed' | 'garbage' | 'killed';
  readonly code: number | null;
  readonly signal: string | null;
  readonly detail: string;
  /** The id of the request that took too long. */
  readonly lateId: number | null;
}

export interface BundlerLimits {
  readonly bundleMs: number;
  readonly bundlerMemoryMb: number;
}

interface ProcessLimits extends BundlerLimits {
  /** The cgroup for the process and the bundler; null: there are no such limits. */
  readonly group: Cgroup | null;
}

interface ProcessEvents {
  readonly onReady: () => void;
  readonly onAnswer: (id: number, answer: BundleResponse) => void;
  /** Called once, when the process is gone. */
  readonly onDeath: (death: BundlerDeath) => void;
}

export class BundlerProcess {
  readonly #child: ChildProcess;
  readonly #limits: ProcessLimits;
  readonly #events: ProcessEvents;
  readonly #pipe: Socket;
  /** What ends the wait for an answer, by request. */
  readonly #late = new Map<number, () => void>();
  readonly #endStart: () => void;
  #looking: NodeJS.Timeout | undefined;
  #stderr = '';
  #kind: BundlerDeath['kind'] = 'exit';
  #lateId: number | null = null;
  #isDead = false;

  constructor(child: ChildProcess, limits: ProcessLimits, events: ProcessEvents) {
    this.#child = child;
    this.#limits = limits;
    this.#events = events;
    this.#pipe = child.stdio[3] as Socket;
    for (const stream of child.stdio) stream?.on('error', () => {});
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-STDERR_KEPT_CHARS);
    });
    const reader = new FrameReader(MAX_FRAME_BYTES, (messages, blobs) => this.#receive(messages, blobs));
    this.#pipe?.on('data', (chunk: Buffer) => {
      if (this.#kind !== 'exit') return;
      try {
        reader.push(chunk);
      } catch (error) {
        this.#stderr = String(error);
        this.#end('garbage');
      }
    });
    this.#endStart = afterAnswerTime({ graceMs: START_MS, pid: () => child.pid }, () => this.#end('start'));
    child.on('error', (error) => this.#onDeath(null, null, error));
    child.on('close', (code, signal) => this.#onDeath(code, signal));
    this.#confine(child.pid);
    this.#readReport(child.stdio[REPORT] as Readable | null | undefined);
    // The process ends with the server by itself.
    child.unref();
    for (const stream of child.stdio) (stream as Socket | null)?.unref?.();
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  send(id: number, request: BundleRequest): void {
    this.#pipe.write(encodeFrame([{ id, request } satisfies BundleRequestMessage], []));
    // The process sleeps while esbuild, a process of its own, works: all time counts but that of a server that stands still.
    const time = { graceMs: this.#limits.bundleMs, pid: () => undefined };
    const stopWaiting = afterAnswerTime(time, () => {
      this.#lateId = id;
      this.#end('late');
    });
    this.#late.set(id, stopWaiting);
    this.#looking ??= setInterval(() => this.#sampleMemory(), MEMORY_SAMPLE_MS);
  }

  kill(): void {
    this.#end('killed');
  }

  #receive(messages: unknown, blobs: Buffer): void {
    for (const { id, answer, bytes } of messages as BundleResponseMessage[]) {
      if (id === 0) {
        this.#endStart();
        this.#events.onReady();
        continue;
      }
      this.#late.get(id)?.();
      if (!this.#late.delete(id)) throw new Error('an answer to nothing');
      if (this.#late.size === 0) this.#lookNoMore();
      const [bundle = 0, map = 0] = bytes ?? [];
      const texts = {
        bundle: blobs.toString('utf8', 0, bundle),
        sourceMap: blobs.toString('utf8', bundle, bundle + map),
      };
      this.#events.onAnswer(id, { ...answer, ...(bytes ? texts : {}) } as BundleResponse);
    }
  }

  /** Adds the process to its cgroup; ends it where that fails: a process never runs without its limits. */
  #confine(pid: number | undefined): void {
    if (pid === undefined) return;
    try {
      this.#limits.group?.add(pid);
    } catch (error) {
      this.#stderr = String(error);
      this.#end('start');
    }
  }

  /** Reads bwrap's report: bwrap may have started the process before it was in the group itself. */
  #readReport(report: Readable | null | undefined): void {
    let said = '';
    report?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    report?.on('end', () => this.#confine(innerOf(said)));
  }

  #sampleMemory(): void {
    if (this.pid === undefined) return;
    const usedMb = treeOf(this.pid).reduce((sum, pid) => sum + (usedMemoryMb(pid) ?? 0), 0);
    if (usedMb > this.#limits.bundlerMemoryMb) this.#end('memory');
  }

  #lookNoMore(): void {
    clearInterval(this.#looking);
    this.#looking = undefined;
  }

  #end(kind: BundlerDeath['kind']): void {
    if (this.#isDead || this.#kind !== 'exit') return;
    this.#kind = kind;
    if (this.pid === undefined) return;
    // Inside a jail the process is in no group of the server's, and ends with its parent.
    for (const pid of [-this.pid, this.pid]) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // it ended by itself
      }
    }
  }

  #onDeath(code: number | null, signal: string | null, error?: Error): void {
    if (this.#isDead) return;
    this.#isDead = true;
    this.#endStart();
    this.#lookNoMore();
    for (const stopWaiting of this.#late.values()) stopWaiting();
    const { group } = this.#limits;
    const own = group?.isOutOfMemory() ? 'memory' : this.#kind;
    group?.remove();
    const closed = code === CANNOT_READ ? 'closed' : own;
    const kind = error ? 'start' : closed;
    const detail = (error?.message ?? this.#stderr).trim();
    this.#events.onDeath({ kind, code, signal, detail, lateId: this.#lateId });
  }
}

/** Returns the process and its descendants; the bundler is one of them. */
function treeOf(pid: number): number[] {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').trim();
    return [pid, ...(children === '' ? [] : children.split(' ').flatMap((child) => treeOf(Number(child))))];
  } catch {
    return [pid];
  }
}
