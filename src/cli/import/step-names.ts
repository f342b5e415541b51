// Names of steps: the hosted original takes capital letters (`getData`), and names here are lower-case. A step with such a
// name gets another one, and so do its references (references.ts).

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
