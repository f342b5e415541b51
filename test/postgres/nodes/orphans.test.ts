// What was queued for a workflow or webhook that another node was just deleting or disabling: found by claims, which move
// only so much at a time.

import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import { at, none, START_MS } from '../../contract/fixtures.ts';
import { queryOn } from '../../support/postgres/databases.ts';
import { claimed, type Stores, send, storesOn } from './stores.ts';

/** One step of the product moves 20,000. */
const STEP = 20_000;
const MORE = STEP + 500;

const RUNS = { table: 'open_runs', key: 'run', listener: 'runnable_id' };
const DELIVERIES = { table: 'open_deliveries', key: 'delivery', listener: 'listener_id' };

/** As if so many more had been written in the same moment as the one that is there. */
async function multiply({ url }: Stores, id: string, { table, key, listener }: typeof RUNS): Promise<void> {
  await queryOn(
    url,
    `INSERT INTO ${table} SELECT (jsonb_populate_record(o, jsonb_build_object('${key}', o.${key} + n))).*
      FROM ${table} AS o, generate_series(1, ${MORE}) AS n WHERE o.${listener} = '${id}'`,
  );
  await queryOn(url, `UPDATE listener_queues SET waiting = waiting + ${MORE} WHERE listener_id = '${id}'`);
}

/** Name of the state → how many. */
async function states({ url }: Stores, all: string): Promise<Record<string, number>> {
  const rows = await queryOn(url, `SELECT state, count(*)::int AS n FROM ${all} GROUP BY state`);
  return Object.fromEntries(rows.map(({ state, n }) => [state, n]));
}

async function lineOf({ url }: Stores, id: string): Promise<unknown> {
  const [line] = await queryOn(url, `SELECT waiting, ready_at_ms FROM listener_queues WHERE listener_id = '${id}'`);
  return line;
}

const DONE = { waiting: 0, ready_at_ms: null };

test('runs of a deleted workflow are cancelled in steps', async () => {
  await using nodes = await storesOn(1);
  const { stage, stores, url } = nodes;
  const node = at(stores, 0);
  const { id } = await stage.workflow();
  await node.append(stage.make.emission(stage.owner.id, { name: '$run', onlyListenerId: id }), none());
  await multiply(nodes, id, RUNS);
  await queryOn(url, `DELETE FROM runnables WHERE id = '${id}'`);
  const { runs: before } = await node.ledger(stage.owner.id);
  deepEqual((await node.claimRuns(100, none())).runs, []);
  deepEqual(await states(nodes, 'all_runs'), { queued: MORE + 1 - STEP, cancelled: STEP });
  deepEqual(await lineOf(nodes, id), { waiting: MORE + 1 - STEP, ready_at_ms: '0' });
  await node.claimRuns(100, none());
  deepEqual(await states(nodes, 'all_runs'), { cancelled: MORE + 1 });
  deepEqual(await lineOf(nodes, id), DONE);
  const { runs } = await node.ledger(stage.owner.id);
  equal(runs.cancelled - before.cancelled, MORE + 1);
});

for (const [how, sql, state] of [
  ['deleted', 'DELETE FROM webhooks', 'cancelled'],
  ['disabled', 'UPDATE webhooks SET active = false', 'held'],
] as const) {
  test(`deliveries to a webhook that was ${how} are ${state} in steps`, async () => {
    await using nodes = await storesOn(1);
    const { stage, stores, webhook, url } = nodes;
    const node = at(stores, 0);
    await send(nodes, node);
    await multiply(nodes, webhook.id, DELIVERIES);
    await queryOn(url, `${sql} WHERE id = '${webhook.id}'`);
    const { deliveries: before } = await node.ledger(stage.owner.id);
    deepEqual(await claimed(node), []);
    deepEqual(await states(nodes, 'all_deliveries'), { pending: MORE + 1 - STEP, [state]: STEP });
    deepEqual(await lineOf(nodes, webhook.id), { waiting: MORE + 1 - STEP, ready_at_ms: String(START_MS) });
    deepEqual(await claimed(node), []);
    deepEqual(await states(nodes, 'all_deliveries'), { [state]: MORE + 1 });
    deepEqual(await lineOf(nodes, webhook.id), DONE);
    const { deliveries } = await node.ledger(stage.owner.id);
    equal(deliveries[state] - before[state], MORE + 1);
  });
}
