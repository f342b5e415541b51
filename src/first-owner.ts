// A new store gets its first owner, whose key may make others.

import { readFile, writeFile } from 'node:fs/promises';
import { type Config, dataPaths } from './config.ts';
import type { Actions } from './engine/actions.ts';
import type { Ids } from './ports.ts';
import type { Store } from './store/store.ts';

export interface FirstOwner {
  /** File with the key; null when it was given in the environment. */
  readonly keyFile: string | null;
  /** The key, only at the start that made it. */
  readonly newKey: string | null;
}

export interface FirstOwnerDeps {
  readonly store: Store;
  readonly actions: Actions;
  readonly config: Config;
  readonly ids: Ids;
}

export async function ensureFirstOwner({ store, actions, config, ids }: FirstOwnerDeps): Promise<FirstOwner> {
  const keyFile = dataPaths(config.dataDir).apiKey;
  const kept = await readFile(keyFile, 'utf8').then(
    (text) => text.trim(),
    () => null,
  );
  if ((await store.listOwners()).length > 0) return { keyFile: kept === null ? null : keyFile, newKey: null };
  const scopes = ['read', 'write', 'admin'] as const;
  const owner = { name: 'Owner', email: config.mailTo, scopes };
  if (config.apiKey !== null) {
    await actions.createOwner({ ...owner, apiKey: config.apiKey });
    return { keyFile: null, newKey: null };
  }
  // The file is written first: a key that is in the store and nowhere else would lock everybody out.
  const apiKey = kept ?? `ek_${ids.secret()}${ids.secret()}`;
  if (kept === null) await writeFile(keyFile, `${apiKey}\n`, { mode: 0o600, flag: 'wx', flush: true });
  await actions.createOwner({ ...owner, apiKey });
  return { keyFile, newKey: apiKey };
}
