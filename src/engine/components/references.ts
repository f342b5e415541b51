// Props that name something of the owner's: accounts and data stores.

import { isResourceId, PREFIX } from '../../domain/ids.ts';

/** Why this is no value of such a prop; null when it may be one. Whether there is such a thing is another question. */
export function whyNotApp(value: unknown): string | null {
  const { authProvisionId, $auth } = (value ?? {}) as { authProvisionId?: unknown; $auth?: unknown };
  if (typeof $auth === 'object' && $auth !== null && !Array.isArray($auth)) return null;
  if (typeof authProvisionId === 'string' && isResourceId(authProvisionId, PREFIX.account)) return null;
  const needed = '{"authProvisionId": "apn_…"} names an account, {"$auth": {…}} gives its fields';
  if (typeof authProvisionId !== 'string') return needed;
  return `authProvisionId is no account's id ("apn_" and 16 letters or digits); ${needed}`;
}

/** A data store's id may also come as `{id}`. */
export function whyNotDataStore(value: unknown): string | null {
  const id = dataStoreIdOf(value);
  if (id !== null && isResourceId(id, PREFIX.dataStore)) return null;
  return 'the id of a data store is needed, "ds_…"';
}

/** Of a configured value, which is the id or an object that has it; null: it names none. */
export function dataStoreIdOf(value: unknown): string | null {
  if (typeof value === 'string') return value;
  const id = (value as { id?: unknown } | null | undefined)?.id;
  return typeof id === 'string' ? id : null;
}

/** Whether a value has what an account has, and must not be shown. */
export function hasInlineAuth(value: unknown): boolean {
  return typeof value === 'object' && value !== null && '$auth' in value;
}
