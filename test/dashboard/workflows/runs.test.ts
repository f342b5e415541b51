// The list of all runs in the dashboard: searched, and limited by state, by what ran and in time, as its address says.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shareErrand } from '../../support/shared-errand.ts';
import { until } from '../../support/wait.ts';
import { skip, visiting } from '../browser.ts';

const newErrand = shareErrand();
const PRICES =
  'export default ({ steps, $ }) => { $.export("$summary", "priced " + steps.trigger.event.body.sku); return 1; };';
const FAILS = 'export default () => { throw Object.assign(new Error("no stock"), { code: "NoStock" }); };';
const SOURCE = 'export default { name: "prices", version: "0.0.1", run() { console.log("looked"); } };';
const HOUR_MS = 3_600_000;

test('runs of all workflows and sources are found by state, text, place and time', { skip }, async () => {
  await using errand = await newErrand();
  const { client } = errand;
  const prices = await errand.workflow(PRICES, { name: 'Price orders' });
  const checks = await errand.workflow(FAILS, { name: 'Check orders' });
  await errand.send(prices, { sku: 'A-100' });
  await errand.send(prices, { sku: 'B-200', note: '<i>hidden</i> clause 7' });
  await errand.send(checks, { sku: 'A-100' });
  await errand.runs(prices.id, 2);
  await errand.runs(checks.id, 1);
  const source = await client.post('/v1/sources', { name: 'Prices', component_code: SOURCE, configured_props: {} });
  await client.post(`/v1/sources/${source.id}/invoke`);
  await until('the run of the source', async () => {
    const { data } = await client.get(`/v1/runs?source_id=${source.id}&state=succeeded`);
    return data.length > 0;
  });
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await visit.open('/');
    await page.getByRole('navigation').getByRole('link', { name: 'Runs', exact: true }).click();
    const list = page.getByRole('region', { name: 'Runs' });
    const rows = list.getByRole('listitem');
    const shows = async (...texts: readonly string[]): Promise<void> => {
      await until(`rows of ${texts}`, async () => (await rows.count()) === texts.length);
      for (const [at, text] of texts.entries()) await rows.nth(at).getByText(text).first().waitFor();
    };
    const address = (): string => decodeURIComponent(new URL(page.url()).search);
    const choose = (name: string, label: string) =>
      page.getByRole('combobox', { name, exact: true }).selectOption({ label });
    await rows.getByText('NoStock: no stock').waitFor();
    await rows.getByText('Check orders', { exact: true }).waitFor();
    await rows.getByText('priced B-200').waitFor();
    await visit.inspectAll('/runs', 'priced B-200');

    await choose('State', 'failed');
    await shows('NoStock: no stock');
    assert.equal(address(), '?state=failed');
    await choose('State', 'Any state');
    await page.keyboard.press('/');
    await page.keyboard.type('<I>hidden</i> CLAUSE');
    await shows('priced B-200');
    assert.equal(address(), '?q=<I>hidden</i>+CLAUSE');
    await page.reload();
    await shows('priced B-200');
    await page.getByRole('searchbox').fill('priced');
    await shows('priced B-200', 'priced A-100');
    await choose('Workflow or source', 'Check orders');
    await page.getByText('No run matches').waitFor();
    await visit.inspect('no run matches');
    await page.getByRole('link', { name: 'Clear filters' }).click();
    await rows.getByText('NoStock: no stock').waitFor();
    assert.equal(await page.getByRole('searchbox').inputValue(), '');
    await choose('Workflow or source', 'Prices');
    await shows('Prices');

    await choose('Workflow or source', 'All workflows');
    await choose('Error code', 'NoStock');
    await shows('NoStock: no stock');
    assert.equal(address(), '?code=NoStock');
    await page.reload();
    await shows('NoStock: no stock');
    await choose('Error code', 'Any error code');
    await rows.getByText('priced B-200').waitFor();

    await choose('Workflow or source', 'Check orders');
    await choose('Created', 'Last hour');
    await shows('NoStock: no stock');
    await page.clock.setFixedTime(Date.now() + 2 * HOUR_MS);
    await page.reload();
    await page.getByText('No run matches').waitFor();
    await choose('Created', 'Last 24 hours');
    await shows('NoStock: no stock');
    // A row leads to the run, which is a part of this list, and back.
    await rows.getByRole('link').click();
    await page.waitForURL('**/runs/r_*');
    await page.locator('.nav-link[aria-current]').getByText('Runs').waitFor();
    await page.goBack();
    await shows('NoStock: no stock');

    await visit.open(`/workflows/${prices.id}`);
    await page.getByRole('link', { name: 'Search them' }).click();
    await page.waitForURL(`**/runs?emitter=${prices.id}`);
    await shows('priced B-200', 'priced A-100');
    await visit.open('/');
    await page.getByRole('link', { name: 'failed', exact: true }).click();
    await page.waitForURL('**/runs?state=failed');
    await shows('NoStock: no stock');
    await visit.open('/runs?state=nope&within=ever&emitter=p_gone&code=12');
    await page.getByText('No run matches').waitFor();
    assert.equal(await page.getByRole('combobox', { name: 'Workflow or source' }).inputValue(), 'p_gone');
    assert.equal(await page.getByRole('combobox', { name: 'Error code' }).inputValue(), '12');
  });
});

test('a search of runs goes on where one request has read enough, and says how far it came', { skip }, async () => {
  await using errand = await newErrand();
  const workflow = await errand.workflow(PRICES, { name: 'Large orders' });
  await errand.send(workflow, { sku: 'needle' });
  const large = 'x'.repeat(500_000);
  for (let n = 0; n < 20; n++) await errand.send(workflow, { sku: `large ${n}`, large });
  await errand.runs(workflow.id, 21);
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    await page.route(/\/v1\/runs\?.*after=/, async (route) => {
      await held;
      await route.continue();
    });
    await visit.open('/runs?q=needle');
    const list = page.getByRole('region', { name: 'Runs' });
    await list.getByText('Searched back to').waitFor();
    assert.equal(await page.getByText('No run matches').count(), 0, 'it has not found nothing yet');
    release();
    await list.getByText('priced needle').waitFor();
    await list.getByText('Searched back to').waitFor({ state: 'detached' });
    await page.unrouteAll({ behavior: 'wait' });
  });
});
