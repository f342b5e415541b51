// A new store gets its first owner, whose key may create others. Several nodes may start at once on an empty store: each
// makes a key, the store accepts one, and the other nodes discard theirs.

import { link, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { SCOPES } from '../domain/keys.ts';
import type { Actions } from '../engine/actions.ts';
import { hashKey } from '../engine/resources/owners.ts';
import type { Ids, Log } from '../ports.ts';
import type { Store } from '../store/contract/store.ts';
import { type Config, ConfigError, dataPaths, maxOwnersOf } from './config.ts';

export interface FirstOwner {
  /** File with the key; null when the key came from the environment, or from another node. */
  readonly keyFile: string | null;
  /** The key, only at the start that created it. */
  readonly newKey: string | null;
}

export interface FirstOwnerDeps {
  readonly store: Store;
  readonly actions: Pick<Actions, 'createFirstOwner'>;
  readonly config: Config;
  readonly ids: Ids;
}

export async function ensureFirstOwner({ store, actions, config, ids }: FirstOwnerDeps): Promise<FirstOwner> {
  const keyFile = dataPaths(config.dataDir).apiKey;
  const opens = async (key: string | null): Promise<boolean> =>
    key !== null && (await store.keyByHash(hashKey(key))) !== undefined;
  const kept = await readKey(keyFile);
  if ((await store.listOwners()).length > 0) return { keyFile: (await opens(kept)) ? keyFile : null, newKey: null };
  const owner = { name: 'Owner', email: config.mailTo, scopes: SCOPES };
  if (config.apiKey !== null) {
    await actions.createFirstOwner({ ...owner, apiKey: config.apiKey });
    return { keyFile: null, newKey: null };
  }
  // The file is written first: a key that is only in the store is lost to its owner.
  const made = kept === null ? await makeKey(keyFile, ids) : null;
  const apiKey = made ?? kept ?? (await readKey(keyFile));
  if (apiKey === null) throw new ConfigError(`${keyFile} is there and has no key in it: remove it, and one is made`);
  const isFirst = (await actions.createFirstOwner({ ...owner, apiKey })) !== null;
  // A process on the same data dir may have been first, with the key of this file.
  if (isFirst || (await opens(apiKey))) return { keyFile, newKey: isFirst ? apiKey : null };
  if (made !== null) await rm(keyFile, { force: true });
  return { keyFile: null, newKey: null };
}

/** Warns of more owners than the isolation level allows: they keep working, and only further ones are refused. */
export async function warnOfOwners(config: Config, log: Log, store: Store): Promise<void> {
  const [max, { length: owners }] = [maxOwnersOf(config), await store.listOwners()];
  if (max === null || owners <= max) return;
  log.warn(
    { owners, owners_without_jail: max },
    'more owners than ERRAND_OWNERS_WITHOUT_JAIL allows: their code is not isolated from each other at level process; set ERRAND_ISOLATION to jail',
  );
}

async function readKey(keyFile: string): Promise<string | null> {
  return readFile(keyFile, 'utf8').then(
    (text) => text.trim() || null,
    () => null,
  );
}

/** Returns null when another process has written a key meanwhile. The file appears whole or not at all. */
async function makeKey(keyFile: string, ids: Ids): Promise<string | null> {
  const apiKey = `ek_${ids.secret()}${ids.secret()}`;
  const temporary = `${keyFile}.${ids.secret()}.tmp`;
  await writeFile(temporary, `${apiKey}\n`, { mode: 0o600, flush: true });
  try {
    await link(temporary, keyFile);
    return apiKey;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return null;
    // A file system without hard links.
    await rename(temporary, keyFile);
    return apiKey;
  } finally {
    await rm(temporary, { force: true });
  }
}
