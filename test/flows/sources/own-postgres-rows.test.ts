// The source `postgres-rows` against a real Postgres: each row once, whatever is committed when.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import postgres from 'postgres';
import type { Json } from '../../support/client.ts';
import { startErrand } from '../../support/errand.ts';
import { createOwner } from '../../support/owners.ts';
import { queryOn } from '../../support/postgres/databases.ts';
import { newDatabaseOn } from '../../support/postgres/fresh.ts';
import { otherPostgres } from '../../support/postgres/other.ts';
import { startPostgres } from '../../support/postgres/server.ts';
import { assertProblem } from '../../support/problem.ts';
import { shareErrand } from '../../support/shared-errand.ts';
import { createOwn, emitted, runNow, tryOwn } from '../../support/sources/own-sources.ts';
import { emissions } from '../../support/sources/sources.ts';

const newErrand = shareErrand();

interface Shop extends AsyncDisposable {
  readonly url: string;
  run(sql: string): Promise<readonly Json[]>;
}

async function newShop(sql: string): Promise<Shop> {
  const { url, drop } = await newDatabaseOn(await otherPostgres(), { isBlank: true });
  await queryOn(url, sql);
  return { url, run: (more) => queryOn(url, more), [Symbol.asyncDispose]: drop };
}

const ORDERS = 'CREATE TABLE orders (id bigserial PRIMARY KEY, name text)';
const insert = (...names: string[]): string =>
  `INSERT INTO orders (name) VALUES ${names.map((name) => `('${name}')`).join(', ')}`;
const names = (events: Json[]): string[] => events.map(({ name }) => name);

test('new rows of a table are emitted once', async () => {
  await using shop = await newShop(`${ORDERS}; ${insert('a', 'b', 'c')}`);
  await using errand = await startErrand();
  const source = await createOwn(errand, 'postgres-rows', { url: shop.url, table: 'orders', column: 'id', past: 2 });
  assert.equal(source.configured_props.url, undefined);
  assert.deepEqual(await emitted(errand, source), [
    { id: '2', name: 'b' },
    { id: '3', name: 'c' },
  ]);
  await shop.run(insert('d', 'e'));
  assert.equal((await runNow(errand, source)).state, 'succeeded');
  await shop.run("UPDATE orders SET name = 'changed'");
  await errand.restart();
  await shop.run(insert('f'));
  await runNow(errand, source);
  await runNow(errand, source);
  assert.deepEqual(names(await emitted(errand, source)), ['b', 'c', 'd', 'e', 'f']);
  const [{ metadata }] = await emissions(errand, source.id, 1);
  assert.deepEqual([metadata.id, metadata.summary], ['6', 'orders 6']);
  const other = await createOwner(errand);
  assertProblem(await other.client.request('GET', `/v1/sources/${source.id}`), 404);
});

test('a row that is committed late is not lost', async () => {
  await using shop = await newShop(`${ORDERS}; ${insert('a')}`);
  await using errand = await newErrand();
  const source = await createOwn(errand, 'postgres-rows', { url: shop.url, table: 'orders', column: 'id', past: 0 });
  const slow = postgres(shop.url, { max: 1 });
  try {
    await slow.unsafe('BEGIN');
    await slow.unsafe(insert('slow'));
    await shop.run(insert('quick'));
    await runNow(errand, source);
    assert.deepEqual(names(await emitted(errand, source)), ['quick']);
    await slow.unsafe('COMMIT');
    await runNow(errand, source);
    assert.deepEqual(names(await emitted(errand, source)), ['quick', 'slow']);
  } finally {
    await slow.end();
  }
});

test('without a lookback rows are read from the last on', async () => {
  await using shop = await newShop('CREATE TABLE hits (at int, name text)');
  await using errand = await newErrand();
  const props = { url: shop.url, table: 'hits', column: 'at', lookback: 0 };
  const source = await createOwn(errand, 'postgres-rows', props);
  const add = async (at: number, name: string) => {
    await shop.run(`INSERT INTO hits VALUES (${at}, '${name}')`);
    await runNow(errand, source);
  };
  await add(5, 'first');
  await add(5, 'same value');
  await add(7, 'seven');
  await add(4, 'too late');
  await add(7, 'another');
  assert.deepEqual(names(await emitted(errand, source)), ['first', 'same value', 'seven', 'another']);
});

test('changed rows come again by their time', async () => {
  await using shop = await newShop(`CREATE TABLE users (id int PRIMARY KEY, name text, changed_at timestamptz);
    INSERT INTO users SELECT n, 'u' || n, '2026-01-01' FROM generate_series(1, 1500) n`);
  await using errand = await newErrand();
  const props = { url: shop.url, table: 'users', column: 'changed_at', past: 0 };
  const source = await createOwn(errand, 'postgres-rows', props);
  const at = "'2026-01-02T03:04:05.123456Z'";
  await shop.run(`UPDATE users SET changed_at = ${at} WHERE id <= 1200`);
  // More than one poll takes; all of the same time.
  for (const count of [1000, 200, 0]) {
    const { data: before } = await errand.client.get('/v1/ledger');
    await runNow(errand, source);
    const { data } = await errand.client.get('/v1/ledger');
    assert.equal(data.emissions - before.emissions, count + 1);
  }
  await shop.run("UPDATE users SET name = 'again', changed_at = '2026-01-03' WHERE id = 7");
  await runNow(errand, source);
  const [record] = await emissions(errand, source.id, 100);
  assert.deepEqual(record.event, { id: 7, name: 'again', changed_at: '2026-01-03T00:00:00Z' });
  assert.equal(record.metadata.id, '7 2026-01-03 00:00:00+00');
});

test('values of all types are JSON, whole', async () => {
  await using shop = await newShop("CREATE TYPE mood AS ENUM ('calm', 'loud')");
  await using errand = await newErrand();
  const query = `SELECT 9007199254740993::bigint AS big, 7::int AS small, 1.10::numeric AS price, 'NaN'::float8 AS nan,
    0.1::float8 AS tenth, true AS yes, NULL::text AS nothing, '2026-01-02 03:04:05.123456+02'::timestamptz AS at,
    '2026-01-02 03:04:05.5'::timestamp AS local, 'infinity'::timestamptz AS ever, '2026-01-02'::date AS day,
    '\\x00ff'::bytea AS bytes, '{"n": 12345678901234567890}'::jsonb AS doc, ARRAY[1, 2]::int[] AS list,
    ARRAY['a', NULL, 'NULL', '{"\\}, ', '']::text[] AS texts, '[0:1][0:1]={{1,2},{3,NULL}}'::int[] AS deep,
    '{}'::int[] AS none, ARRAY['loud']::mood[] AS moods, ARRAY[9007199254740993]::bigint[] AS bigs, '1 day'::interval AS span,
    'loud'::mood AS mood, '9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d'::uuid AS "Key";`;
  const source = await createOwn(errand, 'postgres-rows', { url: shop.url, query, column: 'at', key: ['Key'] });
  const path = `/v1/sources/${source.id}/event_summaries?expand=event`;
  assert.match((await errand.client.request('GET', path)).text, /"doc":\{"n":12345678901234567890\}/);
  const [{ doc: _doc, ...event }] = await emitted(errand, source);
  assert.deepEqual(event, {
    big: '9007199254740993',
    small: 7,
    price: '1.10',
    nan: 'NaN',
    tenth: 0.1,
    yes: true,
    nothing: null,
    at: '2026-01-02T01:04:05.123456Z',
    local: '2026-01-02T03:04:05.5',
    ever: 'infinity',
    day: '2026-01-02',
    bytes: 'AP8=',
    list: [1, 2],
    texts: ['a', null, 'NULL', '{"\\}, ', ''],
    deep: [
      [1, 2],
      [3, null],
    ],
    none: [],
    moods: ['loud'],
    bigs: ['9007199254740993'],
    span: 'P1D',
    mood: 'loud',
    Key: '9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d',
  });
});

test('names are names, and nothing is written', async () => {
  await using shop = await newShop(`CREATE SCHEMA "my shop"; CREATE SEQUENCE calls;
    CREATE TABLE "my shop"."Or""ders; --" ("the Id" int PRIMARY KEY, "$1" text);
    INSERT INTO "my shop"."Or""ders; --" VALUES (1, 'one'), (2, 'two')`);
  await using errand = await newErrand();
  const table = { schema: 'my shop', table: 'Or"ders; --', column: 'the Id' };
  const source = await createOwn(errand, 'postgres-rows', { url: shop.url, ...table });
  assert.deepEqual(await emitted(errand, source), [
    { 'the Id': 1, $1: 'one' },
    { 'the Id': 2, $1: 'two' },
  ]);
  for (const [query, why] of [
    ["SELECT nextval('calls') AS id", /read-only transaction/],
    ['SELECT 1 AS id) q; DROP TABLE orders; --', /syntax|multiple commands/],
    ['SELECT 1 AS id; SELECT 2 AS id', /syntax/],
  ] as const) {
    const refused = await tryOwn(errand, 'postgres-rows', { url: shop.url, query, column: 'id' });
    assertProblem(refused, 422);
    assert.match(refused.json.detail, why);
  }
});

test('long rows are emitted without what is too long', async () => {
  await using shop = await newShop('CREATE TABLE docs (id int PRIMARY KEY, title text, body text)');
  await using errand = await newErrand();
  const source = await createOwn(errand, 'postgres-rows', { url: shop.url, table: 'docs', column: 'id' });
  await shop.run("INSERT INTO docs SELECT n, 't' || n, repeat('x', 900000) FROM generate_series(1, 6) n");
  await shop.run("INSERT INTO docs VALUES (7, 't7', repeat('x', 2000000))");
  for (const count of [4, 7]) {
    assert.equal((await runNow(errand, source)).state, 'succeeded');
    const { page_info: info } = await errand.client.get(`/v1/sources/${source.id}/event_summaries`);
    assert.equal(info.total_count, count);
  }
  assert.deepEqual((await emissions(errand, source.id, 7))[0].event, { id: 7, title: 't7', $omitted: ['body'] });
});

test('rows are read again when the server is back', async () => {
  await using server = await startPostgres();
  await server.databases.query(`${ORDERS}`);
  await using errand = await startErrand();
  const props = { url: server.url().replace('postgres@', 'postgres:hidden@'), table: 'orders', column: 'id' };
  const source = await createOwn(errand, 'postgres-rows', props);
  await server.databases.query(insert('a'));
  await server.stop();
  assert.equal((await runNow(errand, source)).state, 'failed');
  const [error] = await errand.errors(source.id, 1);
  assert.match(error.event.error.msg, /^127\.0\.0\.1:\d+\/postgres cannot be read: .*ECONNREFUSED/);
  assert.doesNotMatch(JSON.stringify(error), /hidden/);
  await server.start();
  await server.databases.query(insert('b'));
  assert.equal((await runNow(errand, source)).state, 'succeeded');
  assert.deepEqual(names(await emitted(errand, source)), ['a', 'b']);
});

test('what cannot be read is refused at once', async () => {
  await using shop = await newShop(ORDERS);
  await using errand = await newErrand();
  const { url } = shop;
  for (const [props, why] of [
    [{ url: 'nonsense', table: 'orders', column: 'id' }, /connection string/],
    [{ url: 'https://example.com/x', table: 'orders', column: 'id' }, /connection string/],
    [{ url, column: 'id' }, /a table or a query/],
    [{ url, table: 'orders', query: 'SELECT 1', column: 'id' }, /a table or a query/],
    [{ url, table: 'none', column: 'id' }, /"none" does not exist/],
    [{ url, table: 'orders', column: 'none' }, /none.* does not exist/],
    [{ url, table: 'orders', column: 'id', key: ['none'] }, /none.* does not exist/],
    [{ url, table: 'orders' }, /column/],
  ] as const) {
    const refused = await tryOwn(errand, 'postgres-rows', props);
    assertProblem(refused, 422);
    assert.match(refused.json.detail, why);
    assert.doesNotMatch(JSON.stringify(refused.json), /postgres:\/\/postgres@/);
  }
  assert.equal((await errand.client.get('/v1/sources')).data.length, 0);
  const source = await createOwn(errand, 'postgres-rows', { url, table: 'orders', column: 'name', key: ['name'] });
  await shop.run(insert('same', 'same'));
  await runNow(errand, source);
  const [error] = await errand.errors(source.id, 1);
  assert.match(error.event.error.msg, /two rows have the key \["same"\]/);
});
