// Encodes values as names and texts, for query strings and forms. Part of what stands in for `@pipedream/platform`.

export type Pair = readonly [name: string, value: unknown];

/** How the items of a list are named: `a[]`, `a[0]`, or `a` again. */
export type ListNames = 'brackets' | 'indices' | 'repeat';

/**
 * Returns the pairs of an object; nested members are named `a[b]`, and items of nested lists `a[b][0]`. Undefined and null
 * are left out; values that are no plain objects stay as they are.
 */
export function pairsOf(values: object, lists: ListNames = 'brackets'): Pair[] {
  return Object.entries(values).flatMap(([name, value]) => pairsUnder(name.replace(/\[\]$/, ''), value, lists));
}

function pairsUnder(name: string, value: unknown, lists: ListNames): Pair[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) {
    const isFlat = value.every((item) => !Array.isArray(item) && !isPlain(item));
    return value.flatMap((item, i) => pairsUnder(name + suffix(isFlat ? lists : 'indices', i), item, 'indices'));
  }
  if (!isPlain(value)) return [[name, value]];
  return Object.entries(value).flatMap(([key, inner]) => pairsUnder(`${name}[${key}]`, inner, 'indices'));
}

function suffix(lists: ListNames, index: number): string {
  if (lists === 'repeat') return '';
  return lists === 'indices' ? `[${index}]` : '[]';
}

export function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value) as unknown;
  return prototype === Object.prototype || prototype === null;
}

export function textOf(value: unknown): string {
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Uint8Array) return Buffer.from(value).toString();
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
}

export function encoded(pairs: readonly Pair[]): string {
  return pairs.map(([name, value]) => `${encode(name)}=${encode(textOf(value))}`).join('&');
}

/** Encodes a text, but leaves these characters as they are: some servers compare addresses as texts. */
function encode(text: string): string {
  const kept: Readonly<Record<string, string>> = { '%3A': ':', '%24': '$', '%2C': ',', '%20': '+' };
  return encodeURIComponent(text.toWellFormed()).replace(/%(?:3A|24|2C|20)/g, (code) => kept[code] as string);
}

type Serialize = (params: unknown) => string;

/** A function, as in older versions of axios, or an object, as in newer ones. */
export type ParamsSerializer = Serialize | { readonly serialize?: Serialize; readonly indexes?: boolean | null };

/** Returns `url` with the parameters appended to its own. */
export function withParams(given: string, params: unknown, serializer: ParamsSerializer | undefined): string {
  const url = plusesKept(given);
  if (typeof params !== 'object' || params === null) return url;
  const query = queryOf(params, serializer);
  const own = params instanceof URLSearchParams ? [...params.keys()] : Object.keys(params);
  const address = withoutPairs(url.split('#', 1)[0] as string, own);
  if (query === '') return address;
  return `${address}${address.includes('?') ? '&' : '?'}${query}`;
}

/**
 * Encodes each `+` in an address's own parameters. Components put texts there as they are, such as `?email=ada+shop@example.com`,
 * and a server would read a space.
 */
function plusesKept(address: string): string {
  const at = address.indexOf('?');
  return at === -1 ? address : address.slice(0, at) + address.slice(at).replaceAll('+', '%2B');
}

/**
 * Returns an address without the pairs of these names. A parameter of the configuration stands in place of the address's own of
 * that name.
 */
function withoutPairs(address: string, names: readonly string[]): string {
  const at = address.indexOf('?');
  if (at === -1) return address;
  const isOther = (pair: string): boolean => !names.includes([...new URLSearchParams(pair).keys()][0] ?? '');
  const kept = address
    .slice(at + 1)
    .split('&')
    .filter((pair) => pair !== '' && isOther(pair));
  return address.slice(0, at) + (kept.length === 0 ? '' : `?${kept.join('&')}`);
}

function queryOf(params: object, serializer: ParamsSerializer | undefined): string {
  const serialize = typeof serializer === 'function' ? serializer : serializer?.serialize;
  if (serialize !== undefined) return serialize(params);
  if (params instanceof URLSearchParams) return params.toString();
  const indexes = typeof serializer === 'object' ? serializer.indexes : undefined;
  const lists = indexes === null ? 'repeat' : indexes === true ? 'indices' : 'brackets';
  return encoded(pairsOf(params, lists)).replace(/%5B/g, '[').replace(/%5D/g, ']');
}
