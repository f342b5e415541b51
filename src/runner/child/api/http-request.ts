// Converts what `$.send.http` is given into the request that the server makes once the run's end is durable.

import { type AskedRequest, CONNECTION_HEADER } from '../../../domain/delivery/http-request.ts';
import { ConfigurationError, platformError } from '../errors.ts';
import { jsonOf } from '../json-text.ts';
import type { ChildLimits } from '../protocol.ts';
import { textOf } from '../text.ts';
import { isHeader, pairsOf, tagOf } from './answer.ts';

const METHOD = /^[A-Z][A-Z0-9-]*$/;
/** Methods that make no request to a resource, or return the request itself. */
const NO_METHODS: ReadonlySet<string> = new Set(['CONNECT', 'TRACE', 'TRACK']);
const FORM = 'application/x-www-form-urlencoded';

/** Converts the options into a request. Throws errors that are meant for user code. */
export function requestOf(given: unknown, limits: ChildLimits): AskedRequest {
  const { method, url, data, headers, params, auth } = (given ?? {}) as Record<string, unknown>;
  const hasData = data !== undefined && data !== null;
  const address = urlOf(url);
  appendParams(address.searchParams, params);
  const own = headersOf(headers, limits);
  const login = auth === undefined || auth === null ? credentialsOf(address, own) : authOf(auth);
  if (login !== null) own.set('authorization', `Basic ${Buffer.from(login).toString('base64')}`);
  const body = hasData ? bodyOf(data, own, limits) : undefined;
  const request = {
    method: method === undefined || method === null ? (hasData ? 'POST' : 'GET') : textOf(method).trim().toUpperCase(),
    url: address.href,
    headers: Object.fromEntries(own),
    ...(body === undefined ? {} : { body }),
  };
  const fault = faultOfRequest(request, limits);
  if (fault !== null) throw new ConfigurationError(`$.send.http: ${fault}`);
  return request;
}

/**
 * Returns what is wrong with a request and what would be right; null: the request can be sent. Values of headers are
 * not repeated, since they may be credentials.
 */
export function faultOfRequest({ method, url, headers }: AskedRequest, limits: ChildLimits): string | null {
  if (!METHOD.test(method) || method.length > limits.requestMethodChars || NO_METHODS.has(method)) {
    return `a method is one as GET, POST, PUT, PATCH or DELETE, not ${method.slice(0, 40)}`;
  }
  if (url.length > limits.requestUrlChars) {
    return `a url has at most ${limits.requestUrlChars} characters with its params, not ${url.length}`;
  }
  const parsed = URL.parse(url);
  if (parsed === null || !/^https?:$/.test(parsed.protocol) || parsed.username !== '' || parsed.password !== '') {
    return 'url is an address that begins with http:// or https://';
  }
  const names = Object.keys(headers);
  if (names.length > limits.headersPerWebhook)
    return `at most ${limits.headersPerWebhook} headers are sent, not ${names.length}`;
  for (const name of names) {
    const fault = faultOfHeader(name, headers[name] as string, limits);
    if (fault !== null) return `the header ${name.slice(0, 64)} ${fault}`;
  }
  return null;
}

function faultOfHeader(name: string, value: string, limits: ChildLimits): string | null {
  if (CONNECTION_HEADER.test(name)) return 'cannot be set: it is the connection’s own';
  if (name.length > limits.headerNameChars) return `has a name of more than ${limits.headerNameChars} characters`;
  if (value.length > limits.headerValueChars) return `has a value of more than ${limits.headerValueChars} characters`;
  return isHeader(name, value) ? null : 'has a name or a value that HTTP cannot carry';
}

function urlOf(given: unknown): URL {
  const text = given instanceof URL ? given.href : given;
  const url = typeof text === 'string' ? URL.parse(text.trim()) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    const shown = typeof text === 'string' ? (JSON.stringify(text.slice(0, 80)) as string) : textOf(text).slice(0, 80);
    throw new ConfigurationError(`$.send.http needs a url that begins with http:// or https://, not ${shown}`);
  }
  url.hash = '';
  return url;
}

/** Appends parameters as `axios` of the component API does: arrays as `name[]`, objects as JSON. */
function appendParams(to: URLSearchParams, params: unknown): void {
  if (params === undefined || params === null) return;
  if (typeof params !== 'object') throw new ConfigurationError('$.send.http: params are an object of names and values');
  const given = params instanceof URLSearchParams ? [...params] : Object.entries(params);
  for (const [name, value] of given as [string, unknown][]) {
    if (value === undefined || value === null) continue;
    if (Array.isArray(value)) for (const item of value) to.append(`${name}[]`, plain(item));
    else to.append(name, plain(value));
  }
}

function plain(value: unknown): string {
  if (value instanceof Date) return value.toISOString();
  return typeof value === 'object' ? jsonOf(value, { what: 'A parameter', levels: null }) : String(value);
}

function headersOf(given: unknown, limits: ChildLimits): Map<string, string> {
  const headers = new Map<string, string>();
  if (given === undefined || given === null) return headers;
  if (typeof given !== 'object') throw new ConfigurationError('$.send.http: headers are an object of names and values');
  for (const [name, value] of pairsOf(given)) {
    if (value === undefined || value === null) continue;
    headers.set(name.toLowerCase(), (Array.isArray(value) ? value.join(', ') : String(value)).trim());
    if (headers.size > limits.headersPerWebhook) break; // reported with the rest
  }
  return headers;
}

function authOf(auth: unknown): string {
  const { username, password } = auth as { username?: unknown; password?: unknown };
  if (typeof username === 'string' && typeof (password ?? '') === 'string') return `${username}:${password ?? ''}`;
  throw new ConfigurationError('$.send.http: auth is {username, password}, both strings');
}

/** Removes credentials from the address and returns them; null when there are none, or another authorization is set. */
function credentialsOf(url: URL, headers: ReadonlyMap<string, string>): string | null {
  const login = `${decode(url.username)}:${decode(url.password)}`;
  url.username = '';
  url.password = '';
  return login === ':' || headers.has('authorization') ? null : login;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function bodyOf(data: unknown, headers: Map<string, string>, limits: ChildLimits): AskedRequest['body'] {
  const bytes = bytesIn(data);
  const body = bytes ?? textIn(data, headers, limits.nestingDepth);
  const length = typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength;
  if (length > limits.requestBodyBytes) {
    throw platformError(
      'PayloadTooLarge',
      `The body of a request has at most ${limits.requestBodyBytes} bytes, not ${length}`,
    );
  }
  return typeof body === 'string' ? body : { $base64: body.toString('base64') };
}

function bytesIn(data: unknown): Buffer | null {
  if (ArrayBuffer.isView(data)) return Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  return data instanceof ArrayBuffer ? Buffer.from(data) : null;
}

function textIn(data: unknown, headers: Map<string, string>, levels: number): string {
  if (typeof data === 'string') {
    setType(headers, 'text/plain; charset=utf-8');
    return data.toWellFormed();
  }
  if (/^(?:FormData|Blob|File)$/.test(tagOf(data)) || isStream(data)) {
    throw new ConfigurationError(
      '$.send.http: data is a string, a Buffer or what has JSON; for files and streams use fetch',
    );
  }
  if (data instanceof URLSearchParams) {
    setType(headers, FORM);
    return data.toString();
  }
  if (typeof data === 'object' && headers.get('content-type')?.includes(FORM)) {
    const form = new URLSearchParams();
    appendParams(form, data);
    return form.toString();
  }
  setType(headers, 'application/json');
  return jsonOf(data, { what: 'The data of a request', levels });
}

function isStream(data: unknown): boolean {
  return typeof data === 'object' && data !== null && Symbol.asyncIterator in data;
}

function setType(headers: Map<string, string>, type: string): void {
  if (!headers.has('content-type')) headers.set('content-type', type);
}
