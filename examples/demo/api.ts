// A caller of the HTTP interface that prints each call as the curl line that does the same.

import type { Story } from './story.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers are read member by member, and every fact about them is checked
export type Json = any;

export interface Api {
  /** Returns the whole answer; throws what the server says when it is no success. */
  get(path: string): Promise<Json>;
  /** The answer's text as it came, for facts about bytes. */
  text(path: string): Promise<string>;
  /** Returns `data`. */
  post(path: string, body?: object): Promise<Json>;
  put(path: string, body: object): Promise<Json>;
}

export interface ApiOptions {
  readonly url: string;
  readonly key: string;
}

export function createApi({ url, key }: ApiOptions): Api {
  async function call(method: string, path: string, body?: object): Promise<string> {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const init = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(url + path, { method, headers, ...init });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
    return text;
  }
  const data = async (method: string, path: string, body?: object): Promise<Json> =>
    JSON.parse(await call(method, path, body)).data;
  return {
    get: async (path) => JSON.parse(await call('GET', path)),
    text: (path) => call('GET', path),
    post: (path, body) => data('POST', path, body),
    put: (path, body) => data('PUT', path, body),
  };
}

/** The curl line of an API call. `$URL` and `$KEY` are what `--keep` tells to export. */
export function curlOf(method: string, path: string, body?: string): string {
  const shown = path.replaceAll('$errors', '\\$errors');
  const verb = method === 'GET' || body !== undefined ? '' : ` -X ${method}`;
  const lines = [`curl -sS${verb} "$URL${shown}"`, `  -H "Authorization: Bearer $KEY"`];
  if (body !== undefined) lines.push(`  -H 'Content-Type: application/json' -d '${body}'`);
  return lines.join(' \\\n');
}

/** Sends an event to a trigger's or source's address, and shows it when there is a story to tell. Returns the status and the emit id. */
export async function sendEvent(
  endpoint: string,
  event: string,
  story?: Story,
): Promise<{ status: number; id: string | undefined }> {
  story?.command(`curl -sS ${endpoint} -H 'Content-Type: application/json' \\\n  -d '${event}'`);
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: event,
  });
  const text = await response.text();
  story?.show(`${response.status} ${text}`);
  return { status: response.status, id: response.ok ? JSON.parse(text).id : undefined };
}
