// The lines that a run printed, up to a limit; lines beyond it are only counted.

import { LIMITS } from '../../domain/limits.ts';
import type { LogTuple } from './protocol.ts';
import { cutBytes } from './text.ts';

const nowMs = Date.now;

/** The cost of a line: otherwise a million empty lines would be free here and a second's work for the server. */
const LINE_BYTES = LIMITS.logLineBytes;

export class RunLog {
  #lines: LogTuple[] | undefined;
  bytesDropped = 0;
  /** The bytes of the kept lines, with the cost of each. */
  bytesKept = 0;
  /** The same of the lines since the last `take`. */
  bytesWaiting = 0;
  #left: number;

  constructor(maxBytes: number) {
    this.#left = maxBytes;
  }

  add(level: string, namespace: string, text: string): void {
    const bytes = Buffer.byteLength(text);
    const room = this.#left - LINE_BYTES;
    if (room < 0 || (room === 0 && bytes > 0)) {
      this.bytesDropped += bytes + 1; // with its line end, so that empty lines count
      return;
    }
    const kept = bytes <= room ? text.toWellFormed() : cutBytes(text, room);
    const keptBytes = bytes <= room ? bytes : Buffer.byteLength(kept);
    this.#left -= LINE_BYTES + keptBytes;
    this.bytesKept += LINE_BYTES + keptBytes;
    this.bytesWaiting += LINE_BYTES + keptBytes;
    this.bytesDropped += bytes - keptBytes;
    this.#lines ??= [];
    this.#lines.push([nowMs(), level, namespace, kept]);
  }

  /** Returns the lines since the last call; undefined when there are none. */
  take(): LogTuple[] | undefined {
    const lines = this.#lines;
    this.#lines = undefined;
    this.bytesWaiting = 0;
    return lines;
  }
}
