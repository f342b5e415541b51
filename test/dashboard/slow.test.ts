// Every page of the router on a server that is slow, and on one that fails. What a page shows before all is there must still be
// true in the end, and stand where it stood; what could not be loaded is said, and comes when it can.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page, Route } from 'playwright-core';
import { type Errand, startErrand } from '../support/errand.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { until } from '../support/wait.ts';
import { skip, visiting } from './browser.ts';
import { type Story, tell } from './story.ts';

let errand: Errand;
let receiver: Receiver;
let story: Story;
before(async () => {
  if (skip) return;
  errand = await startErrand();
  receiver = await startReceiver();
  story = await tell({ errand, receiver });
});
after(async () => {
  await errand?.[Symbol.asyncDispose]();
  await receiver?.[Symbol.asyncDispose]();
});

const pagesOf = ({ paths, waitingPath, mailPath }: Story): [string, string][] =>
  Object.entries({ ...paths, mail: mailPath, waiting: waitingPath }).filter(([route]) => route !== '/sign-in');

/** Answers of the interface, kept back until they are let go, all those at once that have been asked for. */
async function hold(page: Page): Promise<{ held: (() => void)[]; letGo: () => void; end: () => Promise<void> }> {
  const held: (() => void)[] = [];
  const keep = async (route: Route): Promise<void> => {
    await new Promise<void>((go) => held.push(go));
    await route.continue().catch(() => undefined);
  };
  const letGo = (): void => {
    for (const go of held.splice(0)) go();
  };
  await page.route(API, keep);
  const end = async (): Promise<void> => {
    await page.unroute(API, keep);
    letGo();
  };
  return { held, letGo, end };
}

/** All but the stream of errors. */
const API = /\/v1\/(?!errors\/stream)/;

/** The texts that are seen in the page, but for times, which pass. */
const TEXTS = `(() => {
  const walker = document.createTreeWalker(document.querySelector('main') ?? document.body, NodeFilter.SHOW_TEXT);
  const found = [];
  for (let node; (node = walker.nextNode()); ) {
    const at = node.parentElement;
    const text = node.textContent.trim();
    if (text === '' || text.includes('…') || at.closest('time, .skeleton, option, title') || !at.checkVisibility()) continue;
    found.push(text);
  }
  return found;
})()`;

const WATCH = `
  window.shifts = [];
  new PerformanceObserver((list) => {
    for (const { value, sources, hadRecentInput } of list.getEntries())
      if (!hadRecentInput) window.shifts.push([value, ...sources.map(({ node }) =>
        String(node?.className || node?.nodeName) + ' ' + String(node?.textContent).slice(0, 40))]);
  }).observe({ type: 'layout-shift', buffered: true });
`;
/** What the makers of browsers call good, of all that moves on a page by itself. */
const MAY_MOVE = 0.1;

type Shift = [number, ...string[]];

test('pages of a slow server say nothing false, and do not jump', { skip }, async () => {
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await page.addInitScript(WATCH);
    await visit.signIn();
    const found: string[] = [];
    for (const [route, path] of pagesOf(story)) {
      for (const width of [1280, 380]) {
        await page.setViewportSize({ width, height: 800 });
        const { held, letGo, end } = await hold(page);
        await page.goto(errand.url + path);
        const shown = new Set<string>();
        const waits = page.locator('.skeleton');
        await until(`${route} asks for something`, () => held.length > 0);
        await waits.first().waitFor();
        while (held.length > 0 || (await waits.count()) > 0) {
          for (const text of (await page.evaluate(TEXTS)) as string[]) shown.add(text);
          letGo();
          // What follows from the answers is drawn, and asked for.
          await page.evaluate('new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)))');
        }
        await end();
        await page.getByRole('heading', { level: 1 }).first().waitFor();
        await visit.still();
        const last = new Set((await page.evaluate(TEXTS)) as string[]);
        const gone = [...shown].filter((text) => !last.has(text));
        if (gone.length > 0) found.push(`${route} at ${width} showed ${JSON.stringify(gone)}`);
        const shifts = (await page.evaluate('window.shifts')) as Shift[];
        const moved = shifts.reduce((sum, [value]) => sum + value, 0);
        if (moved > MAY_MOVE) {
          const large = shifts.filter(([value]) => value > MAY_MOVE / 5).map((one) => one.join(' | '));
          found.push(`${route} at ${width} moved by ${moved.toFixed(3)}: ${large.join('\n    ')}`);
        }
      }
    }
    assert.deepEqual(found, []);
    // The frame of a mail runs no script, and so not that of this test either.
    const others = visit.complaints.splice(0).filter((line) => !/^Blocked script .* sandboxed/.test(line));
    assert.deepEqual(others, []);
  });
});

test('each page of a server that fails says so, and is whole again', { skip }, async () => {
  await visiting(errand, async (visit) => {
    await visit.signIn();
    const failed: string[] = [];
    const look = async (page: Page, [route, path]: [string, string], at: number): Promise<void> => {
      const fail = (one: Route): Promise<void> =>
        at % 2 === 0 ? one.fulfill({ status: 500, body: 'no' }) : one.abort('connectionreset');
      await page.route(API, fail);
      await page.goto(errand.url + path);
      const again = page.getByRole('button', { name: 'Try again' });
      await again.first().waitFor();
      const said = (await page.locator('main').allInnerTexts()).join();
      if (/Nothing needs attention|No .* yet|No open errors/.test(said)) failed.push(`${route} says ${said}`);
      await page.unroute(API, fail);
      // It comes by itself some time later, too: the button may be gone.
      await again
        .first()
        .click({ timeout: 5000 })
        .catch(() => undefined);
      await again.first().waitFor({ state: 'detached' });
      await page.getByRole('heading', { level: 1 }).first().waitFor();
    };
    const all = [...pagesOf(story).entries()];
    // To wait is most of it.
    const tabs = await Promise.all(Array.from({ length: 4 }, () => visit.page.context().newPage()));
    await Promise.all(
      tabs.map(async (page) => {
        for (let next = all.shift(); next; next = all.shift()) {
          const [at, [route, path]] = next;
          await look(page, [route, path], at).catch((error: Error) => failed.push(`${route}: ${error.message}`));
        }
      }),
    );
    assert.deepEqual(failed, []);
  });
});

const TICK = `export default {
  name: 'Tick', key: 'tick', version: '0.0.1', type: 'source',
  props: { timer: { type: '$.interface.timer', default: { intervalSeconds: 86400 } } },
  run() {},
};`;

test('a button that is pressed twice on a slow server has one effect', { skip }, async () => {
  const { paths, waitingPath } = story;
  // One with an address asks for the event first.
  const timer = await errand.client.post('/v1/sources', { name: 'Tick', component_code: TICK });
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    for (const [path, name, asked] of [
      [paths['/errors/$groupId'], 'Replay'],
      [paths['/workflows/$workflowId'], /^Roll back to /],
      [`/sources/${timer.id}`, 'Run now'],
      [paths['/webhooks/$webhookId'], 'Send a test'],
      [paths['/deliveries/$deliveryId'], 'Send again'],
      [waitingPath, 'Cancel', 'Cancel the run'],
    ] as const) {
      await visit.open(path ?? '');
      await visit.still();
      let button = page.getByRole('button', { name, exact: true }).first();
      await button.waitFor();
      if (asked !== undefined) {
        await button.click();
        button = page.getByRole('dialog').getByRole('button', { name: asked, exact: true });
      }
      const changes: string[] = [];
      const keep = async (route: Route): Promise<void> => {
        if (route.request().method() === 'GET') return route.continue();
        changes.push(route.request().url());
        if (changes.length > 1) return route.continue();
        // Answered when the button was pressed again.
        await until('it was pressed again', () => pressed);
        return route.continue();
      };
      let pressed = false;
      await page.route(API, keep);
      await button.click();
      await until(`${path}: ${name} is sent`, () => changes.length === 1);
      const busy = page.locator('button[aria-busy="true"]');
      await busy.and(page.locator(':disabled')).waitFor();
      await button.click({ force: true, timeout: 2000 }).catch(() => undefined);
      const answered = page.waitForResponse((response) => response.url() === changes[0]);
      pressed = true;
      await answered;
      assert.equal(changes.length, 1, `${path}: ${name}`);
      await busy.waitFor({ state: 'detached' });
      // That of the others may be gone with what they did.
      if (name === 'Run now') assert.equal(await page.evaluate('document.activeElement?.textContent'), name);
      await page.unroute(API, keep);
    }
  });
});

test('a page shows nothing of the one before it while it is loaded', { skip }, async () => {
  const { client } = errand;
  const { data } = await client.get('/v1/error_groups?limit=10');
  const [one, other] = data as { id: string; fingerprint: { code: string } }[];
  assert.ok(one && other && one.fingerprint.code !== other.fingerprint.code);
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await visit.open('/errors?state=all');
    const heading = page.getByRole('heading', { level: 1 });
    await page.locator(`a[href="/errors/${one.id}"]`).click();
    await heading.filter({ hasText: one.fingerprint.code }).waitFor();
    await page.goBack();
    await heading.filter({ hasText: 'Errors' }).waitFor();
    const { held, end } = await hold(page);
    await page.locator(`a[href="/errors/${other.id}"]`).click();
    await until('it is asked for', () => held.length > 0);
    await page.waitForURL(`**/errors/${other.id}`);
    await page.locator('main .skeleton').first().waitFor();
    assert.doesNotMatch((await page.locator('main').innerText()) ?? '', new RegExp(one.fingerprint.code));
    await end();
    await heading.filter({ hasText: other.fingerprint.code }).waitFor();
    // What other filters found is marked as such, until the answer comes.
    await visit.open('/errors');
    const groups = page.getByRole('region', { name: 'Errors' });
    await groups.getByRole('link').first().waitFor();
    const second = await hold(page);
    await page.getByRole('button', { name: 'Resolved' }).click();
    await page.locator('.groups.is-other').waitFor();
    await second.end();
    await page.locator('.groups.is-other').waitFor({ state: 'detached' });
  });
});
