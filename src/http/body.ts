// Reading a request's body as the bytes that came, never more than the limit.

import type { IncomingMessage } from 'node:http';

export type BodyRead =
  | { readonly kind: 'whole'; readonly bytes: Buffer }
  | { readonly kind: 'too_large' }
  /** The caller went away before the end; nobody is left to answer. */
  | { readonly kind: 'aborted' };

const EMPTY: BodyRead = { kind: 'whole', bytes: Buffer.alloc(0) };
const TOO_LARGE: BodyRead = { kind: 'too_large' };
const ABORTED: BodyRead = { kind: 'aborted' };

/** What is still read of a refused request before its connection closes. */
const DISCARD_BYTES = 4 * 1024 * 1024;
const DISCARD_MS = 1000;

/** The body, or why not. Refuses by Content-Length before reading, and while reading otherwise. Never rejects. */
export function readBody(req: IncomingMessage, maxBytes: number): Promise<BodyRead> | BodyRead {
  const length = req.headers['content-length'];
  if (length === undefined ? req.headers['transfer-encoding'] === undefined : length === '0') return EMPTY;
  if (length !== undefined && Number(length) > maxBytes) return TOO_LARGE;
  return new Promise((resolve) => collect(req, maxBytes, resolve));
}

function collect(req: IncomingMessage, maxBytes: number, done: (read: BodyRead) => void): void {
  let first: Buffer | null = null;
  let chunks: Buffer[] | null = null;
  let bytes = 0;
  let isDone = false;
  // The listeners stay: they go with the request, and taking each off again is a good part of reading a small body.
  const settle = (read: BodyRead): void => {
    isDone = true;
    done(read);
  };
  req.on('data', (chunk: Buffer) => {
    if (isDone) return;
    bytes += chunk.length;
    if (bytes > maxBytes) {
      req.pause();
      settle(TOO_LARGE);
    } else if (first === null) {
      first = chunk;
    } else if (chunks === null) {
      chunks = [first, chunk];
    } else {
      chunks.push(chunk);
    }
  });
  req.on('end', () => {
    if (isDone) return;
    if (first === null) settle(EMPTY);
    else settle({ kind: 'whole', bytes: chunks === null ? first : Buffer.concat(chunks, bytes) });
  });
  req.on('close', () => {
    if (!isDone) settle(ABORTED);
  });
  // Without a listener an aborted request would be an uncaught error; `close` follows and is enough.
  req.on('error', ignore);
}

function ignore(): void {}

/** Reads on and throws away, within bounds, then calls `done` once. */
export function discard(req: IncomingMessage, done: () => void): void {
  let left = DISCARD_BYTES;
  const timer = setTimeout(finish, DISCARD_MS);
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
