// Measures how long this process stood still: paused by its host, or without the CPU. What arrived meanwhile is unread, and
// Node judges slow callers before it reads: it would refuse with 408 what the server itself was late to read.

const TURN_MS = 500;
/** Less is the delay of a busy event loop. */
const MIN_PAUSE_MS = 1000;

interface Pause {
  readonly endedAtMs: number;
  readonly ms: number;
}

export class Pauses {
  readonly #keptMs: number;
  readonly #nowMs: () => number;
  #turnAtMs: number;
  #pauses: Pause[] = [];
  #timer: NodeJS.Timeout | undefined;

  /** `keptMs`: the longest time that is asked for. */
  constructor(keptMs: number, nowMs: () => number = () => performance.now()) {
    this.#keptMs = keptMs;
    this.#nowMs = nowMs;
    this.#turnAtMs = nowMs();
  }

  start(): void {
    this.#turnAtMs = this.#nowMs();
    this.#timer ??= setInterval(() => this.turn(), TURN_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Notes that the process goes on, and for how long it did not. */
  turn(): void {
    const nowMs = this.#nowMs();
    const ms = nowMs - this.#turnAtMs - TURN_MS;
    this.#turnAtMs = nowMs;
    if (ms < MIN_PAUSE_MS) return;
    this.#pauses = this.#pauses.filter(({ endedAtMs }) => endedAtMs > nowMs - this.#keptMs);
    this.#pauses.push({ endedAtMs: nowMs, ms });
  }

  /** Returns the length of all pauses that ended within the last `withinMs`: a caller whose time is longer was in none of the others. */
  lately(withinMs: number): number {
    // The timer that asks may fire before the one that counts.
    this.turn();
    const sinceMs = this.#turnAtMs - withinMs;
    return this.#pauses.reduce((sum, { endedAtMs, ms }) => (endedAtMs >= sinceMs ? sum + ms : sum), 0);
  }
}
