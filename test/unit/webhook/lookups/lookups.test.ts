// Names whose servers do not answer occupy threads: how many they get, and what is left for the names of others.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Lookups, PLACES } from '../../../../src/webhook/lookups.ts';
import { deliveryTo, httpReceiver, posterFor } from '../receivers.ts';

const places = PLACES.deliveries;
const FOUND = [{ address: '127.0.0.1', family: 4 }];
/** What libuv gives to lookups: half of the pool. */
const THREADS = 26;

type Found = typeof FOUND;

/** Lookups that a test answers, name by name. */
function heldLookups() {
  const asked: string[] = [];
  const held = new Map<string, PromiseWithResolvers<Found>>();
  async function answer(...names: string[]): Promise<void> {
    for (const name of names) held.get(name)?.resolve(FOUND);
    await new Promise(setImmediate);
  }
  /** Answers each name as it is asked, until there were so many. */
  async function answerAll(count: number): Promise<void> {
    for (let at = 0; at < count; ) {
      const names = asked.slice(at);
      at += names.length;
      await answer(...names);
    }
  }
  function lookup(name: string): Promise<Found> {
    asked.push(name);
    const found = Promise.withResolvers<Found>();
    held.set(name, found);
    return found.promise;
  }
  return { asked, lookup, answer, answerAll };
}

const named = (word: string, count: number): string[] => Array.from({ length: count }, (_, at) => `${word}-${at}.test`);

test('Dead names of one owner hold up no other', async () => {
  const { asked, lookup, answerAll } = heldLookups();
  const threads = { free: THREADS };
  await using receiver = await httpReceiver();
  await using poster = posterFor({
    lookup: async (name) => {
      if (threads.free-- <= 0) return lookup(name);
      return name === 'good.test' ? FOUND : lookup(name);
    },
  });
  const dead = named('dead', 3 * THREADS).map((name) =>
    poster.post(deliveryTo(`http://${name}:${receiver.port}/`, { emission: { ownerId: 'u_1' } })),
  );
  const other = await poster.post(
    deliveryTo(`http://good.test:${receiver.port}/`, { emission: { ownerId: 'u_2' }, webhook: { ownerId: 'u_2' } }),
  );
  assert.equal(other.status, 200);
  assert.ok(asked.length > 0 && asked.length < THREADS, `${asked.length} at once`);
  await answerAll(dead.length);
  assert.equal(asked.length, dead.length);
  for (const attempt of await Promise.all(dead)) assert.equal(attempt.status, 200);
});

test('A name that was slow waits for slow ones alone', async () => {
  const { asked, lookup, answer } = heldLookups();
  let nowMs = 0;
  const lookups = new Lookups(lookup, { places, nowMs: () => nowMs });
  const find = (name: string, ownerId = 'u_1') => void lookups.find(name, ownerId);
  const dead = named('dead', 8);
  for (const name of dead) find(name);
  assert.deepEqual(asked, dead.slice(0, 4), 'half of the places');
  nowMs += 10_000;
  await answer(...dead.slice(0, 4));
  nowMs += 10_000;
  await answer(...dead.slice(4));

  asked.length = 0;
  for (const name of dead) find(name);
  find('good.test');
  assert.deepEqual(asked, [...dead.slice(0, 2), 'good.test'], 'the good name of the same owner waits for none');
  await answer('good.test');
  find('dead-0.test', 'u_2');
  assert.equal(asked.length, 3, 'a lookup under way is shared');

  // One answers fast again.
  await answer('dead-0.test');
  assert.deepEqual(asked.slice(3), ['dead-2.test']);
  find('dead-0.test');
  assert.deepEqual(asked.slice(4), ['dead-0.test']);
});

test('A name that was slow once waits for slow ones of no other owner', async () => {
  const { asked, lookup, answer } = heldLookups();
  let nowMs = 0;
  const lookups = new Lookups(lookup, { places, nowMs: () => nowMs });
  const find = (name: string, ownerId: string) => void lookups.find(name, ownerId);
  const dead = named('dead', 12);
  for (const name of [...dead, 'once.test']) find(name, `u_${name}`);
  for (let at = 0; at < 2; at++) {
    nowMs += 10_000;
    await answer(...asked);
  }
  assert.equal(asked.length, 13);

  asked.length = 0;
  for (const name of dead) find(name, 'u_1');
  find('once.test', 'u_2');
  assert.deepEqual(asked, ['dead-0.test', 'dead-1.test', 'once.test']);
});

test('The next place is for the owner that has the fewest', async () => {
  const { asked, lookup, answer } = heldLookups();
  const lookups = new Lookups(lookup, { places, nowMs: () => 0 });
  const find = (name: string, ownerId: string) => void lookups.find(name, ownerId);
  for (const name of named('first', 8)) find(name, 'u_1');
  for (const name of named('second', 8)) find(name, 'u_2');
  find('third.test', 'u_3');
  assert.ok(!asked.includes('third.test'), 'all places are taken');
  await answer('first-0.test');
  assert.equal(asked.at(-1), 'third.test');
});

test('A name that waits for one owner holds up no other', async () => {
  const { asked, lookup, answer } = heldLookups();
  const lookups = new Lookups(lookup, { places, nowMs: () => 0 });
  for (const name of [...named('dead', 4), 'good.test']) void lookups.find(name, 'u_1');
  assert.ok(!asked.includes('good.test'));
  const found = lookups.find('good.test', 'u_2');
  assert.equal(asked.at(-1), 'good.test');
  await answer('good.test');
  assert.deepEqual(await found, FOUND);
});

test('All owners together get no more than the places', async () => {
  const { asked, lookup, answerAll } = heldLookups();
  const lookups = new Lookups(lookup, { places, nowMs: () => 0 });
  for (const name of named('name', 30)) void lookups.find(name, `u_${name}`);
  assert.equal(asked.length, 8);
  await answerAll(30);
  assert.deepEqual(asked, named('name', 30), 'the oldest first');
});

test('What waits is bounded, and the oldest is dropped', async () => {
  const { asked, lookup } = heldLookups();
  const lookups = new Lookups(lookup, { places, nowMs: () => 0 });
  const found = named('name', 4 + 512 + 1).map((name) => lookups.find(name, 'u_1'));
  await assert.rejects(found[4] as Promise<unknown>, /too many names/);
  void lookups.find('other.test', 'u_2');
  assert.equal(asked.at(-1), 'other.test');
});

test('There is a thread for each lookup that may be made at a time', async () => {
  const set = process.env.UV_THREADPOOL_SIZE;
  delete process.env.UV_THREADPOOL_SIZE;
  try {
    await import('../../../../src/server/thread-pool.ts');
    const all = Object.values(PLACES).reduce((sum, { fast, slow }) => sum + fast + slow, 0);
    assert.equal(all, THREADS);
    assert.equal(Number(process.env.UV_THREADPOOL_SIZE) / 2, all);
  } finally {
    if (set === undefined) delete process.env.UV_THREADPOOL_SIZE;
    else process.env.UV_THREADPOOL_SIZE = set;
  }
});

test('A lookup that throws is one that failed', async () => {
  const failing = (): never => {
    throw new Error('no such name');
  };
  const lookups = new Lookups(failing, { places });
  for (let n = 0; n < 10; n++) await assert.rejects(lookups.find('name.test', 'u_1'), /no such name/);
});
