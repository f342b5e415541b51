// Sends a file of the dashboard or a page of the documentation, in the best form that the browser takes.

import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type BuiltFile, etagOf } from './built.ts';

/**
 * Nothing inline, nothing from elsewhere, and in no frame: what a hostile event contains stays text. The only frames that it
 * has show mails, which come with a policy of their own.
 */
const CONTENT_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const PAGE_HEADERS = {
  'content-security-policy': CONTENT_POLICY,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
} as const;

/** Sends the page. Browsers request it again each time, and get it only when it has changed. */
export function sendIndex(request: FastifyRequest, reply: FastifyReply, file: BuiltFile): FastifyReply {
  reply.headers(PAGE_HEADERS).header('cache-control', 'no-cache');
  return send(request, reply, file);
}

/** Sends a file whose name has the hash of its content, to be cached for a year. */
export function sendAsset(request: FastifyRequest, reply: FastifyReply, file: BuiltFile): FastifyReply {
  const cached = { 'cache-control': 'public, max-age=31536000, immutable' };
  reply.headers({ ...cached, 'cross-origin-resource-policy': 'same-origin' });
  return send(request, reply, file);
}

/** Sends a file in the best form that the browser takes; 304: it has this one. */
export function send({ headers }: FastifyRequest, reply: FastifyReply, file: BuiltFile): FastifyReply {
  const { encoding, body } = formOf(file, headers['accept-encoding']);
  const etag = encoding === null ? file.etag : `${file.etag.slice(0, -1)}-${encoding}"`;
  reply.headers({ etag, vary: 'accept-encoding' });
  if (isKnown(headers['if-none-match'], etag)) return reply.code(304).send();
  if (encoding !== null) reply.header('content-encoding', encoding);
  return reply.type(file.type).send(body);
}

function formOf({ plain, br, gzip }: BuiltFile, accepted = ''): { encoding: 'br' | 'gzip' | null; body: Buffer } {
  const takes = (name: string): boolean =>
    new RegExp(`(^|,)\\s*${name}\\s*(;\\s*q=(1|0\\.\\d*[1-9])|,|$)`, 'i').test(accepted);
  if (br !== null && takes('br')) return { encoding: 'br', body: br };
  if (gzip !== null && takes('gzip')) return { encoding: 'gzip', body: gzip };
  return { encoding: null, body: plain };
}

function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  return ifNoneMatch.split(',').some((one) => one.trim().replace(/^W\//, '') === etag || one.trim() === '*');
}

/** A page of the documentation is made once, and its forms are kept: a good one costs a second, a fair one some milliseconds. */
const BROTLI_QUALITY = 5;

/** Returns what the server made by itself as a file, with its compressed forms. */
export async function builtOf(content: string | Buffer, type: string): Promise<BuiltFile> {
  const plain = Buffer.from(content);
  const [br, gz] = await Promise.all([
    promisify(brotliCompress)(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
    promisify(gzip)(plain),
  ]);
  return { type, etag: etagOf(plain), plain, br, gzip: gz };
}
