// Accounts at other services.

import type { Account } from '../../../domain/data.ts';
import { LIMITS } from '../../../domain/limits.ts';
import type { AccountStore } from '../../contract/data.ts';
import { sealedFields, toAccount } from '../../rows/data-rows.ts';
import type { Core } from '../core.ts';
import type { Connection } from '../database.ts';
import { readPage } from '../pages.ts';

export function accountVerbs(core: Core): AccountStore {
  const { reader, writer, seal } = core;
  const get = (connection: Connection, ownerId: string, id: string): Account | undefined => {
    const row = connection.get('SELECT * FROM accounts WHERE id = ? AND owner_id = ?', id, ownerId);
    return row && toAccount(row, seal);
  };
  return {
    createAccount: (account) => core.batch.write(() => insertAccount(core, account)),

    updateAccount: async (ownerId, id, change) => {
      const updated = await core.batch.write(() => {
        const before = get(writer, ownerId, id);
        return before && updateAccount(core, before, change);
      });
      if (updated && 'thrown' in updated) throw updated.thrown;
      return updated?.account;
    },

    getAccount: async (ownerId, id) => get(reader, ownerId, id),

    listAccounts: async ({ ownerId, app }, page) => {
      const listing = {
        from: 'accounts',
        columns: '*',
        key: 'id',
        where: ['owner_id = ?', ...(app === undefined ? [] : ['app = ?'])],
        values: [ownerId, ...(app === undefined ? [] : [app])],
        countUpTo: LIMITS.countedRecords,
      };
      return readPage(reader, listing, { page, map: (row) => toAccount(row, seal) });
    },

    deleteAccount: (ownerId, id) =>
      core.batch.write(() => {
        const account = get(writer, ownerId, id);
        if (account) writer.run('DELETE FROM accounts WHERE id = ?', id);
        return account;
      }),
  };
}

function insertAccount({ writer, seal }: Core, account: Account): void {
  writer.run(
    'INSERT INTO accounts (id, owner_id, app, name, fields, created_at_ms, updated_at_ms) VALUES (?,?,?,?,?,?,?)',
    account.id,
    account.ownerId,
    account.app,
    account.name,
    sealedFields(account, seal),
    account.createdAtMs,
    account.updatedAtMs,
  );
}

type Updated = { readonly account: Account } | { readonly thrown: unknown };

/** A change that is refused is no reason to roll back the verbs of others in this batch: what it throws is a value here. */
function updateAccount({ writer, seal }: Core, before: Account, change: (before: Account) => Account): Updated {
  const { id, ownerId, createdAtMs } = before;
  let account: Account;
  try {
    account = { ...change(before), id, ownerId, createdAtMs };
  } catch (thrown) {
    return { thrown };
  }
  writer.run(
    'UPDATE accounts SET app = ?, name = ?, fields = ?, updated_at_ms = ? WHERE id = ?',
    account.app,
    account.name,
    sealedFields(account, seal),
    account.updatedAtMs,
    id,
  );
  return { account };
}
