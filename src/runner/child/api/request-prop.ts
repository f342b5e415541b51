// Implements props of type http_request: a request that the caller configures and the code executes.

import { givenValue, type PropDefinition } from '../../../domain/props.ts';
import { ConfigurationError } from '../errors.ts';

interface Field {
  readonly name?: unknown;
  readonly value?: unknown;
  readonly disabled?: unknown;
}

interface RequestConfig {
  readonly method?: unknown;
  readonly url?: unknown;
  readonly headers?: unknown;
  readonly params?: unknown;
  readonly auth?: { type?: unknown; username?: unknown; password?: unknown; token?: unknown };
  readonly body?: { type?: unknown; contentType?: unknown; mode?: unknown; raw?: unknown; fields?: unknown };
}

/** Returns the configured members laid over those of the default. */
function requestConfig(definition: PropDefinition, configured: unknown): RequestConfig {
  const given = givenValue(definition, configured);
  const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
  return { ...(isObject(definition.default) ? definition.default : {}), ...(isObject(given) ? given : {}) };
}

export function httpRequest(definition: PropDefinition, configured: unknown): object {
  const config = requestConfig(definition, configured);
  return { ...config, execute: () => execute(config) };
}

/**
 * Executes the request. Resolves to the response's data, parsed when it is JSON. Components use the result as the data
 * itself or as `{data, headers, status}`, so an object gets those members too, not enumerable. Rejects on an error
 * status.
 */
async function execute(config: RequestConfig): Promise<unknown> {
  const address = addressOf(config);
  const headers = new Headers({ accept: 'application/json, text/plain, */*' });
  for (const [name, value] of pairs(config.headers)) headers.set(name, value);
  setAuth(headers, config);
  const method = String(config.method ?? 'GET').toUpperCase();
  const body = method === 'GET' || method === 'HEAD' ? undefined : bodyOf(config, headers);
  const response = await fetch(address, { method, headers, body });
  const text = await response.text();
  const data = parsed(text);
  if (!response.ok) {
    const error = new Error(typeof data === 'string' ? data : JSON.stringify(data));
    const code = response.status < 500 ? 'ERR_BAD_REQUEST' : 'ERR_BAD_RESPONSE';
    throw Object.assign(error, { code, status: response.status, response: { status: response.status, data } });
  }
  const { status, statusText } = response;
  return withResponse(data, { data, status, statusText, headers: Object.fromEntries(response.headers) });
}

function withResponse(data: unknown, response: Readonly<Record<string, unknown>>): unknown {
  if (typeof data !== 'object' || data === null) return data;
  for (const [name, value] of Object.entries(response)) {
    if (!(name in data)) Object.defineProperty(data, name, { value, enumerable: false, configurable: true });
  }
  return data;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function addressOf({ url, params }: RequestConfig): string {
  if (typeof url !== 'string') throw new ConfigurationError('The HTTP request has no url');
  const address = new URL(url);
  for (const [name, value] of pairs(params)) address.searchParams.append(name, value);
  return address.href;
}

/** Returns the pairs of `[{name, value}, …]` or of an object; disabled fields and those without a name are left out. */
function pairs(given: unknown): [string, string][] {
  if (Array.isArray(given)) {
    return (given as (Field | null)[]).flatMap((field) => {
      const { name, value, disabled } = field ?? {};
      if (typeof name !== 'string' || name === '' || disabled === true) return [];
      return [[name, plain(value)] as [string, string]];
    });
  }
  if (typeof given !== 'object' || given === null) return [];
  return Object.entries(given).map(([name, value]) => [name, plain(value)]);
}

function plain(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function setAuth(headers: Headers, { auth }: RequestConfig): void {
  if (headers.has('authorization')) return;
  const { type, username, password, token } = auth ?? {};
  if (type === 'bearer' || (type === undefined && token !== undefined)) {
    headers.set('authorization', `Bearer ${plain(token)}`);
  } else if (type === 'basic' || (type === undefined && username !== undefined)) {
    const pair = Buffer.from(`${plain(username)}:${plain(password)}`).toString('base64');
    headers.set('authorization', `Basic ${pair}`);
  }
}

function bodyOf({ body }: RequestConfig, headers: Headers): string | undefined {
  if (body === undefined || body === null) return undefined;
  if (typeof body !== 'object') return String(body);
  const { type, mode, raw, fields } = body;
  const contentType = typeof body.contentType === 'string' && body.contentType !== '' ? body.contentType : null;
  const isFields = mode === 'fields' || type === 'fields' || (raw === undefined && fields !== undefined);
  if (!isFields) {
    if (raw === undefined || raw === null) return undefined;
    setType(headers, contentType ?? (typeof raw === 'object' ? 'application/json' : null));
    return plain(raw);
  }
  const entries = pairs(fields);
  if (contentType?.includes('application/x-www-form-urlencoded')) {
    setType(headers, contentType);
    return new URLSearchParams(entries).toString();
  }
  setType(headers, contentType ?? 'application/json');
  return JSON.stringify(Object.fromEntries(entries));
}

function setType(headers: Headers, contentType: string | null): void {
  if (contentType !== null && !headers.has('content-type')) headers.set('content-type', contentType);
}
