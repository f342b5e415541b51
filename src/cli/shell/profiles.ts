// Profiles: the servers that a person works with, each with its address and key, in a file that only they can read.

import { chmod, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { makeFolder } from '../../make-folder.ts';
import { throwNaming } from '../../named-path.ts';
import { CliError } from './exit.ts';

export interface Profile {
  readonly url: string;
  readonly key: string;
}

export interface Profiles {
  /** The name of the profile that is used where none is named; null: none. */
  readonly current: string | null;
  readonly profiles: Readonly<Record<string, Profile>>;
}

const NONE: Profiles = { current: null, profiles: {} };
const NAME = /^[\w.-]{1,64}$/;
const OTHERS = 0o077;

export function profilesFile(env: NodeJS.ProcessEnv = process.env): string {
  return join(env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'errand', 'profiles.json');
}

/** Throws `CliError` when other users can read the keys, or the file is not as this program writes it. */
export async function readProfiles(file = profilesFile()): Promise<Profiles> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
    throw error;
  });
  if (text === null) return NONE;
  const { mode } = await stat(file);
  if (process.platform !== 'win32' && (mode & OTHERS) !== 0)
    throw new CliError(`${file} has keys and other users can read it: chmod 600 ${file}`);
  try {
    const { current = null, profiles } = JSON.parse(text) as Partial<Profiles>;
    const isNamed = current === null || typeof current === 'string';
    if (isNamed && typeof profiles === 'object' && profiles !== null && Object.values(profiles).every(isProfile))
      return { current, profiles };
  } catch {
    // told below
  }
  throw new CliError(`${file} is not JSON as "errand login" writes it: correct it, or remove it and log in again`);
}

function isProfile(value: unknown): value is Profile {
  const { url, key } = (value ?? {}) as Partial<Profile>;
  return typeof url === 'string' && typeof key === 'string';
}

/** Writes beside the file and renames, so that a crash leaves the old one or the new one. */
export async function writeProfiles(all: Profiles, file = profilesFile()): Promise<void> {
  await makeFolder(resolve(dirname(file)), 0o700);
  const made = `${file}.${process.pid}.tmp`;
  await writeFile(made, `${JSON.stringify(all, null, 2)}\n`, { mode: 0o600 }).catch(async (error) => {
    await rm(made, { force: true });
    throwNaming(file)(error);
  });
  // A file that was left behind keeps its mode.
  await chmod(made, 0o600);
  await rename(made, file);
}

export function checkName(name: string): string {
  if (NAME.test(name)) return name;
  throw new CliError(
    `a profile's name has 1 to 64 letters, digits, dots, dashes and underscores, but was "${name}"`,
    2,
  );
}

/** Throws `CliError` naming those that are there. */
export function profileNamed({ profiles }: Profiles, name: string): Profile {
  const found = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (found) return found;
  const names = Object.keys(profiles);
  const there = names.length === 0 ? 'there is none: make one with "errand login"' : `there are ${names.join(', ')}`;
  throw new CliError(`there is no profile "${name}"; ${there}`, 3);
}
