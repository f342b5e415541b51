// Keeps the end of a process's stderr. Code may write there endlessly, and reading costs the server, so it is read at a
// bounded rate: then the pipe is full, and the process waits.

import type { Readable } from 'node:stream';

/** Node's message about a full heap is followed by a native stack of a few kilobytes. */
const KEPT_BYTES = 16 * 1024;
/** After so many bytes the stream is paused for a moment: some 100 MB/s at most. */
const READ_AT_ONCE_BYTES = 1024 * 1024;
const REST_MS = 10;

export class StderrTail {
  readonly #stream: Readable;
  #kept: Buffer = Buffer.alloc(0);
  #readBytes = 0;
  #resting: NodeJS.Timeout | undefined;
  #isEnded = false;

  constructor(stream: Readable) {
    this.#stream = stream;
    stream.on('data', (chunk: Buffer) => this.#add(chunk));
    stream.on('close', () => clearTimeout(this.#resting));
  }

  get text(): string {
    return this.#kept.toString('utf8');
  }

  /** Reads the rest at once: the process has ended, and little is left in the pipe. */
  end(): void {
    this.#isEnded = true;
    this.#resume();
  }

  #add(chunk: Buffer): void {
    const last = chunk.subarray(-KEPT_BYTES);
    // A copy: a part of a chunk would keep the whole chunk in memory.
    this.#kept = Buffer.concat([this.#kept.subarray(Math.max(0, this.#kept.length + last.length - KEPT_BYTES)), last]);
    this.#readBytes += chunk.length;
    if (this.#isEnded || this.#readBytes < READ_AT_ONCE_BYTES) return;
    this.#stream.pause();
    this.#resting ??= setTimeout(() => this.#resume(), REST_MS);
  }

  #resume(): void {
    clearTimeout(this.#resting);
    this.#resting = undefined;
    this.#readBytes = 0;
    this.#stream.resume();
  }
}
