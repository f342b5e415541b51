// What the parts need from the outside world, as small interfaces. Built in main.ts, replaced in tests.

/** Wall-clock time. Promise: milliseconds since the Unix epoch, an integer; it may jump, so durations are not measured with it. */
export interface Clock {
  nowMs(): number;
}

/**
 * The store's clock, by which all nodes that share it go. A node knows it only between two times when it is another
 * machine's. Promise: never ahead of it is `nowMs`, never behind it `latestMs`.
 */
export interface StoreClock extends Clock {
  /** What is to be due no earlier than in some time counts from here. */
  latestMs(): number;
}

/** Randomness. Promise: cryptographically strong. */
export interface Random {
  bytes(count: number): Uint8Array;
  /** Uniform in [0, 1). Used for jitter only. */
  fraction(): number;
}

/** Identifiers. Promise: never the same twice; ids of one prefix sort by the time they were made (`COLLATE BINARY`). */
export interface Ids {
  next(prefix: string): string;
  /** At least 128 random bits, url-safe: endpoint keys, API keys. */
  secret(): string;
}

/** One wide, named line per fact. Promise: never throws, never blocks; callers put no secret in `fields`. */
export interface Log {
  debug(fields: object, name: string): void;
  info(fields: object, name: string): void;
  warn(fields: object, name: string): void;
  error(fields: object, name: string): void;
}

/** A hint that there may be work. Promise: cheap, may be called at any rate, may be lost; the poll is the truth. */
export interface Wake {
  runs(): void;
  deliveries(): void;
  schedules(): void;
  /** A run that a caller here waits for has answered or ended elsewhere. */
  answers(): void;
  /** Something that lists show was emitted, here or elsewhere. */
  emissions(): void;
  /** A counter is not what its rows say. */
  counters(): void;
}
