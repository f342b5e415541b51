// A webhook's rate limit holds over all nodes: the one that counts its requests goes on with them, until what began there
// counts no more, or it is gone.

import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import { LIMITS, MINUTE_MS, SECOND_MS } from '../../../src/domain/limits.ts';
import type { Throttle } from '../../../src/domain/resource.ts';
import type { FreeSlots, Store } from '../../../src/store/contract/store.ts';
import { checkPostgres } from '../../../src/store/postgres/maintenance/check.ts';
import { at, only, type TestClock } from '../../contract/fixtures.ts';
import { claimed, end, type Stores, send, storesOn } from './stores.ts';

const RATE: Throttle = { limit: 1, intervalMs: MINUTE_MS };

interface Three extends Stores {
  readonly keeper: Store;
  readonly others: readonly [Store, Store];
  /** Each node's own. */
  readonly slotsOf: (node: Store) => FreeSlots;
}

/** What a node knows of is all that it began itself. */
function counting(clock: TestClock): FreeSlots {
  const starts: number[] = [];
  return {
    takeRun: () => false,
    dropRun: () => undefined,
    takeDelivery: () => {
      if (clock.ms - (starts.at(-1) ?? Number.NEGATIVE_INFINITY) < MINUTE_MS) return false;
      starts.push(clock.ms);
      return true;
    },
    dropDelivery: () => starts.pop(),
  };
}

async function three(): Promise<Three> {
  const made = await storesOn(3, { settings: { rateLimit: RATE } });
  const slots = new Map(made.stores.map((store) => [store, counting(made.clock)]));
  const slotsOf = (node: Store) => slots.get(node) as FreeSlots;
  return { ...made, keeper: at(made.stores, 0), others: [at(made.stores, 1), at(made.stores, 2)], slotsOf };
}

/** One event that goes out at the keeper and is delivered a second later, and two that wait for it. */
async function began(nodes: Three): Promise<void> {
  const { keeper, others, clock, slotsOf } = nodes;
  const first = only((await send(nodes, keeper, slotsOf(keeper))).claims.deliveries);
  for (const node of others) deepEqual((await send(nodes, node, slotsOf(node))).claims.deliveries, []);
  clock.advance(SECOND_MS);
  await end(keeper, first, { state: 'delivered' });
}

const claimAt = ({ slotsOf }: Three, node: Store) => claimed(node, slotsOf(node));

/** How many each of them begins now: of what waits, and of an event that comes there. */
async function begunAt(nodes: Three, stores: readonly Store[]): Promise<number[]> {
  const begun: number[] = [];
  for (const node of stores) {
    const { claims } = await send(nodes, node, nodes.slotsOf(node));
    begun.push(claims.deliveries.length + (await claimAt(nodes, node)).length);
  }
  return begun;
}

test('three nodes begin one request a minute', async () => {
  await using nodes = await three();
  const { keeper, others, clock, url } = nodes;
  await began(nodes);
  deepEqual(await begunAt(nodes, [...others, keeper]), [0, 0, 0]);
  deepEqual((await checkPostgres(url)).findings, []);
  clock.advance(MINUTE_MS - SECOND_MS - 1);
  deepEqual(await begunAt(nodes, [...others, keeper]), [0, 0, 0]);
  clock.advance(1);
  deepEqual(await begunAt(nodes, [...others, keeper]), [0, 0, 1], 'the next one begins where the first did');
  deepEqual(await begunAt(nodes, [...others, keeper]), [0, 0, 0]);
});

test('after the minute another node may begin', async () => {
  await using nodes = await three();
  const { keeper, others, clock } = nodes;
  await began(nodes);
  clock.advance(MINUTE_MS);
  deepEqual(await begunAt(nodes, [others[0], keeper, others[1]]), [1, 0, 0]);
});

test('what was handed back stays with its node', async () => {
  await using nodes = await three();
  const { keeper, others, slotsOf } = nodes;
  const first = only((await send(nodes, keeper, slotsOf(keeper))).claims.deliveries);
  await keeper.releaseDeliveries([first]);
  deepEqual(await begunAt(nodes, others), [0, 0]);
  equal((await claimed(keeper)).length, 3);
});

test('a node that leaves keeps nothing', async () => {
  await using nodes = await three();
  const { keeper, others } = nodes;
  await began(nodes);
  await keeper.close();
  deepEqual(await begunAt(nodes, others), [1, 0]);
});

test('a node that is gone keeps nothing', async () => {
  await using nodes = await three();
  const { others, clock, slotsOf } = nodes;
  await began(nodes);
  clock.advance(LIMITS.nodeLeaseMs);
  for (const node of others) await node.beat();
  deepEqual(await begunAt(nodes, others), [0, 0], 'nobody has said so yet');
  await others[0].rescue(slotsOf(others[0]));
  deepEqual(await begunAt(nodes, others), [1, 0]);
});

test('an attempt of a dead node keeps nothing', async () => {
  await using nodes = await three();
  const { keeper, others, clock, slotsOf } = nodes;
  await send(nodes, keeper, slotsOf(keeper));
  clock.advance(LIMITS.nodeLeaseMs + 1);
  for (const node of others) await node.beat();
  equal((await others[0].rescue(slotsOf(others[0]))).deliveries, 1);
  deepEqual(await begunAt(nodes, [others[1], others[0]]), [1, 0]);
});

test('without its limit a webhook is kept nowhere', async () => {
  await using nodes = await three();
  const { others, stage, webhook } = nodes;
  await began(nodes);
  const change = (rateLimit: Throttle | null) =>
    others[1].updateWebhook(stage.owner.id, webhook.id, (before) => ({
      ...before,
      settings: { ...before.settings, rateLimit },
    }));
  await change({ limit: 100, intervalMs: MINUTE_MS });
  deepEqual(await begunAt(nodes, others), [0, 0]);
  await change(null);
  deepEqual(await begunAt(nodes, others), [1, 0]);
});

test('an interval that changes counts from the same moment', async () => {
  await using nodes = await three();
  const { others, clock, stage, webhook } = nodes;
  await began(nodes);
  const change = (intervalMs: number) =>
    others[1].updateWebhook(stage.owner.id, webhook.id, (before) => ({
      ...before,
      settings: { ...before.settings, rateLimit: { limit: 1, intervalMs } },
    }));
  await change(10 * SECOND_MS);
  clock.advance(10 * SECOND_MS - 1);
  deepEqual(await begunAt(nodes, others), [0, 0]);
  await change(SECOND_MS);
  await change(10 * SECOND_MS);
  clock.advance(1);
  deepEqual(await begunAt(nodes, others), [1, 0]);
});
