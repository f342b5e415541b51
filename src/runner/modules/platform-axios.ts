// `axios` of `@pipedream/platform` (platform.ts says why the package itself is not wrapped): what it takes, how it asks, and
// what it resolves to and rejects with.

import { parse as parseForm } from 'node:querystring';
import { bodyOf, type Headers, type SentBody } from './platform-body.ts';
import { ConfigurationError } from './platform-error.ts';
import { createInstance, type Instance } from './platform-instance.ts';
import { authorizationOf, keysOf, type SignConfig, type SignedRequest } from './platform-oauth.ts';
import { type ParamsSerializer, withParams } from './platform-params.ts';
import { codedError, type ReceivedResponse, send } from './platform-request.ts';

export interface AxiosConfig {
  readonly url?: string;
  readonly method?: string;
  readonly baseURL?: string;
  readonly params?: object;
  readonly paramsSerializer?: ParamsSerializer;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly data?: unknown;
  readonly auth?: { readonly username?: string; readonly password?: string };
  /** Milliseconds; 0: none. */
  readonly timeout?: number;
  readonly signal?: AbortSignal;
  readonly maxRedirects?: number;
  readonly responseType?: string;
  readonly responseEncoding?: string;
  readonly transformRequest?: Encode | readonly Encode[];
  readonly transformResponse?: Transform | readonly Transform[];
  /** False: a compressed answer is left as it is. */
  readonly decompress?: boolean;
  /** Bytes; a negative number: no limit. */
  readonly maxContentLength?: number;
  /** Bytes; a negative number: no limit. */
  readonly maxBodyLength?: number;
  /** Null: every status is a success. */
  readonly validateStatus?: ((status: number) => boolean) | null;
  readonly httpAgent?: unknown;
  readonly httpsAgent?: unknown;
  readonly returnFullResponse?: boolean;
  /** Exports `debug_config` and `debug_response`: what was asked and answered. */
  readonly debug?: boolean;
  /** Refused: it is `data`. */
  readonly body?: unknown;
}

type Encode = (data: unknown, headers: Headers) => unknown;
type Transform = (data: unknown, headers: object, status: number) => unknown;

interface AxiosResponse {
  readonly status: number;
  readonly statusText: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly data: unknown;
}

/** `$` of a step, or `this` of a component. */
interface Context {
  readonly export?: unknown;
  readonly $export?: unknown;
  debug?: unknown;
}

const MAX_REDIRECTS = 21;

/**
 * Sends a request. Resolves to the response's data, or to the whole response with `returnFullResponse`; rejects on an
 * error status.
 */
async function callAxios(
  context: object | null | undefined,
  given: AxiosConfig | string,
  signing?: SignConfig,
): Promise<unknown> {
  const asked = typeof given === 'string' ? { url: given } : given;
  if (asked.body !== undefined && asked.body !== null) {
    throw new ConfigurationError('axios: the body of a request is "data", not "body"');
  }
  const config = signing ? await signed(asked, signing) : asked;
  if (config.debug) exportAs(context, 'debug_config', describedRequest(config));
  const received = await sent(config);
  const { statusCode: status = 0 } = received.response;
  if (isSuccess(config, status)) {
    const response = responseOf(received, config, await dataOf(received, config));
    if (config.debug) exportAs(context, 'debug_response', response.data);
    return config.returnFullResponse ? response : response.data;
  }
  const data = errorDataOf(await bytesOf(received, config.maxContentLength), config);
  const response = responseOf(received, config, data);
  exportDebug(context, response, config);
  throw httpError(response);
}

/** `axios.create` returns an instance with settings of its own; `signing` signs all that it asks. */
export const axios = /* @__PURE__ */ Object.assign(callAxios, {
  create: (defaults: AxiosConfig = {}, signing?: SignConfig): Instance<AxiosConfig> =>
    createInstance((config: AxiosConfig) => callAxios(null, config, signing), defaults),
});

/** Returns the request with the header that signs it. */
async function signed(config: AxiosConfig, signing: SignConfig): Promise<AxiosConfig> {
  const authorization = await signatureOf(transformConfigForOauth(config), signing);
  return { ...config, headers: { ...config.headers, Authorization: authorization } };
}

/** Returns what is signed of a request. Of bodies it is forms alone, as the specification has it. */
export function transformConfigForOauth(config: AxiosConfig): SignedRequest {
  const { method = 'get', data, headers } = config;
  const asked = withParams(absolute(config), config.params, config.paramsSerializer);
  // As it is sent: a signer compares the encoded address.
  const url = URL.canParse(asked) ? new URL(asked).href : asked;
  const type = headerOf({ ...(headers as Headers) }, 'content-type');
  const isForm = /^application\/x-www-form-urlencoded/i.test(type);
  const isText = typeof data === 'string' || data instanceof URLSearchParams;
  if (isText && (isForm || type === '')) return { method, url, data: parseForm(String(data)) };
  return { method, url, ...(isForm && typeof data === 'object' && data !== null ? { data } : {}) };
}

async function signatureOf(requestData: SignedRequest, signing: SignConfig): Promise<unknown> {
  let keys: ReturnType<typeof keysOf>;
  try {
    keys = keysOf(signing);
  } catch (error) {
    throw new ConfigurationError((error as Error).message);
  }
  if (keys !== null) return authorizationOf(requestData, keys);
  const { token, oauthSignerUri } = signing;
  return await callAxios(null, { url: String(oauthSignerUri), method: 'post', data: { requestData, token } });
}

/** Describes what was requested, without what holds keys. */
function describedRequest({ method = 'get', url, baseURL, params, data }: AxiosConfig): object {
  return { method, url, baseURL, params, data };
}

/** Sends the request. An error of the connection has no stack frames, so it gets those of the caller. */
async function sent(config: AxiosConfig): Promise<ReceivedResponse> {
  const sending = await sendingOf(config);
  try {
    return await send(sending);
  } catch (error) {
    if (error instanceof Error && Object.isExtensible(error)) Error.captureStackTrace(error);
    throw error;
  }
}

async function sendingOf(config: AxiosConfig): Promise<Parameters<typeof send>[0]> {
  const url = new URL(withParams(absolute(config), config.params, config.paramsSerializer));
  const headers = headersOf(config, url);
  const encodes = [config.transformRequest ?? []].flat() as Encode[];
  const data = encodes.reduce((given, encode) => encode(given, headers), config.data);
  const type = headerOf(headers, 'content-type');
  const body = await bodyOf(data, type.toLowerCase());
  checkLength(body, config.maxBodyLength);
  for (const [name, value] of Object.entries(body.headers)) {
    // The boundary is known only now.
    const isBetter = /^multipart\/form-data;/i.test(String(value)) && !/boundary=/i.test(type);
    if (headerOf(headers, name) === '' || (isBetter && /^content-type$/i.test(name))) put(headers, name, value);
  }
  url.username = '';
  url.password = '';
  const method = (config.method ?? 'GET').toUpperCase();
  // As axios has it, and as some servers ask for it.
  if (/^(POST|PUT|PATCH)$/.test(method) && headerOf(headers, 'content-type') === '') {
    put(headers, 'Content-Type', 'application/x-www-form-urlencoded');
  }
  return {
    url: url.href,
    method,
    headers,
    body,
    maxRedirects: config.maxRedirects ?? MAX_REDIRECTS,
    timeoutMs: Number(config.timeout ?? 0),
    signal: config.signal,
    isInflated: config.decompress !== false,
    httpAgent: config.httpAgent,
    httpsAgent: config.httpsAgent,
  };
}

function checkLength({ content }: SentBody, maxBytes = -1): void {
  if (maxBytes < 0 || !(content instanceof Uint8Array) || content.byteLength <= maxBytes) return;
  throw codedError('ERR_BAD_REQUEST', 'Request body larger than maxBodyLength limit');
}

function absolute({ baseURL, url = '' }: AxiosConfig): string {
  const isAbsolute = /^([a-z][a-z0-9+.-]*:)?\/\//i.test(url) || !baseURL;
  const whole = isAbsolute ? url : `${baseURL.replace(/\/+$/, '')}${url && `/${url.replace(/^\/+/, '')}`}`;
  if (URL.canParse(whole)) return whole;
  throw codedError('ERR_INVALID_URL', `axios: ${JSON.stringify(whole)} is no URL`);
}

function headersOf({ headers, auth }: AxiosConfig, { username, password }: URL): Headers {
  const all: Headers = {
    Accept: 'application/json, text/plain, */*',
    'User-Agent': 'errand',
    'Accept-Encoding': 'gzip, deflate, br',
  };
  for (const [name, value] of Object.entries(headers ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    put(all, name, Array.isArray(value) ? value.map(String) : String(value));
  }
  const named =
    auth ??
    (username === '' ? undefined : { username: decodeURIComponent(username), password: decodeURIComponent(password) });
  if (named === undefined) return all;
  const basic = Buffer.from(`${named.username ?? ''}:${named.password ?? ''}`).toString('base64');
  return put(all, 'Authorization', `Basic ${basic}`);
}

/** Sets a header, replacing the same name in other letter case. */
function put(headers: Headers, name: string, value: string | readonly string[]): Headers {
  for (const known of Object.keys(headers)) if (known.toLowerCase() === name.toLowerCase()) delete headers[known];
  headers[name] = value;
  return headers;
}

function headerOf(headers: Headers, name: string): string {
  const found = Object.entries(headers).find(([known]) => known.toLowerCase() === name.toLowerCase());
  return String(found?.[1] ?? '');
}

function isSuccess({ validateStatus }: AxiosConfig, status: number): boolean {
  if (validateStatus === null) return true;
  return validateStatus ? validateStatus(status) : status >= 200 && status < 300;
}

async function dataOf(received: ReceivedResponse, config: AxiosConfig): Promise<unknown> {
  const { responseType, responseEncoding = 'utf8', transformResponse } = config;
  if (responseType === 'stream') {
    received.inTime();
    return received.content;
  }
  const bytes = await bytesOf(received, config.maxContentLength);
  if (responseType === 'arraybuffer') return bytes;
  const text = bytes.toString(responseEncoding as BufferEncoding).replace(/^\ufeff/, '');
  if (transformResponse === undefined) return responseType === 'text' ? text : parsed(text);
  const { headers, statusCode = 0 } = received.response;
  return [transformResponse].flat().reduce<unknown>((data, act) => (act as Transform)(data, headers, statusCode), text);
}

async function bytesOf({ content, inTime }: ReceivedResponse, maxBytes = -1): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of content as AsyncIterable<Uint8Array>) {
      chunks.push(chunk);
      bytes += chunk.byteLength;
      // The loop's end destroys the rest of the answer.
      if (maxBytes >= 0 && bytes > maxBytes) {
        throw codedError('ERR_BAD_RESPONSE', `maxContentLength size of ${maxBytes} exceeded`);
      }
    }
    return Buffer.concat(chunks);
  } finally {
    inTime();
  }
}

/** Returns what an error's response says. Code that asked for bytes reads them as such; messages and exports show their value. */
function errorDataOf(bytes: Buffer, { responseType }: AxiosConfig): unknown {
  const data = parsed(bytes.toString());
  if (responseType !== 'arraybuffer') return data;
  return Object.defineProperty(bytes, 'toJSON', { value: () => data, enumerable: false });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Returns the response. Members that are not JSON are not enumerable, so exports and return values leave them out. */
function responseOf({ response, url }: ReceivedResponse, config: AxiosConfig, data: unknown): AxiosResponse {
  const { statusCode: status = 0, statusMessage: statusText = '', headers } = response;
  const whole = { status, statusText, headers: { ...headers }, data };
  const hidden = { config, request: { path: new URL(url).pathname, res: { responseUrl: url } } };
  for (const [name, value] of Object.entries(hidden)) Object.defineProperty(whole, name, { value, enumerable: false });
  return whole;
}

function httpError(response: AxiosResponse): Error {
  const { status, data } = response;
  const code = status < 500 ? 'ERR_BAD_REQUEST' : 'ERR_BAD_RESPONSE';
  return Object.assign(codedError(code, JSON.stringify(data)), { status, response, isAxiosError: true });
}

/** Exports the failed response, without the request's headers, which contain keys. */
function exportDebug(context: Context | null | undefined, response: AxiosResponse, { method, url }: AxiosConfig): void {
  const debug = { ...response, config: { method, url } };
  if (exportAs(context, 'debug', debug) || !context) return;
  if (!('debug' in context) && Object.isExtensible(context)) context.debug = debug;
}

/** Returns false where the context has no exports. */
function exportAs(context: Context | null | undefined, name: string, value: unknown): boolean {
  const put = context?.export ?? context?.$export;
  if (typeof put === 'function') put.call(context, name, value);
  return typeof put === 'function';
}
