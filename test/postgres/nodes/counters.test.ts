// What lines count, damaged as a fault of this program could leave it, and put right while two nodes look at once.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { checkPostgres } from '../../../src/store/postgres/maintenance/check.ts';
import { all, at, none, times } from '../../contract/fixtures.ts';
import { queryOn } from '../../support/postgres/databases.ts';
import { claimed, end, type Stores, send, storesOn } from './stores.ts';

const EVER = Number.MAX_SAFE_INTEGER;
const COUNT = 12;

/** Deliveries of one webhook: three under way, the others waiting. */
async function busy(nodes: Stores) {
  for (let n = 0; n < COUNT; n++) await send(nodes, at(nodes.stores, 0));
  const sending = (await at(nodes.stores, 0).claimDeliveries(3, all())).deliveries;
  equal(sending.length, 3);
  return { a: at(nodes.stores, 0), b: at(nodes.stores, 1), sending };
}

async function assertSound({ url }: Stores): Promise<void> {
  deepEqual((await checkPostgres(url)).findings, []);
}

/** By either of two that look at once, and what both have done. */
async function repairBoth(nodes: Stores) {
  const looks = await Promise.all(nodes.stores.map((store) => store.repairCounters(EVER)));
  return looks.flatMap(({ repairs }) => repairs);
}

const DAMAGE = {
  'taken below zero': 'taken = -8, waiting = waiting + 5',
  'more taken than there are': 'taken = taken + 4',
  'more waiting than there are': 'waiting = waiting + 100',
  'nothing waiting': 'waiting = 0, ready_at_ms = NULL',
  'nothing ready': 'ready_at_ms = NULL',
  'ready in a year': 'ready_at_ms = ready_at_ms + 31536000000',
  'taken by nobody': 'holder = NULL',
} as const;

for (const [what, change] of Object.entries(DAMAGE)) {
  test(`a line with ${what} is put right, and all of it is sent`, async () => {
    await using nodes = await storesOn(2);
    const { a, b, sending } = await busy(nodes);
    await queryOn(nodes.url, `UPDATE listener_queues SET ${change} WHERE listener_id = '${nodes.webhook.id}'`);
    const repairs = await repairBoth(nodes);
    ok(repairs.length > 0);
    for (const { of } of repairs) equal(of, nodes.webhook.id);
    await assertSound(nodes);
    deepEqual(await repairBoth(nodes), []);
    for (const delivery of sending) await end(a, delivery, { state: 'delivered' });
    for (;;) {
      const due = [...(await claimed(a)), ...(await claimed(b))];
      if (due.length === 0) break;
      for (const node of [a, b]) for (const delivery of due) await end(node, delivery, { state: 'delivered' });
    }
    equal((await a.ledger(nodes.stage.owner.id)).deliveries.delivered, COUNT);
    await assertSound(nodes);
  });
}

test('a line that is gone is made again', async () => {
  await using nodes = await storesOn(2);
  await busy(nodes);
  await queryOn(nodes.url, `DELETE FROM listener_queues WHERE listener_id = '${nodes.webhook.id}'`);
  ok((await repairBoth(nodes)).length > 0);
  await assertSound(nodes);
});

test('a figure of the ledger is put right once by two that look at once', async () => {
  await using nodes = await storesOn(2);
  await busy(nodes);
  await queryOn(nodes.url, "UPDATE ledger SET n = n - 20 WHERE fact = 'deliveries.sending'");
  const work = times(20, () => send(nodes, at(nodes.stores, 1), all()));
  const repairs = (await Promise.all([repairBoth(nodes), repairBoth(nodes)])).flat();
  await Promise.all(work);
  deepEqual(
    repairs.map(({ kind, of, counted, found }) => [kind, of, found - counted]),
    [['ledger', 'deliveries.sending', 20]],
  );
  await assertSound(nodes);
});

test('one node looks for all of them', async () => {
  await using nodes = await storesOn(2);
  const [a, b] = [at(nodes.stores, 0), at(nodes.stores, 1)];
  await send(nodes, a, none());
  const nowMs = nodes.clock.nowMs();
  const looks = await Promise.all([a.repairCounters(nowMs), b.repairCounters(nowMs)]);
  deepEqual(looks.map(({ isChecked }) => isChecked).sort(), [false, true]);
  nodes.clock.advance(1000);
  equal((await b.repairCounters(nodes.clock.nowMs())).isChecked, true);
});
