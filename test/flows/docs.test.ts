// The documentation page in a real browser: readable, quiet, and sufficient by itself.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chromium, type Page } from 'playwright-core';
import type { Errand } from '../support/errand.ts';
import { programOf } from '../support/programs.ts';
import { shareErrand } from '../support/shared-errand.ts';

const newErrand = shareErrand();

const CHROMIUM = programOf('chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome');
const ARGS = [
  '--no-sandbox',
  '--headless',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
];
const skip = CHROMIUM === undefined && 'Chromium is not installed';

interface Visit {
  readonly page: Page;
  /** Errors and warnings of the console, and exceptions of the page. */
  readonly complaints: string[];
  /** Addresses that the page asked for. */
  readonly requested: string[];
}

async function visiting(errand: Errand, path: string, look: (visit: Visit) => Promise<void>): Promise<void> {
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ARGS });
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    // Only ends a test that would hang.
    page.setDefaultTimeout(240_000);
    const [complaints, requested]: [string[], string[]] = [[], []];
    page.on('console', (line) => {
      if (['error', 'warning'].includes(line.type())) complaints.push(line.text());
    });
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('requestfailed', (request) => complaints.push(`failed: ${request.url()}`));
    page.on('request', (request) => requested.push(request.url()));
    // The network may be idle before a slow machine has read the whole page.
    const response = await page.goto(errand.url + path, { waitUntil: 'load' });
    assert.equal(response?.status(), 200);
    await page.waitForLoadState('networkidle');
    await look({ page, complaints, requested });
  } finally {
    await browser.close();
  }
}

test('the docs page works in a real browser', { skip }, async () => {
  await using errand = await newErrand();
  await visiting(errand, '/docs', async ({ page, complaints, requested }) => {
    assert.match(await page.title(), /Errand/);
    const sections = [
      /getting started/i,
      /workflows/i,
      /errors/i,
      /sources/i,
      /webhooks/i,
      /subscriptions/i,
      /error codes/i,
    ];
    for (const name of sections) {
      const heading = page.getByRole('heading', { name }).first();
      assert.ok(await heading.isVisible(), `the section ${name} shows`);
    }
    const text = (await page.locator('body').textContent()) ?? '';
    for (const word of ['/v1/webhooks', '$errors/event_summaries', 'Authorization', 'emitter_id', 'expand', 'whsec_']) {
      assert.ok(text.includes(word), `the page speaks of ${word}`);
    }
    await page.locator('nav').getByRole('link', { name: 'Create a webhook' }).click();
    await page.waitForURL(/#./);
    const operation = page.locator(`[id="${new URL(page.url()).hash.slice(1)}"]`);
    await operation.getByText('Where events are delivered').waitFor();
    const foreign = requested.filter((url) => new URL(url).origin !== errand.url && !url.startsWith('data:'));
    assert.deepEqual(foreign, [], 'nothing is asked of anybody else');
    assert.deepEqual(complaints, []);
  });
});

test('every operation of the document is shown', { skip }, async () => {
  await using errand = await newErrand();
  const document = await errand.client.get('/v1/openapi.json');
  await visiting(errand, '/docs', async ({ page }) => {
    const text = (await page.locator('body').textContent()) ?? '';
    const missing = Object.keys(document.paths).filter((path) => !text.includes(path));
    assert.deepEqual(missing, []);
  });
});

test('links within the docs lead somewhere', { skip }, async () => {
  await using errand = await newErrand();
  await visiting(errand, '/docs', async ({ page }) => {
    const dead = await page.evaluate(`[...document.querySelectorAll('a[href^="#"]')]
      .map((a) => a.getAttribute('href').slice(1))
      .filter((id) => id !== '' && document.getElementById(decodeURIComponent(id)) === null)`);
    assert.deepEqual(dead, []);
    const hrefs = (await page.evaluate(
      `[...new Set([...document.querySelectorAll('a[href]')].map((a) => a.href))]`,
    )) as string[];
    for (const href of hrefs.filter((one) => new URL(one).origin === errand.url)) {
      const { status } = await fetch(href, { headers: { authorization: `Bearer ${errand.client.key}` } });
      assert.equal(status, 200, href);
    }
  });
});

test('the docs fit narrow and dark screens', { skip }, async () => {
  await using errand = await newErrand();
  await visiting(errand, '/docs', async ({ page, complaints }) => {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.emulateMedia({ colorScheme: 'dark' });
    const overflow = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
    assert.equal(overflow, 0, 'nothing to scroll sideways');
    assert.ok(
      await page
        .getByRole('heading', { name: /getting started/i })
        .first()
        .isVisible(),
    );
    assert.deepEqual(complaints, []);
  });
});

test('the front page leads to the docs', { skip }, async () => {
  await using errand = await newErrand();
  await visiting(errand, '/', async ({ page, complaints, requested }) => {
    await page
      .getByRole('link', { name: /documentation/i })
      .first()
      .click();
    await page.waitForURL('**/docs');
    assert.ok(
      await page
        .getByRole('heading', { name: /getting started/i })
        .first()
        .isVisible(),
    );
    assert.ok(requested.every((url) => new URL(url).origin === errand.url));
    assert.deepEqual(complaints, []);
  });
});
