// Rows that are read ahead for the claims of one transaction.

import { deepEqual, equal } from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import type { ClaimedDelivery } from '../../../src/domain/delivery/delivery.ts';
import { WaitingRows } from '../../../src/store/sqlite/deliveries/waiting-rows.ts';
import { openSqliteStore } from '../../../src/store/sqlite/open.ts';
import { all, strongRandom, TestClock, upTo } from '../../contract/fixtures.ts';
import { Stage } from '../../contract/stage.ts';
import { createFolder } from '../../support/folders/folder.ts';

/** Rows `from`, `from + 1` … of a table of `count`, and how many each read asked for. */
function table(count: number) {
  const limits: number[] = [];
  let at = 0;
  const read = (limit: number) => {
    limits.push(limit);
    const rows = Array.from({ length: Math.min(limit, count - at) }, (_, n) => ({ delivery: at + n }));
    at += rows.length;
    return rows;
  };
  return { read, limits };
}

test('Rows come in order, with ever fewer reads', () => {
  const rows = new WaitingRows();
  const { read, limits } = table(50);
  const taken = Array.from({ length: 50 }, () => rows.take('a', 'pending', read)?.delivery);
  deepEqual(
    taken,
    Array.from({ length: 50 }, (_, n) => n),
  );
  deepEqual(limits, [2, 4, 8, 16, 16, 16]);
  equal(rows.take('a', 'pending', read), undefined, 'there are no more');
});

test('Rows that were dropped are read again, those of others are kept', () => {
  const rows = new WaitingRows();
  const read = (limit: number) => Array.from({ length: limit }, (_, n) => ({ delivery: n }));
  for (const id of ['a', 'b']) for (const state of ['pending', 'retrying'] as const) rows.take(id, state, read);
  rows.drop('a');
  deepEqual([rows.next('a', 'pending'), rows.next('a', 'retrying')], [undefined, undefined]);
  deepEqual([rows.next('b', 'pending'), rows.next('b', 'retrying')], [{ delivery: 1 }, { delivery: 1 }]);
  equal(rows.take('a', 'pending', read)?.delivery, 0);
  rows.clear();
  equal(rows.next('b', 'pending'), undefined);
});

interface Backlog {
  readonly stage: Stage;
  readonly webhookId: string;
  /** Under way, the oldest first. */
  readonly under: readonly ClaimedDelivery[];
}

/** A webhook with twelve deliveries, four of them under way. */
async function withBacklog(act: (backlog: Backlog) => Promise<void>): Promise<void> {
  await using folder = await createFolder();
  const clock = new TestClock();
  const store = await openSqliteStore({ path: join(folder.path, 'errand.db'), clock, random: strongRandom });
  const stage = await Stage.on(store, clock);
  const { id: emitterId } = await stage.source();
  const { id: webhookId } = await stage.webhook();
  await stage.subscribe(emitterId, webhookId);
  for (let n = 0; n < 12; n++) {
    await stage.append(emitterId);
    clock.advance(1);
  }
  const { deliveries } = await store.claimDeliveries(4, upTo(4));
  await act({ stage, webhookId, under: deliveries });
  await store.close();
}

const numbers = (deliveries: readonly ClaimedDelivery[]): number[] => deliveries.map(({ delivery }) => delivery);

test('Ends of one transaction claim what is next, each once', () =>
  withBacklog(async ({ stage, under }) => {
    const ends = await Promise.all(under.map((delivery) => stage.delivered(delivery, upTo(2))));
    const claimed = ends.flatMap(({ claims }) => numbers(claims.deliveries));
    equal(claimed.length, 8);
    deepEqual(
      claimed,
      claimed.toSorted((a, b) => a - b),
      'in their order',
    );
    equal(new Set([...claimed, ...numbers(under)]).size, 12, 'each once');
  }));

test('A webhook that is disabled between two ends gets nothing more', () =>
  withBacklog(async ({ stage, webhookId, under }) => {
    const [a, b, c, d] = under as [ClaimedDelivery, ClaimedDelivery, ClaimedDelivery, ClaimedDelivery];
    const setActive = (active: boolean) =>
      stage.store.updateWebhook(stage.owner.id, webhookId, (before) => ({ ...before, active }));
    const [first, , second, , third] = await Promise.all([
      stage.delivered(a, upTo(1)),
      setActive(false),
      stage.delivered(b, all()),
      setActive(true),
      stage.delivered(c, upTo(1)),
    ]);
    equal(first.claims.deliveries.length, 1);
    deepEqual(second.claims.deliveries, []);
    equal(third.claims.deliveries.length, 1);
    const rest = await stage.delivered(d, all());
    equal(rest.claims.deliveries.length, 2);
  }));

test('What comes back between two ends is claimed before newer ones', () =>
  withBacklog(async ({ stage, under }) => {
    const [a, b, c] = under as [ClaimedDelivery, ClaimedDelivery, ClaimedDelivery];
    const held = await stage.delivered(a, upTo(1));
    const [back] = held.claims.deliveries as [ClaimedDelivery];
    stage.clock.ms -= 60_000;
    const [first, , second] = await Promise.all([
      stage.delivered(b, upTo(1)),
      stage.store.releaseDeliveries([back]),
      stage.delivered(c, upTo(1)),
    ]);
    equal(first.claims.deliveries.length, 1);
    deepEqual(numbers(second.claims.deliveries), [back.delivery], 'it is due since before the others');
  }));
