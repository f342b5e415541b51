// Every page of the router in both themes, wide and narrow, of a story whose names and texts try to be more than text. A new
// route fails here until the story has an address for it.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type Errand, startErrand } from '../support/errand.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { skip, visiting } from './browser.ts';
import { type Story, tell } from './story.ts';

const LONG = 'long'.repeat(40);
const hostile = (text: string): string =>
  `<img src=x onerror="window.owned=true"> \u202e${text} 🎉 ${LONG}`.slice(0, 240);
const MUCH = `<script>window.owned=true</script>${'x'.repeat(1_000_000)}`;
const ROUTER = join(import.meta.dirname, '../../dashboard/src/app/router.tsx');

let errand: Errand;
let receiver: Receiver;
let story: Story;
before(async () => {
  if (skip) return;
  errand = await startErrand({ ERRAND_MAX_BODY_BYTES: '4000000' });
  receiver = await startReceiver();
  story = await tell({ errand, receiver, say: hostile, much: MUCH });
});
after(async () => {
  await errand?.[Symbol.asyncDispose]();
  await receiver?.[Symbol.asyncDispose]();
});

/** Elements that show a text whose direction is turned by what is not seen: an editor shows marks itself. */
const TURNED = `[...document.querySelectorAll('body *:not(script, .cm-content *, textarea)')]
  .filter((one) => [...one.childNodes].some((node) => node.nodeType === 3 && node.data.includes('\u202e')))
  .map((one) => one.outerHTML.slice(0, 300))`;

test('the story has a page for each route', { skip }, async () => {
  const router = await readFile(ROUTER, 'utf8');
  const routes = [...router.matchAll(/^ {2}path: '([^']+)'/gm)].map(([, path]) => path);
  const made = router.match(/createRoute\(/g)?.length ?? 0;
  // All but the frame around the pages have a path.
  assert.equal(routes.length, made - 1);
  assert.deepEqual(Object.keys(story.paths).sort(), routes.sort());
});

test('every page is accessible and fits, whatever it shows', { skip }, async () => {
  const pages = { ...story.paths, mail: story.mailPath, waiting: story.waitingPath };
  await visiting(errand, async (visit) => {
    const { page } = visit;
    const found: string[] = [];
    await visit.signIn();
    const look = async (route: string): Promise<void> => {
      await visit.still();
      for (const shown of (await page.evaluate(TURNED)) as string[]) found.push(`${route} turns ${shown}`);
      for (const colorScheme of ['light', 'dark'] as const) {
        // As wide as a screen of 1280 is when all is four times as large.
        const width = colorScheme === 'light' ? 1280 : 320;
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 800 });
        await visit
          .inspect(`${route} in ${colorScheme} at ${width}`)
          .catch((error: Error) => found.push(error.message));
      }
      assert.equal(await page.evaluate('window.owned'), undefined, route);
    };
    for (const [route, path] of Object.entries(pages)) {
      await page.setViewportSize({ width: 1280, height: 800 });
      await page.emulateMedia({ colorScheme: 'light' });
      await visit.open(path).catch((error: Error) => assert.fail(`${route}: ${error.message}`));
      await look(route);
    }
    // The server itself answers where there is nothing: this is met by a link of a page that is open.
    await visit.open('/settings');
    await page.evaluate("history.pushState({}, '', '/nowhere'); dispatchEvent(new PopStateEvent('popstate'))");
    await page.getByRole('heading', { name: 'There is nothing at this address' }).waitFor();
    await look('nothing');
    assert.deepEqual(found, []);
  });
});
