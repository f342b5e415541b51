// Props that refer to the owner's accounts and data stores.

import { isResourceId, PREFIX } from '../../domain/ids.ts';

/** Returns why the value is invalid for such a prop; null when its shape is valid. Does not check that the account exists. */
export function whyNotApp(value: unknown): string | null {
  const { authProvisionId, $auth } = (value ?? {}) as { authProvisionId?: unknown; $auth?: unknown };
  if (typeof $auth === 'object' && $auth !== null && !Array.isArray($auth)) return null;
  if (typeof authProvisionId === 'string' && isResourceId(authProvisionId, PREFIX.account)) return null;
  const needed = '{"authProvisionId": "apn_…"} names an account, {"$auth": {…}} gives its fields';
  if (typeof authProvisionId !== 'string') return needed;
  return `authProvisionId is no account's id ("apn_" and 16 letters or digits); ${needed}`;
}

/** Returns why a value is no data store's id. A data store's id may also come as `{id}`. */
export function whyNotDataStore(value: unknown): string | null {
  const id = dataStoreIdOf(value);
  if (id !== null && isResourceId(id, PREFIX.dataStore)) return null;
  return 'the id of a data store is needed, "ds_…"';
}

/** Returns the id of a configured value, an id or an object with one; null: neither. */
export function dataStoreIdOf(value: unknown): string | null {
  if (typeof value === 'string') return value;
  const id = (value as { id?: unknown } | null | undefined)?.id;
  return typeof id === 'string' ? id : null;
}

/** Returns whether a value looks like an account, and must not be shown. */
export function hasInlineAuth(value: unknown): boolean {
  return typeof value === 'object' && value !== null && '$auth' in value;
}
