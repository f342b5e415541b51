// Whether a store whose database hangs says that it is not ready, before the database's own limits end the wait.

import { equal } from 'node:assert/strict';
import { test } from 'node:test';
import { CHECK_MS } from '../../../src/store/postgres/open.ts';
import { startCutter } from '../../support/postgres/cut.ts';
import { newDatabase } from '../../support/postgres/shared.ts';
import { openTestStore } from '../../support/postgres/store.ts';

test('a database that hangs is not ready', async (t) => {
  const { url, drop } = await newDatabase();
  t.after(drop);
  const { port, pathname } = new URL(url);
  await using cutter = await startCutter(Number(port));
  const store = await openTestStore({ url: cutter.url(pathname.slice(1)), clock: null });
  equal(await store.check(), true);
  cutter.hold();
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const isReady = store.check();
  t.mock.timers.tick(CHECK_MS);
  t.mock.timers.reset();
  equal(await isReady, false);
  cutter.resume();
  equal(await store.check(), true);
  await store.close();
});
