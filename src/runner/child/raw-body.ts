// The request body behind an HTTP event, as it was sent: `body` holds it verbatim when it was JSON.

/** `text` is the event's JSON text (known to be valid), `body` its parsed `body` member. */
export function rawBodyOf(text: string, body: unknown): string {
  if (body === null || body === undefined) return '';
  if (typeof body === 'string') return body;
  return memberText(text, 'body') ?? JSON.stringify(body);
}

/** The text of a member's value in a JSON object; of the last one where a name is repeated, as JSON.parse has it. */
function memberText(text: string, name: string): string | undefined {
  let found: string | undefined;
  let at = text.indexOf('{') + 1;
  while (at > 0) {
    const key = text.indexOf('"', at);
    if (key < 0) break;
    const keyEnd = stringEnd(text, key);
    const start = skipSpace(text, text.indexOf(':', keyEnd) + 1);
    const end = valueEnd(text, start);
    if (JSON.parse(text.slice(key, keyEnd)) === name) found = text.slice(start, end).trimEnd();
    if (text[end] !== ',') break;
    at = end + 1;
  }
  return found;
}

/** Behind the closing quote of the string that begins at `at`. */
function stringEnd(text: string, at: number): number {
  let end = at + 1;
  while (end < text.length && text[end] !== '"') end += text[end] === '\\' ? 2 : 1;
  return end + 1;
}

function skipSpace(text: string, at: number): number {
  let next = at;
  while (text[next] === ' ' || text[next] === '\n' || text[next] === '\r' || text[next] === '\t') next++;
  return next;
}

/** At the comma or brace that follows the value which begins at `at`. */
function valueEnd(text: string, at: number): number {
  let depth = 0;
  let next = at;
  while (next < text.length) {
    const char = text[next];
    if (char === '"') {
      next = stringEnd(text, next);
      continue;
    }
    if (depth === 0 && (char === ',' || char === '}')) break;
    if (char === '{' || char === '[') depth++;
    if (char === '}' || char === ']') depth--;
    next++;
  }
  return next;
}
