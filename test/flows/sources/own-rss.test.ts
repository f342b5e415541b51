// The source `rss` against a server of feeds: each item once, whatever happens to the feed.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { Json } from '../../support/client.ts';
import { startErrand } from '../../support/errand.ts';
import { assertProblem } from '../../support/problem.ts';
import { shareErrand } from '../../support/shared-errand.ts';
import { createOwn, emitted, runNow, startAsked, tryOwn } from '../../support/sources/own-sources.ts';

const newErrand = shareErrand();

interface Item {
  readonly guid: string;
  readonly day?: number;
}

const rss = (items: readonly Item[], title = 'News'): string => `<?xml version="1.0"?>
<rss version="2.0"><channel><title>${title}</title><link>https://example.com/</link>
${items
  .map(({ guid, day }) => {
    const date = day === undefined ? '' : `<pubDate>${new Date(Date.UTC(2026, 0, day)).toUTCString()}</pubDate>`;
    return `<item><guid isPermaLink="false">${guid}</guid><title>Item ${guid}</title><link>/${guid}</link>${date}</item>`;
  })
  .join('\n')}
</channel></rss>`;

const days = (...all: number[]): Item[] => all.map((day) => ({ guid: `g${day}`, day }));
const ids = (events: Json[]): string[] => events.map(({ id }) => id);

test('items of a feed are emitted once each', async () => {
  await using feed = await startAsked('/feed?key=secret');
  await using errand = await startErrand();
  feed.says({ body: rss(days(3, 2, 1)) });
  const source = await createOwn(errand, 'rss', { url: feed.url, past: 2 });
  assert.deepEqual(ids(await emitted(errand, source)), ['g2', 'g3']);
  const [, newest] = await emitted(errand, source);
  assert.deepEqual(newest, {
    id: 'g3',
    title: 'Item g3',
    link: new URL('/g3', feed.url).href,
    published: '2026-01-03T00:00:00.000Z',
    categories: [],
    enclosures: [],
    feed: { title: 'News', link: 'https://example.com/' },
  });
  // It grows at either end, repeats an item, and has another order.
  feed.says({ body: rss(days(1, 5, 3, 5, 2, 4)) });
  assert.equal((await runNow(errand, source)).state, 'succeeded');
  assert.deepEqual(ids(await emitted(errand, source)), ['g2', 'g3', 'g4', 'g5']);
  // Items go, and come back.
  feed.says({ body: rss(days(6)) });
  await runNow(errand, source);
  await errand.restart();
  feed.says({ body: rss(days(6, 5, 4, 3, 2, 1, 7)) });
  await runNow(errand, source);
  assert.deepEqual(ids(await emitted(errand, source)), ['g2', 'g3', 'g4', 'g5', 'g6', 'g7']);
  assert.equal((await errand.client.get(`/v1/sources/${source.id}`)).data.component, 'rss');
});

test('a long feed has no repeats', async () => {
  await using feed = await startAsked('/feed');
  await using errand = await newErrand();
  const many = Array.from({ length: 250 }, (_, i) => ({ guid: `n${i}` }));
  feed.says({ body: rss(many) });
  const source = await createOwn(errand, 'rss', { url: feed.url, past: 0 });
  feed.says({ body: rss([{ guid: 'new' }, ...many].reverse()) });
  await runNow(errand, source);
  await runNow(errand, source);
  assert.deepEqual(ids(await emitted(errand, source)), ['new']);
});

test('a feed that has not changed is not read', async () => {
  await using feed = await startAsked('/feed');
  await using errand = await newErrand();
  const validators = { etag: '"1"', 'last-modified': 'Thu, 01 Jan 2026 00:00:00 GMT' };
  feed.says(({ 'if-none-match': etag }) =>
    etag === '"1"' ? { status: 304 } : { headers: validators, body: rss(days(1)) },
  );
  const source = await createOwn(errand, 'rss', { url: feed.url });
  assert.equal((await runNow(errand, source)).state, 'succeeded');
  const [first, second] = feed.requests;
  assert.deepEqual([first?.['if-none-match'], first?.['if-modified-since']], [undefined, undefined]);
  assert.deepEqual(
    [second?.['if-none-match'], second?.['if-modified-since']],
    ['"1"', 'Thu, 01 Jan 2026 00:00:00 GMT'],
  );
  feed.says({ headers: { etag: '"2"' }, body: rss(days(2, 1)) });
  await runNow(errand, source);
  assert.deepEqual(ids(await emitted(errand, source)), ['g1', 'g2']);
});

test('a feed that fails comes back without loss', async () => {
  await using feed = await startAsked('/feed?key=hidden');
  await using errand = await newErrand();
  feed.says({ body: rss(days(1)) });
  const source = await createOwn(errand, 'rss', { url: feed.url });
  for (const wrong of [
    { status: 503, body: 'down for a while' },
    { body: '<html><body>Please log in</body></html>' },
    { body: rss(days(2, 1)).slice(0, -60) },
    { body: '' },
  ]) {
    feed.says({ headers: { etag: '"wrong"' }, ...wrong });
    assert.equal((await runNow(errand, source)).state, 'failed');
  }
  const errors = await errand.errors(source.id, 4);
  const messages = errors.map(({ event }) => event.error.msg).reverse();
  const shown = feed.url.replace('?key=hidden', '');
  assert.equal(messages[0], `${shown} answered 503: down for a while`);
  assert.match(messages[1], /cannot be read: no feed, but "<html>/);
  assert.match(messages[2], /cut short|no feed/);
  feed.says(({ 'if-none-match': etag }) => (etag === '"wrong"' ? { status: 304 } : { body: rss(days(3, 2, 1)) }));
  assert.equal((await runNow(errand, source)).state, 'succeeded');
  assert.deepEqual(ids(await emitted(errand, source)), ['g1', 'g2', 'g3']);
});

test('a feed that is too large is not read to its end', async () => {
  await using feed = await startAsked('/feed');
  await using errand = await newErrand();
  const zeros = new Uint8Array(300 * 1024 * 1024);
  for (const [component, wrong] of [
    ['rss', { body: new Uint8Array(17 * 1024 * 1024) }],
    // Some 300 KB, which inflate to more than the memory of a run.
    ['rss', { body: gzipSync(zeros), headers: { 'content-encoding': 'gzip' } }],
    ['poll-json', { body: gzipSync(zeros), headers: { 'content-encoding': 'gzip' } }],
  ] as const) {
    feed.says(wrong);
    const refused = await tryOwn(errand, component, { url: feed.url });
    assertProblem(refused, 422);
    assert.match(refused.json.detail, /\/feed answered more than 16777216 bytes, the most that is read/);
  }
});

test('a feed that cannot be is refused at once', async () => {
  await using feed = await startAsked('/none');
  await using errand = await newErrand();
  const missing = await tryOwn(errand, 'rss', { url: feed.url });
  assertProblem(missing, 422);
  assert.match(missing.json.detail, /\/none answered 404/);
  assert.match(
    (await tryOwn(errand, 'rss', { url: 'http://127.0.0.1:1/' })).json.detail,
    /cannot be reached.*ECONNREFUSED/,
  );
  assert.match((await tryOwn(errand, 'rss', { url: 'nonsense' })).json.detail, /"nonsense" is no URL/);
  for (const component of ['rss', 'poll-json']) {
    const other = await tryOwn(errand, component, { url: 'file:///etc/passwd?token=hidden' });
    assertProblem(other, 422);
    assert.match(other.json.detail, /must begin with http:\/\/ or https:\/\/, and "file:\/\/\/etc\/passwd" does not/);
  }
  const unnamed = await tryOwn(errand, 'rss', {});
  assert.equal(unnamed.json.errors[0].parameter, 'configured_props.url');
  assert.equal((await errand.client.get('/v1/sources')).data.length, 0);
});

test('another address begins anew', async () => {
  await using feed = await startAsked('/one');
  await using other = await startAsked('/two');
  await using errand = await newErrand();
  feed.says({ body: rss(days(2, 1)) });
  other.says({ body: rss(days(9, 8, 7)) });
  const source = await createOwn(errand, 'rss', { url: feed.url, past: 1 });
  await errand.client.put(`/v1/sources/${source.id}`, { configured_props: { url: other.url, past: 1 } });
  await runNow(errand, source);
  assert.deepEqual(ids(await emitted(errand, source)), ['g2', 'g9']);
});
