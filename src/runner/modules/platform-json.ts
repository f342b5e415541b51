// JSON of values that may have none. Part of what stands in for `@pipedream/platform`.

type Replacer = (this: unknown, key: string, value: unknown) => unknown;

/** Returns the JSON text of any value; circular references are left out. Undefined: the value has none. */
export function jsonStringify(value: unknown, replacer?: Replacer | null, indent?: string | number): string {
  const above: object[] = [];
  const safe = function (this: unknown, _key: string, item: unknown): unknown {
    if (typeof item === 'bigint') return String(item);
    if (typeof item !== 'object' || item === null) return item;
    while (above.length > 0 && above.at(-1) !== this) above.pop();
    if (above.includes(item)) return undefined;
    above.push(item);
    return item;
  };
  return JSON.stringify(value, typeof replacer === 'function' ? replacer : safe, indent);
}

/** Returns a copy of what JSON can say of a value; null when that is nothing. */
export function cloneSafe(value: unknown): unknown {
  return JSON.parse(jsonStringify(value) ?? 'null');
}
