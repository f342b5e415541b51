// The last words of a process: what its stderr ended with. Code may write there without end, and reading is the server's
// work, so it is read at a bounded rate: the pipe is full then, and writing is what waits.

import type { Readable } from 'node:stream';

/** What Node says of a full heap is followed by a native stack of a few kilobytes. */
const KEPT_BYTES = 16 * 1024;
/** More than this, and the stream rests for a moment: some 100 MB/s at most. */
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

  /** The process writes no more: what is left in the pipe is little, and is read at once. */
  end(): void {
    this.#isEnded = true;
    this.#resume();
  }

  #add(chunk: Buffer): void {
    const last = chunk.subarray(-KEPT_BYTES);
    // A copy: a part of a chunk would keep all of it.
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
