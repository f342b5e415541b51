// The readers of one channel. Most are at its head: what comes is read once, made into frames once, and given to all of
// them. A reader that is full, or has to catch up, reads for itself (reader.ts) until it is at the head again.

import type { StreamChannel } from '../../domain/stream.ts';

/** Reads the next frames behind an entry, up to another; null: there is nothing more up to there. */
export type ReadFrames = (
  channel: StreamChannel,
  stretch: { after: number; upTo: number },
) => Promise<{ readonly bytes: Uint8Array; readonly last: number } | null>;

/** A reader as its group sees it (reader.ts). */
export interface Member {
  /** The entry that it was given last. */
  cursor: number;
  take(bytes: Uint8Array): void;
  flow(): void;
}

export class Group {
  readonly channel: StreamChannel;
  readonly members = new Set<Member>();
  readonly read: ReadFrames;
  readonly #live = new Set<Member>();
  /** Readers whose last entry we have not come to yet. */
  readonly #ahead = new Set<Member>();
  #head: number;
  #target: number;
  #advancing: Promise<void> | undefined;

  constructor(channel: StreamChannel, head: number, read: ReadFrames) {
    this.channel = channel;
    this.read = read;
    this.#head = head;
    this.#target = head;
  }

  /** Returns the entry up to which live readers were given all. */
  get head(): number {
    return this.#head;
  }

  /** Returns whether there is more than was given, since a read has failed. */
  get isBehind(): boolean {
    return this.#head < this.#target;
  }

  /** Moves live readers past entries of which none are theirs. */
  skipTo(upTo: number): void {
    if (this.isBehind || upTo <= this.#head) return;
    this.#target = upTo;
    this.#moveTo(upTo);
  }

  /** Gives live readers what the channel has up to there. */
  advance(upTo: number): Promise<void> {
    this.#target = Math.max(this.#target, upTo);
    this.#advancing ??= this.#advance().finally(() => {
      this.#advancing = undefined;
    });
    return this.#advancing;
  }

  /** Adds a reader that is at the head: it is given what comes. */
  join(reader: Member): void {
    if (reader.cursor > this.#head) this.#ahead.add(reader);
    else this.#live.add(reader);
  }

  /** Removes a reader, which is given nothing more until it joins again. */
  leave(reader: Member): void {
    this.#ahead.delete(reader);
    if (this.#live.delete(reader)) reader.cursor = this.#head;
  }

  async #advance(): Promise<void> {
    while (this.isBehind) {
      const upTo = this.#target;
      if (this.#live.size === 0) this.#moveTo(upTo);
      else {
        const frames = await this.read(this.channel, { after: this.#head, upTo });
        // Those that come to the head with this move have what is up to there.
        const live = [...this.#live];
        this.#moveTo(frames?.last ?? upTo);
        if (frames) for (const reader of live) if (this.#live.has(reader)) reader.take(frames.bytes);
      }
    }
  }

  #moveTo(entry: number): void {
    this.#head = entry;
    for (const reader of [...this.#ahead]) {
      this.#ahead.delete(reader);
      reader.flow();
    }
  }
}
