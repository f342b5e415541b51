// Walking pages: every record once, in order, whatever the page size and direction, also while more arrive.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import type { Json } from '../support/client.ts';
import { type Errand, startErrand } from '../support/errand.ts';

const RUNS = 40;
const ERRORS = 57;
const THROW = `export default () => { throw new Error('one more'); };`;

let errand: Errand;
let failing: Json;
let path: string;

before(async () => {
  errand = await startErrand();
  failing = await errand.workflow(THROW, { settings: { notify: false } });
  path = `/v1/workflows/${failing.id}/$errors/event_summaries`;
  for (let n = 0; n < ERRORS; n += 1) await errand.send(failing, { n });
  await errand.errors(failing.id, ERRORS);
});

after(() => errand[Symbol.asyncDispose]());

const idsOf = (page: Json): string[] => page.data.map((record: Json) => record.id);

/** Asserts what each page promises, and returns it. */
async function pageAt(query: string, limit: number): Promise<Json> {
  const page = await errand.client.get(`${path}?${query}`);
  const ids = idsOf(page);
  assert.ok(ids.length <= limit);
  assert.equal(page.page_info.count, ids.length);
  assert.equal(page.page_info.start_cursor, ids[0] ?? null);
  assert.equal(page.page_info.end_cursor, ids.at(-1) ?? null);
  return page;
}

/** All ids, newest first, walked from the newest backwards in time. */
async function walkAfter(limit: number, start?: string): Promise<string[]> {
  const seen: string[] = [];
  for (let cursor = start; ; ) {
    const page = await pageAt(`limit=${limit}${cursor === undefined ? '' : `&after=${cursor}`}`, limit);
    if (page.data.length === 0) return seen;
    seen.push(...idsOf(page));
    cursor = page.page_info.end_cursor;
  }
}

/** All ids newer than `start`, newest first, walked towards the newest. */
async function walkBefore(limit: number, start: string): Promise<string[]> {
  const seen: string[] = [];
  for (let cursor = start; ; ) {
    const page = await pageAt(`limit=${limit}&before=${cursor}`, limit);
    if (page.data.length === 0) return seen;
    seen.unshift(...idsOf(page));
    cursor = page.page_info.start_cursor;
  }
}

test('all errors come at once without a limit', async () => {
  const page = await pageAt('', 100);
  assert.equal(page.page_info.total_count, ERRORS);
  assert.equal(page.data.length, ERRORS);
  const ids = idsOf(page);
  assert.equal(new Set(ids).size, ERRORS);
  const keys = ids.map((id) => id.split('-').map(Number) as [number, number]);
  const sorted = keys.toSorted(([a, n], [b, m]) => b - a || m - n);
  assert.deepEqual(keys, sorted, 'newest first');
});

test('every page size walks each record once', async () => {
  const all = idsOf(await pageAt('', 100));
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 100 }), async (limit) => {
      assert.deepEqual(await walkAfter(limit), all);
    }),
    { numRuns: RUNS, examples: [[1], [ERRORS - 1], [ERRORS], [ERRORS + 1], [100]] },
  );
});

test('walking before is walking after, reversed', async () => {
  const all = idsOf(await pageAt('', 100));
  const [limits, starts] = [fc.integer({ min: 1, max: 100 }), fc.integer({ min: 0, max: ERRORS - 1 })];
  await fc.assert(
    fc.asyncProperty(limits, starts, async (limit, start) => {
      const cursor = all[start] ?? '';
      assert.deepEqual(await walkBefore(limit, cursor), all.slice(0, start));
      assert.deepEqual(await walkAfter(limit, cursor), all.slice(start + 1));
    }),
    {
      numRuns: RUNS,
      examples: [
        [1, ERRORS - 1],
        [100, 0],
        [7, 28],
      ],
    },
  );
});

test('after and before together bound a page', async () => {
  const all = idsOf(await pageAt('', 100));
  const index = fc.integer({ min: 0, max: ERRORS - 1 });
  await fc.assert(
    fc.asyncProperty(index, index, async (a, b) => {
      const [newer, older] = [Math.min(a, b), Math.max(a, b)];
      const answer = await errand.client.request('GET', `${path}?after=${all[newer]}&before=${all[older]}`);
      if (answer.status === 200) assert.deepEqual(idsOf(answer.json), all.slice(newer + 1, older));
      else assert.equal(answer.status, 400, answer.text);
    }),
    { numRuns: RUNS },
  );
});

test('other lists walk their records once too', async () => {
  for (let n = 0; n < 9; n += 1) await errand.client.post('/v1/webhooks', { url: `https://example.com/${n}` });
  const lists = [`/v1/workflows/${failing.id}/runs`, '/v1/webhooks', '/v1/workflows'];
  const original = path;
  try {
    for (const list of lists) {
      path = list;
      const all: string[] = [];
      for (let cursor = ''; ; ) {
        const page = await pageAt(`limit=100${cursor === '' ? '' : `&after=${cursor}`}`, 100);
        if (page.data.length === 0) break;
        all.push(...idsOf(page));
        cursor = page.page_info.end_cursor;
      }
      assert.equal(new Set(all).size, all.length);
      for (const limit of [1, 2, 7]) {
        assert.deepEqual(await walkAfter(limit), all, `${list} by ${limit}`);
        assert.deepEqual(await walkBefore(limit, all.at(-1) ?? ''), all.slice(0, -1), `${list} by ${limit}, back`);
      }
    }
  } finally {
    path = original;
  }
});

test('bad limits and cursors are refused', async () => {
  for (const query of [
    'limit=0',
    'limit=-1',
    'limit=x',
    'limit=1.5',
    'limit=ten',
    'after=x',
    'after=1',
    'before=-',
    'before=-1-0',
    'after=1-2-3',
    'after=1-0%20',
    'before=p_1',
  ]) {
    const answer = await errand.client.request('GET', `${path}?${query}`);
    assert.equal(answer.status, 400, `${query}: ${answer.status}`);
    assert.match(answer.json.error, new RegExp(query.split('=')[0] ?? ''));
  }
  assert.equal((await errand.client.get(`${path}?limit=1000`)).data.length, ERRORS, 'larger limits are clamped');
});

test('walks are whole while errors arrive', async () => {
  const before = idsOf(await pageAt('', 100));
  let arrived = 0;
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 3 }), async (limit, more) => {
      const known = idsOf(await pageAt('', 100));
      const oldest = known.at(-1) ?? '';
      const arriving = (async () => {
        for (let n = 0; n < Math.min(more, 40 - arrived); n += 1) await errand.send(failing, { late: n });
        arrived = Math.min(40, arrived + more);
      })();
      const [older, newer] = await Promise.all([walkAfter(limit), walkBefore(limit, oldest), arriving]);
      for (const walk of [older, [...newer, oldest]]) {
        assert.equal(new Set(walk).size, walk.length, 'nothing twice');
        assert.deepEqual(
          walk.filter((id) => known.includes(id)),
          known,
          'nothing left out, and in order',
        );
      }
      await errand.settled();
    }),
    { numRuns: RUNS },
  );
  const now = idsOf(await pageAt('', 100));
  assert.deepEqual(now.slice(-before.length), before);
  assert.equal(now.length, before.length + arrived);
});
