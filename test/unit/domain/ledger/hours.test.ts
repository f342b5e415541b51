import { deepEqual } from 'node:assert/strict';
import { test } from 'node:test';
import { bucketsOf, type NotedHour, stretchOf } from '../../../../src/domain/ledger/hours.ts';
import { DAY_MS, HOUR_MS } from '../../../../src/domain/limits.ts';

const noted = (hour: number, events: number): NotedHour => ({ hour, events, runs: 0, errors: 0, deliveries: 0 });
const eventsOf = (hours: NotedHour[], stretch: { fromHour: number; toHour: number; hours: number }): number[] =>
  bucketsOf(hours, stretch).map(({ events }) => events);

test('buckets have the differences between notes', () => {
  const stretch = { fromHour: 10, toHour: 15, hours: 1 };
  deepEqual(eventsOf([], stretch), [0, 0, 0, 0, 0]);
  deepEqual(eventsOf([noted(10, 3), noted(13, 5), noted(14, 5)], stretch), [3, 0, 0, 2, 0]);
  deepEqual(eventsOf([noted(4, 100), noted(12, 101)], stretch), [0, 0, 1, 0, 0], 'from the last note before');
  deepEqual(eventsOf([noted(14, 7), noted(15, 9)], stretch), [0, 0, 0, 0, 7], 'not what comes behind');
  deepEqual(eventsOf([noted(12, 4), noted(14, 7), noted(14, 9)], stretch), [0, 0, 4, 0, 5], 'the count of now, too');
  deepEqual(eventsOf([noted(24, 4), noted(47, 7), noted(48, 9)], { fromHour: 24, toHour: 72, hours: 24 }), [7, 2]);
});

test('a figure that became lower counts nothing twice', () => {
  const stretch = { fromHour: 10, toHour: 14, hours: 1 };
  deepEqual(eventsOf([noted(10, 9), noted(11, 5), noted(12, 9), noted(13, 10)], stretch), [9, 0, 0, 1]);
});

test('a stretch is of whole buckets that are kept', () => {
  const nowMs = 100 * DAY_MS + 5;
  const asked = { nowMs, keptMs: 90 * DAY_MS };
  const hour = (days: number): number => days * 24;
  deepEqual(stretchOf({ ...asked, sinceMs: 99 * DAY_MS + 1, untilMs: 99 * DAY_MS + HOUR_MS + 1 }, 1), {
    fromHour: hour(99),
    toHour: hour(99) + 2,
    hours: 1,
  });
  deepEqual(stretchOf({ ...asked, sinceMs: 0, untilMs: nowMs + 1 }, 24), {
    fromHour: hour(11),
    toHour: hour(101),
    hours: 24,
  });
  deepEqual(stretchOf({ ...asked, sinceMs: 0, untilMs: 1 }, 1), {
    fromHour: hour(10) + 1,
    toHour: hour(10) + 1,
    hours: 1,
  });
});
