// What came over time.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HOUR_MS } from '../../../src/domain/limits.ts';
import type { Json } from '../../support/client.ts';
import { type Errand, startErrand } from '../../support/errand.ts';
import { createOwner } from '../../support/owners.ts';
import { until } from '../../support/wait.ts';

const FAILS = 'export default () => { throw new Error("no"); };';

async function statsOf({ client }: Pick<Errand, 'client'>, query = ''): Promise<Json[]> {
  return (await client.get(`/v1/stats${query}`)).data.buckets;
}

const sum = (buckets: Json[], figure: string): number => buckets.reduce((all, one) => all + one[figure], 0);

test('events, runs and errors are counted by hour', async () => {
  await using errand = await startErrand();
  const other = await createOwner(errand);
  const failing = await errand.workflow(FAILS);
  await errand.send(failing, {});
  await errand.errors(failing.id, 1);
  const first = await statsOf(errand);
  assert.equal(first.length, first.at(-1)?.from_ms === Math.floor(Date.now() / HOUR_MS) * HOUR_MS ? 25 : 26);
  assert.equal(sum(first, 'errors'), 1);
  assert.equal(sum(await statsOf(other), 'events'), 0, 'another owner');
  // What is noted of the first hour, and what came in later ones, add up to the ledger.
  await errand.restart();
  errand.forward(3 * HOUR_MS);
  const second = await errand.workflow(FAILS);
  await errand.send(second, {});
  await errand.errors(second.id, 1);
  const buckets = await until('all that the ledger counts is in some hour', async () => {
    const [all, ledger] = [await statsOf(errand), (await errand.client.get('/v1/ledger')).data];
    const sums = ['events', 'runs', 'errors', 'deliveries'].map((figure) => sum(all, figure));
    const counted = [ledger.emissions, ledger.runs.total, ledger.errors.captured, ledger.deliveries.total];
    return sums.join() === counted.join() && all;
  });
  assert.equal(sum(buckets, 'errors'), 2);
  assert.ok(buckets.every(({ from_ms }, n) => n === 0 || from_ms - buckets[n - 1]?.from_ms === HOUR_MS));
  assert.equal(sum(await statsOf(errand, '?bucket=day'), 'errors'), 2);
});

test('times that cannot be counted are refused', async () => {
  await using errand = await startErrand();
  const status = async (query: string): Promise<number> =>
    (await errand.client.request('GET', `/v1/stats?${query}`)).status;
  assert.equal(await status('since=yesterday'), 400);
  assert.equal(await status('bucket=minute'), 400);
  assert.equal(await status('since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z'), 400);
  assert.equal(await status(`since=${new Date(Date.now() - 40 * 24 * HOUR_MS).toISOString()}`), 400, 'too many hours');
  assert.equal(await status(`bucket=day&since=2020-01-01T00:00:00Z`), 200);
  assert.deepEqual(await statsOf(errand, '?since=2020-01-01T00:00:00Z&until=2020-01-02T00:00:00Z'), []);
  assert.deepEqual(await statsOf(errand, '?since=2090-01-01T00:00:00Z'), []);
});
