// The one command that adds packages. Their names come from code: nothing in them may be a part of the command itself.

const PLAIN = /^[\w@./:^~-]+$/;

/**
 * Returns the command for a folder and packages as npm takes them (`luxon@^3`), each name once; null when there are none.
 * Of a name with several versions the first one counts, and a version counts before none.
 */
export function installCommand(dir: string, packages: readonly string[]): string | null {
  const byName = new Map<string, string>();
  for (const text of packages) {
    const name = nameOf(text);
    if ((byName.get(name) ?? name) === name) byName.set(name, text);
  }
  if (byName.size === 0) return null;
  return ['npm install --prefix', ...[dir, ...[...byName.values()].sort()].map(quoted)].join(' ');
}

/** Returns the name of a package without its version. The name begins with `@` where it has a scope. */
function nameOf(text: string): string {
  const at = text.indexOf('@', 1);
  return at === -1 ? text : text.slice(0, at);
}

function quoted(word: string): string {
  return PLAIN.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
