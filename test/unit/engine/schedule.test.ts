import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { LIMITS } from '../../../src/domain/limits.ts';
import { Refusal } from '../../../src/domain/refusal.ts';
import { checkSchedule, dueTick, firstTickMs, tickEvent } from '../../../src/engine/schedule/cron.ts';

const NOW = Date.UTC(2026, 2, 28, 12, 0, 0);
const every = (intervalMs: number) => ({ cron: null, intervalMs, timezone: 'UTC' });
const cron = (text: string, timezone = 'UTC') => ({ cron: text, intervalMs: null, timezone });

test('an interval stays anchored to its first tick', () => {
  assert.equal(firstTickMs(every(60_000), NOW), NOW + 60_000);
  assert.equal(dueTick(every(60_000), NOW + 60_000, NOW + 61_234).nextAtMs, NOW + 120_000);
});

test('many missed ticks leave one next tick', () => {
  const tick = dueTick(every(1000), NOW, NOW + 3_600_500);
  assert.deepEqual([tick.nextAtMs, tick.missed], [NOW + 3_601_000, 3600]);
  const minutes = dueTick(cron('* * * * *'), NOW, NOW + 5 * 60_000 + 1);
  assert.deepEqual([minutes.nextAtMs, minutes.missed], [NOW + 6 * 60_000, 5]);
});

test('what a cron missed is counted up to a limit', () => {
  const { nextAtMs, missed } = dueTick(cron('* * * * * *'), NOW, NOW + 3_600_500);
  assert.deepEqual([nextAtMs, missed], [NOW + 3_601_000, LIMITS.missedTicks]);
});

const schedules = fc.oneof(
  fc.integer({ min: 1000, max: 1e8 }).map(every),
  fc.constantFrom(cron('* * * * * *'), cron('*/2 * * * * *'), cron('30 2 * * *', 'Europe/Berlin')),
);

test('a tick is followed by a later one', () => {
  // Also when the clock is behind: it was set back since the tick was found to be due, or has heard late.
  fc.assert(
    fc.property(schedules, fc.integer({ min: -1e8, max: 1e7 }), (schedule, lateMs) => {
      const dueAtMs = firstTickMs(schedule, NOW);
      const tick = dueTick(schedule, dueAtMs, dueAtMs + lateMs);
      assert.ok(tick.nextAtMs > dueAtMs && tick.nextAtMs > dueAtMs + lateMs);
      assert.equal(tick.firedAtMs, dueAtMs + Math.max(0, lateMs));
    }),
  );
});

test('every due time is fired or counted', () => {
  fc.assert(
    fc.property(schedules, fc.array(fc.integer({ min: -5000, max: 90_000 }), { maxLength: 20 }), (schedule, late) => {
      let dueAtMs = firstTickMs(schedule, NOW);
      let dueTimes = 0;
      for (const lateMs of late) {
        const tick = dueTick(schedule, dueAtMs, dueAtMs + lateMs);
        dueTimes += 1 + tick.missed;
        dueAtMs = tick.nextAtMs;
      }
      let walkedMs = firstTickMs(schedule, NOW);
      for (let n = 0; n < dueTimes; n++) walkedMs = dueTick(schedule, walkedMs, walkedMs).nextAtMs;
      assert.equal(walkedMs, dueAtMs);
    }),
  );
});

test('cron follows its timezone over summer time', () => {
  const schedule = cron('30 9 * * *', 'Europe/Berlin');
  const saturday = firstTickMs(schedule, Date.UTC(2026, 2, 28, 0, 0));
  const sunday = dueTick(schedule, saturday, saturday).nextAtMs;
  assert.equal(new Date(saturday).toISOString(), '2026-03-28T08:30:00.000Z');
  assert.equal(new Date(sunday).toISOString(), '2026-03-29T07:30:00.000Z');
});

for (const [text, timezone, why] of [
  ['61 * * * *', 'UTC', 'cron "61 * * * *" cannot be read: Invalid value for minute: 61'],
  ['nonsense', 'UTC', 'or six with seconds before them, but here are 1'],
  ['0 0 0 1 1 * 2030', 'UTC', 'or six with seconds before them, but here are 7'],
  ['* * * * *', 'Mars/Olympus', 'timezone "Mars/Olympus" is not known: use a name like "Europe/Berlin"'],
  ['0 0 31 2 *', 'UTC', 'cron "0 0 31 2 *" has no next time'],
] as const) {
  test(`a schedule that cannot be is refused: ${text} in ${timezone}`, () => {
    assert.throws(
      () => checkSchedule(cron(text, timezone), { nowMs: NOW, parameter: 'triggers[0]' }),
      (error) => error instanceof Refusal && error.code === 'impossible' && error.message.includes(why),
    );
  });
}

test('clocks of a zone that are set lose and double only what names several times of day', () => {
  for (const [timezone, begin, expression, ...due] of [
    ['Australia/Lord_Howe', '2027-04-03T13:00Z', '45 1 * * *', '2027-04-03T14:45Z', '2027-04-04T15:15Z'],
    ['Australia/Lord_Howe', '2026-10-03T14:00Z', '0 2 * * *', '2026-10-03T15:30Z', '2026-10-04T15:00Z'],
    ['America/Santiago', '2026-09-06T03:00Z', '15 0 * * *', '2026-09-06T04:00Z', '2026-09-07T03:15Z'],
    ['America/New_York', '2026-11-01T05:00Z', '30 1 * * *', '2026-11-01T05:30Z', '2026-11-02T06:30Z'],
    ['America/New_York', '2026-11-01T04:00Z', '0 1,2 * * *', '2026-11-01T05:00Z', '2026-11-01T06:00Z'],
    ['America/New_York', '2027-03-14T05:00Z', '0 1,2 * * *', '2027-03-14T06:00Z', '2027-03-15T05:00Z'],
  ] as const) {
    let ms = Date.parse(begin);
    for (const one of due) {
      // The same whenever it is asked, also between the two passes of an hour: after a restart, or when the schedule is set again.
      const wanted = Date.parse(one);
      for (const askedMs of [ms, (ms + wanted) / 2, wanted - 1]) {
        assert.equal(firstTickMs(cron(expression, timezone), askedMs), wanted, `${expression} ${timezone} ${one}`);
      }
      ms = wanted;
    }
  }
});

test('the event of a tick says how it was scheduled', () => {
  const text = (bytes: Uint8Array) => JSON.parse(Buffer.from(bytes).toString());
  assert.deepEqual(text(tickEvent(every(15_000), dueTick(every(15_000), NOW - 31_000, NOW))), {
    timestamp: NOW / 1000,
    interval_seconds: 15,
    due_at_ms: NOW - 31_000,
    missed_ticks: 2,
  });
  const daily = cron('0 12 * * *', 'America/New_York');
  const event = text(tickEvent(daily, dueTick(daily, NOW - 1, NOW)));
  assert.equal(event.cron, '0 12 * * *');
  assert.deepEqual(event.timezone_configured, { timezone: 'America/New_York', iso8601: '2026-03-28T08:00:00-04:00' });
  assert.equal(event.timezone_utc.iso8601, '2026-03-28T12:00:00.000Z');
  assert.deepEqual([event.due_at_ms, event.missed_ticks], [NOW - 1, 0]);
});
