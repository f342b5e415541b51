// Stands in for `@pipedream/platform` in users' code. It becomes part of their bundle, so it imports nothing.

export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}

/** Seconds. */
export const DEFAULT_POLLING_SOURCE_TIMER_INTERVAL = 900;

export interface AxiosConfig {
  readonly url: string;
  readonly method?: string;
  readonly baseURL?: string;
  readonly params?: Readonly<Record<string, unknown>> | URLSearchParams;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly data?: unknown;
  readonly auth?: { readonly username: string; readonly password: string };
  readonly timeout?: number;
  readonly responseType?: 'json' | 'text' | 'arraybuffer' | 'stream';
  readonly validateStatus?: (status: number) => boolean;
  readonly returnFullResponse?: boolean;
}

interface AxiosResponse {
  readonly status: number;
  readonly statusText: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly data: unknown;
  readonly config: AxiosConfig;
}

/** `$` of a step, or `this` of a component. */
interface Context {
  readonly export?: (name: string, value: unknown) => void;
  readonly $export?: (name: string, value: unknown) => void;
}

/** Resolves to the response's data, or to all of it with `returnFullResponse`; rejects on a status that is no success. */
export async function axios(context: Context | null | undefined, config: AxiosConfig): Promise<unknown> {
  const response = await send(config);
  const isSuccess = config.validateStatus ?? ((status: number) => status >= 200 && status < 300);
  if (!isSuccess(response.status)) {
    exportDebug(context, response);
    throw httpError(response);
  }
  return config.returnFullResponse ? response : response.data;
}

async function send(config: AxiosConfig): Promise<AxiosResponse> {
  const headers = headersOf(config);
  const method = (config.method ?? 'get').toUpperCase();
  const init: RequestInit = { method, headers };
  const body = method === 'GET' || method === 'HEAD' ? undefined : bodyOf(config.data, headers);
  if (body !== undefined) Object.assign(init, { body, duplex: 'half' });
  if (config.timeout) init.signal = AbortSignal.timeout(config.timeout);
  const response = await fetch(addressOf(config), init);
  const { status, statusText } = response;
  const data = await dataOf(response, config.responseType);
  return { status, statusText, headers: Object.fromEntries(response.headers), data, config };
}

function headersOf({ headers, auth }: AxiosConfig): Headers {
  const result = new Headers({ accept: 'application/json, text/plain, */*' });
  for (const [name, value] of Object.entries(headers ?? {})) {
    if (value !== undefined && value !== null) result.set(name, String(value));
  }
  if (auth !== undefined) {
    result.set('authorization', `Basic ${Buffer.from(`${auth.username}:${auth.password}`).toString('base64')}`);
  }
  return result;
}

function addressOf({ baseURL, url, params }: AxiosConfig): string {
  const absolute = /^[a-z][a-z0-9+.-]*:/i.test(url) || baseURL === undefined;
  const address = new URL(absolute ? url : `${baseURL.replace(/\/+$/, '')}/${url.replace(/^\/+/, '')}`);
  const given = params instanceof URLSearchParams ? [...params] : Object.entries(params ?? {});
  for (const [name, value] of given) {
    if (value === undefined || value === null) continue;
    if (Array.isArray(value)) for (const item of value) address.searchParams.append(`${name}[]`, plain(item));
    else address.searchParams.append(name, plain(value));
  }
  return address.href;
}

function plain(value: unknown): string {
  if (value instanceof Date) return value.toISOString();
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function bodyOf(data: unknown, headers: Headers): RequestInit['body'] | undefined {
  if (data === undefined || data === null) return undefined;
  if (typeof data !== 'object' || isBody(data)) {
    return typeof data === 'object' ? (data as RequestInit['body']) : String(data);
  }
  if (headers.get('content-type')?.includes('application/x-www-form-urlencoded')) {
    const pairs = Object.entries(data).filter(([, value]) => value !== undefined);
    return new URLSearchParams(pairs.map(([name, value]) => [name, plain(value)]));
  }
  if (!headers.has('content-type')) headers.set('content-type', 'application/json');
  return JSON.stringify(data);
}

function isBody(data: object): boolean {
  if (ArrayBuffer.isView(data) || data instanceof ArrayBuffer || data instanceof Blob) return true;
  return data instanceof URLSearchParams || data instanceof FormData || data instanceof ReadableStream;
}

async function dataOf(response: Response, type: AxiosConfig['responseType']): Promise<unknown> {
  if (type === 'stream') return response.body;
  if (type === 'arraybuffer') return Buffer.from(await response.arrayBuffer());
  const text = await response.text();
  if (type === 'text') return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function httpError(response: AxiosResponse): Error {
  const code = response.status < 500 ? 'ERR_BAD_REQUEST' : 'ERR_BAD_RESPONSE';
  const error = new Error(JSON.stringify(response.data));
  return Object.assign(error, { code, status: response.status, response });
}

function exportDebug(context: Context | null | undefined, { status, statusText, headers, data }: AxiosResponse): void {
  const debug = { status, statusText, headers, data };
  if (typeof context?.export === 'function') context.export('debug', debug);
  else if (typeof context?.$export === 'function') context.$export('debug', debug);
}
