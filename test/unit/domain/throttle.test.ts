// When a run of a throttled workflow may begin: never too many within an interval, and none later than it must.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { addStarts, nextStartMs, roomAt, type StartTimes, startTimesAsOf } from '../../../src/domain/run/throttle.ts';

const AT_MS = Date.UTC(2027, 0, 15, 12);
const THREE = { limit: 3, intervalMs: 1000 };

describe('a throttle', () => {
  it('has room for its limit at first', () => {
    deepEqual([roomAt(THREE, [], AT_MS), nextStartMs(THREE, [], AT_MS)], [3, AT_MS]);
  });

  it('waits for the oldest that counts', () => {
    const starts = [AT_MS - 900, AT_MS - 500, AT_MS - 500];
    deepEqual([roomAt(THREE, starts, AT_MS), nextStartMs(THREE, starts, AT_MS)], [0, AT_MS + 100]);
    equal(roomAt(THREE, starts, AT_MS + 99), 0);
    equal(roomAt(THREE, starts, AT_MS + 100), 1);
    equal(roomAt(THREE, starts, AT_MS + 500), 3);
  });

  it('keeps no more than a question needs', () => {
    const starts = [AT_MS - 2000, AT_MS - 900, AT_MS - 500];
    deepEqual(addStarts(THREE, starts, { nowMs: AT_MS, count: 1 }), [AT_MS - 900, AT_MS - 500, AT_MS]);
    deepEqual(addStarts(THREE, starts, { nowMs: AT_MS, count: 9 }), [AT_MS, AT_MS, AT_MS]);
  });

  it('holds at once when its limit shrinks', () => {
    const starts = [AT_MS - 900, AT_MS - 500, AT_MS - 100];
    const one = { limit: 1, intervalMs: 1000 };
    deepEqual([roomAt(one, starts, AT_MS), nextStartMs(one, starts, AT_MS)], [0, AT_MS + 900]);
    deepEqual([roomAt({ limit: 9, intervalMs: 300 }, starts, AT_MS)], [8]);
  });

  it('waits an interval when the clock goes back', () => {
    const starts = [AT_MS - 100, AT_MS, AT_MS];
    const backMs = AT_MS - 3_600_000;
    equal(roomAt(THREE, starts, backMs), 0);
    const known = startTimesAsOf(starts, backMs);
    deepEqual(known, [backMs, backMs, backMs]);
    equal(nextStartMs(THREE, known, backMs + 10), backMs + 1000);
    equal(roomAt(THREE, known, backMs + 1000), 3);
    equal(startTimesAsOf(known, backMs), known);
  });

  it('is exact in every interval', () => {
    const waits = fc.array(fc.record({ ms: fc.nat({ max: 700 }), wanted: fc.nat({ max: 4 }) }), { maxLength: 60 });
    const limits = fc.record({ limit: fc.integer({ min: 1, max: 5 }), intervalMs: fc.integer({ min: 1, max: 1500 }) });
    fc.assert(
      fc.property(limits, waits, (throttle, steps) => {
        let [starts, nowMs]: [StartTimes, number] = [[], AT_MS];
        const all: number[] = [];
        const within = (atMs: number): number => all.filter((ms) => ms > atMs - throttle.intervalMs).length;
        for (const { ms, wanted } of steps) {
          nowMs += ms;
          const room = roomAt(throttle, starts, nowMs);
          equal(room, throttle.limit - within(nowMs));
          const nextMs = nextStartMs(throttle, starts, nowMs);
          equal(nextMs > nowMs, room === 0);
          if (room === 0) ok(within(nextMs - 1) === throttle.limit && within(nextMs) < throttle.limit);
          const count = Math.min(room, wanted);
          if (count === 0) continue;
          starts = addStarts(throttle, starts, { nowMs, count });
          ok(starts.length <= throttle.limit);
          all.push(...new Array<number>(count).fill(nowMs));
        }
      }),
    );
  });
});
