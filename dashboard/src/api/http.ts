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
}

/** Changes that are under way. */
const changing = new Map<string, Promise<string>>();

/**
 * Sends a request and returns the text of its answer. Throws `ApiError`. `raw`: the body is sent as it is. A change that is
 * under way is not sent again: a button that is pressed twice while the server is slow has one effect.
 */
export function send(method: Method, path: string, given: Given = {}): Promise<string> {
  const body = given.raw ?? (given.body === undefined ? undefined : JSON.stringify(given.body));
  if (method === 'GET' || given.signal) return request(method, path, body, given.signal);
  const key = JSON.stringify([session, method, path, body]);
  const known = changing.get(key);
  if (known) return known;
  const sent = request(method, path, body, given.signal).finally(() => changing.delete(key));
  changing.set(key, sent);
  return sent;
}

async function request(method: Method, path: string, body?: string, signal?: AbortSignal): Promise<string> {
  const headers: Record<string, string> = { 'x-errand-dashboard': '1', accept: 'application/json' };
  if (body !== undefined) headers['content-type'] = 'application/json';
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
  if (response.ok) return text;
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
