// Suggestions for a name that was not found.

const SHOWN = 5;
const LOOKED_AT = 2000;

/** Returns the most similar first. The last part of a path counts before the others. */
export function similarNames(names: readonly string[], wanted: string): string[] {
  // Comparing is slow, so among very many names only those with the same beginning are compared.
  const alike = names.filter((name) => beginsAlike(name, wanted));
  const others = names.filter((name) => !beginsAlike(name, wanted));
  return [...alike, ...others]
    .slice(0, LOOKED_AT)
    .map((name) => ({ name, far: 2 * distance(lastOf(name), lastOf(wanted)) + distance(name, wanted) }))
    .sort((a, b) => a.far - b.far)
    .slice(0, SHOWN)
    .map(({ name }) => name);
}

function beginsAlike(name: string, wanted: string): boolean {
  return lastOf(name).slice(0, 3) === lastOf(wanted).slice(0, 3) || name.split('/', 1)[0] === wanted.split('/', 1)[0];
}

function lastOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** Counts the letters to add, remove or change. */
function distance(given: string, other: string): number {
  const [a, b] = [given.slice(0, 200), other.slice(0, 200)];
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const changed = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(changed, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return row[b.length] as number;
}
