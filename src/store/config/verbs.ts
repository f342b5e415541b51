// All verbs of the configuration, for either database.

import type { AccountStore } from '../contract/data.ts';
import { accountVerbs } from './accounts.ts';
import type { ConfigCore } from './config-database.ts';

export type ConfigStore = AccountStore;

export function configVerbs(core: ConfigCore): ConfigStore {
  return { ...accountVerbs(core) };
}
