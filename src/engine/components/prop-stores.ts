// What props may name besides plain values: accounts of apps, and data stores. The parts that keep them plug in here.

import type { PropValues } from '../../domain/props.ts';
import type { Store } from '../../store/contract/store.ts';
import { accountIdOf } from '../resources/accounts.ts';

export interface Accounts {
  /** The fields that code sees as `$auth`; undefined when the owner has no such account. */
  fieldsOf(ownerId: string, accountId: string): Promise<Readonly<Record<string, unknown>> | undefined>;
}

export interface DataStores {
  exists(ownerId: string, id: string): Promise<boolean>;
}

export interface PropStores {
  readonly accounts: Accounts;
  readonly dataStores: DataStores;
}

export function propStoresOf(store: Pick<Store, 'getAccount' | 'getDataStore'>): PropStores {
  return {
    accounts: { fieldsOf: async (ownerId, id) => (await store.getAccount(ownerId, id))?.fields },
    dataStores: { exists: async (ownerId, id) => (await store.getDataStore(ownerId, id)) !== undefined },
  };
}

/**
 * Prop name → fields, of whatever names an account of the owner's. The code takes them for its app props alone; one that
 * is gone is not among them.
 */
export async function accountsOf(
  { accounts }: PropStores,
  ownerId: string,
  configured: PropValues,
): Promise<Record<string, Readonly<Record<string, unknown>>>> {
  const found: Record<string, Readonly<Record<string, unknown>>> = {};
  for (const [prop, value] of Object.entries(configured)) {
    const id = accountIdOf(value);
    const fields = id === null ? undefined : await accounts.fieldsOf(ownerId, id);
    if (fields !== undefined) found[prop] = fields;
  }
  return found;
}
