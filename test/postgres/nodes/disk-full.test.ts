// A disk of Postgres that is full lets a small row be written again in its place, and no new ones: this process is not ready.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StoreUnavailable } from '../../../src/store/contract/unavailable.ts';
import { Pool } from '../../../src/store/postgres/connection/pool.ts';
import { TestClock } from '../../contract/fixtures.ts';
import { Stage } from '../../contract/stage.ts';
import { newDatabase } from '../../support/postgres/shared.ts';
import { openTestStore } from '../../support/postgres/store.ts';

const FULL = `CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
  'BEGIN RAISE EXCEPTION ''could not extend file: No space left on device'' USING ERRCODE = ''53100''; END'`;

test('a process whose writes fail is not ready', async () => {
  const database = await newDatabase();
  const clock = new TestClock();
  const store = await openTestStore({ url: database.url, clock });
  const pool = new Pool({ url: database.url, name: 'test', connections: 1 });
  try {
    const stage = await Stage.on(store, clock);
    const workflow = await stage.workflow();
    await stage.append(workflow.id);
    assert.equal(await store.check(), true);
    await pool.write(FULL);
    await pool.write('CREATE TRIGGER full_disk BEFORE INSERT ON emissions EXECUTE FUNCTION full_disk()');
    await assert.rejects(stage.append(workflow.id), StoreUnavailable);
    assert.equal(await store.check(), false);
    await pool.write('DROP TRIGGER full_disk ON emissions');
    await stage.append(workflow.id);
    assert.equal(await store.check(), true);
  } finally {
    await pool.close();
    await store.close();
    await database.drop();
  }
});
