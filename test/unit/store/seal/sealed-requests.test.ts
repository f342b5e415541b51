// errand store check sees whether the requests that a store keeps can be opened where they stand.

import { deepEqual, match } from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { checkSqlite } from '../../../../src/store/sqlite/maintenance/check.ts';
import { http, none, succeeded, TestClock } from '../../../contract/fixtures.ts';
import { Stage } from '../../../contract/stage.ts';
import { createFolder } from '../../../support/folders/folder.ts';
import { openFull } from '../full-store.ts';

test('a request that was moved does not open', async () => {
  await using folder = await createFolder();
  const path = join(folder.path, 'errand.db');
  const clock = new TestClock();
  const store = await openFull(path, clock);
  const stage = await Stage.on(store, clock);
  const outgoing = Array.from({ length: 20 }, (_, n) => http(`https://${n}.example/`));
  await stage.end(await stage.started(await stage.workflow()), succeeded({ outgoing }), none());
  await store.close();
  const { ok, findings } = await checkSqlite(path);
  deepEqual([ok, findings], [true, []]);
  const db = new DatabaseSync(path);
  db.exec(`UPDATE emissions SET body = (SELECT body FROM emissions WHERE name = '$http' ORDER BY entry LIMIT 1)
    WHERE name = '$http' AND entry IN (SELECT entry FROM emissions ORDER BY entry DESC LIMIT 2)`);
  db.close();
  const [found, ...others] = (await checkSqlite(path)).findings;
  deepEqual([found?.check, found?.count, others], ['secret_unreadable', 2, []]);
  match(found?.detail ?? '', /^requests of steps that cannot be opened, e\.g\. \S+$/);
});
