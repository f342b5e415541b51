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
  /** Returns a time that is never behind. What is to be due no earlier than in some time counts from here. */
  latestMs(): number;
}

/** Randomness. Promise: cryptographically strong. */
export interface Random {
  bytes(count: number): Uint8Array;
  /** Returns a number that is uniform in [0, 1). Used for jitter only. */
  fraction(): number;
}

/** Identifiers. Promise: never the same twice; ids of one prefix sort by the time they were made (`COLLATE BINARY`). */
export interface Ids {
  next(prefix: string): string;
  /** Returns at least 128 random bits, url-safe: endpoint keys, API keys. */
  secret(): string;
}

/** Called with how far long work of a command is. `share`: from 0 to 1; null: not known. */
export type TellProgress = (text: string, share: number | null) => void;

/** One wide, named line per fact. Promise: never throws, never blocks; callers put no secret in `fields`. */
export interface Log {
  debug(fields: object, name: string): void;
  info(fields: object, name: string): void;
  warn(fields: object, name: string): void;
  error(fields: object, name: string): void;
}

/** What has changed, so that there may be work. */
export type WakeTopic =
  /** Runs are queued, or more of them may begin. */
  | 'runs'
  /** Deliveries are due. */
  | 'deliveries'
  /** A schedule was made or changed, or a wait has a time at which it ends. */
  | 'schedules'
  /** A run that a caller here waits for has answered or ended elsewhere. */
  | 'answers'
  /** Something that lists show was emitted, here or elsewhere. */
  | 'emissions'
  /** A key was revoked, or its sessions were ended. */
  | 'keys'
  /** A counter is not what its rows say. */
  | 'counters'
  /** An operation was made or resumed, or its webhook was changed. */
  | 'operations'
  /** A delivery that was sent again has come to an end, or to its next retry. */
  | 'resends'
  /** A replay has come to an end. */
  | 'replays'
  /** Records of data stores are to be deleted. */
  | 'deletions'
  /** Work of nodes that are gone was taken over; they may have had more under way than runs and deliveries. */
  | 'takeovers'
  /** A change of a source may have been left unfinished. */
  | 'sourceChanges';

/**
 * A hint that there may be work, now or `inMs` from now. Promise: cheap, may be called at any rate, may be lost; the poll is
 * the truth.
 */
export interface Wake {
  notify(topic: WakeTopic, inMs?: number): void;
}

/** A part of a trace that has ended. Attributes contain no event, no secret and no address of a webhook beyond its host. */
export interface Span {
  readonly name: string;
  readonly kind: 'server' | 'consumer' | 'producer' | 'client' | 'internal';
  /** 32 and 16 hexadecimal digits. */
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | null;
  /** Epoch milliseconds, with fractions. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
  /** Null: the span did not fail. */
  readonly exception: { readonly type: string; readonly message: string; readonly stack: string } | null;
  /** A span of another trace that has to do with it. */
  readonly link: { readonly traceId: string; readonly spanId: string } | null;
}

/** What became of spans since the start. */
export interface SpanCounts {
  readonly exported: number;
  /** Given up, after some tries. */
  readonly failed: number;
  /** The queue was full. */
  readonly dropped: number;
}

/** Where spans go. Promise: never throws, never blocks, and keeps a bounded number. */
export interface SpanSink {
  /** Returns whether a trace that begins here is recorded: the same answer for the same trace, at every node. */
  isSampled(traceId: string): boolean;
  add(span: Span): void;
  readonly counts: SpanCounts;
  /** Sends what is queued, for a limited time. May be called twice. */
  stop(): Promise<void>;
}
