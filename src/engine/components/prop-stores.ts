// What props may refer to besides plain values: accounts of apps, and data stores. Their parts implement these interfaces.

import type { Account } from '../../domain/data.ts';
import type { PropValues } from '../../domain/props.ts';
import type { Store } from '../../store/contract/store.ts';
import { accountIdOf } from '../resources/accounts.ts';
import { type AnswerRequest, answerReads, type DataReadDeps, dataStoresIn } from '../runs/data-requests.ts';

export interface Accounts {
  /** Returns the account's app, and the fields that code sees as `$auth`; undefined when the owner has no such account. */
  find(ownerId: string, accountId: string): Promise<Pick<Account, 'app' | 'fields'> | undefined>;
}

export interface DataStores {
  exists(ownerId: string, id: string): Promise<boolean>;
  /** Returns what answers a component that is being configured: reads of the owner's data stores that its props name. */
  reads(ownerId: string, configured: PropValues): AnswerRequest;
}

export interface PropStores {
  readonly accounts: Accounts;
  readonly dataStores: DataStores;
}

export function propStoresOf(store: Pick<Store, 'getAccount'> & DataReadDeps['store']): PropStores {
  return {
    accounts: { find: (ownerId, id) => store.getAccount(ownerId, id) },
    dataStores: {
      exists: async (ownerId, id) => (await store.getDataStore(ownerId, id)) !== undefined,
      reads: (ownerId, configured) => answerReads({ store }, { ownerId, storeIds: () => dataStoresIn([configured]) }),
    },
  };
}

/**
 * Returns prop name → fields for every prop whose value names an account of the owner. Code uses them for its app props
 * alone; a deleted account is left out.
 */
export async function accountsOf(
  { accounts }: PropStores,
  ownerId: string,
  configured: PropValues,
): Promise<Record<string, Readonly<Record<string, unknown>>>> {
  const found: Record<string, Readonly<Record<string, unknown>>> = {};
  for (const [prop, value] of Object.entries(configured)) {
    const id = accountIdOf(value);
    const account = id === null ? undefined : await accounts.find(ownerId, id);
    if (account !== undefined) found[prop] = account.fields;
  }
  return found;
}
