// The command that sends an event to an HTTP trigger as it first came: method, path, query, content type and the body's bytes.

const FORM = 'application/x-www-form-urlencoded';
/** What Linux takes as one argument of a program is 128 KB. */
const MAX_ARGUMENT_CHARS = 100_000;
/** What a terminal may obey when the command is pasted, and what no argument can hold. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are meant
const UNPASTABLE = /[\0-\x08\x0b-\x1f\x7f-\x9f]/;
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:,]|[^\s{}[\]:,"]+/g;

/** Returns null for an event of something else. */
export function curlOf(text: string, endpointUrl: string): string | null {
  const event: unknown = JSON.parse(text);
  if (typeof event !== 'object' || event === null || !('method' in event)) return null;
  const { method, path, url, headers } = event as Readonly<Record<string, unknown>>;
  const search = typeof url === 'string' && URL.canParse(url) ? new URL(url).search : '';
  const address = endpointUrl + (typeof path === 'string' && path !== '/' ? path : '') + search;
  const given = (typeof headers === 'object' && headers !== null ? headers : {}) as Readonly<Record<string, unknown>>;
  const body = bodyOf(memberText(text, 'body') ?? 'null', given);
  const type = given['content-type'] ?? (body === null ? undefined : 'headers' in event ? '' : 'application/json');
  const parts = [`curl -sS ${method === 'HEAD' ? '-I' : `-X ${quoted(String(method))}`}`];
  // Brackets would be ranges of addresses, and dots would be gone.
  if (/[[\]{}]/.test(address)) parts[0] += ' -g';
  if (/\/\.\.?(?:[/?]|$)/.test(address)) parts[0] += ' --path-as-is';
  parts[0] += ` ${quoted(address)}`;
  // An empty one is not sent, and keeps curl from naming its own.
  if (type !== undefined) parts.push(`-H ${quoted(`content-type:${type === '' ? '' : ` ${String(type)}`}`)}`);
  if (body === null) return parts.join(' \\\n  ');
  const isText = typeof body === 'string' && !UNPASTABLE.test(body);
  // Not `--data`: a body that begins with @ would name a file.
  if (isText && body.length <= MAX_ARGUMENT_CHARS) return [...parts, `--data-raw ${quoted(body)}`].join(' \\\n  ');
  // `printf` is part of the shell, and takes any length.
  const from = isText ? `printf %s ${quoted(body)}` : `printf %s ${quoted(base64Of(body))} | base64 -d`;
  return `${from} | ${[...parts, '--data-binary @-'].join(' \\\n  ')}`;
}

/** Returns what came as the body: text, or bytes in base64; null: nothing. `shown` is what the event has for it. */
function bodyOf(
  shown: string,
  headers: Readonly<Record<string, unknown>>,
): string | { readonly base64: string } | null {
  const value: unknown = JSON.parse(shown);
  const bytes = Number(headers['content-length'] ?? Number.NaN);
  const type =
    String(headers['content-type'] ?? '')
      .split(';', 1)[0]
      ?.trim()
      .toLowerCase() ?? '';
  const isJson = /^(?:application|text)\/json$|\+json$/.test(type);
  if (value === null) return isJson && bytes > 0 ? shown : null;
  // What claims to be JSON and is none is shown as text: it is as long as the text then, without quotes.
  if (typeof value === 'string') return isJson && new TextEncoder().encode(value).length !== bytes ? shown : value;
  if (isJson || typeof value !== 'object') return shown;
  const { $base64: base64 } = value as { readonly $base64?: unknown };
  if (typeof base64 === 'string') return { base64 };
  return type === FORM ? formOf(value) : shown;
}

function formOf(value: object): string {
  const form = new URLSearchParams();
  for (const [name, given] of Object.entries(value))
    for (const one of Array.isArray(given) ? given : [given]) form.append(name, String(one));
  return form.toString();
}

function base64Of(body: string | { readonly base64: string }): string {
  if (typeof body !== 'string') return body.base64;
  return btoa(Array.from(new TextEncoder().encode(body), (byte) => String.fromCharCode(byte)).join(''));
}

/** Returns the text of a member of an object as it was written: the last one of its name, which is the one that counts. */
function memberText(text: string, name: string): string | undefined {
  let found: string | undefined;
  let depth = 0;
  let [key, last] = ['', ''];
  let start = -1;
  for (const { 0: token, index } of text.matchAll(TOKENS)) {
    const isEnd = depth === 1 && (token === ',' || token === '}');
    if (isEnd && start >= 0) {
      found = text.slice(start, index).trim();
      start = -1;
    }
    if (token === '{' || token === '[') depth++;
    else if (token === '}' || token === ']') depth--;
    if (depth === 1 && token === ':') key = last;
    // The value begins behind the colon.
    if (depth === 1 && token === ':' && key === JSON.stringify(name)) start = index + 1;
    last = token;
  }
  return found;
}

function quoted(text: string): string {
  return /^[\w./:=@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
