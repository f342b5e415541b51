// Converts what `$.respond` and a source's `respond` are given into status, headers and bytes.

import { REFUSED_ANSWER } from '../../../domain/run/refused-answer.ts';
import { ConfigurationError, platformError } from '../errors.ts';
import { jsonOf } from '../json-text.ts';
import type { AnswerHead } from '../protocol.ts';
import { textOf } from '../text.ts';

export interface Answer {
  readonly head: AnswerHead;
  readonly body: Uint8Array;
}

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const FORM = 'application/x-www-form-urlencoded;charset=UTF-8';
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * Converts an answer. A stream is read to its end; all else resolves at once. Rejects with errors that are meant for
 * user code.
 */
export async function answerOf(given: unknown, maxBytes: number): Promise<Answer> {
  const { status, headers, body } = partsOf(given);
  const head = { status: statusOf(status), headers: headersOf(headers) };
  const bytes = await bytesOf(body, maxBytes);
  if (bytes.byteLength > maxBytes)
    throw platformError('PayloadTooLarge', `${REFUSED_ANSWER}a body has at most ${maxBytes} bytes`);
  if (isJsonBody(body) && !hasContentType(head.headers)) head.headers['content-type'] = 'application/json';
  if (body instanceof URLSearchParams && !hasContentType(head.headers)) head.headers['content-type'] = FORM;
  return { head, body: bytes };
}

function refused(why: string): Error {
  return new ConfigurationError(`${REFUSED_ANSWER}${why}`);
}

/** Returns the members of an answer. Throws for a body that is passed alone, which would go out as an empty one. */
function partsOf(given: unknown): Record<string, unknown> {
  if (given === undefined || given === null) return {};
  if (typeof given === 'object' && !Array.isArray(given) && !ArrayBuffer.isView(given)) {
    return given as Record<string, unknown>;
  }
  const kind = typeof given === 'object' ? 'an array or bytes' : `a ${typeof given}`;
  throw refused(`an answer is an object such as { status: 200, headers: {}, body: "…" }, not ${kind}`);
}

function statusOf(status: unknown): number {
  if (status === undefined || status === null) return 200;
  const number = typeof status === 'string' ? Number(status.trim() || Number.NaN) : status;
  if (typeof number === 'number' && Number.isInteger(number) && number >= 200 && number <= 599) return number;
  throw refused(`a status is a number from 200 to 599, not ${textOf(status).slice(0, 40)}`);
}

type Headers = Record<string, string | string[]>;

function headersOf(headers: unknown): Headers {
  const result: Headers = {};
  if (headers === undefined || headers === null) return result;
  if (typeof headers !== 'object') throw refused('headers are an object of names and values');
  for (const [name, value] of pairsOf(headers)) {
    if (value === undefined || value === null) continue;
    const isCookie = isCookies(name);
    const values = Array.isArray(value) ? value.map((one) => String(one ?? '')) : [String(value)];
    const texts = isCookie ? values : [values.join(', ')];
    if (!texts.every((text) => isHeader(name, text))) {
      throw refused(`this header cannot be sent: ${textOf(name).slice(0, 64)}`);
    }
    // A `Headers` object gives each cookie separately.
    const sent = isCookie ? [...(Object.hasOwn(result, name) ? (result[name] as string[]) : []), ...texts] : texts[0];
    Object.defineProperty(result, name, { value: sent, enumerable: true, configurable: true, writable: true });
  }
  return result;
}

/** Returns whether the header is `Set-Cookie`, whose values are not joined by commas. */
function isCookies(name: string): boolean {
  return /^set-cookie$/i.test(name);
}

/** Returns the pairs of a plain object, a list of pairs, a Map or a `Headers`. */
export function pairsOf(given: object): Iterable<readonly [string, unknown]> {
  // Duck typing: naming the class `Headers` would load Node's fetch, which takes longer than most steps.
  const isIterable = Array.isArray(given) ? given.every(isPair) : Symbol.iterator in given;
  return isIterable ? (given as Iterable<readonly [string, unknown]>) : Object.entries(given);
}

function isPair(item: unknown): boolean {
  return Array.isArray(item) && item.length === 2 && typeof item[0] === 'string';
}

/** Returns the class name of a value, such as `Blob`, `File` or `FormData`, without loading the class. */
export function tagOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice('[object '.length, -1);
}

/** Returns whether HTTP can carry the header. */
export function isHeader(name: string, value: string): boolean {
  return HEADER_NAME.test(name) && HEADER_VALUE.test(value);
}

function hasContentType(headers: Headers): boolean {
  return Object.keys(headers).some((name) => name.toLowerCase() === 'content-type');
}

async function bytesOf(body: unknown, maxBytes: number): Promise<Uint8Array> {
  if (body === undefined || body === null) return new Uint8Array();
  if (typeof body === 'string') return Buffer.from(body);
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength).slice();
  if (isBuffer(body)) return new Uint8Array(body).slice();
  if (body instanceof URLSearchParams) return Buffer.from(body.toString());
  if (isBlob(body)) return await readToEnd(body.stream(), maxBytes);
  if (isStream(body)) return await readToEnd(body, maxBytes);
  return Buffer.from(jsonOf(body, { what: `${REFUSED_ANSWER}the body`, levels: null }));
}

function isBlob(body: unknown): body is Blob {
  return /^(?:Blob|File)$/.test(tagOf(body));
}

function isBuffer(body: unknown): body is ArrayBufferLike {
  return body instanceof ArrayBuffer || body instanceof SharedArrayBuffer;
}

function isStream(body: unknown): body is AsyncIterable<unknown> {
  return typeof body === 'object' && body !== null && Symbol.asyncIterator in body;
}

function isJsonBody(body: unknown): boolean {
  if (body === undefined || body === null || typeof body === 'string') return false;
  const isOther = ArrayBuffer.isView(body) || isBuffer(body) || isStream(body);
  return !(isOther || body instanceof URLSearchParams || isBlob(body));
}

async function readToEnd(body: AsyncIterable<unknown>, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : (chunk as Uint8Array);
    if (!ArrayBuffer.isView(bytes)) throw refused('a stream as the body gives strings or bytes');
    chunks.push(bytes);
    length += bytes.byteLength;
    if (length > maxBytes) break;
  }
  return Buffer.concat(chunks);
}
