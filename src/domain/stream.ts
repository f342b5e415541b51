// A stream: what one emitter emits, or all errors of an owner, sent to one reader as it is emitted. The interface between HTTP
// and the engine.

import type { ErrorFilter } from './error-filter.ts';
import { NUMBERS_PER_MS } from './ids.ts';

export interface StreamChannel {
  readonly ownerId: string;
  /** The owner's own id: all of the owner's emitters, on the channel `$errors`. `*`, `p_*`, `dc_*`: all, or all of that kind. */
  readonly emitterId: string;
  /** The channel, as in a subscription. */
  readonly name: string;
  /** On the channel `$errors`: which ones are sent. */
  readonly filter?: ErrorFilter;
}

export interface StreamAsked {
  readonly channel: StreamChannel;
  /** The entry behind which the stream begins; null: now. */
  readonly after: number | null;
  /** Called now and then: whether the reader's access is still valid. */
  readonly isAllowed: () => Promise<boolean>;
}

/** The reader's side. */
export interface StreamSink {
  /** Takes the bytes in any case. Returns false when the sink is full; it calls `resume` when it takes more. */
  write(bytes: Uint8Array): boolean;
  /** Returns the bytes that were written and not sent yet. */
  bufferedBytes(): number;
  /** Ends the stream after the written bytes. */
  end(): void;
  /** Ends the stream, and discards the written bytes. */
  cut(): void;
}

export interface OpenStream {
  /** Begins to write. */
  begin(sink: StreamSink): void;
  /** Resumes after a full sink takes more. */
  resume(): void;
  /** Called when the reader is gone. May be called twice, and before `begin`. */
  close(): void;
}

/** How far an id given to a reader may lie beyond the end that another process sees; ids further ahead are not of this store. */
export const AHEAD = 10_000 * NUMBERS_PER_MS;
