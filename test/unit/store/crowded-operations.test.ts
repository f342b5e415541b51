// A thousand operations that wait for webhooks to be enabled, and one that could go on.

import { equal } from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { openSqliteStore } from '../../../src/store/sqlite/open.ts';
import { defined, strongRandom, TestClock, times, timesInTurn } from '../../contract/fixtures.ts';
import { Stage } from '../../contract/stage.ts';
import { createFolder } from '../../support/folders/folder.ts';

const MAX_CONSIDERED = 1000;

test('a thousand that wait hold up nobody', async () => {
  await using folder = await createFolder();
  const clock = new TestClock();
  const store = await openSqliteStore({ path: join(folder.path, 'errand.db'), clock, random: strongRandom });
  const stage = await Stage.on(store, clock);
  const [asleep, awake] = [await stage.webhook({ active: false }), await stage.webhook()];
  const waiting = times(MAX_CONSIDERED + 1, () => stage.make.operation(asleep.id));
  await Promise.all(waiting.map((operation) => store.createOperation(operation)));
  // Each is counted first, which needs nobody.
  await Promise.all(waiting.map(() => store.stepOperation()));
  const last = stage.make.operation(awake.id);
  await store.createOperation(last);
  await timesInTurn(4, () => store.stepOperation());
  equal(defined(await store.getOperation(stage.owner.id, last.id)).state, 'done');
  await store.close();
});
