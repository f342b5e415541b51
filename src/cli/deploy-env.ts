// Variables that are sent with workflow files: those of `.env` in their folder, or of the file that is named.

import { access, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ENV_FILE, variablesOf } from '../env-file.ts';
import { CliError, EXIT } from './shell/exit.ts';

export interface Variables {
  readonly env: Readonly<Record<string, string>>;
  /** They come from; null: there is no such file. */
  readonly file: string | null;
}

/** Returns the variables for a folder. `given`: a file that is read in the place of its own. Throws `CliError` when that cannot be read. */
export async function readVariables(dir: string, given: string | undefined): Promise<Variables> {
  if (given === undefined) {
    const file = join(dir, ENV_FILE);
    const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      // Without them, workflows would be deployed that lack what they need.
      throw new CliError(`${file} cannot be read: ${error.message}`);
    });
    return text === null ? { env: {}, file: null } : { env: variablesOf(text), file };
  }
  const text = await readFile(given, 'utf8').catch((error: Error) => {
    throw new CliError(`${given} cannot be read: ${error.message}`, EXIT.notFound);
  });
  return { env: variablesOf(text), file: given };
}

/** Returns the file `.env` beside the package.json above a folder that has none itself; null: there is no such file. */
export async function unreadEnv(dir: string): Promise<string | null> {
  if (await isThere(join(dir, ENV_FILE))) return null;
  for (let at = dirname(dir); ; at = dirname(at)) {
    if (await isThere(join(at, 'package.json'))) {
      const file = join(at, ENV_FILE);
      return (await isThere(file)) ? file : null;
    }
    if (at === dirname(at)) return null;
  }
}

function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** Returns the variables of a workflow that neither the file of variables nor its own file names: what was set before stays. */
export function keptVariables(
  set: Readonly<Record<string, string>>,
  { env, source }: { readonly env: Variables['env']; readonly source: string },
): string[] {
  return Object.keys(set).filter((name) => !Object.hasOwn(env, name) && !isMember(source, name));
}

/** Returns whether code has an object with a member of that name, as `settings.env` of a workflow file is one. */
function isMember(source: string, name: string): boolean {
  return new RegExp(`(?<![\\w$.?])(?:${name}|'${name}'|"${name}")\\s*:`).test(source);
}
