// Decides when a large message of a process is read. Each occupies the server's thread for long: 5 MB that a run emits
// take 30 to 50 ms to read, check and store, while no other work is done. So while several owners are active, large
// messages of one owner are read one after the other, at a bounded rate. The rest of a message that waits stays in the
// pipe, which is full, and in the process.
//
// Only large messages are throttled: many small ones are as much work, but other work is done in between. An owner that
// is active alone is not bounded.

/** Messages with more bytes are large. */
export const LARGE_BYTES = 256 * 1024;
/** For one owner's large messages, while other owners are active. */
const BYTES_PER_SECOND = 2 * 1024 * 1024;
/** An owner is active that has begun or ended a run so recently. */
const ACTIVE_MS = 10_000;
/**
 * When an owner's next message would wait longer, its runs begin later: their results would come after their timeouts.
 */
const BEHIND_MS = 1000;
const SECOND_MS = 1000;

/** The time at which one message may be read. */
export interface Reservation {
  readonly ownerId: string;
  readonly tookMs: number;
  readonly atMs: number;
}

interface MessageThrottleOptions {
  /** Of a monotonic clock. */
  readonly nowMs: () => number;
  readonly bytesPerSecond?: number | undefined;
}

interface ActiveOwner {
  readonly ownerId: string;
  readonly atMs: number;
}

export class MessageThrottle {
  readonly #nowMs: () => number;
  readonly #bytesPerSecond: number;
  /** By owner: when the next message may be read. */
  readonly #nextAtMs = new Map<string, number>();
  /** The owner that was active last, and the last one before that was another. */
  #last: ActiveOwner | null = null;
  #otherLast: ActiveOwner | null = null;
  #isClosed = false;

  constructor({ nowMs, bytesPerSecond = BYTES_PER_SECOND }: MessageThrottleOptions) {
    this.#nowMs = nowMs;
    this.#bytesPerSecond = bytesPerSecond;
  }

  /** Notes that a run of the owner begins or ends. */
  active(ownerId: string): void {
    if (this.#last?.ownerId !== ownerId) this.#otherLast = this.#last;
    this.#last = { ownerId, atMs: this.#nowMs() };
  }

  /** Reserves the time for a large message that has begun to arrive. */
  reserve(ownerId: string, bytes: number): Reservation {
    const atMs = Math.max(this.#nowMs(), this.#nextAtMs.get(ownerId) ?? 0);
    const tookMs = (bytes / this.#bytesPerSecond) * SECOND_MS;
    this.#nextAtMs.set(ownerId, atMs + tookMs);
    return { ownerId, tookMs, atMs };
  }

  /** Returns how long the message must still wait; 0: it may be read. */
  waitMs({ ownerId, atMs }: Reservation): number {
    if (this.hasOtherOwners(ownerId)) return Math.max(0, atMs - this.#nowMs());
    this.#nextAtMs.delete(ownerId);
    return 0;
  }

  /** Returns whether so many bytes of the owner wait that none of its runs should begin. */
  isBehind(ownerId: string): boolean {
    const nextAtMs = this.#nextAtMs.get(ownerId);
    return nextAtMs !== undefined && nextAtMs - this.#nowMs() > BEHIND_MS && this.hasOtherOwners(ownerId);
  }

  /** Releases a reservation whose message does not wait any more. */
  release({ ownerId, tookMs }: Reservation): void {
    const nextAtMs = this.#nextAtMs.get(ownerId);
    if (nextAtMs !== undefined) this.#nextAtMs.set(ownerId, nextAtMs - tookMs);
  }

  /** Ends the throttling. */
  close(): void {
    this.#isClosed = true;
  }

  /** Returns whether another owner is active. */
  hasOtherOwners(ownerId: string): boolean {
    const other = this.#last?.ownerId === ownerId ? this.#otherLast : this.#last;
    return !this.#isClosed && other !== null && this.#nowMs() - other.atMs < ACTIVE_MS;
  }
}
