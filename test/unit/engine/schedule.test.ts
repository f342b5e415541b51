import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { Refusal } from '../../../src/domain/fault.ts';
import { checkSchedule, nextTickMs, tickEvent } from '../../../src/engine/schedule.ts';

const NOW = Date.UTC(2026, 2, 28, 12, 0, 0);
const every = (intervalMs: number) => ({ cron: null, intervalMs, timezone: 'UTC' });
const cron = (text: string, timezone = 'UTC') => ({ cron: text, intervalMs: null, timezone });

test('an interval stays anchored to its first tick', () => {
  assert.equal(nextTickMs(every(60_000), NOW), NOW + 60_000);
  assert.equal(nextTickMs(every(60_000), NOW + 61_234, NOW + 60_000), NOW + 120_000);
});

test('many missed ticks leave one next tick', () => {
  const lastAtMs = NOW;
  const next = nextTickMs(every(1000), NOW + 3_600_500, lastAtMs);
  assert.equal(next, NOW + 3_601_000);
});

test('the next tick always lies in the future', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1000, max: 1e8 }), fc.integer({ min: 0, max: 1e10 }), (intervalMs, lateMs) => {
      const next = nextTickMs(every(intervalMs), NOW + lateMs, NOW);
      assert.ok(next > NOW + lateMs && next <= NOW + lateMs + intervalMs);
      assert.equal((next - NOW) % intervalMs, 0);
    }),
  );
});

test('cron follows its timezone over summer time', () => {
  const schedule = cron('30 9 * * *', 'Europe/Berlin');
  const saturday = nextTickMs(schedule, Date.UTC(2026, 2, 28, 0, 0));
  const sunday = nextTickMs(schedule, saturday);
  assert.equal(new Date(saturday).toISOString(), '2026-03-28T08:30:00.000Z');
  assert.equal(new Date(sunday).toISOString(), '2026-03-29T07:30:00.000Z');
});

for (const [text, timezone, why] of [
  ['61 * * * *', 'UTC', 'cron "61 * * * *" cannot be read: Invalid value for minute: 61'],
  ['nonsense', 'UTC', 'or six with seconds before them, but here are 1'],
  ['0 0 0 1 1 * 2030', 'UTC', 'or six with seconds before them, but here are 7'],
  ['* * * * *', 'Mars/Olympus', 'timezone "Mars/Olympus" is not known: it is a name like "Europe/Berlin"'],
  ['0 0 31 2 *', 'UTC', 'cron "0 0 31 2 *" never comes'],
] as const) {
  test(`a schedule that cannot be is refused: ${text} in ${timezone}`, () => {
    assert.throws(
      () => checkSchedule(cron(text, timezone), { nowMs: NOW, parameter: 'triggers[0]' }),
      (error) => error instanceof Refusal && error.code === 'impossible' && error.message.includes(why),
    );
  });
}

test('the event of a tick says how it was scheduled', () => {
  const text = (bytes: Uint8Array) => JSON.parse(Buffer.from(bytes).toString());
  assert.deepEqual(text(tickEvent(every(15_000), NOW)), {
    timestamp: NOW / 1000,
    interval_seconds: 15,
  });
  const event = text(tickEvent(cron('0 12 * * *', 'America/New_York'), NOW));
  assert.equal(event.cron, '0 12 * * *');
  assert.deepEqual(event.timezone_configured, { timezone: 'America/New_York', iso8601: '2026-03-28T08:00:00-04:00' });
  assert.equal(event.timezone_utc.iso8601, '2026-03-28T12:00:00.000Z');
});
