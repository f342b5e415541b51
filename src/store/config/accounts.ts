// Accounts at other services.

import type { Account } from '../../domain/data.ts';
import { LIMITS } from '../../domain/limits.ts';
import type { AccountStore } from '../contract/data.ts';
import { sealedFields, toAccount } from '../rows/data-rows.ts';
import type { Row } from '../rows/rows.ts';
import type { ConfigCore } from './config-database.ts';
import { readPage } from './pages.ts';
import { FOR_UPDATE, raw, type Sql, sql } from './sql.ts';
import { get, send } from './steps.ts';

const one = (ownerId: string, id: string): Sql =>
  sql`SELECT * FROM accounts WHERE id = ${id} AND owner_id = ${ownerId}`;

export function accountVerbs({ database, seal }: ConfigCore): AccountStore {
  const map = (row: Row): Account => toAccount(row, seal);
  return {
    createAccount: (account) =>
      database.write(function* () {
        yield* send(sql`INSERT INTO accounts (id, owner_id, app, name, fields, created_at_ms, updated_at_ms)
          VALUES (${account.id}, ${account.ownerId}, ${account.app}, ${account.name}, ${sealedFields(account, seal)},
            ${account.createdAtMs}, ${account.updatedAtMs})`);
      }),

    updateAccount: (ownerId, id, change) =>
      database.write(function* () {
        const row = yield* get(sql`${one(ownerId, id)} ${FOR_UPDATE}`);
        if (!row) return undefined;
        const before = map(row);
        const account = { ...change(before), id, ownerId, createdAtMs: before.createdAtMs };
        yield* send(sql`UPDATE accounts SET app = ${account.app}, name = ${account.name},
            fields = ${sealedFields(account, seal)}, updated_at_ms = ${account.updatedAtMs}
          WHERE id = ${id} AND owner_id = ${ownerId}`);
        return account;
      }),

    getAccount: async (ownerId, id) => {
      const row = await database.get(one(ownerId, id));
      return row && map(row);
    },

    listAccounts: ({ ownerId, app }, page) =>
      readPage(database, {
        from: raw('accounts'),
        columns: raw('*'),
        where: [sql`owner_id = ${ownerId}`, ...(app === undefined ? [] : [sql`app = ${app}`])],
        countUpTo: LIMITS.countedRecords,
        page,
        map,
      }),

    deleteAccount: (ownerId, id) =>
      database.write(function* () {
        const row = yield* get(sql`DELETE FROM accounts WHERE id = ${id} AND owner_id = ${ownerId} RETURNING *`);
        return row && map(row);
      }),
  };
}
