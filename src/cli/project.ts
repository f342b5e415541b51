// Which project files belong to that are deployed by hand: two folders on one server must not take each other's workflows for
// files that are gone. The nearest package.json names it, with the folder's place below it: so it is the same on every machine.

import { readFile } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { CliError, EXIT } from './shell/exit.ts';

const PROJECT = /^[\w@.-]+(\/[\w@.-]+)*$/;
const MAX_CHARS = 255;

/** Returns the name that was given, checked, or that of the folder's package; null: there is none. */
export async function projectOf(dir: string, given: string | undefined): Promise<string | null> {
  if (given !== undefined) {
    if (PROJECT.test(given) && given.length <= MAX_CHARS) return given;
    throw new CliError(`--project: "${given}" is no name such as shop or shop/workflows`, EXIT.usage);
  }
  for (let at = dir; ; at = dirname(at)) {
    const name = await packageName(join(at, 'package.json'));
    const below = relative(at, dir).split(sep).join('/');
    const project = below === '' ? name : `${name}/${below}`;
    // A folder may be called what no project is, such as with a blank.
    if (name !== null) return PROJECT.test(project ?? '') && (project ?? '').length <= MAX_CHARS ? project : null;
    if (at === dirname(at)) return null;
  }
}

async function packageName(file: string): Promise<string | null> {
  const json = await readFile(file, 'utf8').catch(() => null);
  if (json === null) return null;
  try {
    const { name } = JSON.parse(json) as { readonly name?: unknown };
    return typeof name === 'string' && name !== '' ? name : null;
  } catch {
    return null;
  }
}
