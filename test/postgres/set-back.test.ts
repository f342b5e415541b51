// A database whose clock is set back while several nodes use it.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import postgres from 'postgres';
import { DAY_MS, LIMITS, SECOND_MS } from '../../src/domain/limits.ts';
import { firstTickMs } from '../../src/engine/schedule/cron.ts';
import { at, none, only } from '../contract/fixtures.ts';
import { holding } from '../support/postgres/holding.ts';
import { claimed, end, send, storesOn } from './nodes/stores.ts';

test('only queues in which something is due later are locked', async () => {
  await using nodes = await storesOn(1);
  const { stage, stores, clock, url } = nodes;
  const store = at(stores, 0);
  const other = await stage.webhook();
  await stage.subscribe((await stage.source()).id, other.id);
  await store.followClock(firstTickMs);
  await send(nodes, store);
  const delivery = only(await claimed(store));
  const nextAttemptAtMs = clock.nowMs() + 10 * SECOND_MS;
  await end(store, delivery, { state: 'retrying', nextAttemptAtMs });
  const sql = postgres(url, { max: 1 });
  const busy = holding(sql, other.id);
  await busy.locked;
  clock.advance(-DAY_MS);
  equal(await store.followClock(firstTickMs), DAY_MS);
  await busy.release();
  await sql.end();
  deepEqual(await claimed(store), []);
  clock.advance(10 * SECOND_MS);
  equal(only(await claimed(store)).delivery, delivery.delivery);
});

test('what a node had under way is taken over when it is gone', async () => {
  await using nodes = await storesOn(2);
  const { stores, clock } = nodes;
  const [gone, living] = [at(stores, 0), at(stores, 1)];
  await living.followClock(firstTickMs);
  await send(nodes, gone);
  const { delivery } = only(await claimed(gone));
  clock.advance(-DAY_MS);
  equal(await living.followClock(firstTickMs), DAY_MS);
  equal((await living.rescue(none())).deliveries, 0, 'it may be there still');
  clock.advance(LIMITS.nodeLeaseMs + 1);
  equal((await living.rescue(none())).deliveries, 1);
  equal(only(await claimed(living)).delivery, delivery);
});

test('the log of all nodes goes on behind what any of them has written', async () => {
  await using nodes = await storesOn(2);
  const { stores, clock } = nodes;
  const [busy, idle] = [at(stores, 0), at(stores, 1)];
  await send(nodes, idle);
  clock.advance(60 * SECOND_MS);
  await idle.followClock(firstTickMs);
  const { entry: last } = await send(nodes, busy);
  clock.advance(-DAY_MS);
  equal(await idle.followClock(firstTickMs), DAY_MS);
  ok((await idle.logEnd()) >= last, 'a replay of all errors would leave out the newest');
  ok((await send(nodes, idle)).entry > last, 'readers of the log would never come to it');
});
