// The operator's keys for the secrets in the store: ERRAND_SECRET_KEY, and the file `secret-key` in the data dir. With
// SQLite, the file is created when there is neither.

import {
  closeSync,
  constants,
  copyFileSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { naming } from '../named-path.ts';
import type { Random } from '../ports.ts';
import { type SecretKey, spellSecretKey } from '../store/seal/seal-key.ts';
import { type Config, ConfigError, dataPaths } from './config.ts';
import { readSecretKey } from './settings/readers.ts';

const KEY_BYTES = 32;

/** Returns the setting's key first. Throws `ConfigError` when the file contains no key. */
export function secretKeysOf({ secretKey, dataDir, databaseUrl }: Config): SecretKey[] {
  const file = dataPaths(dataDir).secretKey;
  const kept = readFile(file);
  return [
    ...(secretKey === null ? [] : [{ key: secretKey, from: 'ERRAND_SECRET_KEY', isShared: true }]),
    // Processes that share a database have separate data dirs: a key in only one of them would lock out the others.
    ...(kept === null ? [] : [{ key: kept, from: file, isShared: databaseUrl === null }]),
  ];
}

/**
 * Writes a key, which is durable under its name before it is returned: no secret is sealed with a key that a power cut
 * loses. To be called under the store's lock. Never overwrites a key.
 */
export function makeSecretKeyFile(file: string, random: Random): SecretKey {
  const temporary = `${file}.new`;
  rmSync(temporary, { force: true });
  const text = `${spellSecretKey(random.bytes(KEY_BYTES))}\n`;
  naming(file, () => writeFileSync(temporary, text, { mode: 0o600, flag: 'wx', flush: true }));
  putInPlace(temporary, file);
  rmSync(temporary);
  sync(dirname(file));
  return { key: readFile(file) as string, from: file, isShared: true };
}

/** Fails when the file exists. */
function putInPlace(temporary: string, file: string): void {
  try {
    linkSync(temporary, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw error;
    // A file system without hard links.
    copyFileSync(temporary, file, constants.COPYFILE_EXCL);
    sync(file);
  }
}

function sync(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Returns null when there is no such file. */
function readFile(file: string): string | null {
  let text: string;
  try {
    text = readFileSync(file, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new ConfigError(`${file} cannot be read: ${(error as Error).message}`);
  }
  try {
    return readSecretKey(text);
  } catch (error) {
    throw new ConfigError(`${file}: what is in it is not ${(error as Error).message}`);
  }
}
