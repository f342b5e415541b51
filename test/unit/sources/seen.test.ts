import assert from 'node:assert/strict';
import { test } from 'node:test';

// Under a name that the compiler does not look into: sources are JavaScript.
const SEEN = '../../../sources/common/seen.mjs';
const { takeNew } = await import(SEEN);

function memory() {
  const values = new Map<string, string>();
  const writes: string[] = [];
  return {
    writes,
    get: (key: string): unknown => (values.has(key) ? JSON.parse(values.get(key) as string) : undefined),
    set: (key: string, value: unknown) => {
      values.set(key, JSON.stringify(value));
      writes.push(key);
    },
  };
}

const idOf = (item: string): string => item;
const take = (db: object, items: string[], from = 'here'): string[] => takeNew(db, { from, items, idOf }).fresh;

test('each item is new once', () => {
  const db = memory();
  assert.deepEqual(take(db, ['b', 'a', 'b']), ['b', 'a']);
  assert.deepEqual(take(db, ['c', 'a', 'd', 'b', 'c']), ['c', 'd']);
  assert.deepEqual(take(db, []), []);
  assert.deepEqual(take(db, ['d', 'e']), ['e']);
});

test('nothing is written when nothing is new', () => {
  const db = memory();
  take(db, ['a', 'b']);
  take(db, ['b', 'a']);
  assert.equal(db.writes.length, 1);
});

test('what is there is never forgotten', () => {
  const db = memory();
  const many = Array.from({ length: 10_000 }, (_, i) => `n${i}`);
  take(db, many);
  assert.deepEqual(take(db, ['new', ...many]), ['new']);
  for (let i = 0; i < 1900; i++) take(db, [`later ${i}`]);
  assert.deepEqual(take(db, ['new']), []);
  assert.equal((db.get('seen') as { ids: string[] }).ids.length, 2000);
});

test('another place begins anew', () => {
  const db = memory();
  take(db, ['a']);
  assert.deepEqual(takeNew(db, { from: 'there', items: ['a'], idOf }), { isFirst: true, fresh: ['a'] });
  assert.deepEqual(takeNew(db, { from: 'there', items: ['a'], idOf }), { isFirst: false, fresh: [] });
});
