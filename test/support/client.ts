// A caller of the API, as one would write it with fetch.

import assert from 'node:assert/strict';

// biome-ignore lint/suspicious/noExplicitAny: tests read answers member by member, and a wrong one fails the assertion
export type Json = any;

/** A server that does not answer at all fails the test by the name of the request, long before the time limit of the whole file. */
const ANSWER_MS = 180_000;

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: Json;
}

export interface Client {
  readonly url: string;
  readonly key: string;
  request(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  get(path: string): Promise<Json>;
  /** Asserts 200 and returns `data`. */
  post(path: string, body?: unknown): Promise<Json>;
  put(path: string, body?: unknown): Promise<Json>;
  delete(path: string): Promise<Json>;
}

export function createClient(url: string, key: string): Client {
  async function request(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const isRaw = typeof body === 'string' || body instanceof Uint8Array;
    const response = await fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: (isRaw ? body : JSON.stringify(body)) as string }),
      redirect: 'manual',
      signal: AbortSignal.timeout(ANSWER_MS),
    }).catch((error: unknown) => {
      throw new Error(`${method} ${path} was not answered`, { cause: error });
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, json: parsed(text) };
  }
  async function data(method: string, path: string, body?: unknown): Promise<Json> {
    const answer = await request(method, path, body);
    assert.equal(answer.status, 200, `${method} ${path} answered ${answer.status}: ${answer.text}`);
    return answer.json.data;
  }
  return {
    url,
    key,
    request,
    get: async (path) => {
      const answer = await request('GET', path);
      assert.equal(answer.status, 200, `GET ${path} answered ${answer.status}: ${answer.text}`);
      return answer.json;
    },
    post: (path, body) => data('POST', path, body),
    put: (path, body) => data('PUT', path, body),
    delete: (path) => data('DELETE', path),
  };
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
