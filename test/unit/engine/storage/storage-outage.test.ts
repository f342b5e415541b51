// What the log says of storage that is away, and that it is back.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StorageOutage } from '../../../../src/engine/storage-outage.ts';
import { StoreDamaged, StoreUnavailable } from '../../../../src/store/contract/unavailable.ts';

const MINUTE_MS = 60_000;

function staged() {
  const told: [string, object][] = [];
  const stage = { nowMs: 0, isBack: true, told };
  const tell = (fields: object, name: string) => void told.push([name, { ...fields, err: undefined }]);
  const log = { debug: tell, info: tell, warn: tell, error: tell };
  const outage = new StorageOutage({ log, isBack: async () => stage.isBack, nowMs: () => stage.nowMs });
  const fail = (part = 'runs') => outage.failed(new StoreUnavailable('disk is full'), part);
  const names = () => told.map(([name]) => name);
  return { ...{ outage, fail, names, stage, told }, [Symbol.dispose]: () => outage.stop() };
}

test('an outage is told once for all parts', () => {
  using it = staged();
  for (const part of ['runs', 'deliveries', 'runs']) it.fail(part);
  assert.deepEqual(it.names(), ['storage is unavailable; trying again']);
});

test('damage is told once, as an error', () => {
  using it = staged();
  for (const part of ['runs', 'requests']) it.outage.failed(new StoreDamaged('a page is malformed'), part);
  assert.deepEqual(it.names(), [
    'the store is damaged: see "errand store check"',
    'storage is unavailable; trying again',
  ]);
});

test('the end of an outage says how long it took', async () => {
  using it = staged();
  it.fail('runs');
  it.stage.nowMs = 5000;
  it.fail('deliveries');
  it.stage.nowMs = 20_000;
  await it.outage.look();
  await it.outage.look();
  assert.deepEqual(it.told.slice(1), [
    ['storage is available again', { err: undefined, failures: 2, parts: ['deliveries', 'runs'], lasted_ms: 5000 }],
  ]);
});

test('failures between successes are one outage', async () => {
  using it = staged();
  for (let n = 0; n < 60; n++) {
    it.fail();
    it.stage.nowMs += 2000;
    await it.outage.look();
  }
  assert.deepEqual(it.names(), ['storage is unavailable; trying again']);
});

test('a store that takes no writes is not back', async () => {
  using it = staged();
  it.fail();
  it.stage.nowMs = MINUTE_MS;
  it.stage.isBack = false;
  await it.outage.look();
  assert.equal(it.told.length, 1);
  it.stage.isBack = true;
  await it.outage.look();
  assert.equal(it.names().at(-1), 'storage is available again');
});

test('an outage that lasts is told rarely', async () => {
  using it = staged();
  it.stage.isBack = false;
  for (let minute = 0; minute < 60; minute++) {
    it.fail();
    it.stage.nowMs += MINUTE_MS;
    await it.outage.look();
  }
  assert.equal(it.names().filter((name) => name === 'storage is still unavailable').length, 6);
  const [, last] = it.told.at(-1) as [string, object];
  assert.deepEqual(last, { err: undefined, failures: 60, parts: ['runs'], lasts_ms: 60 * MINUTE_MS });
});

test('another outage is told again', async () => {
  using it = staged();
  it.fail();
  it.stage.nowMs = MINUTE_MS;
  await it.outage.look();
  it.fail();
  assert.equal(it.names().at(-1), 'storage is unavailable; trying again');
});

test('a failure while the store is asked keeps the outage open', async () => {
  using it = staged();
  it.fail();
  it.stage.nowMs = MINUTE_MS;
  const looked = it.outage.look();
  it.fail();
  await looked;
  assert.equal(it.told.length, 1);
});

test('nothing is told after the stop', async () => {
  using it = staged();
  it.fail();
  it.outage.stop();
  it.outage.stop();
  it.stage.nowMs = MINUTE_MS;
  await it.outage.look();
  assert.equal(it.told.length, 1);
});
