// Accounts at other services.

import type { Account } from '../../../domain/data.ts';
import { LIMITS } from '../../../domain/limits.ts';
import type { AccountStore } from '../../contract/data.ts';
import { sealedFields, toAccount } from '../../rows/data-rows.ts';
import type { Seal } from '../../seal/seal.ts';
import type { Core } from '../core.ts';
import { readPage } from '../pages.ts';

const ONE = 'SELECT * FROM accounts WHERE id = $1 AND owner_id = $2';

export function accountVerbs(core: Core): AccountStore {
  const { pool, config, seal } = core;
  return {
    createAccount: (account) => config.transact(async (tx) => void (await tx.query(INSERT, ...cellsOf(account, seal)))),

    updateAccount: (ownerId, id, change) =>
      config.transact(async (tx) => {
        const [row] = await tx.query(`${ONE} FOR UPDATE`, id, ownerId);
        if (!row) return undefined;
        const before = toAccount(row, seal);
        const account = { ...change(before), id, ownerId, createdAtMs: before.createdAtMs };
        await tx.query(
          'UPDATE accounts SET app = $3, name = $4, fields = $5, updated_at_ms = $6 WHERE id = $1 AND owner_id = $2',
          id,
          ownerId,
          account.app,
          account.name,
          sealedFields(account, seal),
          account.updatedAtMs,
        );
        return account;
      }),

    getAccount: async (ownerId, id) => {
      const row = await pool.get(ONE, id, ownerId);
      return row && toAccount(row, seal);
    },

    listAccounts: ({ ownerId, app }, page) => {
      const listing = {
        from: 'accounts',
        columns: '*',
        key: 'id',
        where: ['owner_id = $1', ...(app === undefined ? [] : ['app = $2'])],
        values: [ownerId, ...(app === undefined ? [] : [app])],
        countUpTo: LIMITS.countedRecords,
      };
      return readPage(pool, listing, { page, map: (row) => toAccount(row, seal) });
    },

    deleteAccount: (ownerId, id) =>
      config.transact(async (tx) => {
        const [row] = await tx.query('DELETE FROM accounts WHERE id = $1 AND owner_id = $2 RETURNING *', id, ownerId);
        return row && toAccount(row, seal);
      }),
  };
}

const INSERT = `INSERT INTO accounts (id, owner_id, app, name, fields, created_at_ms, updated_at_ms)
  VALUES ($1, $2, $3, $4, $5, $6, $7)`;

function cellsOf(account: Account, seal: Seal): (string | number)[] {
  const { id, ownerId, app, name, createdAtMs, updatedAtMs } = account;
  return [id, ownerId, app, name, sealedFields(account, seal), createdAtMs, updatedAtMs];
}
