// Settings, keys, heartbeats, and the way to all of them, in a real browser on a real server.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../support/client.ts';
import { createClient } from '../support/client.ts';
import { sessionOf } from '../support/owners.ts';
import { shareErrand } from '../support/shared-errand.ts';
import { until } from '../support/wait.ts';
import { skip, visiting } from './browser.ts';

const newErrand = shareErrand();

const HOSTILE = `<img src=x onerror="window.owned=true"> \u202e reversed 🎉`;

test('settings of the owner are changed', { skip }, async () => {
  await using errand = await newErrand();
  const { client } = errand;
  const channel = await client.post('/v1/channels', { kind: 'mail', name: 'On call', config: { to: 'a@example.com' } });
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await visit.inspectAll('/settings', 'Hours between digests');
    await page
      .getByText(
        /were (measured \d+ \w+ ago|measured now|not measured yet)\. They are measured at least once in an hour/,
      )
      .waitFor();
    await page.getByLabel('Name').fill(HOSTILE);
    await page.getByLabel('Mail address').fill('me@example.com');
    await page.getByLabel('Hours between digests').fill('1.5');
    await page.getByRole('checkbox', { name: /On call/ }).check();
    // What is typed while it is being saved stays, also when the owner has been read again.
    const saving = Promise.withResolvers<void>();
    const isOwner = (url: URL) => url.pathname === '/v1/users/me';
    await page.route(isOwner, async (route) => {
      if (route.request().method() === 'PUT') await saving.promise;
      await route.continue();
    });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByLabel('Mail address').fill('typed@example.com');
    const again = page.waitForResponse(
      (response) => isOwner(new URL(response.url())) && response.request().method() === 'GET',
    );
    saving.resolve();
    await (await again).finished();
    await page.getByText('Saved.').waitFor();
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    assert.equal(await page.getByLabel('Mail address').inputValue(), 'typed@example.com');
    await page.unroute(isOwner);
    const me = (await client.get('/v1/users/me')).data;
    assert.deepEqual(
      [me.name, me.email, me.digest_window_ms, me.channels],
      [HOSTILE, 'me@example.com', 5_400_000, [channel.id]],
    );
    // What is not saved outlives its page, and what is saved does not hide what another person changes.
    await client.put('/v1/users/me', { name: 'Changed elsewhere' });
    await until('the owner is read again', async () => {
      await page.getByRole('link', { name: 'Webhooks', exact: true }).click();
      await page.getByRole('heading', { name: 'Webhooks', level: 1 }).waitFor();
      await page.getByRole('link', { name: 'Settings', exact: true }).click();
      return (await page.getByLabel('Name').inputValue()) === 'Changed elsewhere';
    });
    assert.equal(await page.getByLabel('Mail address').inputValue(), 'typed@example.com');
    await client.put('/v1/users/me', { name: HOSTILE });
    await visit.open('/settings');
    assert.equal(await page.getByLabel('Name').inputValue(), HOSTILE);
    assert.equal(await page.evaluate('window.owned'), undefined);
    const elsewhere = await sessionOf(errand.url, client.key);
    await page.getByRole('button', { name: 'Sign out everywhere' }).click();
    await visit.inspect('signing out everywhere');
    await page.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere' }).click();
    await page.getByLabel('API key', { exact: true }).waitFor();
    assert.equal(await elsewhere.status(), 401);
    // The page in the other tab of this browser would go on, too, if it could.
    await page.goto(`${errand.url}/workflows`);
    await page.getByLabel('API key', { exact: true }).waitFor();
    visit.complaints.length = 0;
  });
});

test('rules of redaction are changed by the keyboard, and hide what is shown', { skip }, async () => {
  await using errand = await newErrand();
  const { client } = errand;
  const rules = async (): Promise<Json> => (await client.get('/v1/users/me/redaction')).data;
  const workflow = await errand.workflow(
    `export default ({ steps }) => { throw new Error('pin=' + steps.trigger.event.body.pin); }`,
  );
  await errand.send(workflow, { pin: 'p-4711', card: '4111111111111111' });
  const [error] = await errand.errors(workflow.id, 1);
  const errorPath = `/emitters/${workflow.id}/errors/${error.id}`;
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await visit.open(errorPath);
    await page.getByText('p-4711').first().waitFor();
    await visit.open('/settings');
    const card = page.getByRole('region', { name: 'Redaction' });
    await card.getByText('none').first().waitFor();
    const opener = card.getByRole('button', { name: 'Change what is hidden' });
    await opener.focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog');
    const [keys, patterns] = ['Names of fields', 'Patterns'].map((label) => dialog.getByLabel(label));
    await until('the first field has the focus', () => page.evaluate(`document.activeElement.matches('textarea')`));
    await page.keyboard.type(' pin \n\n*token');
    await page.keyboard.press('Tab');
    await page.keyboard.type('(');
    await visit.inspect('rules of redaction');
    await dialog.getByRole('button', { name: 'Save' }).press('Enter');
    await dialog.getByRole('alert').waitFor();
    assert.deepEqual(await rules(), { keys: [], patterns: [] });
    await patterns?.fill(String.raw`\b\d{13,19}\b`);
    await dialog.getByRole('button', { name: 'Save' }).press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await card.getByText('*token').waitFor();
    assert.deepEqual(await rules(), { keys: ['pin', '*token'], patterns: [String.raw`\b\d{13,19}\b`] });
    // Another person changes them meanwhile.
    await opener.click();
    await keys?.fill('mine');
    await client.put('/v1/users/me/redaction', { keys: ['pin', 'card'], patterns: [] });
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The rules were changed since you opened them.').waitFor();
    assert.deepEqual(await rules(), { keys: ['pin', 'card'], patterns: [] });
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await card.getByText('card').waitFor();
    await page.goBack();
    await page.getByText('[redacted]').first().waitFor();
    assert.doesNotMatch((await page.locator('body').textContent()) ?? '', /4711|41111/);
    await visit.inspectAll('/settings', 'Redaction');
    assert.ok(visit.complaints.splice(0).every((line) => /4(00|12|22)/.test(line)));
  });
});

test('a key is made, shown once, and revoked', { skip }, async () => {
  await using errand = await newErrand();
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await visit.open('/settings');
    await page.getByRole('link', { name: 'API keys' }).click();
    await page.getByText('this session').waitFor();
    await page.getByRole('button', { name: 'New key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Label').fill(HOSTILE);
    await dialog.getByRole('checkbox', { name: /^write/ }).uncheck();
    await dialog.getByLabel('Days until it expires').fill('2');
    await visit.inspect('a new key');
    await dialog.getByRole('button', { name: 'New key' }).click();
    await page.getByText('It is shown only once.').waitFor();
    const key = (await page.getByRole('dialog').locator('.command code').textContent()) ?? '';
    const made = createClient(errand.url, key);
    const session = (await made.get('/v1/session')).data;
    assert.deepEqual([session.key.label, session.key.scopes], [HOSTILE, ['read']]);
    const listed: Json[] = (await errand.client.get('/v1/keys')).data;
    const days = ((listed.find(({ label }) => label === HOSTILE)?.expires_at ?? 0) - Date.now() / 1000) / 86_400;
    assert.ok(days > 1.9 && days <= 2, `it expires in ${days} days`);
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByText(key).waitFor({ state: 'detached' });
    await visit.inspectAll('/keys', 'reversed');
    const own = page.getByRole('listitem').filter({ hasText: 'this session' });
    assert.equal(await own.getByRole('button').count(), 0, 'the key of this session is not revoked here');
    await page
      .getByRole('button', { name: /^Revoke/ })
      .first()
      .click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('Revoked.').waitFor();
    assert.equal((await made.request('GET', '/v1/session')).status, 401);
  });
});

test('a heartbeat is made, pinged, paused and deleted', { skip }, async () => {
  await using errand = await newErrand();
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await visit.open('/heartbeats');
    await page.getByText('No heartbeats yet').waitFor();
    await page.getByRole('button', { name: 'New heartbeat' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill(HOSTILE);
    await dialog.getByLabel('Seconds', { exact: true }).fill('600');
    await dialog.getByRole('button', { name: 'New heartbeat' }).click();
    await page.getByText('never pinged').waitFor();
    const [heartbeat] = (await errand.client.get('/v1/heartbeats')).data;
    assert.equal(heartbeat.interval_seconds, 600);
    await fetch(heartbeat.ping_url, { method: 'POST' });
    await visit.inspectAll('/heartbeats', 'reversed');
    await visit.inspectAll(`/heartbeats/${heartbeat.id}`, heartbeat.ping_url);
    await page.locator('h1').getByText('up', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.locator('h1').getByText('paused').waitFor();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No heartbeats yet').waitFor();
  });
});

test('Ctrl K goes to anything, by the keyboard alone', { skip }, async () => {
  await using errand = await newErrand();
  const { client } = errand;
  const steps = [{ namespace: 'fail', code: "export default () => { throw new TypeError('no stock left'); };" }];
  const workflow: Json = await client.post('/v1/workflows', {
    name: `Sync ${HOSTILE}`,
    steps,
    triggers: [{ type: 'http' }],
  });
  await fetch(workflow.triggers[0].endpoint_url, { method: 'POST', body: '{}' });
  const [group] = await until('the group', async () => {
    const { data } = await client.get(`/v1/error_groups?emitter_id=${workflow.id}`);
    return data.length > 0 && data;
  });
  const store = await client.post('/v1/data_stores', { name: 'Rates of exchange' });
  const channel = await client.post('/v1/channels', {
    kind: 'mail',
    name: 'Night duty',
    config: { to: 'a@example.com' },
  });
  await client.post('/v1/accounts', { app: 'shop', name: 'Shop of Oslo', fields: {} });
  await client.post('/v1/keys', { label: 'Deploys of CI' });
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await visit.open('/');
    const type = async (text: string): Promise<void> => {
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: 'Go to anything' }).fill(text);
    };
    await type('data st');
    await page.getByRole('option', { name: /Data stores/ }).waitFor();
    await visit.inspect('the palette');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/data-stores');
    await type('sync');
    await page.getByRole('option', { name: /reversed/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/workflows/${workflow.id}`);
    for (const [text, option, address] of [
      ['rates', /Rates of exchange/, `/data-stores/${store.id}`],
      ['night', /Night duty/, `/notices?channel=${channel.id}`],
      ['oslo', /Shop of Oslo/, '/accounts'],
      ['deploys of', /Deploys of CI/, '/keys'],
    ] as const) {
      await type(text);
      await page.getByRole('option', { name: option }).waitFor();
      await page.keyboard.press('Enter');
      await page.waitForURL(`**${address}`);
    }
    await type('no stock');
    await page.getByRole('option', { name: /no stock left/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/errors/${group.id}`);
    await type(workflow.id);
    await page.getByRole('option', { name: /By its id/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/workflows/${workflow.id}`);
    await type('e');
    const second = page.getByRole('listbox', { name: 'Go to anything' }).getByRole('option').nth(1);
    await second.waitFor();
    await page.keyboard.press('ArrowDown');
    assert.equal(await second.getAttribute('aria-selected'), 'true');
    await page.keyboard.press('Escape');
    await second.waitFor({ state: 'detached' });
    // On a narrow screen the menu has what the side has.
    await page.setViewportSize({ width: 380, height: 800 });
    await page.getByRole('button', { name: 'Menu' }).click();
    await visit.inspect('the menu');
    await page.getByRole('link', { name: 'Subscriptions' }).click();
    await page.getByRole('heading', { name: 'Subscriptions', exact: true }).waitFor();
  });
});

test('another owner sees nothing of the first in any page', { skip }, async () => {
  await using errand = await newErrand();
  await using other = await newErrand();
  const { client } = errand;
  const secret = 'Secret-of-the-first';
  await client.post('/v1/data_stores', { name: secret });
  await client.post('/v1/accounts', { app: secret.toLowerCase(), fields: {} });
  await client.post('/v1/channels', { kind: 'mail', name: secret, config: { to: 'a@example.com' } });
  await client.post('/v1/heartbeats', { name: secret, interval_seconds: 60 });
  await client.post('/v1/keys', { label: secret });
  const webhook = await client.post('/v1/webhooks', { url: 'http://127.0.0.1:9/', name: secret });
  const steps = [{ namespace: 'a', code: 'export default () => 1' }];
  const workflow = await client.post('/v1/workflows', { name: secret, steps });
  await client.post('/v1/subscriptions', { emitter_id: workflow.id, listener_id: webhook.id });
  const paths = ['/data-stores', '/accounts', '/notices', '/heartbeats', '/keys', '/webhooks', '/subscriptions'];
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    for (const path of [...paths, '/workflows']) {
      await visit.open(path);
      await page.getByText(new RegExp(secret, 'i')).first().waitFor();
    }
    // In the page itself: no new page is loaded between the two.
    await page.evaluate("fetch('/v1/session', { method: 'DELETE', headers: { 'x-errand-dashboard': '1' } })");
    await page.getByRole('link', { name: 'Sources' }).click();
    await page.getByLabel('API key', { exact: true }).fill(other.client.key);
    visit.complaints.length = 0;
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('No sources yet').waitFor();
    for (const [name, text] of [
      ['Workflows', 'gets every error'],
      ['Webhooks', 'No webhooks yet'],
      ['Subscriptions', 'No subscriptions yet'],
      ['Notices', 'No channels yet'],
      ['Settings', 'Hours between digests'],
    ] as const) {
      await page.getByRole('link', { name, exact: true }).click();
      await page.getByText(text).first().waitFor();
      assert.doesNotMatch((await page.locator('body').textContent()) ?? '', new RegExp(secret, 'i'), name);
    }
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Go to anything' }).fill('secret');
    const found = page.getByRole('listbox', { name: 'Go to anything' }).getByRole('option');
    await found.filter({ hasText: 'Search errors for “secret”' }).waitFor();
    await visit.still();
    assert.equal(await found.count(), 2, 'nothing but the two searches');
    visit.complaints.length = 0;
  });
});
