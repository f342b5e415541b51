// What props may refer to besides plain values: accounts of apps, and data stores. Their parts implement these interfaces.

import type { Account } from '../../domain/data.ts';
import type { PropValues } from '../../domain/props.ts';
import type { PropsInput } from '../../runner/runner.ts';
import type { Store } from '../../store/contract/store.ts';
import type { AccountTokens } from '../resources/account-tokens.ts';
import { accountIdOf } from '../resources/accounts.ts';
import { type AnswerRequest, answerReads, type DataReadDeps, dataStoresIn } from '../runs/data-requests.ts';

export interface Accounts {
  /** Returns the account's app; undefined when the owner has no such account. */
  find(ownerId: string, accountId: string): Promise<Pick<Account, 'app'> | undefined>;
  /** Returns the fields that code sees as `$auth`, with a token that is renewed when it must be. */
  usable: AccountTokens['usable'];
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

export function propStoresOf(
  store: Pick<Store, 'getAccount'> & DataReadDeps['store'],
  { usable }: Pick<AccountTokens, 'usable'>,
): PropStores {
  return {
    accounts: { find: (ownerId, id) => store.getAccount(ownerId, id), usable },
    dataStores: {
      exists: async (ownerId, id) => (await store.getDataStore(ownerId, id)) !== undefined,
      reads: (ownerId, configured) => answerReads({ store }, { ownerId, storeIds: () => dataStoresIn([configured]) }),
    },
  };
}

/**
 * Returns prop name → fields for every prop whose value names an account of the owner, or why they cannot be used. Code uses
 * them for its app props alone; a deleted account is left out.
 */
export async function accountsOf(
  { accounts }: PropStores,
  ownerId: string,
  configured: PropValues,
): Promise<Required<Pick<PropsInput, 'accounts' | 'refusedAccounts'>>> {
  const found: Record<string, Readonly<Record<string, unknown>>> = {};
  const refusedAccounts: Record<string, string> = {};
  for (const [prop, value] of Object.entries(configured)) {
    const id = accountIdOf(value);
    const usable = id === null ? undefined : await accounts.usable(ownerId, id);
    if (usable === undefined) continue;
    if (usable.refused === null) found[prop] = usable.account.fields;
    else refusedAccounts[prop] = usable.refused;
  }
  return { accounts: found, refusedAccounts };
}
