// One reader of a channel. It has no buffer but its socket's: what it has not taken it reads again from the store, at its
// own pace, from the entry that it was given last.

import type { OpenStream, StreamSink } from '../../domain/stream.ts';
import type { Group } from './group.ts';

/** Quiet rounds that a full reader may take nothing, and after which each reader is asked whether it may go on. */
const ROUNDS = 4;

export interface ReaderOptions {
  readonly group: Group;
  /** The entry that it was given last. */
  readonly cursor: number;
  /** What it is sent first. */
  readonly hello: Uint8Array;
  readonly isAllowed: () => Promise<boolean>;
  readonly onClose: () => void;
  /** It was full for too long. */
  readonly onCut: () => void;
}

export class Reader implements OpenStream {
  cursor: number;
  readonly #options: ReaderOptions;
  #sink: StreamSink | undefined;
  #isFull = false;
  #isFlowing = false;
  #isClosed = false;
  #rounds = 0;
  #unasked = 0;
  #bufferedBytes = 0;

  constructor(options: ReaderOptions) {
    this.#options = options;
    this.cursor = options.cursor;
    options.group.members.add(this);
  }

  begin(sink: StreamSink): void {
    this.#begin(sink).catch(() => {
      this.close();
      sink.end();
    });
  }

  /** Asks once more: since the request was let in, its key may have been revoked, and of the wake-up only readers hear. */
  async #begin(sink: StreamSink): Promise<void> {
    if (this.#isClosed || !(await this.#options.isAllowed())) this.close();
    if (this.#isClosed) {
      sink.end();
      return;
    }
    this.#sink = sink;
    this.#write(this.#options.hello);
    this.flow();
  }

  resume(): void {
    this.#isFull = false;
    this.#rounds = 0;
    this.flow();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const { group, onClose } = this.#options;
    group.leave(this);
    group.members.delete(this);
    onClose();
  }

  /** Ends the stream: this process stops, or the reader may not go on. */
  end(): void {
    this.close();
    this.#sink?.end();
  }

  /** Sends what all readers at the head are given. */
  take(bytes: Uint8Array): void {
    this.#write(bytes);
  }

  /** Sends a comment as a sign of life, also when something was sent since the last one. */
  async quiet(comment: Uint8Array): Promise<void> {
    if (!this.#sink || this.#isClosed) return;
    this.#rounds++;
    // Counted by itself: a reader that is full now and then is asked like all others.
    if (++this.#unasked >= ROUNDS) {
      this.#unasked = 0;
      if (!(await this.#options.isAllowed())) return this.#refuse(this.#sink);
    }
    if (this.#isFull) return this.#judgeFull(this.#sink);
    if (!this.#isFull && !this.#isClosed) this.#write(comment);
  }

  /** Ends the stream if its reader may not go on. */
  async judge(): Promise<void> {
    if (this.#isClosed || (await this.#options.isAllowed()) || this.#isClosed) return;
    if (this.#sink) this.#refuse(this.#sink);
    else this.close();
  }

  /** Ends a sink. A full one is cut off, since it might never take what is left. */
  #refuse(sink: StreamSink): void {
    if (this.#isFull) {
      this.close();
      sink.cut();
    } else this.end();
  }

  #judgeFull(sink: StreamSink): void {
    const bufferedBytes = sink.bufferedBytes();
    if (bufferedBytes < this.#bufferedBytes) this.#rounds = 0;
    this.#bufferedBytes = bufferedBytes;
    if (this.#rounds < ROUNDS) return;
    this.close();
    this.#options.onCut();
    sink.cut();
  }

  #write(bytes: Uint8Array): void {
    const sink = this.#sink as StreamSink;
    // Of what was read, a filter may have left nothing.
    if (bytes.byteLength === 0) return;
    if (sink.write(bytes) || this.#isClosed) return;
    this.#isFull = true;
    this.#rounds = 0;
    this.#bufferedBytes = sink.bufferedBytes();
    this.#options.group.leave(this);
  }

  /** Catches up with the group, as far as the sink takes it. */
  flow(): void {
    if (this.#isFlowing || !this.#sink) return;
    this.#isFlowing = true;
    this.#catchUp().then(
      () => undefined,
      // Storage is away: the reader comes again, and goes on where it was.
      () => this.end(),
    );
  }

  async #catchUp(): Promise<void> {
    const { group } = this.#options;
    try {
      while (!this.#isFull && !this.#isClosed && this.cursor < group.head) {
        const upTo = group.head;
        const frames = await group.read(group.channel, { after: this.cursor, upTo });
        if (this.#isClosed) return;
        this.cursor = frames?.last ?? upTo;
        if (frames) this.#write(frames.bytes);
      }
    } finally {
      // Before it joins: from then on it may be asked to flow again.
      this.#isFlowing = false;
    }
    if (!this.#isFull && !this.#isClosed) group.join(this);
  }
}
