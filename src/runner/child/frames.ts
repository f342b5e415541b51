// Frames on the pipe between server and child, used at both ends: u32 length, u32 length of the JSON, JSON array, bytes.
//
// Measured against v8.serialize for batches of 32 run messages: JSON 800k messages/s there and back, v8 470k.

import { messageJson } from './message-json.ts';

// Kept before user code can replace it, as in message-json.ts.
const { parse } = JSON;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENERS = [0x5b, 0x7b];
const COMMA = 0x2c;
/**
 * Every value but the first follows a comma or an opening bracket: shorter JSON has at most half as many values as
 * bytes.
 */
const COUNTED_FROM_BYTES = 64 * 1024;
const HEADER_BYTES = 8;
const JSON_LENGTH_AT = 4;

/** Encodes one frame; the messages tell the receiver how long each blob is. */
export function encodeFrame(messages: readonly object[], blobs: readonly Uint8Array[]): Buffer {
  const json = messageJson(messages);
  const jsonBytes = Buffer.byteLength(json);
  let blobBytes = 0;
  for (const blob of blobs) blobBytes += blob.byteLength;
  const frame = Buffer.allocUnsafe(HEADER_BYTES + jsonBytes + blobBytes);
  frame.writeUInt32LE(jsonBytes + blobBytes, 0);
  frame.writeUInt32LE(jsonBytes, JSON_LENGTH_AT);
  frame.write(json, HEADER_BYTES, 'utf8');
  let at = HEADER_BYTES + jsonBytes;
  for (const blob of blobs) {
    frame.set(blob, at);
    at += blob.byteLength;
  }
  return frame;
}

/** Collects messages until `flush`; the owner decides when that is. */
export class FrameWriter {
  readonly #write: (frame: Buffer) => void;
  readonly #later: (flush: () => void) => void;
  readonly #completeAll: () => void;
  readonly #flush = (): void => this.flush();
  #messages: object[] = [];
  #blobs: Uint8Array[] = [];
  #weight = 0;

  /** `completeAll`: adds to the waiting messages what is only known when they are written. Must not throw. */
  constructor(
    write: (frame: Buffer) => void,
    later: (flush: () => void) => void,
    completeAll: () => void = () => undefined,
  ) {
    this.#write = write;
    this.#later = later;
    this.#completeAll = completeAll;
  }

  /** Adds a message. `weight`: its approximate size in bytes, where it may be large. */
  push(message: object, blobs: Uint8Array | readonly Uint8Array[] | null = null, weight = 0): void {
    if (this.#messages.length === 0) this.#later(this.#flush);
    this.#messages.push(message);
    this.#weight += weight;
    if (blobs !== null) for (const blob of isBlob(blobs) ? [blobs] : blobs) this.#keep(blob);
    // Several heavy messages in one frame would exceed the reader's bound, which each of them respects.
    if (this.#weight > 1024 * 1024) this.flush();
  }

  /** Puts another message, with the same blobs, in the place of one that is not written yet; false: it is written. */
  replace(message: object, other: object): boolean {
    for (let i = 0; i < this.#messages.length; i++) {
      if (this.#messages[i] !== message) continue;
      this.#messages[i] = other;
      return true;
    }
    return false;
  }

  #keep(blob: Uint8Array): void {
    this.#blobs.push(blob);
    this.#weight += blob.byteLength;
  }

  flush(): void {
    if (this.#messages.length === 0) return;
    this.#completeAll();
    const frame = encodeFrame(this.#messages, this.#blobs);
    this.#messages = [];
    this.#blobs = [];
    this.#weight = 0;
    this.#write(frame);
  }
}

export interface FrameBounds {
  readonly maxBytes: number;
  /** For its JSON. Both lengths are known, and checked, before any of the frame is kept. */
  readonly maxJsonBytes: number;
  /** For its JSON, counted before parsing: 36 MB of empty arrays would cost 5 s and 0.9 GB. */
  readonly maxValues: number;
}

/** Cuts a byte stream into frames. `push` throws on anything that is no frame or exceeds the bounds. */
export class FrameReader {
  readonly #bounds: FrameBounds;
  readonly #onFrame: (messages: unknown, blobs: Buffer) => void;
  // Chunks are joined once per frame, not once per chunk: a large frame arrives in hundreds of them.
  #parts: Buffer[] = [];
  #have = 0;
  #need = HEADER_BYTES;

  /** `bounds` as a number: the sender is trusted, and the number only tells garbage from frames. */
  constructor(bounds: number | FrameBounds, onFrame: (messages: unknown, blobs: Buffer) => void) {
    const trusted = { maxJsonBytes: Number.POSITIVE_INFINITY, maxValues: Number.POSITIVE_INFINITY };
    this.#bounds = typeof bounds === 'number' ? { maxBytes: bounds, ...trusted } : bounds;
    this.#onFrame = onFrame;
  }

  /** Returns the length of the frame that has begun to arrive; 0: there is none, or its length is not known yet. */
  get arriving(): number {
    return this.#need > HEADER_BYTES ? this.#need : 0;
  }

  push(chunk: Buffer): void {
    this.#parts.push(chunk);
    this.#have += chunk.length;
    if (this.#have < this.#need) return;
    const data = this.#parts.length === 1 ? chunk : Buffer.concat(this.#parts);
    let at = 0;
    this.#need = HEADER_BYTES;
    while (data.length - at >= HEADER_BYTES) {
      const length = data.readUInt32LE(at);
      this.#judge(length, data.readUInt32LE(at + JSON_LENGTH_AT));
      this.#need = HEADER_BYTES + length;
      if (data.length - at < this.#need) break;
      this.#deliver(data, at, length);
      at += this.#need;
      this.#need = HEADER_BYTES;
    }
    this.#parts = at < data.length ? [data.subarray(at)] : [];
    this.#have = data.length - at;
  }

  #judge(length: number, jsonBytes: number): void {
    const { maxBytes, maxJsonBytes } = this.#bounds;
    if (length > maxBytes) throw new RangeError(`a frame of ${length} bytes is over ${maxBytes}`);
    if (jsonBytes > maxJsonBytes)
      throw new RangeError(`a frame with ${jsonBytes} bytes of JSON is over ${maxJsonBytes}`);
    if (jsonBytes > length) throw new RangeError('a frame is shorter than its JSON');
  }

  #deliver(data: Buffer, at: number, length: number): void {
    const jsonBytes = data.readUInt32LE(at + JSON_LENGTH_AT);
    const start = at + HEADER_BYTES;
    if (jsonBytes > COUNTED_FROM_BYTES) checkValues(data.subarray(start, start + jsonBytes), this.#bounds.maxValues);
    const json: unknown = parse(data.toString('utf8', start, start + jsonBytes));
    this.#onFrame(json, data.subarray(start + jsonBytes, start + length));
  }
}

/** Throws when the JSON has more values. Invalid JSON is left to the parser. */
function checkValues(json: Buffer, max: number): void {
  if (max === Number.POSITIVE_INFINITY) return;
  let left = max;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (byte === QUOTE) {
      at++;
      while (at < json.length && json[at] !== QUOTE) at += json[at] === BACKSLASH ? 2 : 1;
    } else if (byte === COMMA || byte === OPENERS[0] || byte === OPENERS[1]) {
      if (--left < 0) throw new RangeError(`a frame of more than ${max} values`);
    }
  }
}

function isBlob(blobs: Uint8Array | readonly Uint8Array[]): blobs is Uint8Array {
  return 'byteLength' in blobs;
}
