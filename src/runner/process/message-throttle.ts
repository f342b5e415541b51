// When a large message of a process of code is read. Each takes the server's thread for long at a stretch: 5 MB that a run
// emits are 30 to 50 ms to read, check and store, in which nobody else is served. So while several owners have something to do,
// large messages of one owner are read one behind the other, at a bounded rate. The rest of a message that waits for its turn is
// in the pipe, which is full, and in the process.
//
// Only large ones: many small messages are as much work, but others are served in between. One owner alone is not bounded.

/** A message of more bytes is a large one. */
export const LARGE_BYTES = 256 * 1024;
/** Of one owner's large messages, beside other owners. */
const BYTES_PER_SECOND = 2 * 1024 * 1024;
/** An owner has something to do that has begun or ended a run so lately. */
const ACTIVE_MS = 10_000;
/** When the next message of an owner would wait longer, its runs begin later: what they end with would be out of time. */
const BEHIND_MS = 1000;
const SECOND_MS = 1000;

/** Of one message. */
export interface Reservation {
  readonly ownerId: string;
  readonly tookMs: number;
  readonly atMs: number;
}

interface MessageThrottleOptions {
  /** Of a clock that is never set back. */
  readonly nowMs: () => number;
  readonly bytesPerSecond?: number | undefined;
}

interface Active {
  readonly ownerId: string;
  readonly atMs: number;
}

export class MessageThrottle {
  readonly #nowMs: () => number;
  readonly #bytesPerSecond: number;
  /** By owner: when the next turn is. */
  readonly #nextAtMs = new Map<string, number>();
  /** The owner that was active last, and the last one that was not the same. */
  #last: Active | null = null;
  #otherLast: Active | null = null;
  #isClosed = false;

  constructor({ nowMs, bytesPerSecond = BYTES_PER_SECOND }: MessageThrottleOptions) {
    this.#nowMs = nowMs;
    this.#bytesPerSecond = bytesPerSecond;
  }

  /** A run of the owner begins or ends. */
  active(ownerId: string): void {
    if (this.#last?.ownerId !== ownerId) this.#otherLast = this.#last;
    this.#last = { ownerId, atMs: this.#nowMs() };
  }

  /** A large message has begun to arrive. */
  reserve(ownerId: string, bytes: number): Reservation {
    const atMs = Math.max(this.#nowMs(), this.#nextAtMs.get(ownerId) ?? 0);
    const tookMs = (bytes / this.#bytesPerSecond) * SECOND_MS;
    this.#nextAtMs.set(ownerId, atMs + tookMs);
    return { ownerId, tookMs, atMs };
  }

  /** For how long the message is still to wait; 0: its turn has come. */
  waitMs({ ownerId, atMs }: Reservation): number {
    if (this.hasOtherOwners(ownerId)) return Math.max(0, atMs - this.#nowMs());
    this.#nextAtMs.delete(ownerId);
    return 0;
  }

  /** Whether so much of the owner's waits that no run of it should begin. */
  isBehind(ownerId: string): boolean {
    const nextAtMs = this.#nextAtMs.get(ownerId);
    return nextAtMs !== undefined && nextAtMs - this.#nowMs() > BEHIND_MS && this.hasOtherOwners(ownerId);
  }

  /** Its turn is not waited for any more. */
  release({ ownerId, tookMs }: Reservation): void {
    const nextAtMs = this.#nextAtMs.get(ownerId);
    if (nextAtMs !== undefined) this.#nextAtMs.set(ownerId, nextAtMs - tookMs);
  }

  /** From now on no message waits. */
  close(): void {
    this.#isClosed = true;
  }

  /** Whether another owner has something to do. */
  hasOtherOwners(ownerId: string): boolean {
    const other = this.#last?.ownerId === ownerId ? this.#otherLast : this.#last;
    return !this.#isClosed && other !== null && this.#nowMs() - other.atMs < ACTIVE_MS;
  }
}
