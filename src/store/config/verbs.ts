// All verbs of the configuration, for either database.

import type { AccountStore, DataStoreStore } from '../contract/data.ts';
import { accountVerbs } from './accounts.ts';
import type { ConfigCore } from './config-database.ts';
import { dataStoreVerbs } from './data-stores.ts';

export type ConfigStore = AccountStore & DataStoreStore;

export function configVerbs(core: ConfigCore): ConfigStore {
  return { ...accountVerbs(core), ...dataStoreVerbs(core) };
}
