// What props may name besides plain values: accounts of apps, and data stores. Whoever keeps them plugs in here.

import type { PropValues } from '../domain/props.ts';

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

/** Where there are neither. */
export const NO_PROP_STORES: PropStores = {
  accounts: { fieldsOf: async () => undefined },
  dataStores: { exists: async () => false },
};

export function accountIdOf(configured: unknown): string | null {
  const id = (configured as { authProvisionId?: unknown } | null | undefined)?.authProvisionId;
  return typeof id === 'string' ? id : null;
}

/** The id of a data store: itself, or in `{id}`. */
export function dataStoreIdOf(configured: unknown): string | null {
  if (typeof configured === 'string') return configured;
  const id = (configured as { id?: unknown } | null | undefined)?.id;
  return typeof id === 'string' ? id : null;
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
