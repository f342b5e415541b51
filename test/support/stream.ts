// A reader of server-sent events, as the standard has them.

import type { Json } from './client.ts';
import type { Errand } from './errand.ts';
import { until } from './wait.ts';

export interface Heard {
  readonly id: string | undefined;
  readonly event: string | undefined;
  readonly data: string;
}

export interface Listener extends AsyncDisposable {
  readonly status: number;
  readonly headers: Headers;
  readonly heard: readonly Heard[];
  readonly comments: readonly string[];
  readonly retryMs: number | undefined;
  /** The records of the events so far. */
  records(): Json[];
  /** Waits until that many events have come. */
  count(n: number): Promise<Json[]>;
  /** Resolves when the server has ended it: in order, or by breaking it off. */
  readonly ended: Promise<'ended' | 'broken'>;
}

export const streamPath = (emitterId: string, query = ''): string => `/v1/emitters/${emitterId}/events${query}`;

export async function listen(
  errand: Pick<Errand, 'client'>,
  path: string,
  headers: Record<string, string> = {},
): Promise<Listener> {
  const abort = new AbortController();
  const { client } = errand;
  const response = await fetch(client.url + path, {
    // A key would count more than the cookie of a session.
    headers: { ...('cookie' in headers ? {} : { authorization: `Bearer ${client.key}` }), ...headers },
    signal: abort.signal,
  });
  const parser = new Parser();
  let end: 'ended' | 'broken' | undefined;
  const ended = read(response, parser).then((how) => {
    end = how;
    return how;
  });
  const records = (): Json[] => parser.heard.map(({ data }) => JSON.parse(data));
  return {
    status: response.status,
    headers: response.headers,
    heard: parser.heard,
    comments: parser.comments,
    get retryMs() {
      return parser.retryMs;
    },
    records,
    count: (n) =>
      until(`${n} events`, () => {
        if (parser.heard.length >= n) return records();
        if (end === undefined) return null;
        throw new Error(`the stream (${response.status}) has ${end} after ${parser.heard.length} of ${n} events`);
      }),
    ended,
    [Symbol.asyncDispose]: async () => {
      abort.abort();
      await ended;
    },
  };
}

async function read(response: Response, parser: Parser): Promise<'ended' | 'broken'> {
  const decoder = new TextDecoder();
  try {
    for await (const chunk of response.body ?? []) parser.take(decoder.decode(chunk, { stream: true }));
    return 'ended';
  } catch {
    return 'broken';
  }
}

export class Parser {
  readonly heard: Heard[] = [];
  readonly comments: string[] = [];
  retryMs: number | undefined;
  #rest = '';
  #fields = new Map<string, string>();

  take(text: string): void {
    this.#rest += text;
    for (;;) {
      const match = /\r\n|\n|\r(?!$)/.exec(this.#rest);
      if (!match) return;
      this.#line(this.#rest.slice(0, match.index));
      this.#rest = this.#rest.slice(match.index + match[0].length);
    }
  }

  #line(line: string): void {
    if (line === '') {
      this.#dispatch();
      return;
    }
    const colon = line.indexOf(':');
    if (colon === 0) {
      this.comments.push(line.slice(1));
      return;
    }
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'retry') this.retryMs = Number(value);
    else if (field === 'data' && this.#fields.has('data'))
      this.#fields.set('data', `${this.#fields.get('data')}\n${value}`);
    else this.#fields.set(field, value);
  }

  #dispatch(): void {
    const data = this.#fields.get('data');
    if (data !== undefined) this.heard.push({ id: this.#fields.get('id'), event: this.#fields.get('event'), data });
    this.#fields = new Map();
  }
}
