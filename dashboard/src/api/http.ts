// The one place that talks to the server. Requests carry the session's cookie, and the header that a change needs.

export interface ProblemPart {
  readonly parameter: string;
  readonly message: string;
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
}

export interface Problem {
  readonly status: number;
  readonly title: string;
  readonly detail: string;
  readonly errors?: readonly ProblemPart[];
}

export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly problem: Problem | null;

  constructor(status: number, problem: Problem | null) {
    super(problem?.detail ?? (status === 0 ? 'The server does not answer.' : `The server answered ${status}.`));
    this.status = status;
    this.problem = problem;
  }
}

/** Heard by the session: the server no longer knows it. */
export const SIGNED_OUT = 'errand:signed-out';

let session = 0;

/** Called when a session begins: what an earlier one is still refused does not end it. */
export function beginSession(): void {
  session++;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

interface Given {
  readonly body?: unknown;
  readonly raw?: string;
  readonly signal?: AbortSignal | undefined;
  /** The `etag` of the record as it was read: when it was changed since, the answer is 412, and nothing is changed. */
  readonly ifMatch?: string | null | undefined;
}

export interface Answer {
  readonly text: string;
  /** The version of the record that the answer shows. */
  readonly etag: string | null;
}

/** Changes that are under way. */
const changing = new Map<string, Promise<Answer>>();

/**
 * Sends a request. Throws `ApiError`. `raw`: the body is sent as it is. A change that is under way is not sent again: a button
 * that is pressed twice while the server is slow has one effect.
 */
export function exchange(method: Method, path: string, given: Given = {}): Promise<Answer> {
  const body = given.raw ?? (given.body === undefined ? undefined : JSON.stringify(given.body));
  const asked = { ...given, method, path, body };
  if (method === 'GET' || given.signal) return request(asked);
  const key = JSON.stringify([session, method, path, body]);
  const known = changing.get(key);
  if (known) return known;
  const sent = request(asked).finally(() => changing.delete(key));
  changing.set(key, sent);
  return sent;
}

/** Returns the text of an answer. */
export async function send(method: Method, path: string, given: Given = {}): Promise<string> {
  return (await exchange(method, path, given)).text;
}

interface Asked extends Pick<Given, 'signal' | 'ifMatch'> {
  readonly method: Method;
  readonly path: string;
  readonly body: string | undefined;
}

async function request({ method, path, body, signal, ifMatch }: Asked): Promise<Answer> {
  const headers: Record<string, string> = { 'x-errand-dashboard': '1', accept: 'application/json' };
  if (body !== undefined) headers['content-type'] = 'application/json';
  if (ifMatch) headers['if-match'] = ifMatch;
  const of = session;
  let response: Response;
  let text: string;
  try {
    response = await fetch(path, { method, headers, body, signal, credentials: 'same-origin' });
    text = await response.text();
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(0, null);
  }
  if (response.ok) return { text, etag: response.headers.get('etag') };
  if (response.status === 401 && of === session) window.dispatchEvent(new Event(SIGNED_OUT));
  throw new ApiError(response.status, problemOf(text));
}

export async function call<T>(method: Method, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  return JSON.parse(await send(method, path, { body, signal })) as T;
}

function problemOf(text: string): Problem | null {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'object' && parsed !== null && 'detail' in parsed ? (parsed as Problem) : null;
  } catch {
    return null;
  }
}

/** Returns `?a=1&b=2` of what is given; empty values are left out. */
export function query(params: Readonly<Record<string, string | number | boolean | null | undefined>>): string {
  const given = Object.entries(params).filter(([, value]) => value !== undefined && value !== null && value !== '');
  if (given.length === 0) return '';
  return `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`;
}
