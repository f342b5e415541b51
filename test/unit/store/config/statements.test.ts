// The statements that SQLite keeps prepared: as many as the program has, however often each is run.

import { equal, ok } from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openInspectable } from '../../../../src/store/sqlite/open.ts';
import { strongRandom, TestClock } from '../../../contract/fixtures.ts';

test('lists prepare no further statement as time goes by', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'errand-statements-'));
  const clock = new TestClock();
  const { store, statements } = openInspectable({ path: join(directory, 'errand.db'), clock, random: strongRandom });
  await store.listDataStores('o_1', { limit: 10 });
  const lists = () => statements().filter((statement) => statement.includes('data_stores')).length;
  const before = lists();
  for (let n = 0; n < 5; n++) {
    clock.advance(1);
    await store.listDataStores('o_1', { limit: 10 });
  }
  ok(before > 0);
  equal(lists(), before);
  await store.close();
  await rm(directory, { recursive: true, force: true });
});
