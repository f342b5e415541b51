// A batch locks the queues that events of an emitter have needed before with its first reads (src/store/postgres/log/expected-needs.ts).
// The guess is wrong when listeners come and go, and when filters lead events to different ones: each event reaches its listeners, and
// nodes wait in no circle.

import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import postgres from 'postgres';
import type { ClaimedRun } from '../../src/domain/run/run.ts';
import { endOf } from '../../src/domain/run/run-end.ts';
import type { Store } from '../../src/store/contract/store.ts';
import { all, at, none, succeeded } from '../contract/fixtures.ts';
import { assertLedgerAddsUp } from '../contract/log/counting.ts';
import { queryOn } from '../support/postgres/databases.ts';
import { until } from '../support/wait.ts';
import { type Stores, storesOn } from './nodes/stores.ts';

async function finish({ clock }: Stores, node: Store, runs: readonly ClaimedRun[]): Promise<void> {
  const ends = await Promise.all(runs.map((run) => node.finishRun(endOf(run, succeeded(), clock.nowMs()), none())));
  for (const { held } of ends) equal(held, true);
}

/** Sends an event at each node, one after the other, and returns the workflows that run for each. */
async function reached(on: Stores, nodes: readonly Store[]): Promise<string[][]> {
  const ran: string[][] = [];
  for (const node of nodes) {
    const { claims } = await node.append(on.stage.make.emission(on.emitterId), all());
    ran.push(claims.runs.map(({ runnable }) => runnable.id).sort());
    await finish(on, node, claims.runs);
  }
  return ran;
}

test('events reach listeners that came or went since the last one', async () => {
  await using nodes = await storesOn(2, {}, { mostDeadlocks: 0 });
  const { stage, stores, emitterId, webhook } = nodes;
  deepEqual(await reached(nodes, stores), [[], []]);
  const ids: string[] = [];
  // More than are guessed.
  for (let n = 0; n < 12; n++) {
    const { id } = await stage.workflow({ settings: { concurrency: 100 } });
    await stage.subscribe(emitterId, id);
    ids.push(id);
    const expected = ids.toSorted();
    deepEqual(await reached(nodes, stores), [expected, expected], `${n + 1} workflows`);
  }
  for (const id of ids.slice(0, 6)) {
    ids.shift();
    await stage.store.deleteWorkflow(stage.owner.id, id);
    const expected = ids.toSorted();
    deepEqual(await reached(nodes, stores), [expected, expected], `without ${id}`);
  }
  await stage.store.deleteWebhook(stage.owner.id, webhook.id);
  deepEqual(await reached(nodes, stores), [ids.toSorted(), ids.toSorted()]);
  await assertLedgerAddsUp(stage);
});

test('events that need other queues than those before them wait in no circle', async () => {
  await using nodes = await storesOn(2, {}, { mostDeadlocks: 0 });
  const { stage, stores } = nodes;
  const settings = { concurrency: 1000 };
  for (let round = 0; round < 25; round++) {
    const pair = [await stage.workflow({ settings }), await stage.workflow({ settings })];
    const sources = [await stage.source(), await stage.source()];
    const sent = (n: number) => at(stores, n).append(stage.make.emission(at(sources, n).id), all());
    // One node expects to need the first queue alone, the other one the second alone. Both will need both.
    for (const n of [0, 1]) await stage.subscribe(at(sources, n).id, at(pair, n).id);
    for (const n of [0, 1]) await finish(nodes, at(stores, n), (await sent(n)).claims.runs);
    for (const n of [0, 1]) await stage.subscribe(at(sources, n).id, at(pair, 1 - n).id);
    const both = await Promise.all([sent(0), sent(1)]);
    for (const [n, { claims }] of both.entries()) {
      equal(claims.runs.length, 2);
      await finish(nodes, at(stores, n), claims.runs);
    }
  }
  await assertLedgerAddsUp(stage);
});

const locking = (id: string): string => `SELECT FROM listener_queues WHERE listener_id = '${id}' FOR UPDATE NOWAIT`;
const WAITING = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;

test('a queue that is found out about late is locked in its turn', async () => {
  await using nodes = await storesOn(2, {}, { mostDeadlocks: 0 });
  const { stage, url, emitterId } = nodes;
  const [node, other] = [at(nodes.stores, 0), at(nodes.stores, 1)];
  const pair = [
    await stage.workflow({ settings: { queueLimit: 1 } }),
    await stage.workflow({ settings: { queueLimit: 1 } }),
  ];
  // The one that hears of the error has its queue locked first.
  const [handler, full] = pair.map(({ id }) => id).sort() as [string, string];
  await stage.subscribe(emitterId, full);
  await stage.subscribe(full, handler, '$errors');
  const { id: elsewhere } = await stage.source();
  await stage.subscribe(elsewhere, handler);
  const { claims } = await other.append(stage.make.emission(elsewhere), all());
  await finish(nodes, other, claims.runs);
  await node.append(stage.make.emission(emitterId), none());

  const sql = postgres(url, { max: 1, fetch_types: false });
  let refused: unknown;
  const appended = await sql.begin(async (tx) => {
    await tx.unsafe(locking(handler));
    const appending = node.append(stage.make.emission(emitterId), none());
    await until('the node waits for the queue', async () => (await queryOn(url, WAITING)).length > 0);
    refused = await queryOn(url, locking(full)).catch((error: unknown) => error);
    return { appending };
  });
  equal(refused instanceof Error, false, 'whoever needs the other queue alone need not wait');
  await appended.appending;
  await sql.end();
  const { items } = await stage.store.listEmissions(
    { ownerId: stage.owner.id, emitterId: full, name: '$errors' },
    { limit: 9 },
    true,
  );
  equal(items.length, 1);
  await assertLedgerAddsUp(stage);
});
