// The JSON text of messages, which code in the same process cannot change.

// Kept before user code can replace them: without these, the process could not even report what went wrong.
const { stringify } = JSON;
const { isArray } = Array;
const { create, defineProperty, hasOwn, keys } = Object;
const SHARED = [Object.prototype, Array.prototype] as const;

/** Returns the JSON text of messages: plain objects and arrays of plain values. */
export function messageJson(messages: readonly object[]): string {
  return stringify(hasSharedToJson() ? withoutToJson(messages) : messages);
}

/** Returns whether code has given all objects or arrays a `toJSON`, as some old libraries do: it would be asked for ours, too. */
function hasSharedToJson(): boolean {
  return hasOwn(SHARED[0], 'toJSON') || hasOwn(SHARED[1], 'toJSON');
}

const NO_TO_JSON = { __proto__: null, value: undefined };

/** Copies a value, so that none of its objects and arrays inherits a `toJSON`. */
function withoutToJson(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const copy = isArray(value) ? [] : create(null);
  defineProperty(copy, 'toJSON', NO_TO_JSON as PropertyDescriptor);
  const names = keys(value);
  for (let i = 0; i < names.length; i++) {
    const name = names[i] as string;
    const inner = withoutToJson((value as Readonly<Record<string, unknown>>)[name]);
    defineProperty(copy, name, { __proto__: null, value: inner, enumerable: true } as PropertyDescriptor);
  }
  return copy;
}
