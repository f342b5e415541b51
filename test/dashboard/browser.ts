// A browser on the dashboard of a real server. Each visit counts what the browser complains of: an error of the console, an
// exception, a request that failed, something that the content policy refused.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { after } from 'node:test';
import { type Browser, chromium, type Page } from 'playwright-core';
import { MARK } from '../../dashboard/src/api/signed-in.ts';
import { openDashboard } from '../../src/http/dashboard/built.ts';
import { DASHBOARD_HEADER } from '../../src/http/session/same-origin.ts';
import { isThorough } from '../support/data/thorough.ts';
import type { Errand } from '../support/errand.ts';
import { programOf } from '../support/programs.ts';

const WIDE = { width: 1280, height: 820 };
/** The first one has no windows: half of the work. */
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

export const skip =
  (CHROMIUM === undefined && 'Chromium is not installed') ||
  (openDashboard() === null && 'The dashboard has not been built: npm run build:dashboard');

/** The server that a browser visits, and a key for it. */
export type Served = Pick<Errand, 'url' | 'client'>;

export interface Visit {
  readonly page: Page;
  readonly errand: Served;
  /** What the browser complained of; a test that causes a complaint empties it. */
  readonly complaints: string[];
  /** Addresses that the page asked for. */
  readonly requested: string[];
  /** As the form does it, without its page. */
  signIn(key?: string): Promise<void>;
  /** In the page that is open, if it asks for it; shows the overview. */
  signInByForm(key?: string): Promise<void>;
  /** Opens an address of the dashboard, and waits for its heading. */
  open(path: string): Promise<void>;
  /** Waits until nothing is being loaded. */
  still(): Promise<void>;
  /** Asserts that axe finds nothing serious, and that nothing is to be scrolled sideways. `within`: selectors of what axe looks at. */
  inspect(what: string, within?: readonly string[]): Promise<void>;
  /** Opens an address, wide in the light theme and narrow in the dark one, waits for a text of it, and inspects it. */
  inspectAll(path: string, text: string | RegExp): Promise<void>;
}

/** How a page is inspected. Each page is, in light colours and wide, by every-page.test.ts: what it has beside that, usually in one look. */
const LOOKS = [
  ...(isThorough ? [{ colorScheme: 'light', width: 1280 } as const] : []),
  { colorScheme: 'dark', width: 380 } as const,
];

let axe: string | undefined;
/** Of all visits of a file, each of which has a profile of its own: to start a browser takes most of a second of the processor. */
let browser: Promise<Browser> | undefined;
after(closeBrowser);

export async function visiting(errand: Served, look: (visit: Visit) => Promise<void>): Promise<void> {
  browser ??= chromium.launch({ executablePath: CHROMIUM, args: ARGS });
  const context = await (await browser).newContext({
    viewport: WIDE,
    // What moves is drawn again and again.
    reducedMotion: 'reduce',
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  // Only ends a test that would hang: a busy machine takes its time for what a quiet one does at once.
  context.setDefaultTimeout(240_000);
  try {
    const page = await context.newPage();
    const [complaints, requested]: [string[], string[]] = [[], []];
    page.on('console', (line) => {
      if (['error', 'warning'].includes(line.type())) complaints.push(`${line.text()} ${line.location().url}`);
    });
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('request', (request) => requested.push(request.url()));
    const visit: Visit = {
      page,
      errand,
      complaints,
      requested,
      signIn: async (key = errand.client.key) => {
        const headers = { [DASHBOARD_HEADER]: '1' };
        const response = await context.request.post(`${errand.url}/v1/session`, { headers, data: { api_key: key } });
        assert.equal(response.status(), 200);
        // An address of the server whose answer is little.
        await page.goto(`${errand.url}/healthz`);
        await page.evaluate(`localStorage.setItem('${MARK}', '1')`);
      },
      signInByForm: async (key = errand.client.key) => {
        if (!page.url().includes('/sign-in')) await page.goto(`${errand.url}/sign-in`);
        await page.getByLabel('API key', { exact: true }).fill(key);
        await page.getByRole('button', { name: 'Sign in' }).click();
        await page.getByRole('heading', { name: 'Overview' }).waitFor();
      },
      open: async (path) => {
        await page.goto(errand.url + path);
        await page.getByRole('heading', { level: 1 }).first().waitFor();
      },
      still: async () => {
        const loaders = page.locator('.mantine-Loader-root, .skeleton');
        while ((await loaders.count()) > 0) await loaders.first().waitFor({ state: 'detached' });
      },
      inspect: (what, within) => inspect(page, what, within),
      inspectAll: async (path, text) => {
        for (const { colorScheme, width } of LOOKS) {
          await page.emulateMedia({ colorScheme });
          await page.setViewportSize({ width, height: 800 });
          await visit.open(path);
          await page.getByText(text).first().waitFor();
          await inspect(page, `${path} in ${colorScheme} at ${width}`);
        }
        await page.setViewportSize(WIDE);
      },
    };
    await look(visit);
    const foreign = requested.filter((url) => new URL(url).origin !== errand.url && !/^(data|blob):/.test(url));
    assert.deepEqual(foreign, [], 'the page asks no other server for anything');
    assert.deepEqual(complaints, []);
  } finally {
    await context.close();
  }
}

/** Ends the browser of all visits. Tests need not call it: their file does. */
export async function closeBrowser(): Promise<void> {
  const opened = await browser;
  browser = undefined;
  await opened?.close();
}

const DIALOG_NAMED_MS = 20_000;
const ARE_DIALOGS_NAMED = `[...document.querySelectorAll('[role=dialog]')].every((dialog) =>
  dialog.hasAttribute('aria-label') || document.getElementById(dialog.getAttribute('aria-labelledby'))?.textContent)`;

interface Finding {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/**
 * Returns what a pointer does not come to, since another control lies over the middle of what is seen of it: long text is cut by what
 * it stands in. Bars that stay in view may, and open menus.
 */
const COVERED = `(() => {
  const CONTROLS = 'a[href], button, input, select, textarea';
  const stays = (one) => one !== null && (['fixed', 'sticky'].includes(getComputedStyle(one).position) || stays(one.parentElement));
  const within = [...document.querySelectorAll('[role=dialog]')].at(-1) ?? document;
  const seenOf = (box, one) => {
    if (!box || !one) return box;
    if (getComputedStyle(one).overflowX === 'visible') return seenOf(box, one.parentElement);
    const [{ left, right }, { x, width, y, height }] = [one.getBoundingClientRect(), box];
    const from = Math.max(x, left);
    return seenOf({ x: from, width: Math.min(x + width, right) - from, y, height }, one.parentElement);
  };
  return [...within.querySelectorAll(CONTROLS)].flatMap((control) => {
    const box = seenOf(control.getClientRects()[0], control.parentElement);
    if (!box || box.width < 2 || getComputedStyle(control).visibility !== 'visible') return [];
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    const over = document.elementFromPoint(x, y)?.closest(CONTROLS + ', label');
    if (!over || over.contains(control) || control.contains(over) || over.control === control) return [];
    if (stays(over) || over.closest('[role=menu], [role=listbox]')) return [];
    return [control.outerHTML.slice(0, 200) + ' is under ' + over.outerHTML.slice(0, 200)];
  });
})()`;

async function inspect(page: Page, what: string, within?: readonly string[]): Promise<void> {
  axe ??= await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  // `evaluate` goes through the debugger, which the content policy does not bind.
  // A dialog that has just opened gets its name a moment later. One that gets none is a finding.
  const deadline = Date.now() + DIALOG_NAMED_MS;
  while (!(await page.evaluate(ARE_DIALOGS_NAMED)) && Date.now() < deadline) await page.waitForTimeout(20);
  if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(axe);
  const context = within === undefined ? 'document' : JSON.stringify({ include: within });
  // It is not loaded into frames, and waits for each in vain: the frame of a mail runs no script.
  const { violations } = (await page.evaluate(
    `axe.run(${context}, { resultTypes: ["violations"], preload: false, iframes: false })`,
  )) as {
    violations: Finding[];
  };
  const serious = violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(
      ({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join(' | ')}`,
    );
  assert.deepEqual(serious, [], what);
  const overflow = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
  assert.equal(overflow, 0, `${what}: nothing to scroll sideways`);
  assert.deepEqual(await page.evaluate(COVERED), [], `${what}: a pointer comes to all controls`);
}
