import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { freeMemoryWhenIdle } from '../../../src/server/idle-memory.ts';

const LOOK_MS = 20;

test('memory is freed once, when nothing runs', async () => {
  let [collected, isBusy] = [0, true];
  const freed = Promise.withResolvers<void>();
  const looking = freeMemoryWhenIdle(() => {
    collected++;
    assert.equal(isBusy, false, 'collected while the event loop was busy');
    freed.resolve();
  }, LOOK_MS);
  looking.ref();
  const until = performance.now() + 10 * LOOK_MS;
  while (performance.now() < until) await turn();
  // The look that comes next still sees what ran before it.
  isBusy = false;
  await freed.promise;
  await new Promise((resolve) => setTimeout(resolve, 3 * LOOK_MS));
  assert.equal(collected, 1);
});

test('the process ends with the look still ahead', async () => {
  const url = new URL('../../../src/server/idle-memory.ts', import.meta.url);
  const worker = new Worker(`import('${url}').then((it) => it.freeMemoryWhenIdle(() => {}, 3_600_000))`, {
    eval: true,
  });
  const [code] = await once(worker, 'exit');
  assert.equal(code, 0);
});

test('V8 has the collection that is asked for', async () => {
  const url = new URL('../../../src/server/idle-memory.ts', import.meta.url);
  const code = `import('${url}').then((it) => it.freeMemoryWhenIdle(undefined, 1).ref())`;
  const worker = new Worker(code, { eval: true });
  const [exit] = await once(worker, 'exit');
  assert.equal(exit, 0);
});
