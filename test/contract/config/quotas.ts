// What owners may use, and what they have stored.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PREFIX } from '../../../src/domain/ids.ts';
import { NO_QUOTAS } from '../../../src/domain/quota.ts';
import { MEASURED_AT_ONCE, MEASURING_BEGINS } from '../../../src/store/contract/quotas.ts';
import type { Store } from '../../../src/store/contract/store.ts';
import { defined, type Harness, none, times } from '../fixtures.ts';
import { Stage } from '../stage.ts';

async function measure(store: Store): Promise<{ bytes: Map<string, number>; steps: number }> {
  const bytes = new Map<string, number>();
  let steps = 0;
  for (let place = MEASURING_BEGINS; ; steps++) {
    const { measured, next } = await store.measureBytes(place);
    for (const one of measured) bytes.set(one.ownerId, (bytes.get(one.ownerId) ?? 0) + one.bytes);
    if (next === null) return { bytes, steps: steps + 1 };
    place = next;
  }
}

export function quotasContract(harness: Harness): void {
  describe('quotas', () => {
    it('are those of one owner, and last', async () => {
      await using stage = await Stage.open(harness);
      const other = await stage.neighbour();
      const quotas = { processes: 3, cpuSecondsPerMinute: 60, requestsPerSecond: null, storedBytes: 2 ** 50 };
      deepEqual(await stage.store.listQuotas(), new Map());
      const one = { ...NO_QUOTAS, processes: 1 };
      deepEqual(await stage.store.setQuotas(stage.owner.id, { processes: 1 }), one);
      const changes = [{ cpuSecondsPerMinute: 60 }, { storedBytes: 2 ** 50 }, { processes: 3 }];
      await Promise.all(changes.map((change) => stage.store.setQuotas(stage.owner.id, change)));
      equal(await stage.store.setQuotas('u_0000000000009999', quotas), undefined);
      await stage.reopen();
      deepEqual(await stage.store.listQuotas(), new Map([[stage.owner.id, quotas]]));
      deepEqual(await stage.store.setQuotas(other.owner.id, NO_QUOTAS), NO_QUOTAS);
      deepEqual((await stage.store.listQuotas()).get(other.owner.id), NO_QUOTAS);
    });
  });

  describe('a change of quotas', () => {
    it('is not written when its check throws', async () => {
      await using stage = await Stage.open(harness);
      const change = (processes: number) =>
        stage.store.setQuotas(stage.owner.id, { processes }, (before) => deepEqual(before, NO_QUOTAS));
      const ends = await Promise.allSettled([change(1), change(2), change(3)]);
      deepEqual(ends.map(({ status }) => status).sort(), ['fulfilled', 'rejected', 'rejected']);
      const made = ends.findIndex(({ status }) => status === 'fulfilled') + 1;
      deepEqual((await stage.store.listQuotas()).get(stage.owner.id), { ...NO_QUOTAS, processes: made });
    });
  });

  describe('stored bytes', () => {
    it('are measured by owner, whatever the order', async () => {
      await using stage = await Stage.open(harness);
      const other = await stage.neighbour();
      const before = (await measure(stage.store)).bytes;
      const [mine, theirs] = [await stage.source(), await other.source()];
      const body = Buffer.alloc(1000, ' ');
      body.write('{}');
      const many = MEASURED_AT_ONCE + 7;
      await Promise.all(times(many, () => stage.append(mine.id, { body }, none())));
      await other.append(theirs.id, { body }, none());
      const { bytes, steps } = await measure(stage.store);
      const grown = (ownerId: string): number => defined(bytes.get(ownerId)) - (before.get(ownerId) ?? 0);
      ok(grown(stage.owner.id) >= many * 1000, String(grown(stage.owner.id)));
      ok(grown(stage.owner.id) < many * 1000 + 20_000, 'each once');
      ok(grown(other.owner.id) >= 1000 && grown(other.owner.id) < 20_000, String(grown(other.owner.id)));
      ok(steps > 2);
    });

    it('count data stores and code', async () => {
      await using stage = await Stage.open(harness);
      const { bytes: before } = await measure(stage.store);
      const id = stage.ids.next(PREFIX.dataStore);
      const atMs = stage.clock.nowMs();
      const dataStore = { id, ownerId: stage.owner.id, name: 'd', size: 0, createdAtMs: atMs, updatedAtMs: atMs };
      await stage.store.createDataStore(dataStore);
      const place = { ownerId: stage.owner.id, storeId: id };
      await stage.store.setRecord(place, { key: 'k', value: JSON.stringify('x'.repeat(5000)), ttlMs: null });
      const { bytes } = await measure(stage.store);
      const grown = defined(bytes.get(stage.owner.id)) - (before.get(stage.owner.id) ?? 0);
      ok(grown >= 5000 && grown < 6000, String(grown));
      ok(defined(before.get(stage.owner.id)) > 0, 'the code of the global error workflow');
    });

    it('are kept until they are measured again', async () => {
      await using stage = await Stage.open(harness);
      const { id } = stage.owner;
      deepEqual(await stage.store.storedBytes(), new Map());
      await stage.store.keepMeasured(
        [
          { ownerId: id, bytes: 2 ** 40 },
          { ownerId: 'u_gone', bytes: 1 },
        ],
        1000,
      );
      await stage.store.keepMeasured([{ ownerId: id, bytes: 7 }], 2000);
      await stage.reopen();
      deepEqual(await stage.store.storedBytes(), new Map([[id, { bytes: 7, measuredAtMs: 2000 }]]));
      await stage.store.keepMeasured([], 3000);
      deepEqual(await stage.store.storedBytes(), new Map());
    });
  });
}
