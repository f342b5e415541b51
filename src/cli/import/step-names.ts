// Names of steps: the hosted original takes capital letters (`getData`), and names here are lower-case. A step with such a
// name gets another one, and so do its references in the code and the props of all steps.

/** As the server takes names (http/wire/workflows.ts). */
const NAME = /^[a-z_][a-z0-9_]{0,63}$/;
const MAX_CHARS = 64;
const RESERVED = 'trigger';

/** Name there → name here, for those that differ. */
export type Renames = ReadonlyMap<string, string>;

export function renamesOf(names: readonly string[]): Renames {
  const isKept = (name: string): boolean => NAME.test(name);
  const taken = new Set([RESERVED, ...names.filter(isKept)]);
  const renames = new Map<string, string>();
  for (const name of names) {
    if (isKept(name) || renames.has(name)) continue;
    const plain = plainName(name);
    let free = plain.slice(0, MAX_CHARS);
    for (let n = 2; taken.has(free); n++) free = `${plain.slice(0, MAX_CHARS - 8)}_${n}`;
    taken.add(free);
    renames.set(name, free);
  }
  return renames;
}

/** Turns `getCatUrl` into `get_cat_url`. */
function plainName(name: string): string {
  const words = name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').replace(/([A-Z])([A-Z][a-z])/g, '$1_$2');
  const plain = words.toLowerCase().replace(/[^a-z0-9_]/g, '_');
  return /^[a-z_]/.test(plain) ? plain : `_${plain}`;
}

/** Members of `steps` by a dot or in brackets, and the names in braces that take `steps` apart. */
const MEMBER = /(?<![\w$])(steps\s*(?:\?\.|\.)\s*)([A-Za-z_$][\w$]*)/g;
const IN_BRACKETS = /(?<![\w$])(steps\s*(?:\?\.)?\[\s*)(['"`])([^'"`\\]+)\2/g;
const TAKEN_APART = /\{([^{}]*)\}(\s*=\s*steps\b(?!\s*[.?[(]))/g;
const IN_PARAMETERS = /(?<![\w$])(steps\s*:\s*)\{([^{}]*)\}/g;

/** Returns a text, code or the value of a prop, with the references to the renamed steps changed. */
export function withNames(text: string, renames: Renames): string {
  if (renames.size === 0) return text;
  const named = (name: string): string => renames.get(name) ?? name;
  const parts = (names: string): string =>
    names.replace(/(^|,)(\s*)([A-Za-z_$][\w$]*)(?=\s*(:|,|=|$))/g, (whole, before, space, name, after) => {
      const own = renames.get(name);
      if (own === undefined) return whole;
      return `${before}${space}${after === ':' ? own : `${own}: ${name}`}`;
    });
  return text
    .replace(MEMBER, (_, before: string, name: string) => before + named(name))
    .replace(IN_BRACKETS, (_, before: string, quote: string, name: string) => before + quote + named(name) + quote)
    .replace(TAKEN_APART, (_, names: string, after: string) => `{${parts(names)}}${after}`)
    .replace(IN_PARAMETERS, (_, before: string, names: string) => `${before}{${parts(names)}}`);
}

/** Changes the references in all texts of a value. */
export function valueWithNames(value: unknown, renames: Renames): unknown {
  if (typeof value === 'string') return withNames(value, renames);
  if (Array.isArray(value)) return value.map((item) => valueWithNames(item, renames));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, valueWithNames(member, renames)]));
}
