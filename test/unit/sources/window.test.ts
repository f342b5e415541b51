// Rows that are committed in another order than that of their values, as a model has them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';

// Under a name that the compiler does not look into: sources are JavaScript.
const WINDOW = '../../../sources/postgres-rows/window.mjs';
const { after, beginning, hashOf, nextFloor } = await import(WINDOW);

interface Row {
  readonly value: number;
  readonly key: string;
  readonly committedMs: number;
}

interface Entry {
  readonly value: string;
  readonly key: string;
}

const LOOKBACK_MS = 1000;
const order = (a: Row, b: Row): number => a.value - b.value || (a.key < b.key ? -1 : 1);
const entryOf = ({ value, key }: Row): Entry => ({ value: String(value), key });

/** What Postgres and the source do around the window. */
function poller(rows: readonly Row[], { maxNew, maxSeen }: { maxNew: number; maxSeen: number }) {
  const there = (nowMs: number) => rows.filter(({ committedMs }) => committedMs <= nowMs).sort(order);
  let state = beginning({ from: 'x', newest: there(0).map(entryOf), hasMore: false, nowMs: 0 });
  const emitted: string[] = [];
  let cuts = 0;
  return {
    emitted,
    old: there(0),
    cuts: () => cuts,
    state: () => state,
    poll(nowMs: number): boolean {
      const at = { lookbackMs: LOOKBACK_MS, nowMs };
      const raised = nextFloor(state, at);
      const [floorValue, floorKey] = state.floor ?? ['-1', ''];
      const from = there(nowMs).filter(
        ({ value, key }) => value > Number(floorValue) || (value === Number(floorValue) && key >= floorKey),
      );
      const seen = new Set(state.seen);
      const fresh = from.filter((row) => !seen.has(hashOf(entryOf(row))));
      const end = fresh.length > maxNew ? from.indexOf(fresh[maxNew] as Row) : from.length;
      for (const row of fresh.slice(0, maxNew)) emitted.push(row.key);
      const read = from.slice(0, end).map((row) => ({
        ...entryOf(row),
        isKept: raised === null || row.value >= Number(raised),
        isTop: state.top === null || row.value >= Number(state.top),
      }));
      const isWhole = end === from.length;
      const done = after(state, { read, isWhole, maxSeen, ...at });
      state = done.state;
      if (done.isCut) cuts++;
      return isWhole;
    },
  };
}

const plays = fc.record({
  rows: fc.array(
    fc.record({ startMs: fc.nat(5000), delayMs: fc.nat(LOOKBACK_MS - 1), step: fc.nat(2), last: fc.nat(100) }),
    { maxLength: 80 },
  ),
  pollsMs: fc.array(fc.nat(7000), { maxLength: 40 }),
});

/** Values are given in the order of starts, some twice; rows are there some time later. */
function rowsOf(starts: readonly { startMs: number; delayMs: number; step: number; last: number }[]): Row[] {
  let value = 0;
  return [...starts]
    .sort((a, b) => a.startMs - b.startMs)
    .map(({ startMs, delayMs, step, last }, i) => {
      value += step;
      return { value, key: `${last}-${i}`, committedMs: startMs + delayMs };
    });
}

test('rows that come within the lookback are emitted once', () => {
  fc.assert(
    fc.property(plays, fc.integer({ min: 1, max: 20 }), ({ rows, pollsMs }, maxNew) => {
      const all = rowsOf(rows);
      const play = poller(all, { maxNew, maxSeen: 1000 });
      for (const ms of pollsMs.sort((a, b) => a - b)) play.poll(ms);
      while (!play.poll(7000));
      const expected = all.filter((row) => !play.old.includes(row)).map(({ key }) => key);
      assert.deepEqual(play.emitted.toSorted(), expected.toSorted());
      play.poll(9000);
      play.poll(20_000);
      assert.equal(play.emitted.length, expected.length);
    }),
    { numRuns: 500 },
  );
});

test('what is remembered is bounded, and nothing comes twice', () => {
  fc.assert(
    fc.property(plays, fc.integer({ min: 1, max: 20 }), ({ rows, pollsMs }, maxNew) => {
      const play = poller(rowsOf(rows), { maxNew, maxSeen: 10 });
      const bound = Math.max(10, play.old.length) + 1;
      for (const ms of pollsMs.sort((a, b) => a - b)) {
        play.poll(ms);
        assert.ok(play.state().seen.length <= bound, String(play.state().seen.length));
        assert.ok(play.state().marks.length <= 102);
      }
      while (!play.poll(7000));
      assert.equal(new Set(play.emitted).size, play.emitted.length);
    }),
    { numRuns: 500 },
  );
});

test('in order of their values none is lost at all', () => {
  const rows = Array.from({ length: 500 }, (_, i) => ({ value: i >> 3, key: `k${i}`, committedMs: 1 }));
  const play = poller(rows, { maxNew: 30, maxSeen: 40 });
  while (!play.poll(10));
  assert.equal(new Set(play.emitted).size, 500);
  assert.ok(play.cuts() > 0);
});
