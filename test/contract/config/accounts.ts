// Accounts: their fields come back as written to their owner alone, and cannot be read where they are kept.

import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Account, AccountOauth } from '../../../src/domain/data.ts';
import { PREFIX } from '../../../src/domain/ids.ts';
import { type Harness, times, timesInTurn } from '../fixtures.ts';
import { Stage } from '../stage.ts';

const TOKEN = 'xoxb-very-private-token';
const FIELDS = { oauth_access_token: TOKEN, port: 25, tls: true, nested: { list: [1, null, 'ä\u0000'] } };

const OAUTH: AccountOauth = {
  ...{ tokenUrl: 'https://id.example.com/token', clientId: 'c', clientSecret: 's', refreshToken: 'r', scope: 'a b' },
  ...{ clientAuth: 'basic', expiresAtMs: 2, renewAtMs: 1, failure: null, claimedUntilMs: null },
};

function account(stage: Stage, changes: Partial<Account> = {}): Account {
  const nowMs = stage.clock.nowMs();
  const id = stage.ids.next(PREFIX.account);
  const made = { id, ownerId: stage.owner.id, app: 'slack', name: 'may-be-read', fields: FIELDS, oauth: null };
  return { ...made, createdAtMs: nowMs, updatedAtMs: nowMs, ...changes };
}

async function created(stage: Stage, changes: Partial<Account> = {}): Promise<Account> {
  const made = account(stage, changes);
  await stage.store.createAccount(made);
  return made;
}

export function accountsContract(harness: Harness): void {
  describe('an account', () => {
    it('is given back as it was made', async () => {
      await using stage = await Stage.open(harness);
      const made = await created(stage);
      deepEqual(await stage.store.getAccount(stage.owner.id, made.id), made);
      await stage.reopen();
      deepEqual(await stage.store.getAccount(stage.owner.id, made.id), made);
    });

    it('keeps how its token is renewed', async () => {
      await using stage = await Stage.open(harness);
      const made = await created(stage, { oauth: OAUTH });
      deepEqual(await stage.store.getAccount(stage.owner.id, made.id), made);
      const claimed = { ...OAUTH, claimedUntilMs: 5, failure: { message: 'invalid_grant', atMs: 3 } };
      await stage.store.updateAccount(stage.owner.id, made.id, (before) => ({ ...before, oauth: claimed }));
      await stage.reopen();
      deepEqual((await stage.store.getAccount(stage.owner.id, made.id))?.oauth, claimed);
      await stage.store.updateAccount(stage.owner.id, made.id, (before) => ({ ...before, oauth: null }));
      deepEqual(await stage.store.getAccount(stage.owner.id, made.id), { ...made, oauth: null });
    });

    it('cannot be read where it is kept', async () => {
      await using stage = await Stage.open(harness);
      const made = await created(stage, { oauth: { ...OAUTH, refreshToken: TOKEN } });
      await stage.store.updateAccount(stage.owner.id, made.id, (before) => ({ ...before, name: 'still-readable' }));
      const raw = await stage.raw();
      ok(raw.includes('still-readable'), 'this is where it is kept');
      for (const spelt of [TOKEN, Buffer.from(TOKEN).toString('hex'), Buffer.from(TOKEN).toString('base64')]) {
        ok(!raw.includes(spelt));
      }
    });

    it('is its owner’s alone', async () => {
      await using stage = await Stage.open(harness);
      const made = await created(stage);
      const { owner, store } = await stage.neighbour();
      equal(await store.getAccount(owner.id, made.id), undefined);
      equal(await store.updateAccount(owner.id, made.id, (before) => ({ ...before, fields: {} })), undefined);
      equal(await store.deleteAccount(owner.id, made.id), undefined);
      equal((await store.listAccounts({ ownerId: owner.id }, { limit: 9 })).totalCount, 0);
      deepEqual(await store.getAccount(stage.owner.id, made.id), made);
    });

    it('loses none of many changes at once', async () => {
      await using stage = await Stage.open(harness);
      const made = await created(stage, { fields: {} });
      const change = (n: number) =>
        stage.store.updateAccount(stage.owner.id, made.id, (before) => ({
          ...before,
          fields: { ...before.fields, [`field${n}`]: n },
        }));
      await Promise.all(times(20, change));
      const fields = (await stage.store.getAccount(stage.owner.id, made.id))?.fields ?? {};
      equal(Object.keys(fields).length, 20);
    });

    it('passes on what a change throws', async () => {
      await using stage = await Stage.open(harness);
      const made = await created(stage);
      const change = () => {
        throw new Error('not so');
      };
      await rejects(stage.store.updateAccount(stage.owner.id, made.id, change), /not so/);
      deepEqual(await stage.store.getAccount(stage.owner.id, made.id), made);
    });

    it('is gone when it was deleted', async () => {
      await using stage = await Stage.open(harness);
      const made = await created(stage);
      deepEqual(await stage.store.deleteAccount(stage.owner.id, made.id), made);
      equal(await stage.store.getAccount(stage.owner.id, made.id), undefined);
      equal(await stage.store.deleteAccount(stage.owner.id, made.id), undefined);
    });

    it('is listed by app, newest first', async () => {
      await using stage = await Stage.open(harness);
      const made = await timesInTurn(5, (n) => created(stage, { app: n % 2 === 0 ? 'slack' : 'github' }));
      const ids = async (app: string | undefined, page: { limit: number; after?: string }) => {
        const of = { ownerId: stage.owner.id, ...(app === undefined ? {} : { app }) };
        const { totalCount, items } = await stage.store.listAccounts(of, page);
        return [totalCount, items.map(({ id }) => id)];
      };
      const [a, b, c, d, e] = made.map(({ id }) => id);
      deepEqual(await ids(undefined, { limit: 2 }), [5, [e, d]]);
      deepEqual(await ids(undefined, { limit: 9, after: d as string }), [5, [c, b, a]]);
      deepEqual(await ids('github', { limit: 9 }), [2, [d, b]]);
      deepEqual(await ids('none', { limit: 9 }), [0, []]);
    });
  });
}
