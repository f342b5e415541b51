// Runs that are counted in memory, and that the file does not have.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CountedSlots, type Harness, timesInTurn } from '../../contract/fixtures.ts';
import { Stage } from '../../contract/stage.ts';
import { openSqlite } from '../../support/sqlite/store.ts';

test('slots that find no run are given back', async () => {
  await using stage = await Stage.open({ open: ({ clock }) => openSqlite({ clock }) } as Harness);
  const workflow = await stage.workflow();
  const [gone] = await timesInTurn(3, () => stage.appendFor(workflow.id));
  await stage.execute(`UPDATE runs SET state = 'cancelled', ended_at_ms = 1 WHERE run = ${gone?.firstRun}`);
  const slots = new CountedSlots();
  const claims = await stage.store.claimRuns(10, slots);
  assert.equal(claims.runs.length, 2);
  assert.deepEqual(slots.runs, { taken: 3, dropped: 1 });
});
