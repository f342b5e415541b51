// Writes answers as JSON text. Bytes that the store keeps (events, original events, errors) go in unchanged.

/** JSON text in UTF-8 that goes into an answer unchanged. */
export class Verbatim {
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }
}

/** Returns the JSON text of `value`, with every Verbatim in it spliced in. Walks the server's own records only, so depth is bounded. */
export function encodeJson(value: unknown): string | Buffer {
  const parts: (string | Uint8Array)[] = [''];
  write(value, parts);
  if (parts.length === 1) return parts[0] as string;
  return Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
}

function write(value: unknown, parts: (string | Uint8Array)[]): void {
  if (value instanceof Verbatim) parts.push(value.bytes, '');
  else if (Array.isArray(value)) writeArray(value, parts);
  else if (isRecord(value)) writeRecord(value, parts);
  else text(parts, JSON.stringify(value) ?? 'null');
}

function writeArray(items: readonly unknown[], parts: (string | Uint8Array)[]): void {
  text(parts, '[');
  items.forEach((item, i) => {
    if (i > 0) text(parts, ',');
    write(item, parts);
  });
  text(parts, ']');
}

function writeRecord(record: Record<string, unknown>, parts: (string | Uint8Array)[]): void {
  text(parts, '{');
  let first = true;
  for (const [name, value] of Object.entries(record)) {
    if (value === undefined) continue;
    text(parts, `${first ? '' : ','}${JSON.stringify(name)}:`);
    write(value, parts);
    first = false;
  }
  text(parts, '}');
}

function text(parts: (string | Uint8Array)[], more: string): void {
  parts[parts.length - 1] += more;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
