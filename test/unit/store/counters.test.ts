// What memory counts on SQLite, when the rows of the file are not what it knows: changed behind its back, as a fault of
// this program could.

import { deepEqual, equal } from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import type { Store } from '../../../src/store/contract/store.ts';
import { checkSqlite } from '../../../src/store/sqlite/maintenance/check.ts';
import { openSqliteStore } from '../../../src/store/sqlite/open.ts';
import { all, none, strongRandom, TestClock, times } from '../../contract/fixtures.ts';
import { Stage } from '../../contract/stage.ts';

interface Place extends AsyncDisposable {
  readonly path: string;
  readonly store: Store;
  readonly stage: Stage;
}

async function makePlace(): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), 'errand-counters-'));
  const path = join(folder, 'errand.db');
  const clock = new TestClock();
  const store = await openSqliteStore({ path, clock, random: strongRandom });
  const stage = await Stage.on(store, clock);
  return {
    path,
    store,
    stage,
    async [Symbol.asyncDispose]() {
      await store.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function change(path: string, sql: string): void {
  const db = new DatabaseSync(path);
  db.exec(sql);
  db.close();
}

/** Five wait for a webhook, and five runs for their workflow. */
async function waiting({ stage }: Place) {
  const { workflow, trigger } = await stage.hooked();
  const webhook = await stage.webhook();
  const source = await stage.source();
  await stage.subscribe(source.id, webhook.id);
  for (let n = 0; n < 5; n++) {
    await stage.append(source.id);
    await stage.append(trigger.id);
  }
  return { workflow, webhook };
}

test('what waits in the file and not in memory is put right, and sent', async () => {
  await using place = await makePlace();
  const { stage, store, path } = place;
  const { webhook, workflow } = await waiting(place);
  change(path, "UPDATE deliveries SET state = 'delivered', ended_at_ms = 1, due_at_ms = NULL WHERE state = 'pending'");
  change(path, "UPDATE runs SET state = 'cancelled', ended_at_ms = 1 WHERE state = 'queued'");
  const { repairs } = await store.repairCounters(0);
  const found = repairs.map(({ kind, of, counted, found }) => `${kind} ${of}: ${counted}, not ${found}`).sort();
  deepEqual(found, [
    'ledger deliveries.pending: 5, not 0',
    'ledger runs.queued: 5, not 0',
    `waiting ${workflow.id}: 5, not 0`,
    `waiting ${webhook.id}: 5, not 0`,
  ]);
  change(path, "UPDATE deliveries SET state = 'pending', ended_at_ms = NULL, due_at_ms = 1 WHERE state = 'delivered'");
  change(path, "UPDATE runs SET state = 'queued', ended_at_ms = NULL WHERE state = 'cancelled'");
  deepEqual((await store.claimDeliveries(100, all())).deliveries, []);
  equal((await store.repairCounters(0)).repairs.length, 4);
  deepEqual((await store.repairCounters(0)).repairs, []);
  equal((await store.claimDeliveries(100, all())).deliveries.length, 5);
  equal((await store.claimRuns(100, all())).runs.length, 5);
  deepEqual((await store.repairCounters(0)).repairs, []);
  deepEqual(
    (await checkSqlite(path)).findings.filter(({ check }) => check !== 'secret_key'),
    [],
  );
  equal((await stage.store.ledger(stage.owner.id)).deliveries.sending, 5);
});

test('a look in the middle of a batch counts what that has changed', async () => {
  await using place = await makePlace();
  const { stage, store } = place;
  const { trigger } = await stage.hooked();
  const looks = times(40, (n) => [
    store.append(stage.make.emission(trigger.id), n % 2 ? all() : none()),
    store.repairCounters(0),
  ]);
  for (const [, look] of looks) deepEqual(((await look) as Awaited<ReturnType<Store['repairCounters']>>).repairs, []);
});
