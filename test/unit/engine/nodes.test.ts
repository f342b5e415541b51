import assert from 'node:assert/strict';
import test from 'node:test';
import { Slots } from '../../../src/engine/capacity/slots.ts';
import { DeliveryLimiter } from '../../../src/engine/deliveries/delivery-limiter.ts';
import { Nodes } from '../../../src/engine/nodes.ts';
import type { Beat } from '../../../src/store/contract/nodes.ts';
import type { Claims } from '../../../src/store/contract/store.ts';
import { claimedRun, createLog, createWake, NOTHING, random } from './parts.ts';

const QUIET: Beat = { cancel: [], isRescueDue: false };

function create(beat: () => Promise<Beat>, rescue = async () => ({ runs: 0, deliveries: 0, claims: NOTHING })) {
  const cancelled: number[] = [];
  const taken: Claims[] = [];
  const { log, lines } = createLog();
  const { wake, woken } = createWake();
  const nodes = new Nodes({
    store: { beat, rescue },
    slots: new Slots(new DeliveryLimiter(), { runs: true, deliveries: true }),
    dispatch: { take: (claims) => void taken.push(claims) },
    runner: { cancel: (run) => cancelled.push(run) > 0 },
    wake,
    random,
    log,
  });
  return { nodes, cancelled, taken, woken, lines };
}

test('runs that another node cancelled are ended', async () => {
  const { nodes, cancelled } = create(async () => ({ cancel: [7, 8], isRescueDue: false }));
  await nodes.tick();
  assert.deepEqual(cancelled, [7, 8]);
});

test('what a gone node held is taken over', async () => {
  const claims = { ...NOTHING, runs: [claimedRun(1)] };
  const rescued = Promise.withResolvers<void>();
  let beats = 0;
  const { nodes, taken, woken, lines } = create(
    async () => ({ cancel: [], isRescueDue: ++beats === 1 }),
    async () => {
      setImmediate(rescued.resolve);
      return { runs: 2, deliveries: 1, claims };
    },
  );
  nodes.start();
  await rescued.promise;
  await nodes.stop();
  assert.deepEqual([taken, woken], [[claims], ['takeovers']]);
  const told = { level: 'info', name: 'took over work of an earlier process', fields: { runs: 2, deliveries: 1 } };
  assert.deepEqual(lines, [told]);
});

test('a rescue that finds nothing is silent', async () => {
  const { nodes, lines } = create(async () => QUIET);
  await nodes.rescue();
  assert.deepEqual(lines, []);
});

test('the beat does not wait for a rescue', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const [begun, beaten] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const rescue = Promise.withResolvers<void>();
  let [beats, rescues] = [0, 0];
  const { nodes } = create(
    async () => {
      beats++;
      if (beats === 4) setImmediate(beaten.resolve);
      return { cancel: [], isRescueDue: true };
    },
    async () => {
      rescues++;
      begun.resolve();
      await rescue.promise;
      return { runs: 0, deliveries: 0, claims: NOTHING };
    },
  );
  nodes.start();
  const passing = setInterval(() => t.mock.timers.tick(100), 1);
  await begun.promise;
  await beaten.promise;
  clearInterval(passing);
  assert.equal(rescues, 1, 'one at a time');
  const stopped = nodes.stop();
  rescue.resolve();
  await stopped;
});

test('stopping twice, or before starting, is fine', async () => {
  const { nodes } = create(async () => QUIET);
  await nodes.stop();
  nodes.start();
  await Promise.all([nodes.stop(), nodes.stop()]);
});
