// A stream: what one emitter emits, sent to one reader as it comes. What HTTP and the engine say to each other of it.

import { NUMBERS_PER_MS } from './ids.ts';

export interface StreamChannel {
  readonly ownerId: string;
  readonly emitterId: string;
  /** As a subscription has it. */
  readonly name: string;
}

export interface StreamAsked {
  readonly channel: StreamChannel;
  /** The entry behind which it goes on; null: from now on. */
  readonly after: number | null;
  /** Asked now and then: whether the reader may go on. */
  readonly isAllowed: () => Promise<boolean>;
}

/** The reader's side. */
export interface StreamSink {
  /** False: it is full, and takes more when it has called `resume`. What was given is taken in any case. */
  write(bytes: Uint8Array): boolean;
  /** Bytes that it was given and that have not left yet. */
  held(): number;
  /** No more comes. */
  end(): void;
  /** No more comes, and what it holds is thrown away. */
  cut(): void;
}

export interface OpenStream {
  /** From now on it writes. */
  begin(sink: StreamSink): void;
  /** The sink takes more. */
  resume(): void;
  /** The reader is gone. May be called twice, and before it began. */
  close(): void;
}

/** An id that a reader was given may lie a little beyond the end that another process sees; one further ahead is none of ours. */
export const AHEAD = 10_000 * NUMBERS_PER_MS;
