// Accounts at other services: creating, changing, deleting, and their fields for the code that calls those services.

import { OAUTH } from '../../domain/accounts/renewal.ts';
import type { Account, AccountInput, AccountOauth, OauthInput } from '../../domain/data.ts';
import { PREFIX } from '../../domain/ids.ts';
import { LIMITS } from '../../domain/limits.ts';
import { Refusal } from '../../domain/refusal.ts';
import { checkVersion, type Expected, nextVersion } from '../../domain/requests.ts';
import type { Clock, Ids } from '../../ports.ts';
import type { Store } from '../../store/contract/store.ts';
import type { AccountTokens } from './account-tokens.ts';

export interface AccountDeps {
  readonly store: Pick<Store, 'createAccount' | 'updateAccount' | 'deleteAccount'>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly accountTokens: Pick<AccountTokens, 'renew'>;
  /** Returns why an address may never be reached; null when it may. */
  readonly reasonAgainst: (url: string) => string | null;
}

export function createAccounts({ store, clock, ids, accountTokens, reasonAgainst }: AccountDeps) {
  async function createAccount(ownerId: string, input: AccountInput & { app: string }): Promise<Account> {
    const nowMs = clock.nowMs();
    const account: Account = {
      id: ids.next(PREFIX.account),
      ownerId,
      app: input.app,
      name: input.name ?? input.app,
      ...checked({ fields: mergedFields({}, input.fields), oauth: mergedOauth(null, input.oauth, reasonAgainst) }),
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
        ...checked({
          fields: mergedFields(before.fields, input.fields),
          oauth: mergedOauth(before.oauth, input.oauth, reasonAgainst),
        }),
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

  /** Renews the token now, due or not. Throws `Refusal` (422) with what the token server said. */
  async function renewAccount(ownerId: string, id: string): Promise<Account> {
    const account = await accountTokens.renew(ownerId, id, true);
    if (!account) throw noAccount(id);
    if (account.oauth === null) throw new Refusal('impossible', `account ${id} has no oauth: its token is not renewed`);
    const { failure } = account.oauth;
    if (failure !== null)
      throw new Refusal('impossible', `the token of account ${id} was not renewed: ${failure.message}`);
    return account;
  }

  return { createAccount, updateAccount, deleteAccount, renewAccount };
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
  if (entries.some(([name]) => name === OAUTH))
    throw refusedFields(`not named ${OAUTH}: \`oauth\` is a member of its own`);
  // As own members: `__proto__` is a possible name.
  return Object.fromEntries(entries);
}

type Secrets = Pick<Account, 'fields' | 'oauth'>;

function checked({ fields, oauth }: Secrets): Secrets {
  const bytes =
    Buffer.byteLength(JSON.stringify(fields)) + (oauth === null ? 0 : Buffer.byteLength(JSON.stringify(oauth)));
  if (bytes > LIMITS.accountBytes) {
    throw refusedFields(`${bytes} bytes of JSON; an account has at most ${LIMITS.accountBytes}`);
  }
  return { fields, oauth };
}

const NEW_OAUTH: Omit<AccountOauth, 'tokenUrl' | 'clientId'> = {
  ...{ clientSecret: null, refreshToken: null, scope: null, clientAuth: 'body' as const },
  ...{ expiresAtMs: null, renewAtMs: null, failure: null, claimedUntilMs: null },
};

/** Merges member by member, as fields are. What is changed is tried with the next use. */
function mergedOauth(
  before: Account['oauth'],
  given: AccountInput['oauth'],
  reasonAgainst: AccountDeps['reasonAgainst'],
): Account['oauth'] {
  if (given === undefined) return before;
  if (given === null) return null;
  const { tokenUrl, clientId, ...rest }: OauthInput & typeof NEW_OAUTH = { ...NEW_OAUTH, ...before, ...given };
  if (tokenUrl === undefined) throw refusedOauth('token_url', 'is missing');
  if (clientId === undefined) throw refusedOauth('client_id', 'is missing');
  const reason = reasonAgainst(tokenUrl);
  if (reason !== null) throw refusedOauth('token_url', `cannot be reached: ${reason}`);
  return { ...rest, tokenUrl, clientId, expiresAtMs: null, renewAtMs: null, failure: null };
}

function refusedOauth(name: string, message: string): Refusal {
  const code = message === 'is missing' ? 'malformed' : 'impossible';
  return new Refusal(code, `oauth.${name} ${message}`, { errors: [{ parameter: `oauth.${name}`, message }] });
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
