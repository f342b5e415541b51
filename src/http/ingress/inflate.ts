// Inflates compressed bodies within the limit of all bodies: a decompression bomb stops at the limit.

import { brotliDecompress, inflateRaw, unzip } from 'node:zlib';
import { Refusal } from '../../domain/refusal.ts';

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

/**
 * Decompresses a body. `encoding`: one that `checkEncoding` accepts. Throws `Refusal`: 413 beyond `maxBytes` of output, 400 for
 * corrupt input.
 */
export async function inflate(bytes: Buffer, encoding: string, maxBytes: number): Promise<Buffer> {
  const name = nameOf(encoding);
  if (PLAIN.has(name)) return bytes;
  if (bytes.length === 0) return bytes;
  const isBare = name === 'deflate' && ((bytes[0] as number) & METHOD_MASK) !== ZLIB_METHOD;
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const options = { maxOutputLength: maxBytes };
  const done = (error: NodeJS.ErrnoException | null, whole: Buffer): void => {
    if (!error) resolve(whole);
    else if (error.code === 'ERR_BUFFER_TOO_LARGE') {
      reject(new Refusal('too_large', `The body is larger than ${maxBytes} bytes when inflated`));
    } else reject(new Refusal('malformed', `The body is not whole, valid ${name}: ${error.message}`));
  };
  if (name === 'br') brotliDecompress(bytes, options, done);
  else if (isBare) inflateRaw(bytes, options, done);
  else unzip(bytes, options, done);
  return promise;
}
