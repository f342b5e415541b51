// `npm run screenshots`: the pictures of the README, of a shop's week on a server, into docs/images. With `all`, every page in
// both themes, wide and narrow, into a folder that it names: to look at after a change.

import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { startErrand } from '../support/errand.ts';
import { freePort } from '../support/port.ts';
import { startReceiver } from '../support/receiver.ts';
import { closeBrowser, type Visit, visiting } from './browser.ts';
import { type Story, tell } from './story.ts';

const DAY_MS = 86_400_000;
const ROUNDS = 56;
const SETTLE_MS = 500;
const PICTURES: Readonly<Record<string, { path: string; search?: string; theme?: 'dark' }>> = {
  overview: { path: '/', search: '?span=week' },
  errors: { path: '/errors' },
  group: { path: '/errors/$groupId' },
  error: { path: '/errors/$groupId/$errorId', theme: 'dark' },
  workflow: { path: '/@{$owner}/$workflow/edit' },
  run: { path: '/runs/$runId' },
  subscriptions: { path: '/subscriptions' },
  replay: { path: '/operations/$operationId' },
};

/** Chromium compresses by itself: a picture is a tenth of its PNG. */
async function picture(page: Page, quality: number): Promise<Buffer> {
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality });
  await session.detach();
  return Buffer.from(data, 'base64');
}

/** Nothing is loaded any more, and nothing moves. */
async function settle({ page, still }: Visit): Promise<void> {
  await still();
  await page.waitForTimeout(SETTLE_MS);
}

async function ofReadme(visit: Visit, { paths }: Story): Promise<void> {
  const { page, signIn, open } = visit;
  const folder = join(import.meta.dirname, '../../docs/images');
  await mkdir(folder, { recursive: true });
  await page.setViewportSize({ width: 1180, height: 760 });
  await signIn();
  for (const [name, { path, search = '', theme = 'light' }] of Object.entries(PICTURES)) {
    await page.emulateMedia({ colorScheme: theme });
    await open(`${paths[path]}${search}`);
    await settle(visit);
    await writeFile(join(folder, `${name}.webp`), await picture(page, 80));
  }
}

async function ofAll(visit: Visit, { paths, mailPath, waitingPath }: Story): Promise<void> {
  const { page, signIn, open } = visit;
  const folder = await mkdtemp(join(tmpdir(), 'errand-pages-'));
  process.stdout.write(`${folder}\n`);
  await signIn();
  const wanted = process.argv.slice(3);
  const all = Object.entries({ ...paths, mail: mailPath, waiting: waitingPath });
  for (const [name, path] of all) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    await open(path);
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const width of [1280, 380]) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: width === 380 ? 800 : 820 });
        await settle(visit);
        const file = `${name.replace(/\W+/g, '-').replace(/^-|-$/g, '') || 'overview'}-${colorScheme}-${width}.png`;
        await page.screenshot({ path: join(folder, file), fullPage: width === 380 });
      }
    }
  }
}

let offsetMs = -7 * DAY_MS;
const clock = { nowMs: () => Date.now() + offsetMs };
// Every start notes the figures of its hour, which the charts are made of; addresses stay the same.
const port = String(await freePort());
await using errand = await startErrand({ ERRAND_PORT: port }, { clock, databaseClock: clock });
await using receiver = await startReceiver();
const story = await tell({
  errand,
  receiver,
  rounds: ROUNDS,
  before: async (round) => {
    if (round > 0) await errand.restart();
    offsetMs = Math.round(-7 * DAY_MS * (1 - (round + 1) / ROUNDS));
  },
});
await visiting(errand, (visit) => (process.argv[2] === 'all' ? ofAll(visit, story) : ofReadme(visit, story)));
await closeBrowser();
