// The audit log: what is written stands there, for its owner alone, in the order of time.

import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AuditQuery, AuditRecord } from '../../../src/domain/audit.ts';
import { PREFIX, resourceId } from '../../../src/domain/ids.ts';
import { DAY_MS, HOUR_MS } from '../../../src/domain/limits.ts';
import { type Harness, times } from '../fixtures.ts';
import { Stage } from '../stage.ts';

const ODD = 'a\u0000b"\\{},é😀';

let made = 0;

/** Ids of the store's own time, as the service makes them. */
function nextId({ clock }: Stage): string {
  const counted = [...String(made++).padStart(9, '0')].map(Number);
  return resourceId(PREFIX.audit, clock.nowMs(), Uint8Array.from(counted));
}

/** A record of the stage's first key. */
export function auditRecordOn(stage: Stage, more: Partial<AuditRecord> = {}): AuditRecord {
  return {
    id: nextId(stage),
    ownerId: stage.owner.id,
    keyId: stage.key.id,
    keyLabel: 'ci',
    byOwnerId: stage.owner.id,
    operation: 'updateWorkflow',
    targetId: 'p_0000000000000001',
    method: 'PUT',
    path: '/v1/workflows/p_0000000000000001',
    clientIp: '127.0.0.1',
    requestId: 'req_1',
    status: null,
    count: 1,
    atMs: stage.clock.nowMs(),
    ...more,
  };
}

async function idsOf(stage: Stage, query: Partial<AuditQuery> = {}): Promise<string[]> {
  const page = await stage.store.listAudit({ ownerId: stage.owner.id, ...query }, { limit: 100 });
  equal(page.totalCount, page.items.length);
  return page.items.map(({ id }) => id);
}

export function auditContract(harness: Harness): void {
  describe('the audit log', () => {
    it('keeps a record as it is', async () => {
      await using stage = await Stage.open(harness);
      const plain = auditRecordOn(stage);
      const none = auditRecordOn(stage, {
        keyId: null,
        byOwnerId: null,
        targetId: null,
        status: 200,
        count: 3_000_000_000,
      });
      const odd = auditRecordOn(stage, { keyLabel: ODD, path: ODD, targetId: ODD, clientIp: '::1' });
      await stage.store.writeAudit([plain, none, odd]);
      const { items } = await stage.store.listAudit({ ownerId: stage.owner.id }, { limit: 10 });
      deepEqual(items, [odd, none, plain]);
      await stage.store.writeAudit([]);
    });

    it('takes the end of a record, and the same once more', async () => {
      await using stage = await Stage.open(harness);
      const record = auditRecordOn(stage, { targetId: null });
      const ended = { ...record, status: 200, targetId: 'p_0000000000000002', count: 7 };
      await stage.store.writeAudit([record]);
      for (const one of [ended, ended]) await stage.store.writeAudit([one]);
      const of = { ownerId: stage.owner.id, targetId: 'p_0000000000000002' };
      deepEqual((await stage.store.listAudit(of, { limit: 10 })).items, [ended]);
    });

    it('drops what is named', async () => {
      await using stage = await Stage.open(harness);
      const [stays, goes] = [auditRecordOn(stage), auditRecordOn(stage)];
      await stage.store.writeAudit([stays, goes]);
      const more = auditRecordOn(stage);
      await stage.store.writeAudit([more], [goes.id, 'au_0000000000000000']);
      deepEqual(await idsOf(stage), [more.id, stays.id]);
    });

    it('belongs to its owner', async () => {
      await using stage = await Stage.open(harness);
      const other = await stage.neighbour();
      const [mine, theirs] = [auditRecordOn(stage), auditRecordOn(other)];
      await stage.store.writeAudit([mine, theirs]);
      deepEqual([await idsOf(stage), await idsOf(other)], [[mine.id], [theirs.id]]);
      deepEqual(await idsOf(stage, { keyId: other.key.id }), []);
    });

    it('is filtered by key, operation, target and time', async () => {
      await using stage = await Stage.open(harness);
      const beginMs = stage.clock.nowMs();
      const made: AuditRecord[] = [];
      for (const i of times(12, (n) => n)) {
        made.push(
          auditRecordOn(stage, {
            keyId: `key_${i % 2}`,
            operation: `operation${i % 3}`,
            targetId: i % 4 === 0 ? null : `p_${i % 4}`,
          }),
        );
        stage.clock.advance(HOUR_MS);
      }
      await stage.store.writeAudit(made);
      const fits = (of: (record: AuditRecord) => boolean) =>
        made
          .filter(of)
          .reverse()
          .map(({ id }) => id);
      deepEqual(
        await idsOf(stage, { keyId: 'key_1' }),
        fits(({ keyId }) => keyId === 'key_1'),
      );
      deepEqual(
        await idsOf(stage, { operation: 'operation2' }),
        fits(({ operation }) => operation === 'operation2'),
      );
      deepEqual(
        await idsOf(stage, { targetId: 'p_3' }),
        fits(({ targetId }) => targetId === 'p_3'),
      );
      deepEqual(
        await idsOf(stage, { keyId: 'key_1', operation: 'operation0', targetId: 'p_1' }),
        fits((one) => one.keyId === 'key_1' && one.operation === 'operation0' && one.targetId === 'p_1'),
      );
      const [sinceMs, untilMs] = [beginMs + 3 * HOUR_MS, beginMs + 6 * HOUR_MS];
      deepEqual(
        await idsOf(stage, { sinceMs, untilMs }),
        fits(({ atMs }) => atMs >= sinceMs && atMs < untilMs),
      );
      deepEqual(
        await idsOf(stage, { sinceMs, keyId: 'key_0' }),
        fits((one) => one.atMs >= sinceMs && one.keyId === 'key_0'),
      );
      deepEqual(await idsOf(stage, { untilMs: beginMs }), []);
      deepEqual(await idsOf(stage, { operation: 'none' }), []);
    });

    it('is walked by cursors', async () => {
      await using stage = await Stage.open(harness);
      const made = times(5, () => auditRecordOn(stage));
      await stage.store.writeAudit(made);
      const ids = made.map(({ id }) => id).reverse();
      const of = { ownerId: stage.owner.id, keyId: stage.key.id };
      const page = async (query: object) => {
        const { items, totalCount } = await stage.store.listAudit(of, { limit: 2, ...query });
        equal(totalCount, 5);
        return items.map(({ id }) => id);
      };
      deepEqual(await page({}), ids.slice(0, 2));
      deepEqual(await page({ after: ids[1] }), ids.slice(2, 4));
      deepEqual(await page({ after: ids[3] }), ids.slice(4));
      deepEqual(await page({ before: ids[3] }), ids.slice(1, 3));
    });

    it('is pruned with the rest, in steps', async () => {
      await using stage = await Stage.open(harness);
      await stage.store.writeAudit(times(5200, () => auditRecordOn(stage)));
      stage.clock.advance(DAY_MS);
      const beforeMs = stage.clock.nowMs();
      const kept = auditRecordOn(stage);
      await stage.store.writeAudit([kept]);
      for (let next: number | null = 0; next !== null; ) ({ next } = await stage.store.prune(beforeMs, next));
      deepEqual(await idsOf(stage), [kept.id]);
    });
  });
}
