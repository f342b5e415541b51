// Reads a request's body as bytes, never more than the limit, and never before its caller is known.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { KIB } from '../../domain/limits.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { BodyMemory } from './body-memory.ts';

/** A body as it came. `release` returns its memory; call it when the bytes are no longer needed. */
export interface Body {
  readonly bytes: Buffer;
  readonly release: () => void;
}

export interface BodyLimits {
  readonly maxBytes: number;
  readonly memory: BodyMemory;
  /** Whose share of the memory the body uses. */
  readonly ownerId: string;
  /** Of a larger body the first `maxBytes` are returned, and the rest is not read; otherwise it is refused. */
  readonly keepsStart?: boolean;
}

type BodyRead =
  | { readonly kind: 'whole'; readonly body: Body }
  | { readonly kind: 'too_large' }
  /** All memory for bodies is in use. */
  | { readonly kind: 'full' }
  /** The caller disconnected before the end, and cannot be answered. */
  | { readonly kind: 'aborted' };

const EMPTY: BodyRead = { kind: 'whole', body: { bytes: Buffer.alloc(0), release: ignore } };

/** How much of a refused request is read before its connection closes. */
const DISCARD_BYTES = 4 * 1024 * KIB;
const DISCARD_MS = 1000;
/** Bodies up to this size are read and discarded, so that the connection can be used for the next request. */
const SMALL_BYTES = 64 * KIB;

/** Set on requests whose sender waits for 100 Continue. */
const CONTINUE = Symbol('continue');

interface ExpectingRequest extends IncomingMessage {
  [CONTINUE]?: () => void;
}

/** Sends 100 when the body is read. It is called for each request with `Expect: 100-continue`. */
export function awaitContinue(req: IncomingMessage, res: ServerResponse): void {
  (req as ExpectingRequest)[CONTINUE] = () => res.writeContinue();
}

/** Returns the body; null when the caller disconnected before its end. Throws `Refusal`: 413 beyond `maxBytes`, 503 when memory is short. */
export async function readBody(req: IncomingMessage, limits: BodyLimits): Promise<Body | null> {
  const reading = begin(req, limits);
  const read = reading instanceof Promise ? await reading : reading;
  if (read.kind === 'whole') return read.body;
  if (read.kind === 'aborted') return null;
  if (read.kind === 'too_large') throw new Refusal('too_large', `The body is larger than ${limits.maxBytes} bytes`);
  throw new Refusal('unavailable', 'Too many bodies are arriving at once; send it again');
}

/** Refuses by Content-Length before reading, and while reading otherwise. Never rejects. */
function begin(req: IncomingMessage, limits: BodyLimits): Promise<BodyRead> | BodyRead {
  const length = req.headers['content-length'];
  if (length === undefined ? req.headers['transfer-encoding'] === undefined : length === '0') return EMPTY;
  if (Number(length ?? 0) > limits.maxBytes && !limits.keepsStart) return { kind: 'too_large' };
  (req as ExpectingRequest)[CONTINUE]?.();
  return new Promise((resolve) => collect(req, limits, resolve));
}

function collect(
  req: IncomingMessage,
  { maxBytes, memory, ownerId, keepsStart = false }: BodyLimits,
  done: (read: BodyRead) => void,
): void {
  const length = Number(req.headers['content-length'] ?? -1);
  let first: Buffer | null = null;
  let chunks: Buffer[] | null = null;
  let bytes = 0;
  let counted = 0;
  let isDone = false;
  const release = (): void => {
    memory.release(ownerId, counted);
    counted = 0;
  };
  // The listeners stay until the request is collected: removing each would be a good part of reading a small body.
  const settle = (read: BodyRead): void => {
    isDone = true;
    if (read.kind !== 'whole' && counted > 0) release();
    first = chunks = null;
    done(read);
  };
  req.on('data', (chunk: Buffer) => {
    if (isDone) return;
    bytes += chunk.length;
    if (bytes > maxBytes) {
      req.pause();
      if (!keepsStart) return settle({ kind: 'too_large' });
      const pieces = chunks ?? (first === null ? [] : [first]);
      return settle({ kind: 'whole', body: { bytes: Buffer.concat([...pieces, chunk], maxBytes), release } });
    }
    // A body that ends here does not wait, and is not counted.
    if (bytes !== length) {
      if (!memory.take(ownerId, chunk.length)) {
        req.pause();
        return settle({ kind: 'full' });
      }
      counted += chunk.length;
    }
    if (first === null) first = chunk;
    else if (chunks === null) chunks = [first, chunk];
    else chunks.push(chunk);
  });
  req.on('end', () => {
    if (isDone) return;
    if (first === null) return settle(EMPTY);
    const whole = chunks === null ? first : Buffer.concat(chunks, bytes);
    settle({ kind: 'whole', body: { bytes: whole, release: counted === 0 ? ignore : release } });
  });
  req.on('close', () => {
    if (!isDone) settle({ kind: 'aborted' });
  });
  // Without a listener an aborted request would be an uncaught error; `close` follows and is enough.
  req.on('error', ignore);
}

function ignore(): void {}

/**
 * Returns whether the connection stays usable although `req` is refused: Node reads and discards the rest of it. Not when
 * the rest is large or of unknown length, nor when the sender got no 100 Continue and may send something else.
 */
export function keepsConnection(req: IncomingMessage): boolean {
  if (req.complete) return true;
  if ((req as ExpectingRequest)[CONTINUE] !== undefined) return false;
  return Number(req.headers['content-length'] ?? Infinity) <= SMALL_BYTES;
}

const DISCARDED = { bytes: DISCARD_BYTES, ms: DISCARD_MS };

/** Reads on and discards, within bounds, then calls `done` once. */
export function discard(req: IncomingMessage, done: () => void, bounds = DISCARDED): void {
  let left = bounds.bytes;
  const timer = setTimeout(finish, bounds.ms);
  function finish(): void {
    clearTimeout(timer);
    req.off('data', onData);
    req.off('end', finish);
    req.off('close', finish);
    done();
  }
  function onData(chunk: Buffer): void {
    left -= chunk.length;
    if (left < 0) finish();
  }
  req.on('error', ignore);
  req.on('end', finish);
  req.on('close', finish);
  req.on('data', onData);
  req.resume();
}
