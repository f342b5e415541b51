// Encodes the body of a request. Part of what stands in for `@pipedream/platform`.

import { PassThrough, Readable } from 'node:stream';
import { encoded, isPlain, pairsOf, textOf } from './platform-params.ts';

export type Headers = Record<string, string | readonly string[]>;

export interface SentBody {
  /** Null: no body. A stream can be sent once. */
  readonly content: Uint8Array | Readable | null;
  /** The headers that describe the body, for those that the caller has not set. */
  readonly headers: Headers;
}

const NONE: SentBody = { content: null, headers: {} };
const FORM = 'application/x-www-form-urlencoded';

/** Encodes `data` as a body. `type`: the content type that the caller set, or ''. */
export async function bodyOf(data: unknown, type: string): Promise<SentBody> {
  if (data === undefined || data === null) return NONE;
  if (typeof data !== 'object') return ofText(data, type);
  if (data instanceof ArrayBuffer) return sized(new Uint8Array(data), '');
  if (ArrayBuffer.isView(data)) return sized(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), '');
  if (data instanceof URLSearchParams) return sized(Buffer.from(data.toString()), `${FORM};charset=utf-8`);
  if (data instanceof FormData || data instanceof Blob) return ofWeb(data);
  if (data instanceof ReadableStream) return { content: Readable.fromWeb(data as never), headers: {} };
  if (typeof (data as { pipe?: unknown }).pipe === 'function') return await ofStream(data as Form);
  if (type.includes(FORM)) return sized(Buffer.from(encoded(pairsOf(data))), FORM);
  if (type.includes('multipart/form-data') && isPlain(data)) return await ofWeb(formOf(data));
  return sized(Buffer.from(JSON.stringify(data)), 'application/json');
}

function sized(content: Uint8Array, type: string): SentBody {
  return { content, headers: { 'Content-Length': String(content.byteLength), ...(type && { 'Content-Type': type }) } };
}

/** Encodes text; under a JSON content type, text that is not JSON becomes a JSON string. */
function ofText(data: unknown, type: string): SentBody {
  const text = String(data);
  const isJson = type.includes('application/json');
  return sized(Buffer.from(isJson && !parses(text) ? JSON.stringify(data) : text), isJson ? '' : FORM);
}

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Encodes a form or a blob. Its content type has the boundary, and replaces the caller's. */
async function ofWeb(data: FormData | Blob): Promise<SentBody> {
  const whole = new Response(data);
  const type = whole.headers.get('content-type') ?? '';
  return sized(new Uint8Array(await whole.arrayBuffer()), type);
}

function formOf(data: object): FormData {
  const form = new FormData();
  for (const [name, value] of pairsOf(data)) {
    if (value instanceof Uint8Array) form.append(name, new Blob([new Uint8Array(value)]), name);
    else if (value instanceof Blob) form.append(name, value);
    else form.append(name, textOf(value));
  }
  return form;
}

/** A stream of Node's, or a form of the package `form-data`. */
interface Form extends NodeJS.ReadableStream {
  getHeaders?(): Record<string, string>;
  getLength?(told: (error: unknown, bytes?: number) => void): void;
}

async function ofStream(data: Form): Promise<SentBody> {
  const headers: Headers = { ...data.getHeaders?.() };
  if (typeof data.getLength === 'function') {
    const bytes = await new Promise<number | undefined>((resolve) => {
      data.getLength?.((error, found) => resolve(error ? undefined : found));
    });
    if (Number.isFinite(bytes)) headers['Content-Length'] = String(bytes);
  }
  if (data instanceof Readable) return { content: data, headers };
  // Such a form is an old-style stream, which only supports `pipe`.
  const content = new PassThrough();
  data.on('error', (error: Error) => content.destroy(error));
  data.pipe(content);
  return { content, headers };
}
