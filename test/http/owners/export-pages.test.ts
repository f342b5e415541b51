// An export of much, on a store that answers without waiting: all other work has its turn after each page.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { LIMITS } from '../../../src/domain/limits.ts';
import { listOwnTriggers } from '../../../src/engine/resources/triggers.ts';
import { wholeSource } from '../../../src/engine/sources/source-writes.ts';
import { ownerLines } from '../../../src/http/routes/admin/export/lines.ts';
import { defined, TestClock } from '../../contract/fixtures.ts';
import { createFolder } from '../../support/folders/folder.ts';
import { fillStore, multiply, openFull } from '../../unit/store/full-store.ts';

/** Adds more records to a data store than a page has. Returns how many there are. */
function addRecords(path: string): number {
  const db = new DatabaseSync(path);
  db.exec(`WITH RECURSIVE more (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM more WHERE i <= ${3 * LIMITS.pageRecords})
    INSERT INTO data_records (store_id, generation, key, bytes, updated_at_ms, value)
      SELECT store_id, generation, 'more' || i, bytes, updated_at_ms, value FROM more, (SELECT * FROM data_records LIMIT 1)`);
  const row = db
    .prepare(`SELECT count(*) AS n FROM data_records AS r JOIN data_stores AS s
    ON s.id = r.store_id AND s.generation = r.generation`)
    .get();
  db.close();
  return Number(row?.n);
}

test('an export lets other work have its turn', async () => {
  await using folder = await createFolder();
  const [path, clock] = [join(folder.path, 'errand.db'), new TestClock()];
  const { stages } = await fillStore(path, clock);
  multiply(path, 3000);
  const records = addRecords(path);
  const store = await openFull(path, clock);
  const of = {
    store,
    urls: {
      publicUrl: () => 'https://errand.example',
      endpointUrl: (key: string) => key,
      wildcardBase: () => null,
    } as never,
    getSource: (ownerId: string, id: string) => wholeSource(store, ownerId, id),
    getWorkflow: async (ownerId: string, id: string) => {
      const workflow = defined(await store.getWorkflow(ownerId, id));
      const deployment = defined(await store.getDeployment(ownerId, workflow.deploymentId));
      return { workflow, deployment, triggers: await listOwnTriggers(store, ownerId, id) } as never;
    },
  };
  let [turns, found] = [0, 0];
  let isOver = false;
  const turn = (): void => {
    turns++;
    if (!isOver) setImmediate(turn);
  };
  turn();
  const perTurn = new Map<number, number>();
  for (const { owner } of stages) {
    for await (const { type } of ownerLines(of, owner.id, null)) {
      if (type === 'data_record') found++;
      if (type !== 'event') perTurn.set(turns, (perTurn.get(turns) ?? 0) + 1);
    }
  }
  isOver = true;
  await store.close();
  assert.equal(found, records);
  const counts = [...perTurn.values()];
  assert.ok(counts.reduce((sum, count) => sum + count, 0) > 3000);
  assert.ok(Math.max(...counts) <= 3 * LIMITS.pageRecords, `${Math.max(...counts)} lines in one turn`);
});
