// Keys that expire, and keys that may do little, as the dashboard shows and takes them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startErrand } from '../support/errand.ts';
import { shareErrand } from '../support/shared-errand.ts';
import { skip, visiting } from './browser.ts';

const newErrand = shareErrand();
const DAY_MS = 86_400_000;

test('a key that has expired is called expired', { skip }, async () => {
  await using errand = await newErrand();
  const expires_at = Math.floor((Date.now() + DAY_MS) / 1000);
  await errand.client.post('/v1/keys', { label: 'Until tomorrow', expires_at });
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    const row = page.getByRole('listitem').filter({ hasText: 'Until tomorrow' });
    await visit.open('/keys');
    await row.getByText(/· expires/).waitFor();
    assert.equal(await row.getByText('expired').count(), 0);
    await page.clock.setFixedTime(Date.now() + 2 * DAY_MS);
    await visit.open('/keys');
    await row.getByText('expired', { exact: true }).waitFor();
    await row.getByText(/· expired/).waitFor();
  });
});

test('a key that expires while a page is open leads to the sign-in, and back', { skip }, async () => {
  let offsetMs = 0;
  const clock = { nowMs: () => Date.now() + offsetMs };
  await using errand = await startErrand({}, { clock, databaseClock: clock });
  const expires_at = Math.floor((Date.now() + DAY_MS) / 1000);
  const { api_key: key } = await errand.client.post('/v1/keys', { label: 'A day', scopes: ['read'], expires_at });
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn(key);
    await visit.open('/notices?state=delivered');
    await visit.still();
    offsetMs = 2 * DAY_MS;
    await page.getByRole('link', { name: 'Webhooks' }).click();
    await page.getByRole('alert').filter({ hasText: 'Your session is over' }).waitFor();
    const field = page.getByLabel('API key', { exact: true });
    await field.fill(key);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.locator('[id$="-error"]').waitFor();
    await field.fill(errand.client.key);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Webhooks', level: 1 }).waitFor();
    assert.ok(visit.complaints.splice(0).every((line) => /401/.test(line)));
  });
});

test('a new key is given what the session may give alone', { skip }, async () => {
  await using errand = await newErrand();
  const { api_key: key } = await errand.client.post('/v1/keys', { label: 'Hands out', scopes: ['read', 'keys'] });
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn(key);
    await visit.open('/keys');
    await page.getByRole('button', { name: 'New key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Label').fill('Looks');
    assert.equal(await dialog.getByRole('checkbox').count(), 2);
    await dialog.getByRole('button', { name: 'New key' }).click();
    await page.getByText('It is shown only once.').waitFor();
    const [made] = (await errand.client.get('/v1/keys')).data.filter(
      ({ label }: { label: string }) => label === 'Looks',
    );
    assert.deepEqual(made.scopes, ['read']);
  });
});

test('the sign-in leads to no other server', { skip }, async () => {
  await using errand = await newErrand();
  await visiting(errand, async (visit) => {
    const { page } = visit;
    for (const next of ['//example.com/', '/\\example.com/', 'https://example.com/', 'javascript:owned=1']) {
      await page.goto(`${errand.url}/sign-in?next=${encodeURIComponent(next)}`);
      await page.getByLabel('API key', { exact: true }).fill(errand.client.key);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('heading', { name: 'Overview' }).waitFor();
      assert.equal(page.url(), `${errand.url}/`, next);
    }
    assert.equal(await page.evaluate('window.owned'), undefined);
  });
});

test('other tabs go on when a person signs in again in one', { skip }, async () => {
  await using errand = await newErrand();
  await visiting(errand, async (visit) => {
    const { page } = visit;
    const other = await page.context().newPage();
    await other.goto(`${errand.url}/sign-in?next=%2Fwebhooks&ended=true`);
    await other.getByLabel('API key', { exact: true }).waitFor();
    await visit.signInByForm();
    await other.getByRole('heading', { name: 'Webhooks', level: 1 }).waitFor();
  });
});
