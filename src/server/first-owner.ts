// A new store gets its first owner, whose key may create others. Several nodes may start at once on an empty store: each
// makes a key, the store accepts one, and the other nodes discard theirs.

import { link, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { removeAbandoned } from '../abandoned.ts';
import { SCOPES } from '../domain/keys.ts';
import type { Actions } from '../engine/actions.ts';
import { hashKey } from '../engine/resources/owners.ts';
import { throwNaming } from '../named-path.ts';
import type { Clock, Ids } from '../ports.ts';
import type { Store } from '../store/contract/store.ts';
import { type Config, ConfigError, dataPaths } from './config.ts';

export interface FirstOwner {
  /** File with the key; null when the key came from the environment, or from another node. */
  readonly keyFile: string | null;
  /** The key, only at the start that made its owner; null for a key that was there before. */
  readonly newKey: string | null;
  /** Of the key in the file or in the environment; null when neither is a key of the store. */
  readonly keyHash: string | null;
}

/** A key that has no name of its own yet. */
const UNFINISHED = /^api-key\.[\w-]+\.tmp$/;

export interface FirstOwnerDeps {
  readonly store: Store;
  readonly actions: Pick<Actions, 'createFirstOwner'>;
  readonly config: Config;
  readonly ids: Ids;
  readonly clock: Clock;
}

export async function ensureFirstOwner(deps: FirstOwnerDeps): Promise<FirstOwner> {
  const { store, config, clock } = deps;
  const made = await ensure(deps);
  // A first start that was killed between the two names of its key has left it under both.
  await removeAbandoned(config.dataDir, UNFINISHED, clock.nowMs());
  const apiKey = made.keyFile === null ? config.apiKey : await readKey(made.keyFile);
  const keyHash = apiKey === null ? null : hashKey(apiKey);
  const isKnown = keyHash !== null && (await store.keyByHash(keyHash)) !== undefined;
  return { ...made, keyHash: isKnown ? keyHash : null };
}

async function ensure({ store, actions, config, ids }: FirstOwnerDeps): Promise<Omit<FirstOwner, 'keyHash'>> {
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
  if (isFirst || (await opens(apiKey))) return { keyFile, newKey: isFirst && kept === null ? apiKey : null };
  if (made !== null) await rm(keyFile, { force: true });
  return { keyFile: null, newKey: null };
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
  await writeFile(temporary, `${apiKey}\n`, { mode: 0o600, flush: true }).catch(async (error) => {
    await rm(temporary, { force: true });
    throwNaming(keyFile)(error);
  });
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
