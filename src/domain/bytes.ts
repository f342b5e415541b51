// JSON text composed of bytes that stay unchanged and parts that Errand writes.

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export function utf8(text: string): Uint8Array {
  return encoder.encode(text);
}

export function text(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

export function concat(parts: readonly Uint8Array[]): Uint8Array {
  let length = 0;
  for (const part of parts) length += part.byteLength;
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.byteLength;
  }
  return whole;
}

/** `JSON` with what Node.js has and the types of TypeScript do not. */
const EXACT = JSON as unknown as {
  parse(text: string, reviver: (name: string, value: unknown, of: { readonly source: string }) => unknown): unknown;
  rawJSON(text: string): unknown;
};

/** Returns JSON whose numbers are written again as they were, also those that no number of JavaScript can hold. */
export function exactJson(json: string): unknown {
  return EXACT.parse(json, (_, value, { source }) => (typeof value === 'number' ? EXACT.rawJSON(source) : value));
}
