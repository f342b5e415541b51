// Two people, or two tabs, at one thing, and a session that ends in the middle: nothing that was typed or saved is lost unseen.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shareErrand } from '../../support/shared-errand.ts';
import { until } from '../../support/wait.ts';
import { skip, visiting } from '../browser.ts';

const newErrand = shareErrand();

test('a form sends what was changed in it, and not what another tab has changed meanwhile', { skip }, async () => {
  await using errand = await newErrand();
  const { client } = errand;
  const { id } = await errand.workflow('export default () => 1;', { name: 'Orders' });
  const webhook = await client.post('/v1/webhooks', { name: 'Shop', url: 'https://example.com/a' });
  const heartbeat = await client.post('/v1/heartbeats', { name: 'Backup', interval_seconds: 60, grace_seconds: 50 });
  await visiting(errand, async (visit) => {
    const { page } = visit;
    const dialog = page.getByRole('dialog');
    const save = async (): Promise<void> => {
      await dialog.getByRole('button', { name: 'Save' }).press('Enter');
      await dialog.waitFor({ state: 'detached' });
    };
    await visit.signIn();
    await visit.open(`/workflows/${id}`);
    await page.getByRole('region', { name: 'Settings' }).getByRole('button', { name: 'Change' }).press('Enter');
    await dialog.getByLabel('Seconds that a run may take').fill('12');
    await client.put(`/v1/workflows/${id}`, { name: 'All orders', settings: { concurrency: 3 } });
    // The page reads it again, under the form.
    await until('the page has the new name', async () => {
      await page.evaluate("window.dispatchEvent(new Event('visibilitychange'))");
      return (await page.locator('h1').textContent())?.includes('All orders');
    });
    await save();
    const { name, settings } = (await client.get(`/v1/workflows/${id}`)).data;
    assert.deepEqual([name, settings.concurrency, settings.timeout_ms], ['All orders', 3, 12_000]);

    await visit.open(`/webhooks/${webhook.id}`);
    await page.getByRole('button', { name: 'More for Shop' }).press('Enter');
    await page.getByRole('menuitem', { name: 'Change' }).press('Enter');
    await dialog.getByLabel('Description').fill('For the shop');
    await client.put(`/v1/webhooks/${webhook.id}`, { url: 'https://example.com/b' });
    await save();
    const { url, description } = (await client.get(`/v1/webhooks/${webhook.id}`)).data;
    assert.deepEqual([url, description], ['https://example.com/b', 'For the shop']);

    await visit.open(`/heartbeats/${heartbeat.id}`);
    await page.getByRole('button', { name: 'Change' }).press('Enter');
    await dialog.getByLabel('Name').fill('Nightly backup');
    await client.put(`/v1/heartbeats/${heartbeat.id}`, { interval_seconds: 90, grace_seconds: 70 });
    await save();
    const beat = (await client.get(`/v1/heartbeats/${heartbeat.id}`)).data;
    assert.deepEqual([beat.name, beat.interval_seconds, beat.grace_seconds], ['Nightly backup', 90, 70]);
  });
});

test('how many are replayed first is not forgotten when the session ends', { skip }, async () => {
  await using errand = await newErrand();
  const workflow = await errand.workflow("export default () => { throw new Error('no card'); };");
  for (let n = 0; n < 3; n++) await errand.send(workflow, {});
  await errand.settled();
  const [group] = (await errand.client.get('/v1/error_groups')).data;
  await visiting(errand, async (visit) => {
    const { page, complaints } = visit;
    await visit.signIn();
    await visit.open(`/operations/new?group=${group.id}`);
    const canary = page.getByLabel('Canary');
    await canary.fill('2');
    await page.context().clearCookies();
    await page.getByRole('button', { name: 'Replay 3' }).press('Enter');
    await page.getByLabel('API key', { exact: true }).fill(errand.client.key);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Replay 3' }).waitFor();
    await until('the canary is as it was typed', async () => (await canary.inputValue()) === '2');
    complaints.length = 0;
    // A form that is left otherwise begins again.
    await page.getByRole('link', { name: 'Replays', exact: true }).press('Enter');
    await page.getByRole('heading', { name: 'Replays and resends' }).waitFor();
    await page.goBack();
    await page.getByRole('button', { name: 'Replay 3' }).waitFor();
    assert.equal(await canary.inputValue(), '1');
  });
});
