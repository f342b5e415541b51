// What was filled in, as a request; and its answer, read as text.

import { T } from './english.ts';
import { indented } from './indent.ts';

export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly example?: unknown;
  readonly schema?: { readonly type?: string; readonly enum?: readonly unknown[] };
}

export interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly content: Readonly<
      Record<string, { readonly schema?: { readonly properties?: object }; readonly example?: unknown }>
    >;
  };
}

export interface Filled {
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly { readonly in: string; readonly name: string; readonly value: string }[];
  readonly body: { readonly type: string; readonly text: string } | null;
}

/** More is cut: a page that holds it all would stand still. */
const MAX_CHARS = 200_000;

export function addressOf({ path, parameters }: Filled): string {
  const values = new Map(
    parameters.filter(({ in: place }) => place === 'path').map(({ name, value }) => [name, value]),
  );
  const filled = path.replace(/\{(\w+)\}/g, (whole, name: string) => encodeURIComponent(values.get(name) ?? whole));
  const query = new URLSearchParams(
    parameters
      .filter(({ in: place, value }) => place === 'query' && value !== '')
      .map(({ name, value }) => [name, value]),
  );
  return query.size === 0 ? filled : `${filled}?${query}`;
}

/** Sends the request with the session, and the header that marks a request of this server's own pages. */
export function sendFilled(filled: Filled, signal: AbortSignal): Promise<Response> {
  const { method, parameters, body } = filled;
  const given = parameters.filter(({ in: place, value }) => place === 'header' && value !== '');
  const headers = new Headers(given.map(({ name, value }) => [name, value]));
  headers.set('x-errand-dashboard', '1');
  const isSent = body !== null && body.text.trim() !== '' && method !== 'GET';
  if (isSent) headers.set('content-type', body.type);
  return fetch(addressOf(filled), {
    ...{ method, headers, signal, credentials: 'same-origin', cache: 'no-store', redirect: 'manual' },
    ...(isSent ? { body: body.text } : {}),
  });
}

/** Reads an answer as text, and shows what there is as it comes: a stream goes on until it is stopped. */
export async function readAnswer(answer: Response, show: (text: string) => void): Promise<void> {
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  while (reader) {
    const { done, value } = await reader.read();
    if (done) break;
    text += value;
    if (text.length > MAX_CHARS) {
      show(text.slice(0, MAX_CHARS) + T.tryIt.cut);
      void reader.cancel();
      return;
    }
    show(text);
  }
  const isJson =
    /\bjson\b/.test(answer.headers.get('content-type') ?? '') &&
    !/ndjson/.test(answer.headers.get('content-type') ?? '');
  show(text === '' ? T.tryIt.empty : isJson ? indented(text) : text);
}
