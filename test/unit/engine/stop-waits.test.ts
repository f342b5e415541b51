// A stop ends with its last part, with the first that fails, or in time.

import { deepEqual, rejects } from 'node:assert/strict';
import { test } from 'node:test';
import { StopWaits } from '../../../src/engine/stop-waits.ts';

const warned: object[] = [];
const none = (): void => undefined;
const log = { debug: none, info: none, warn: (fields: object) => void warned.push(fields), error: none };

test('a stop that ends by itself says nothing', async () => {
  const waits = new StopWaits();
  await waits.within(waits.for({ runs: Promise.resolve(), files: undefined }), { withinMs: 60_000, log });
  await waits.within(waits.for({ runs: Promise.resolve() }), { withinMs: undefined, log });
  deepEqual(warned, []);
});

test('a part that fails ends the stop', async () => {
  const waits = new StopWaits();
  const stopping = waits.for({ runs: Promise.reject(new Error('broken')), store: new Promise(none) });
  await rejects(waits.within(stopping, { withinMs: 60_000, log }), /broken/);
});

test('a stop that takes too long names what it waits for', async () => {
  const waits = new StopWaits();
  const stopping = waits.for({ runs: Promise.resolve(), deliveries: new Promise(none), store: new Promise(none) });
  await waits.within(stopping, { withinMs: 1, log });
  deepEqual(warned, [{ waited_for: ['deliveries', 'store'] }]);
});
