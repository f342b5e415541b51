// The documentation in a real browser: read without script, searched, copied, and its operations tried on a real server.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shareErrand } from '../support/shared-errand.ts';
import { skip, type Visit, visiting } from './browser.ts';

const newErrand = shareErrand();
/** What axe looks at in the reference: its hundreds of closed operations are made alike. */
const PARTS = ['.bar', 'h1', 'details[open]'];
const PHONE = { width: 380, height: 800 };

/** An element, as far as it is used here: tests are checked without the types of a page. */
interface Cell {
  getBoundingClientRect(): { toJSON(): { x: number; y: number; width: number } };
}

/** Opens an operation of the reference, and returns its part of the page. */
async function openOperation({ page, errand }: Visit, id: string) {
  await page.goto(`${errand.url}/docs#${id}`);
  const operation = page.locator('details.operation').filter({ has: page.locator(`#${id}`) });
  await operation.locator('.inside').waitFor();
  return operation;
}

test('the documentation reads well in both themes, wide and narrow', { skip }, async () => {
  await using errand = await newErrand();
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.inspectAll('/docs/concepts', 'In one transaction the run is');
    // What scrolls smoothly is elsewhere while it is measured.
    await page.emulateMedia({ reducedMotion: 'reduce' });
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize(PHONE);
      await visit.open('/docs/webhooks');
      await visit.inspect(`a guide in ${colorScheme}`, ['.bar', 'main']);
      await openOperation(visit, 'createWorkflow');
      await visit.inspect(`an operation in ${colorScheme}`, PARTS);
    }
    await visit.open('/docs/errors');
    await visit.inspect('the error codes');
    const operation = await openOperation(visit, 'createWorkflow');
    const rows = operation.locator('tr').filter({ hasText: 'settings.throttle.interval_ms' });
    // At one moment: the page may scroll to the operation between two.
    const all = await rows
      .locator('td')
      .evaluateAll((cells) => (cells as unknown as Cell[]).map((cell) => cell.getBoundingClientRect().toJSON()));
    const boxes = all.filter(({ width }) => width > 0);
    assert.ok(boxes.length >= 3);
    for (const [at, box] of boxes.entries()) {
      assert.ok(box.x + box.width <= PHONE.width, 'no cell is cut off');
      assert.ok(at === 0 || box.y >= (boxes[at - 1]?.y ?? 0), 'cells stand one below the other');
    }
  });
});

test('the documentation is whole without script', { skip }, async () => {
  await using errand = await newErrand();
  await visiting(errand, async ({ page }) => {
    const context = await page.context().browser()?.newContext({ javaScriptEnabled: false, viewport: PHONE });
    const bare = await context?.newPage();
    assert.ok(bare);
    await bare.goto(`${errand.url}/docs/webhooks`);
    const heading = await bare.getByRole('heading', { level: 1 }).boundingBox();
    assert.ok(heading && heading.y < 160, 'the contents do not fill the first screen');
    const contents = bare.getByRole('navigation', { name: 'Documentation' });
    assert.equal(await contents.isVisible(), false);
    await bare.getByRole('button', { name: 'Contents' }).click();
    await contents.getByRole('link', { name: 'HTTP API' }).click();
    await bare.waitForURL('**/docs');
    await bare.locator('summary').filter({ hasText: 'Create a webhook' }).click();
    const operation = bare.locator('details[open]').filter({ hasText: 'Create a webhook' });
    await operation.getByText('rate_limit.interval_ms', { exact: true }).waitFor();
    for (const [language, text] of [
      ['TypeScript', 'await errand.createWebhook({'],
      ['Python', 'from urllib.request import Request'],
    ] as const) {
      await operation.locator('summary').filter({ hasText: language }).click();
      await operation.getByText(text).waitFor();
    }
    assert.equal(await operation.getByText('curl -sS').isVisible(), false, 'one language shows at a time');
    assert.equal(await bare.getByRole('search').count(), 0, 'what needs script is not there');
    await bare.setViewportSize({ width: 1280, height: 800 });
    await contents.waitFor();
    await context?.close();
  });
});

test('the search finds guides and operations by keyboard, also without the server', { skip }, async () => {
  await using errand = await newErrand();
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.open('/docs/concepts');
    const index = page.waitForResponse('**/docs/search.json');
    await page.keyboard.press('/');
    await index.then((answer) => answer.finished());
    await page.context().setOffline(true);
    await page.keyboard.type('rotat secret');
    const found = page.getByRole('search').getByRole('link');
    await found.filter({ hasText: 'POST /v1/webhooks/{id}/rotate_secret' }).waitFor();
    await visit.inspect('what the search found');
    await page.getByRole('searchbox').fill('<img src=x onerror=alert(1)> zzz');
    await page.getByText('Nothing has the words “<img src=x onerror=alert(1)> zzz”.').waitFor();
    await page.context().setOffline(false);
    await page.getByRole('searchbox').fill('key_reused');
    await found.filter({ hasText: 'key_reused: 422' }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/docs/errors#key_reused');
  });
});

test('code is copied, and one language stays chosen', { skip }, async () => {
  await using errand = await newErrand();
  await visiting(errand, async (visit) => {
    const { page } = visit;
    const operation = await openOperation(visit, 'getWorkflow');
    await operation.locator('summary').filter({ hasText: 'Python' }).click();
    await operation.locator('.samples .copyable').nth(2).hover();
    await operation.locator('.samples').getByRole('button', { name: 'Copy' }).click();
    await operation.getByRole('button', { name: 'Copied' }).waitFor();
    const copied = await page.evaluate('navigator.clipboard.readText()');
    assert.match(String(copied), /^import json\nimport os\nfrom urllib\.request[\s\S]*json\.load\(response\)\)$/);
    await page.reload();
    const other = await openOperation(visit, 'createWebhook');
    await other.getByText('from urllib.request import Request').waitFor();
  });
});

test('an operation is tried with the session, and changes ask first', { skip }, async () => {
  await using errand = await newErrand();
  const hostile = `<img src=x onerror="window.owned=true">`;
  await errand.client.post('/v1/data_stores', { name: hostile });
  await visiting(errand, async (visit) => {
    const { page } = visit;
    const out = await openOperation(visit, 'listDataStores');
    await out.getByRole('button', { name: 'Try it' }).click();
    await out.getByText('This browser is signed out.').waitFor();
    await out.getByRole('link', { name: 'sign in' }).click();
    await page.getByLabel('API key', { exact: true }).fill(errand.client.key);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL('**/docs#listDataStores');
    const list = await openOperation(visit, 'listDataStores');
    await list.getByRole('button', { name: 'Try it' }).click();
    await list.getByText('Sent as').waitFor();
    await list.getByRole('button', { name: 'Send' }).click();
    await list.getByRole('status').filter({ hasText: /^200/ }).waitFor();
    await list.locator('.try pre').filter({ hasText: '<img src=x' }).waitFor();
    assert.equal(await page.evaluate('window.owned'), undefined);

    const create = await openOperation(visit, 'createDataStore');
    await create.getByRole('button', { name: 'Try it' }).click();
    await create.getByLabel('Body').fill('{"name": "tried"}');
    await create.getByRole('button', { name: 'Send' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('POST /v1/data_stores').waitFor();
    await visit.inspect('the question, and the form', ['dialog', '.try:has(form)']);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    const names = async () =>
      (await errand.client.get('/v1/data_stores')).data.map(({ name }: { name: string }) => name);
    assert.deepEqual(await names(), [hostile], 'nothing was sent');
    await create.getByRole('button', { name: 'Send' }).click();
    await dialog.getByRole('button', { name: 'Send' }).click();
    await create.locator('.try pre').filter({ hasText: '"name": "tried"' }).waitFor();
    assert.deepEqual((await names()).sort(), [hostile, 'tried'].sort());

    const remove = await openOperation(visit, 'deleteDataStore');
    await remove.getByRole('button', { name: 'Try it' }).click();
    await remove.getByRole('button', { name: 'Send' }).click();
    assert.equal(await page.getByRole('dialog').count(), 0, 'what is required is asked for first');
    await remove.getByLabel('id (path').fill('../v1/workflows');
    await remove.getByRole('button', { name: 'Send' }).click();
    await dialog.getByText('DELETE /v1/data_stores/..%2Fv1%2Fworkflows').waitFor();
    await dialog.getByRole('button', { name: 'Send' }).click();
    await remove.getByRole('status').filter({ hasText: /^404/ }).waitFor();
    // The browser complains of each answer that is none of success.
    assert.ok(visit.complaints.splice(0).every((line) => /404/.test(line)));
  });
});

test('a stream is shown as it comes, until it is stopped', { skip }, async () => {
  await using errand = await newErrand();
  await visiting(errand, async (visit) => {
    await visit.signIn();
    const stream = await openOperation(visit, 'streamErrors');
    await stream.getByRole('button', { name: 'Try it' }).click();
    await stream.getByRole('button', { name: 'Send' }).click();
    await stream.getByText(/^200/).waitFor();
    await stream.getByRole('button', { name: 'Stop' }).click();
    await stream.getByText('… stopped').waitFor();
    await stream.getByRole('button', { name: 'Send' }).and(visit.page.locator(':enabled')).waitFor();
  });
});
