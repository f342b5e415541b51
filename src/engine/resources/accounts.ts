// Accounts at other services: creating, changing, deleting, and their fields for the code that calls those services.

import type { Account } from '../../domain/data.ts';
import { PREFIX } from '../../domain/ids.ts';
import { LIMITS } from '../../domain/limits.ts';
import { Refusal } from '../../domain/refusal.ts';
import { type AccountInput, checkVersion, type Expected, nextVersion } from '../../domain/requests.ts';
import type { Clock, Ids } from '../../ports.ts';
import type { Store } from '../../store/contract/store.ts';

export interface AccountDeps {
  readonly store: Pick<Store, 'createAccount' | 'updateAccount' | 'deleteAccount'>;
  readonly clock: Clock;
  readonly ids: Ids;
}

export function createAccounts({ store, clock, ids }: AccountDeps) {
  async function createAccount(ownerId: string, input: AccountInput & { app: string }): Promise<Account> {
    const nowMs = clock.nowMs();
    const account: Account = {
      id: ids.next(PREFIX.account),
      ownerId,
      app: input.app,
      name: input.name ?? input.app,
      fields: mergedFields({}, input.fields),
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    };
    await store.createAccount(account);
    return account;
  }

  async function updateAccount(
    ownerId: string,
    id: string,
    input: AccountInput & { expected?: Expected },
  ): Promise<Account> {
    const after = await store.updateAccount(ownerId, id, (before) => {
      checkVersion(before, input.expected);
      return {
        ...before,
        app: input.app ?? before.app,
        name: input.name ?? before.name,
        fields: mergedFields(before.fields, input.fields),
        updatedAtMs: nextVersion(before, clock.nowMs()),
      };
    });
    if (!after) throw noAccount(id);
    return after;
  }

  async function deleteAccount(ownerId: string, id: string): Promise<Account> {
    const deleted = await store.deleteAccount(ownerId, id);
    if (!deleted) throw noAccount(id);
    return deleted;
  }

  return { createAccount, updateAccount, deleteAccount };
}

function noAccount(id: string): Refusal {
  return new Refusal('not_found', `there is no account ${id}`);
}

type Fields = Account['fields'];

/** Merges field by field: a caller cannot send back values that are never shown. Null deletes a field. */
function mergedFields(before: Fields, given: Fields = {}): Fields {
  const entries = Object.entries({ ...before, ...given }).filter(([, value]) => value !== null);
  if (entries.length > LIMITS.accountFields) {
    throw refusedFields(`${entries.length} fields; an account has at most ${LIMITS.accountFields}`);
  }
  const long = entries.find(([name]) => name === '' || name.length > LIMITS.accountFieldChars);
  if (long) {
    throw refusedFields(
      `a field whose name has ${long[0].length} characters; it has 1 to ${LIMITS.accountFieldChars} of them`,
    );
  }
  // As own members: `__proto__` is a possible name.
  const fields = Object.fromEntries(entries);
  const bytes = Buffer.byteLength(JSON.stringify(fields));
  if (bytes > LIMITS.accountBytes) {
    throw refusedFields(`${bytes} bytes of JSON; an account has at most ${LIMITS.accountBytes}`);
  }
  return fields;
}

function refusedFields(message: string): Refusal {
  return new Refusal('malformed', `fields are ${message}`, { errors: [{ parameter: 'fields', message }] });
}

/** Returns the account that a prop's value names; null when it names none. */
export function accountIdOf(value: unknown): string | null {
  if (typeof value !== 'object' || value === null || '$auth' in value) return null;
  const { authProvisionId } = value as { authProvisionId?: unknown };
  return typeof authProvisionId === 'string' ? authProvisionId : null;
}
