// A package.json that is there, when a project is made beside it.

import { CliError } from './exit.ts';

/**
 * Returns a manifest with what it lacks of `ours`, and the names of that. Its own members stay, but for `type`, where npm
 * writes `commonjs`, with which the tests of a project cannot be loaded, and for npm's script that says that there is no test. Throws `CliError`.
 */
export function completed(existing: string, ours: string, file: string): { text: string; added: string[] } {
  const added: string[] = [];
  const fill = (into: Manifest, from: Manifest, path: string): Manifest => {
    const made = { ...into };
    for (const [name, value] of Object.entries(from)) {
      const before = made[name];
      if (isManifest(before) && isManifest(value)) made[name] = fill(before, value, `${path}${name}.`);
      else if (before === undefined || (path === '' && name === 'type') || before === NO_TEST) {
        if (before !== value) added.push(path + name);
        made[name] = value;
      }
    }
    return made;
  };
  const { private: _, ...wanted } = JSON.parse(ours) as Manifest;
  const parsed = parsedManifest(existing);
  if (parsed === null) throw new CliError(`${file} is not a JSON object: nothing was written`);
  const { name, ...rest } = parsed;
  // Without a name, a project would be the same as all others without one.
  const had = typeof name === 'string' && name !== '' ? parsed : rest;
  const { name: named, ...others } = fill(had, wanted, '');
  return { text: `${JSON.stringify({ name: named, ...others }, null, 2)}\n`, added };
}

/** What `npm init` writes as the script `test`. */
const NO_TEST = 'echo "Error: no test specified" && exit 1';

type Manifest = { [member: string]: unknown };

function isManifest(value: unknown): value is Manifest {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parsedManifest(text: string): Manifest | null {
  try {
    const value: unknown = JSON.parse(text);
    return isManifest(value) ? value : null;
  } catch {
    return null;
  }
}
