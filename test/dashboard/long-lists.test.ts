// Lists of ten thousand rows: the page has those on the screen alone, and comes to the last one. The answers are made up: ten
// thousand workflows would take minutes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { shareErrand } from '../support/shared-errand.ts';
import { until } from '../support/wait.ts';
import { skip, visiting } from './browser.ts';

const newErrand = shareErrand();
const ROWS = 10_000;
/** What a screen shows, and some above and below. */
const MOST = 120;

const EMPTY = { page_info: { total_count: 0, count: 0, start_cursor: null, end_cursor: null }, data: [] };

/** Answers a listing with `ROWS` records, page by page. */
async function answer(page: Page, noun: string, recordOf: (n: number) => object): Promise<void> {
  await page.route(
    (url) => url.pathname === `/v1/${noun}`,
    async (route) => {
      const { searchParams } = new URL(route.request().url());
      if (searchParams.get('via') === 'trigger') return route.fulfill({ json: EMPTY });
      // A cursor of a page, or the id of a record.
      const [, isId, after] = /^(p_)?(\d+)$/.exec(searchParams.get('after') ?? '') ?? [];
      const [from, limit] = [Number(after ?? 0) + (isId ? 1 : 0), Number(searchParams.get('limit'))];
      const count = Math.max(0, Math.min(limit, ROWS - from));
      const data = Array.from({ length: count }, (_, n) => recordOf(from + n));
      const page_info = { total_count: ROWS, count, start_cursor: String(from), end_cursor: String(from + count) };
      await route.fulfill({ json: { page_info, data } });
    },
  );
}

const rowsIn = (page: Page): Promise<number> => page.locator('ul.rows > li').count();

test('ten thousand workflows are a screen of rows', { skip }, async () => {
  await using errand = await newErrand();
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await answer(page, 'workflows', (n) => ({
      ...{ id: `p_${n}`, name: `Workflow ${n}`, active: true },
      health: {
        last_run: { id: 'r_1', state: 'failed', created_at_ms: n },
        runs: 100,
        since_ms: n,
        failed: n % 100,
        p95_ms: n,
      },
    }));
    await visit.open('/workflows');
    await page.getByText('Workflow 0', { exact: true }).waitFor();
    const height = Number(await page.evaluate('document.documentElement.scrollHeight'));
    assert.ok(height > ROWS * 20, `the scroll bar stands for all rows: ${height} px`);
    for (const part of [0.25, 0.5, 1]) {
      await page.evaluate(`window.scrollTo(0, document.documentElement.scrollHeight * ${part})`);
      if (part === 1) await page.getByText(`Workflow ${ROWS - 1}`, { exact: true }).waitFor();
      const rows = await rowsIn(page);
      assert.ok(rows > 5 && rows < MOST, `${rows} rows in the page`);
    }
    await visit.inspect('the end of a long list');
    await page.getByRole('searchbox').fill('Workflow 7777');
    await page.getByText('Workflow 7777', { exact: true }).waitFor();
    assert.equal(await rowsIn(page), 1);
    await page.getByText('77 % failed').waitFor();
  });
});

test('ten thousand subscriptions are a screen of rows, down to the last one', { skip }, async () => {
  await using errand = await newErrand();
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await answer(page, 'subscriptions', (n) => ({
      ...{
        id: `sub_${n}`,
        emitter_id: `p_${n}`,
        listener_id: 'wh_1',
        event_name: `e${n}`,
        active: true,
        created_at: n,
      },
    }));
    await visit.open('/subscriptions');
    await page.getByText('gets “e0” of').waitFor();
    await page.evaluate('window.scrollTo(0, document.documentElement.scrollHeight)');
    await page.getByText(`gets “e${ROWS - 1}” of`).waitFor();
    const rows = await rowsIn(page);
    assert.ok(rows > 5 && rows < MOST, `${rows} rows in the page`);
  });
});

test('a list goes on by itself, and keeps a screen of rows', { skip }, async () => {
  await using errand = await newErrand();
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await answer(page, 'webhooks', (n) => ({
      ...{ id: `wh_${n}`, name: `Webhook ${n}`, url: 'https://example.com/', active: true },
      health: { status: 'healthy', failing_since_ms: null, exhausted_in_row: 0, paused_until_ms: null },
    }));
    await visit.open('/webhooks');
    await page.getByText('Webhook 0', { exact: true }).waitFor();
    const last = page.locator('ul.rows > li').last();
    // Rows are measured when they are seen: the page also grows without another page of the list.
    await until('its fourth page', async () => {
      await page.evaluate('window.scrollTo(0, document.documentElement.scrollHeight)');
      const rows = await rowsIn(page);
      assert.ok(rows < MOST, `${rows} rows in the page`);
      return Number(/Webhook (\d+)/.exec((await last.textContent()) ?? '')?.[1]) > 150;
    });
    // The timer asks for the first page alone.
    await until('its beginning', async () => {
      await page.evaluate('window.scrollTo(0, 0)');
      return page.getByText('Webhook 0', { exact: true }).isVisible();
    });
    await visit.still();
    visit.requested.length = 0;
    const asked = (): URLSearchParams[] =>
      visit.requested
        .map((url) => new URL(url))
        .filter(({ pathname, searchParams }) => pathname === '/v1/webhooks' && !searchParams.has('include'))
        .map(({ searchParams }) => searchParams);
    await until('the timer asks twice', () => asked().length >= 2);
    assert.ok(!asked().some((search) => search.has('after')), 'for no later page');
  });
});

test('keys bring a group into view, wherever a long list stands', { skip }, async () => {
  await using errand = await newErrand();
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await answer(page, 'error_groups', (n) => ({
      ...{ id: `eg_${n}`, emitter_id: 'p_1', state: 'open', count: n, hours: [], last_seen_ms: n },
      fingerprint: { code: `Code${n}`, namespace: '', template: '' },
    }));
    await visit.open('/errors');
    await page.getByText('Code0', { exact: true }).waitFor();
    const isSeen = (n: number) => `(() => {
      const at = document.querySelector('[aria-current="true"].group-row');
      const { top, bottom } = at?.getBoundingClientRect() ?? {};
      return at?.querySelector('a')?.textContent === 'Code${n}' && top > -1 && bottom < innerHeight + 1;
    })()`;
    const rows = page.locator('ul.plain > li');
    // Of the first page, which is there as a whole, and of many.
    const toTheEnd = [
      ['a short list', 19, 1],
      ['a long list', 30, 300],
    ] as const;
    await until('keys are heard', async () => {
      await page.keyboard.press('k');
      return page.evaluate(isSeen(0));
    });
    let at = 0;
    for (const [name, steps, least] of toTheEnd) {
      await until(name, async () => {
        if (least > 1) await page.evaluate('window.scrollTo(0, document.documentElement.scrollHeight)');
        const last = await rows.last().textContent();
        return Number(/Code(\d+)/.exec(last ?? '')?.[1]) >= least;
      });
      const count = await rows.count();
      assert.ok(count < MOST, `${count} rows in the page`);
      for (let step = 0; step < steps; step++) await page.keyboard.press('j');
      at += steps;
      await until('it is seen', () => page.evaluate(isSeen(at)));
    }
    // Both in one task: the list has not heard of the one when the other comes.
    await page.evaluate(`(() => {
      window.scrollTo(0, document.documentElement.scrollHeight);
      window.dispatchEvent(new KeyboardEvent('keydown', { key: 'k' }));
    })()`);
    await until('the one before is seen', () => page.evaluate(isSeen(at - 1)));
  });
});

test('a new error asks for the first page alone, and stands before the others', { skip }, async () => {
  await using errand = await newErrand();
  const workflow = await errand.workflow(
    `export default ({ steps }) => {
      const { code } = steps.trigger.event.body;
      throw Object.assign(new Error('of ' + code), { code });
    };`,
  );
  const COUNT = 130;
  for (let n = 0; n < COUNT; n++) await errand.send(workflow, { code: `Code${n}` });
  await errand.settled();
  // Runs that are under way together end in any order: the first one need not be the last of the list.
  const listed = '/v1/error_groups?state=open&limit=100';
  const { page_info } = await errand.client.get(listed);
  const last = (await errand.client.get(`${listed}&after=${page_info.end_cursor}`)).data.at(-1).fingerprint.code;
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await visit.open('/errors');
    await page.getByText('Live', { exact: true }).waitFor();
    const row = (code: string) => page.getByRole('link', { name: `${code}, ` });
    const toEnd = (): Promise<unknown> => page.evaluate('window.scrollTo(0, document.documentElement.scrollHeight)');
    await until('the last one', async () => {
      await toEnd();
      return row(last).isVisible();
    });
    visit.requested.length = 0;
    const asked = (): string[] => visit.requested.filter((url) => new URL(url).pathname === '/v1/error_groups');
    // One that was there, at the end, and one that is new.
    for (const code of [last, 'Newest']) {
      await errand.send(workflow, { code });
      await errand.settled();
    }
    await page.evaluate('window.scrollTo(0, 0)');
    await row('Newest').waitFor();
    await until('both are first', async () => {
      const first = await page
        .locator('.group-title')
        .evaluateAll((all) => all.slice(0, 2).map((one) => one.textContent));
      return first.map((text) => text?.trim()).join() === `Newest,${last}`;
    });
    assert.ok(asked().length > 0);
    assert.deepEqual(
      asked().filter((url) => new URL(url).searchParams.has('after')),
      [],
      'no later page was asked for again',
    );
    // All others are there still, each once.
    const seen = new Set<string>();
    await until('the others', async () => {
      for (const text of await page.locator('.group-title a').allTextContents()) seen.add(text);
      await page.mouse.wheel(0, 500);
      return seen.size === COUNT + 1;
    });
  });
});
