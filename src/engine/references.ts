// Props that name something of the owner's: accounts and data stores.

import { Refusal } from '../domain/fault.ts';
import { isResourceId, PREFIX } from '../domain/ids.ts';
import type { Store } from '../store/store.ts';
import { accountIdOf, type Props } from './accounts.ts';

/** Why this is no value of such a prop; null when it may be one. Whether there is such a thing is another question. */
export function whyNotApp(value: unknown): string | null {
  const { authProvisionId, $auth } = (value ?? {}) as { authProvisionId?: unknown; $auth?: unknown };
  if (typeof $auth === 'object' && $auth !== null && !Array.isArray($auth)) return null;
  if (typeof authProvisionId === 'string' && isResourceId(authProvisionId, PREFIX.account)) return null;
  return 'an account is needed, {"authProvisionId": "apn_…"}, or its fields, {"$auth": {…}}';
}

export function whyNotDataStore(value: unknown): string | null {
  if (typeof value === 'string' && isResourceId(value, PREFIX.dataStore)) return null;
  return 'the id of a data store is needed, "ds_…"';
}

/** Whether a value has what an account has, and must not be shown. */
export function hasInlineAuth(value: unknown): boolean {
  return typeof value === 'object' && value !== null && '$auth' in value;
}

/** Throws `Refusal` (422) naming the prop whose account there is not. They may still go away before a run. */
export async function checkReferences(
  store: Pick<Store, 'getAccount'>,
  ownerId: string,
  configured: Props,
): Promise<void> {
  for (const [prop, value] of Object.entries(configured)) {
    const accountId = accountIdOf(value);
    if (accountId === null || (await store.getAccount(ownerId, accountId))) continue;
    const message = `prop "${prop}" names the account ${accountId.slice(0, 40)}, which there is not`;
    throw new Refusal('impossible', message, { errors: [{ parameter: `configured_props.${prop}`, message }] });
  }
}
