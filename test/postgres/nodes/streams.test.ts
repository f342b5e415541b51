// Streams of events that several nodes emit: a reader at any node hears all of them, in order.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import postgres from 'postgres';
import { at, emit, none, parsed, succeeded } from '../../contract/fixtures.ts';
import type { Json } from '../../support/client.ts';
import { OWN, sessionOf } from '../../support/owners.ts';
import { holding, lockWaits } from '../../support/postgres/holding.ts';
import { createSource, ECHO_SOURCE, post } from '../../support/sources/sources.ts';
import { listen, streamPath } from '../../support/stream.ts';
import { until } from '../../support/wait.ts';
import { seenFrom, shareNodes, startNodes } from './nodes.ts';
import { storesOn } from './stores.ts';

const numbersOf = (records: Json[]): number[] => records.map(({ event }) => event.n);

test('the end of the log waits for who writes before it', async () => {
  await using on = await storesOn(2);
  const { stage, stores, clock, url, emitterId, webhook } = on;
  const [one, other] = [at(stores, 0), at(stores, 1)];
  const channel = { ownerId: stage.owner.id, emitterId, name: '*' };
  await one.append(stage.make.emission(emitterId), none());
  clock.advance(1);
  const after = await other.logEnd();
  const sql = postgres(url, { max: 2, onnotice: () => undefined });
  try {
    // The first node is held up behind its number: its emission's listener is locked.
    const { release, locked } = holding(sql, webhook.id);
    await locked;
    const slow = one.append(stage.make.emission(emitterId), none());
    await until('the first node to wait for a lock', async () => (await lockWaits(sql)) > 0);
    clock.advance(1000);
    const quick = await other.append(stage.make.emission(emitterId, { name: 'quick' }), none());
    clock.advance(1);
    let isReleased = false;
    const end = other.logEnd().then((entry) => {
      ok(isReleased, 'nobody reads beyond the one that is to come');
      return entry;
    });
    // It has looked, and looks again.
    await other.exists(stage.owner.id, emitterId);
    isReleased = true;
    await release();
    const { entry } = await slow;
    ok(entry < quick.entry);
    const read = await other.emissionsAfter(channel, { after, upTo: await end }, false);
    deepEqual(
      read.map((record) => record.entry),
      [entry, quick.entry],
    );
  } finally {
    await sql.end({ timeout: 1 });
  }
});

test('a reader hears what all nodes emit', async () => {
  await using nodes = await shareNodes(2);
  const [one, other] = nodes.all;
  const source = await createSource(one, ECHO_SOURCE);
  await using here = await listen(one, streamPath(source.id));
  await using there = await listen(other, streamPath(source.id));
  const count = 60;
  const sources = [source, seenFrom(other, source)];
  await Promise.all(Array.from({ length: count }, (_, n) => post(sources[n % 2], { n })));
  const [heardHere, heardThere] = [await here.count(count), await there.count(count)];
  deepEqual(heardHere, heardThere);
  equal(new Set(numbersOf(heardHere)).size, count);
  const ids = heardHere.map(({ indexed_at_ms }) => indexed_at_ms);
  deepEqual(
    ids,
    ids.toSorted((a, b) => a - b),
  );
});

// Without word from the first node, the other asks once in 54 seconds.
test('a sign-out at one node ends the streams at another', { timeout: 40_000 }, async () => {
  await using nodes = await shareNodes(2);
  const [one, other] = nodes.all;
  const here = await sessionOf(one.url, one.client.key);
  const there = await sessionOf(one.url, one.client.key, other.url);
  await using stream = await listen(other, '/v1/errors/stream', there.headers);
  equal(stream.status, 200);
  await fetch(`${one.url}/v1/sessions`, { method: 'DELETE', headers: { ...here.headers, ...OWN } });
  equal(await there.status(), 401);
  equal(await stream.ended, 'ended');
});

test('a reader goes on at another node', async () => {
  await using nodes = await startNodes({}, {});
  const [one, other] = nodes.all;
  const source = await createSource(one, ECHO_SOURCE);
  const first = await listen(one, streamPath(source.id));
  await post(source, { n: 0 });
  const [record] = await first.count(1);
  await one.stop();
  equal(await first.ended, 'ended');
  const moved = seenFrom(other, source);
  await post(moved, { n: 1 });
  await using second = await listen(other, streamPath(source.id), { 'last-event-id': record.id });
  await second.count(1);
  await post(moved, { n: 2 });
  deepEqual(numbersOf(await second.count(2)), [1, 2]);
});

test('what has waited is emitted by one node', async () => {
  await using on = await storesOn(2);
  const { stage, stores, clock, emitterId } = on;
  const [one, other] = [at(stores, 0), at(stores, 1)];
  const deliverAtMs = clock.nowMs() + 1000;
  const outgoing = Array.from({ length: 50 }, (_, n) => emit('', { n }, { deliverAtMs }));
  await stage.end(await stage.started({ id: emitterId }), succeeded({ outgoing }));
  clock.advance(1000);
  await Promise.all([one, other, one, other].map((store) => store.releaseLater(none())));
  const { items } = await other.listEmissions({ ownerId: stage.owner.id, emitterId, name: '' }, { limit: 100 }, true);
  const numbers = items.map(({ body }) => (parsed(body) as { n: number }).n);
  deepEqual(
    numbers.toSorted((a, b) => a - b),
    Array.from({ length: 50 }, (_, n) => n),
  );
});
