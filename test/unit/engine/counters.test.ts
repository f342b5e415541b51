import assert from 'node:assert/strict';
import test from 'node:test';
import { HOUR_MS, LIMITS } from '../../../src/domain/limits.ts';
import { Slots } from '../../../src/engine/capacity/slots.ts';
import { Counters } from '../../../src/engine/counter-checks.ts';
import { DeliveryLimiter } from '../../../src/engine/deliveries/delivery-limiter.ts';
import { Metrics } from '../../../src/engine/metrics/metrics.ts';
import { REPAIR_KINDS, type Repair } from '../../../src/store/contract/counters.ts';
import { START_MS, TestClock } from '../../contract/fixtures.ts';
import { createLog, createWake, random } from './parts.ts';

function create(repairs: readonly Repair[]) {
  const asked: number[] = [];
  const { log, lines } = createLog();
  const slots = new Slots(new DeliveryLimiter(), { runs: true, deliveries: true });
  const counted = {
    processes: () => 0,
    spans: () => undefined,
    queue: {
      store: { longestWaiting: async () => ({ runMs: null, deliveryMs: null }) },
      clock: { nowMs: () => 0, latestMs: () => 0 },
    },
    isBundlingFailing: () => false,
  };
  const metrics = new Metrics(slots, { open: 0, cut: 0 }, counted);
  const answer = { isChecked: true };
  const store = {
    repairCounters: async (sinceMs: number) => {
      asked.push(sinceMs);
      return { ...answer, repairs };
    },
  };
  const { wake } = createWake();
  const counters = new Counters({ store, metrics, clock: new TestClock(), wake, random, log });
  return { counters, wake, metrics, asked, answer, lines };
}

const repair = (n: number): Repair => ({ kind: 'taken', ownerId: 'u_1', of: `wh_${n}`, counted: -n, found: 0 });

test('repairs are counted by kind and told, many of them in sum', async () => {
  const { counters, metrics, lines } = create(Array.from({ length: 30 }, (_, n) => repair(n)));
  await counters.tick();
  const { body } = await metrics.text();
  assert.match(body, /errand_store_repairs_total\{kind="taken"\} 30/);
  const told = lines.filter((line) => JSON.stringify(line).includes('was corrected'));
  assert.equal(told.length, 20);
  assert.match(JSON.stringify(lines.at(-1)), /"repairs":30/);
});

test('every kind is shown before anything was put right', async () => {
  const { counters, metrics, lines } = create([]);
  await counters.tick();
  const { body } = await metrics.text();
  for (const kind of REPAIR_KINDS) assert.match(body, new RegExp(`errand_store_repairs_total\\{kind="${kind}"\\} 0`));
  assert.deepEqual(lines, []);
});

test('a reason that came while another node looked is not forgotten', async () => {
  const { counters, wake, asked, answer } = create([]);
  wake.notify('takeovers');
  answer.isChecked = false;
  assert.equal(await counters.tick(), LIMITS.countersSoonMs);
  answer.isChecked = true;
  assert.equal(await counters.tick(), Number.POSITIVE_INFINITY);
  assert.deepEqual(asked, [START_MS - LIMITS.countersSoonMs, START_MS - LIMITS.countersSoonMs]);
});

test('an hour apart, and sooner when there is a reason', async () => {
  const { counters, wake, asked } = create([]);
  await counters.tick();
  wake.notify('counters');
  await counters.tick();
  await counters.tick();
  assert.deepEqual(asked, [START_MS - HOUR_MS / 2, START_MS - LIMITS.countersSoonMs, START_MS - HOUR_MS / 2]);
});
