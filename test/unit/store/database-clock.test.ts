// What a node knows of the database's clock, over a network that may hold back what is asked and what is answered.

import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { DatabaseClock } from '../../../src/store/postgres/connection/clock.ts';

const START_MS = Date.UTC(2026, 2, 28, 12);

/** Two machines: the database's time is what has elapsed here and `aheadMs`. */
class World {
  elapsedMs = 1000.25;
  aheadMs = START_MS;
  readonly clock = new DatabaseClock(null, () => this.elapsedMs);

  get databaseMs(): number {
    return this.elapsedMs + this.aheadMs;
  }

  ask({ thereMs, backMs }: { thereMs: number; backMs: number }): number {
    const askedAt = this.clock.beginReading();
    this.elapsedMs += thereMs;
    const told = Math.round(this.databaseMs);
    this.elapsedMs += backMs;
    return this.clock.endReading(told, askedAt);
  }
}

test('an answer that comes late does not set the clock back', () => {
  const world = new World();
  world.ask({ thereMs: 0.5, backMs: 0.5 });
  const before = world.clock.nowMs();
  world.ask({ thereMs: 0.5, backMs: 1100 });
  assert.ok(world.clock.nowMs() >= before + 1100, `${world.clock.nowMs() - before} ms have passed`);
});

test('a question that comes late does not set it ahead', () => {
  const world = new World();
  world.ask({ thereMs: 1100, backMs: 0.5 });
  assert.ok(world.clock.nowMs() <= world.databaseMs);
  assert.ok(world.clock.latestMs() >= world.databaseMs);
  world.ask({ thereMs: 0.5, backMs: 0.5 });
  assert.ok(world.clock.latestMs() - world.clock.nowMs() <= 4);
});

test('the database stands between the two times that are known', () => {
  const asked = fc.record({
    thereMs: fc.oneof(fc.double({ min: 0, max: 2, noNaN: true }), fc.double({ min: 0, max: 11_000, noNaN: true })),
    backMs: fc.oneof(fc.double({ min: 0, max: 2, noNaN: true }), fc.double({ min: 0, max: 11_000, noNaN: true })),
    idleMs: fc.double({ min: 0, max: 60_000, noNaN: true }),
    /** Of the time that passes: both clocks are kept right, so they run apart by little. */
    drift: fc.double({ min: -0.0002, max: 0.0002, noNaN: true }),
  });
  fc.assert(
    fc.property(fc.array(asked, { minLength: 1, maxLength: 40 }), (rounds) => {
      const world = new World();
      for (const { idleMs, drift, ...trip } of rounds) {
        world.ask(trip);
        assert.ok(world.clock.nowMs() <= world.databaseMs, 'never ahead');
        assert.ok(world.clock.latestMs() >= world.databaseMs, 'never behind');
        assert.ok(
          world.clock.latestMs() - world.clock.nowMs() <= trip.thereMs + trip.backMs + 4,
          'as near as the answer',
        );
        world.elapsedMs += idleMs;
        world.aheadMs += idleMs * drift;
      }
    }),
  );
});

test('a clock that was set is followed at the next answer', () => {
  fc.assert(
    fc.property(fc.integer({ min: 100, max: 1e9 }), fc.boolean(), (byMs, isBack) => {
      const world = new World();
      world.ask({ thereMs: 0.5, backMs: 0.5 });
      world.aheadMs += isBack ? -byMs : byMs;
      world.ask({ thereMs: 0.5, backMs: 0.5 });
      assert.ok(world.clock.nowMs() <= world.databaseMs && world.clock.latestMs() >= world.databaseMs);
      assert.ok(world.clock.latestMs() - world.clock.nowMs() <= 4);
    }),
  );
});

test('a clock that was set forward is known to have been, and one that was asked late is not', () => {
  const world = new World();
  const ask = (): number => world.ask({ thereMs: 0.5, backMs: 0.5 });
  ask();
  world.ask({ thereMs: 0.5, backMs: 20_000 });
  world.elapsedMs += 600_000;
  ask();
  world.aheadMs -= 3_600_000;
  ask();
  assert.equal(world.clock.setForwardAgoMs, Number.POSITIVE_INFINITY);
  world.aheadMs += 3_600_000;
  ask();
  world.elapsedMs += 1000;
  ask();
  assert.equal(Math.round(world.clock.setForwardAgoMs), 1001);
});
