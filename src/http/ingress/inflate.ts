// Inflates compressed bodies within the limit of all bodies: a decompression bomb stops at the limit. What comes out is counted
// as bodies are that still arrive: a kilobyte may become a megabyte, and a thousand callers may send one at the same time.

import type { IncomingMessage } from 'node:http';
import { constants, createBrotliDecompress, createInflateRaw, createUnzip } from 'node:zlib';
import { KIB } from '../../domain/limits.ts';
import { Refusal } from '../../domain/refusal.ts';
import { type Body, type BodyLimits, readBody } from '../body/body.ts';

const SUPPORTED = new Set(['gzip', 'x-gzip', 'deflate', 'br']);
/** Low bits of the first byte of a zlib stream; some callers send raw deflate as `deflate`. */
const ZLIB_METHOD = 0x08;
const METHOD_MASK = 0x0f;

const PLAIN = new Set(['identity', '']);

/** Throws `Refusal` (415) for an unsupported encoding. `encoding`: the header, if any. */
export function checkEncoding(encoding: string | undefined): void {
  if (encoding === undefined) return;
  const name = nameOf(encoding);
  if (PLAIN.has(name) || SUPPORTED.has(name)) return;
  throw new Refusal(
    'unsupported_media',
    `Content-Encoding is "${name.slice(0, 80)}"; taken are gzip, deflate, br and identity`,
  );
}

function nameOf(encoding: string): string {
  return encoding.trim().toLowerCase();
}

/** As much as arrives in one piece of other bodies: what fits is not counted. */
const CHUNK_BYTES = 64 * KIB;

/**
 * Reads a body, as `readBody` does, and decompresses it by its `Content-Encoding`, one that `checkEncoding` accepts. Throws
 * `Refusal` as well: 413 beyond `maxBytes` of output, 400 for corrupt input, 503 when memory is short.
 */
export async function readInflated(req: IncomingMessage, limits: BodyLimits): Promise<Body | null> {
  const read = await readBody(req, limits);
  const encoding = req.headers['content-encoding'];
  if (read === null || encoding === undefined) return read;
  const name = nameOf(encoding);
  if (PLAIN.has(name) || read.bytes.length === 0) return read;
  try {
    return await inflate(read.bytes, name, limits);
  } finally {
    read.release();
  }
}

function inflate(bytes: Buffer, name: string, limits: BodyLimits): Promise<Body> {
  const { maxBytes, memory, ownerId, keepsStart = false } = limits;
  const stream = decompressor(bytes, { name, mayEndEarly: keepsStart });
  const chunks: Buffer[] = [];
  let size = 0;
  let counted = 0;
  const release = (): void => {
    memory.release(ownerId, counted);
    counted = 0;
  };
  return new Promise((resolve, reject) => {
    const refuse = (refusal: Refusal): void => {
      stream.destroy();
      release();
      reject(refusal);
    };
    stream.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBytes && keepsStart) {
        stream.destroy();
        return resolve({ bytes: Buffer.concat([...chunks, chunk], maxBytes), release });
      }
      if (size > maxBytes) {
        return refuse(new Refusal('too_large', `The body is larger than ${maxBytes} bytes when inflated`));
      }
      if (size > CHUNK_BYTES) {
        if (!memory.take(ownerId, size - counted)) {
          return refuse(new Refusal('unavailable', 'Too many bodies are inflated at once; send it again'));
        }
        counted = size;
      }
      chunks.push(chunk);
    });
    stream.on('end', () => resolve({ bytes: Buffer.concat(chunks, size), release }));
    stream.on('error', ({ message }) =>
      refuse(new Refusal('malformed', `The body is not whole, valid ${name}: ${message}`)),
    );
    stream.end(bytes);
  });
}

function decompressor(bytes: Buffer, { name, mayEndEarly }: { name: string; mayEndEarly: boolean }) {
  if (name === 'br') {
    const { BROTLI_OPERATION_FLUSH, BROTLI_OPERATION_FINISH } = constants;
    const finishFlush = mayEndEarly ? BROTLI_OPERATION_FLUSH : BROTLI_OPERATION_FINISH;
    return createBrotliDecompress({ chunkSize: CHUNK_BYTES, finishFlush });
  }
  const finishFlush = mayEndEarly ? constants.Z_SYNC_FLUSH : constants.Z_FINISH;
  const options = { chunkSize: CHUNK_BYTES, finishFlush };
  const isBare = name === 'deflate' && ((bytes[0] as number) & METHOD_MASK) !== ZLIB_METHOD;
  return isBare ? createInflateRaw(options) : createUnzip(options);
}
