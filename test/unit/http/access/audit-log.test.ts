import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AuditRecord } from '../../../../src/domain/audit.ts';
import { LIMITS, MINUTE_MS } from '../../../../src/domain/limits.ts';
import { AuditLog } from '../../../../src/http/access/audit-log.ts';
import { OWNER_ID, T0_MS } from '../records.ts';

function record(n: number, more: Partial<AuditRecord> = {}): AuditRecord {
  return {
    id: `au_${String(n).padStart(16, '0')}`,
    ownerId: OWNER_ID,
    keyId: 'key_1',
    keyLabel: 'ci',
    byOwnerId: OWNER_ID,
    operation: 'updateWorkflow',
    targetId: 'p_1',
    method: 'PUT',
    path: '/v1/workflows/p_1',
    clientIp: '127.0.0.1',
    requestId: 'req_1',
    status: null,
    count: 1,
    atMs: T0_MS,
    ...more,
  };
}

interface Kept {
  readonly log: AuditLog;
  readonly rows: Map<string, AuditRecord>;
  readonly writes: number[];
  readonly warned: object[];
  fail: Error | null;
}

function keep(): Kept {
  const rows = new Map<string, AuditRecord>();
  const writes: number[] = [];
  const warned: object[] = [];
  const kept: Kept = { rows, writes, warned, fail: null, log: null as never };
  const store = {
    writeAudit: async (records: readonly AuditRecord[], dropped: readonly string[] = []) => {
      await Promise.resolve();
      if (kept.fail) throw kept.fail;
      writes.push(records.length);
      for (const one of records) rows.set(one.id, one);
      for (const id of dropped) rows.delete(id);
    },
  };
  const warn = (fields: object) => void warned.push(fields);
  const log = new AuditLog({ store, log: { debug() {}, info() {}, warn, error() {} } });
  return Object.assign(kept, { log });
}

test('records that come together are written together', async () => {
  const { log, rows, writes } = keep();
  await Promise.all([log.put([record(1)]), log.put([record(2)]), log.put([record(3)])]);
  assert.deepEqual(writes, [1, 2]);
  log.putLater([record(1, { status: 200 })]);
  log.putLater([record(1, { status: 201 })]);
  log.putLater([record(1, { status: 202 })]);
  await log.flush();
  assert.deepEqual([rows.size, rows.get(record(1).id)?.status], [3, 202]);
  await log.flush();
  assert.deepEqual(writes, [1, 2, 1, 1]);
});

test('what cannot be written is told to those who wait', async () => {
  const kept = keep();
  kept.fail = new Error('disk full');
  await assert.rejects(kept.log.put([record(1)]), /disk full/);
  kept.log.putLater([record(2, { status: 200 })]);
  await kept.log.flush();
  assert.deepEqual(kept.warned, [{ err: kept.fail, audit_id: record(2).id }]);
  kept.fail = null;
  await kept.log.put([record(3)]);
  assert.deepEqual([...kept.rows.keys()], [record(3).id]);
});

/** As a request goes: written before, then ended. */
async function handled(log: AuditLog, n: number, more: Partial<AuditRecord>): Promise<void> {
  await log.put([record(n, { ...more, status: null })]);
  log.ended([record(n, more)], { written: true });
}

test('refusals of a key are counted beyond a few', async () => {
  for (const written of [true, false]) {
    const { log, rows, writes } = keep();
    const refuse = async (n: number, more: Partial<AuditRecord> = {}): Promise<void> => {
      const refused = { status: written ? 404 : 403, ...more };
      if (written) await handled(log, n, refused);
      else log.ended([record(n, refused)], { written });
    };
    for (let n = 0; n < 1000; n++) await refuse(n);
    await log.flush();
    assert.equal(rows.size, LIMITS.auditedRefusals + 1);
    const counts = [...rows.values()].map(({ count }) => count).sort((a, b) => b - a);
    assert.deepEqual([counts[0], counts[1]], [1000 - LIMITS.auditedRefusals, 1]);
    assert.ok([...rows.values()].every(({ status }) => status !== null));
    if (!written) assert.ok(writes.length < 50, `${writes.length} writes`);
    await refuse(2000, { keyId: 'key_2' });
    await refuse(2001, { atMs: T0_MS + MINUTE_MS });
    await log.flush();
    assert.equal(rows.size, LIMITS.auditedRefusals + 3, 'another key, and another minute, have their own');
  }
});

test('what was done is never counted away', async () => {
  const { log, rows } = keep();
  for (let n = 0; n < 100; n++) await handled(log, n, { status: 403 });
  for (let n = 100; n < 200; n++) await handled(log, n, { status: 200 });
  for (let n = 200; n < 300; n++) await handled(log, n, { status: 503 });
  await log.flush();
  const of = (status: number) => [...rows.values()].filter((row) => row.status === status).length;
  assert.deepEqual([of(200), of(503), of(403)], [100, 100, LIMITS.auditedRefusals + 1]);
});

test('refusals of many keys take a bounded memory', async () => {
  const { log, rows } = keep();
  const each = LIMITS.auditedRefusals + 2;
  for (let key = 0; key < 1500; key++) {
    for (let n = 0; n < each; n++) {
      log.ended([record(key * 100 + n, { keyId: `key_${key}`, status: 403 })], { written: false });
    }
  }
  await log.flush();
  const counted = [...rows.values()].reduce((sum, { count }) => sum + count, 0);
  assert.equal(counted, 1500 * each, 'and none of them is lost');
});
