// Data stores: records that are there as soon as they are answered, one owner's alone, and gone when their time is over.

import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DataStore } from '../../../src/domain/data.ts';
import { PREFIX } from '../../../src/domain/ids.ts';
import { LIMITS } from '../../../src/domain/limits.ts';
import type { DataPlace } from '../../../src/store/contract/data.ts';
import { defined, type Harness, times, timesInTurn } from '../fixtures.ts';
import { Stage } from '../stage.ts';

const ODD = 'a\u0000b\u0001 "\\{},é😀/%';

async function created(stage: Stage, name = 'seen'): Promise<DataStore & DataPlace> {
  const nowMs = stage.clock.nowMs();
  const made = { id: stage.ids.next(PREFIX.dataStore), ownerId: stage.owner.id, name, size: 0 };
  const dataStore = { ...made, createdAtMs: nowMs, updatedAtMs: nowMs };
  await stage.store.createDataStore(dataStore);
  return { ...dataStore, storeId: dataStore.id };
}

async function set(stage: Stage, at: DataPlace, key: string, value = '1', ttlMs: number | null = null) {
  const answer = defined(await stage.store.setRecord(at, { key, value, ttlMs }));
  ok('record' in answer, JSON.stringify(answer));
  return answer.record;
}

/** Returns a check that lets a change of `before` through alone. */
const only =
  (before: string | null) =>
  (current: string | null): void => {
    if (current !== before) throw new Error('not what was meant');
  };

const keysOf = async (stage: Stage, at: DataPlace, after: string | null = null) =>
  defined(await stage.store.listRecordKeys(at, after));

const sizeOf = async ({ store }: Stage, at: DataPlace) =>
  defined(await store.getDataStore(at.ownerId, at.storeId)).size;

const textOf = async ({ store }: Stage, at: DataPlace, key: string) =>
  defined(await store.getRecord(at, key)).record?.value ?? null;

async function sweep(stage: Stage): Promise<number> {
  let steps = 0;
  while (await stage.store.sweepData()) steps++;
  return steps;
}

export function dataStoresContract(harness: Harness): void {
  describe('a data store', () => {
    it('is given back, renamed and listed', async () => {
      await using stage = await Stage.open(harness);
      const { storeId, ...first } = await created(stage);
      const second = await created(stage, ODD);
      const get = () => stage.store.getDataStore(stage.owner.id, storeId);
      deepEqual(await get(), first);
      const renamed = { ...first, name: 'ours', updatedAtMs: first.updatedAtMs + 5 };
      const to = { name: 'ours', atMs: renamed.updatedAtMs };
      deepEqual(await stage.store.renameDataStore(stage.owner.id, storeId, to), renamed);
      await stage.reopen();
      deepEqual(await get(), renamed);
      const page = await stage.store.listDataStores(stage.owner.id, { limit: 1 });
      deepEqual([page.totalCount, page.items.map(({ id, name }) => [id, name])], [2, [[second.id, ODD]]]);
      const next = await stage.store.listDataStores(stage.owner.id, { limit: 9, after: second.id });
      deepEqual(next.items, [renamed]);
    });

    it('is not renamed when its check throws', async () => {
      await using stage = await Stage.open(harness);
      const at = await created(stage);
      const rename = (name: string) =>
        stage.store.renameDataStore(at.ownerId, at.storeId, { name, atMs: 1, check: only('seen') });
      const ends = await Promise.allSettled(times(5, (n) => rename(`n${n}`)));
      deepEqual(ends.map(({ status }) => status).sort(), ['fulfilled', ...times(4, () => 'rejected')]);
      const made = ends.findIndex(({ status }) => status === 'fulfilled');
      equal(defined(await stage.store.getDataStore(at.ownerId, at.storeId)).name, `n${made}`);
    });

    it('is its owner’s alone, with its records', async () => {
      await using stage = await Stage.open(harness);
      const mine = await created(stage);
      await set(stage, mine, 'k');
      const { owner, store } = await stage.neighbour();
      const at = { ownerId: owner.id, storeId: mine.id };
      equal(await store.getDataStore(owner.id, mine.id), undefined);
      equal(await store.renameDataStore(owner.id, mine.id, { name: 'x', atMs: 1 }), undefined);
      equal(await store.deleteDataStore(owner.id, mine.id), undefined);
      equal((await store.listDataStores(owner.id, { limit: 9 })).totalCount, 0);
      equal(await store.getRecord(at, 'k'), undefined);
      equal(await store.hasRecord(at, 'k'), undefined);
      equal(await store.setRecord(at, { key: 'k', value: '2', ttlMs: null }), undefined);
      equal(await store.expireRecord(at, 'k', 1), undefined);
      equal(await store.deleteRecord(at, 'k'), undefined);
      equal(await store.clearRecords(at), undefined);
      equal(await store.listRecordKeys(at, null), undefined);
      equal(await store.listRecords(at, { limit: 9 }), undefined);
      equal(await textOf(stage, mine, 'k'), '1');
    });

    it('is gone with its records, in steps', async () => {
      await using stage = await Stage.open(harness);
      const [gone, kept] = [await created(stage), await created(stage)];
      await Promise.all(times(LIMITS.sweptRecords + 5, (n) => set(stage, gone, `k${n}`)));
      await set(stage, kept, 'k');
      equal((await stage.store.deleteDataStore(stage.owner.id, gone.id))?.size, LIMITS.sweptRecords + 5);
      equal(await stage.store.getRecord(gone, 'k1'), undefined);
      equal(await stage.store.deleteDataStore(stage.owner.id, gone.id), undefined);
      equal(await stage.store.sweepData(), true);
      await stage.reopen();
      ok((await sweep(stage)) >= 2);
      equal(await stage.store.sweepData(), false);
      equal(await textOf(stage, kept, 'k'), '1');
    });
  });

  describe('a record', () => {
    it('is there for everybody once it is answered', async () => {
      await using stage = await Stage.open(harness);
      const at = await created(stage);
      equal(await textOf(stage, at, 'k'), null);
      equal(await stage.store.hasRecord(at, 'k'), false);
      const value = '{"a": [1e400, 12345678901234567890, "\\u0000\\ud800é"]}';
      const made = await set(stage, at, ODD, value);
      deepEqual(made, { key: ODD, value, updatedAtMs: stage.clock.nowMs(), expiresAtMs: null });
      deepEqual(await stage.store.getRecord(at, ODD), { record: made });
      equal(await stage.store.hasRecord(at, ODD), true);
      await stage.reopen();
      deepEqual(await stage.store.getRecord(at, ODD), { record: made });
      equal(await sizeOf(stage, at), 1);
    });

    it('is replaced, and deleted as it was', async () => {
      await using stage = await Stage.open(harness);
      const at = await created(stage);
      await set(stage, at, 'k', '"a long one"', 1000);
      stage.clock.advance(10);
      const second = await set(stage, at, 'k', '2');
      equal(second.expiresAtMs, null, 'it does not inherit the end of the first');
      equal(await sizeOf(stage, at), 1);
      deepEqual(await stage.store.deleteRecord(at, 'k'), { record: second });
      deepEqual(await stage.store.deleteRecord(at, 'k'), { record: null });
      equal(await sizeOf(stage, at), 0);
    });

    it('is not set when its check throws', async () => {
      await using stage = await Stage.open(harness);
      const at = await created(stage);
      const setOver = (value: string, before: string | null) => {
        const check = (record: { value: string } | null) => only(before)(record?.value ?? null);
        return stage.store.setRecord(at, { key: 'k', value, ttlMs: null, check });
      };
      await rejects(setOver('1', '0'), /not what was meant/);
      equal(await sizeOf(stage, at), 0);
      await setOver('1', null);
      const ends = await Promise.allSettled(times(5, (n) => setOver(`${n + 2}`, '1')));
      deepEqual(ends.map(({ status }) => status).sort(), ['fulfilled', ...times(4, () => 'rejected')]);
      equal(await textOf(stage, at, 'k'), String(ends.findIndex(({ status }) => status === 'fulfilled') + 2));
      equal(await sizeOf(stage, at), 1);
      await set(stage, at, 'short', '1', 1000);
      stage.clock.advance(1000);
      const check = (record: unknown) => equal(record, null, 'what has expired is not there');
      await stage.store.setRecord(at, { key: 'short', value: '2', ttlMs: null, check });
    });

    it('is not deleted when its check throws', async () => {
      await using stage = await Stage.open(harness);
      const at = await created(stage);
      const remove = (before: string | null) => {
        const check = (record: { value: string } | null) => only(before)(record?.value ?? null);
        return stage.store.deleteRecord(at, 'k', { check });
      };
      await rejects(remove('1'), /not what was meant/);
      deepEqual(await remove(null), { record: null });
      const record = await set(stage, at, 'k', '1');
      await rejects(remove('2'), /not what was meant/);
      equal(await textOf(stage, at, 'k'), '1');
      const ends = await Promise.allSettled(times(5, () => remove('1')));
      deepEqual(ends.map(({ status }) => status).sort(), ['fulfilled', ...times(4, () => 'rejected')]);
      deepEqual(
        ends.find(({ status }) => status === 'fulfilled'),
        { status: 'fulfilled', value: { record } },
      );
      equal(await sizeOf(stage, at), 0);
      await set(stage, at, 'short', '1', 1000);
      stage.clock.advance(1000);
      const check = (found: unknown) => equal(found, null, 'what has expired is not there');
      deepEqual(await stage.store.deleteRecord(at, 'short', { check }), { record: null });
    });

    it('set by many at once is counted once', async () => {
      await using stage = await Stage.open(harness);
      const at = await created(stage);
      await Promise.all(times(30, (n) => set(stage, at, `k${n % 3}`, String(n))));
      equal(await sizeOf(stage, at), 3);
      deepEqual(await keysOf(stage, at), ['k0', 'k1', 'k2']);
    });

    it('expires by the store’s clock', async () => {
      await using stage = await Stage.open(harness);
      const at = await created(stage);
      await set(stage, at, 'short', '1', 1000);
      await set(stage, at, 'long', '1', 9000);
      await set(stage, at, 'renewed', '1', 1000);
      await set(stage, at, 'freed', '1', 1000);
      equal(
        defined(await stage.store.expireRecord(at, 'renewed', 5000)).record?.expiresAtMs,
        stage.clock.nowMs() + 5000,
      );
      equal(defined(await stage.store.expireRecord(at, 'freed', null)).record?.expiresAtMs, null);
      stage.clock.advance(1000);
      deepEqual(await keysOf(stage, at), ['freed', 'long', 'renewed']);
      equal(await stage.store.hasRecord(at, 'short'), false);
      equal(await textOf(stage, at, 'short'), null);
      deepEqual(await stage.store.deleteRecord(at, 'short'), { record: null });
      deepEqual(await stage.store.expireRecord(at, 'short', null), { record: null });
      const { totalCount, items } = defined(await stage.store.listRecords(at, { limit: 9 }));
      deepEqual([totalCount, items.length, await sizeOf(stage, at)], [3, 3, 3]);
    });

    it('that has expired is swept and uncounted', async () => {
      await using stage = await Stage.open(harness);
      const at = await created(stage);
      await set(stage, at, 'kept', '1');
      await Promise.all(times(20, (n) => set(stage, at, `expiring-${n}`, '1', 1000)));
      await set(stage, at, 'expiring-3', '1');
      stage.clock.advance(1000);
      equal(await sweep(stage), 1);
      deepEqual(await keysOf(stage, at), ['expiring-3', 'kept']);
      equal(await sizeOf(stage, at), 2);
    });

    it('is cleared with all others at once', async () => {
      await using stage = await Stage.open(harness);
      const at = await created(stage);
      await Promise.all(times(20, (n) => set(stage, at, `k${n}`, '1', n % 2 === 0 ? 1000 : null)));
      equal(await stage.store.clearRecords(at), true);
      equal(await stage.store.clearRecords(at), true);
      deepEqual([await keysOf(stage, at), await sizeOf(stage, at)], [[], 0]);
      deepEqual(await stage.store.getRecord(at, 'k1'), { record: null }, 'not deleted yet, and gone');
      await set(stage, at, 'k3', '"new"');
      stage.clock.advance(1000);
      await sweep(stage);
      deepEqual([await keysOf(stage, at), await sizeOf(stage, at)], [['k3'], 1]);
      equal(await textOf(stage, at, 'k3'), '"new"');
    });

    it('is listed in the order of keys', async () => {
      await using stage = await Stage.open(harness);
      const at = await created(stage);
      const keys = ['Z', 'a', 'aa', 'b', 'ä', '😀'];
      for (const key of keys.toReversed()) await set(stage, at, key);
      deepEqual(await keysOf(stage, at), keys);
      deepEqual(await keysOf(stage, at, 'aa'), ['b', 'ä', '😀']);
      const page = async (query: { limit: number; after?: string; before?: string }) => {
        const { totalCount, items } = defined(await stage.store.listRecords(at, query));
        return [totalCount, ...items.map(({ key }) => key)];
      };
      deepEqual(await page({ limit: 2 }), [6, 'Z', 'a']);
      deepEqual(await page({ limit: 2, after: 'a' }), [6, 'aa', 'b']);
      deepEqual(await page({ limit: 2, before: 'b' }), [6, 'a', 'aa']);
      deepEqual(await page({ limit: 9, after: 'a', before: 'ä' }), [6, 'aa', 'b']);
      deepEqual(await page({ limit: 9, after: '😀' }), [6]);
    });

    it('of the largest size ends its page', async () => {
      await using stage = await Stage.open(harness);
      const at = await created(stage);
      const large = `"${'x'.repeat(LIMITS.recordBytes / 2)}"`;
      for (const key of ['a', 'b', 'c', 'd', 'e']) await set(stage, at, key, large);
      const keys = async (query: object) =>
        defined(await stage.store.listRecords(at, { limit: 9, ...query })).items.map(({ key }) => key);
      deepEqual(await keys({}), ['a', 'b']);
      deepEqual(await keys({ after: 'b' }), ['c', 'd']);
      deepEqual(await keys({ before: 'e' }), ['c', 'd']);
    });
  });

  describe('a full data store', () => {
    it('takes no more, but replaces and makes room', async () => {
      await using stage = await Stage.open(harness);
      const at = await created(stage);
      const large = `"${'x'.repeat(LIMITS.recordBytes - 40)}"`;
      const fitting = Math.floor(LIMITS.dataStoreBytes / LIMITS.recordBytes);
      ok(fitting > 100, 'too many to write here: the count below stands for them');
      await timesInTurn(3, (n) => set(stage, at, `k${n}`, large, n === 0 ? 1000 : null));
      await pretend(stage, at, { bytes: LIMITS.dataStoreBytes - 10 });
      deepEqual(await stage.store.setRecord(at, { key: 'k9', value: large, ttlMs: null }), { full: 'bytes' });
      await set(stage, at, 'k1', '1');
      await pretend(stage, at, { bytes: LIMITS.dataStoreBytes - 10 });
      stage.clock.advance(1000);
      await set(stage, at, 'k9', '"fits, since k0 has expired"');
      await pretend(stage, at, { records: LIMITS.recordsPerDataStore });
      deepEqual(await stage.store.setRecord(at, { key: 'k10', value: '1', ttlMs: null }), { full: 'records' });
      await set(stage, at, 'k1', '"one of those that are there"');
      await stage.store.deleteRecord(at, 'k2');
      await set(stage, at, 'k10');
    });
  });

  /** Counts as it would be with as many; nobody has the time to write a gigabyte. */
  async function pretend(stage: Stage, at: DataPlace, counts: { records?: number; bytes?: number }): Promise<void> {
    for (const [column, value] of Object.entries(counts)) {
      await stage.execute(`UPDATE data_stores SET ${column} = ${value} WHERE id = '${at.storeId}'`);
    }
  }
}
