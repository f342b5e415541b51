// What the dashboard shows to a key of few scopes: nothing that would be refused, and why a key cannot sign in.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startReceiver } from '../support/receiver.ts';
import { shareErrand } from '../support/shared-errand.ts';
import { until } from '../support/wait.ts';
import { skip, visiting } from './browser.ts';

const newErrand = shareErrand();
const FAILS = `export default ({ $ }) => {
  $.send.emit({ order: 1 });
  throw Object.assign(new Error('no stock'), { code: 'NoStock' });
};`;

test('a key that may only read sees nothing that would be refused', { skip }, async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  const { client } = errand;
  const workflow = await errand.workflow(FAILS);
  const webhook = await client.post('/v1/webhooks', { url: receiver.url, name: 'Shop' });
  await errand.subscribe(workflow.id, webhook.id);
  await errand.send(workflow, {});
  const [error] = await errand.errors(workflow.id, 1);
  const [group] = (await client.get('/v1/error_groups')).data;
  const endless = await errand.workflow('export default () => new Promise(() => undefined);', {
    name: 'Endless',
    settings: { timeout_ms: 700_000 },
  });
  await errand.send(endless, {});
  const runOf = async (id: string) => (await client.get(`/v1/workflows/${id}/runs`)).data[0];
  const [failed, running] = [await runOf(workflow.id), await until('a run', () => runOf(endless.id))];
  const sent = async () => (await client.get(`/v1/webhooks/${webhook.id}/deliveries?state=delivered`)).data[0];
  const delivery = await until('it is delivered', sent);
  const { api_key: reading } = await client.post('/v1/keys', { label: 'Board', scopes: ['read'] });
  const pages = [
    ['/', 'Check orders', []],
    [`/errors/${group.id}`, 'What differs', ['Resolve', 'Mute', 'Replay']],
    [`/errors/${group.id}/${error.id}`, 'Original event', ['Replay']],
    [`/deliveries/${delivery.id}`, 'Attempt 1', ['Send again']],
    [`/runs/${failed.id}`, 'Logs', ['Retry from the failed step']],
    [`/runs/${running.id}`, 'Logs', ['Cancel']],
    [`/workflows/${workflow.id}`, 'Triggers', ['Run', 'Deactivate']],
    [`/webhooks/${webhook.id}`, 'Deliveries', ['Send a test', 'Disable', 'New secret']],
  ] as const;
  await visiting(errand, async (visit) => {
    const { page } = visit;
    const button = (name: string) => page.getByRole('button', { name, exact: true });
    await visit.signIn();
    for (const [path, , buttons] of pages) {
      await visit.open(path);
      for (const name of buttons) await button(name).waitFor();
    }
    // A page asks again and again, and would be refused.
    await page.goto('about:blank');
    await page.context().clearCookies();
    await visit.signIn(reading);
    for (const [path, text, buttons] of pages) {
      await visit.open(path);
      if (path === '/') await page.getByText('Accounted for').waitFor();
      else await page.getByRole('heading', { name: text, exact: true }).waitFor();
      await visit.still();
      for (const name of buttons) assert.equal(await button(name).count(), 0, `${path}: ${name}`);
      assert.equal(await page.getByRole('button', { name: /^Deploy: / }).count(), 0);
      const note = page.getByRole('textbox', { name: 'Note' });
      if (path.endsWith(group.id)) assert.equal(await note.getAttribute('readonly'), '');
    }
  });
  await client.post(`/v1/runs/${running.id}/cancel`);
});

test('a key that may not read is told so when it signs in', { skip }, async () => {
  await using errand = await newErrand();
  const { api_key: reporting } = await errand.client.post('/v1/keys', { label: 'Shop front', scopes: ['ingest'] });
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await page.goto(`${errand.url}/sign-in`);
    const field = page.getByLabel('API key', { exact: true });
    await field.fill(reporting);
    await page.keyboard.press('Enter');
    await page.getByText(/^The dashboard needs a key with the scope read\. .*"Shop front" has ingest\.$/).waitFor();
    await visit.inspect('a key of few scopes');
    await field.fill('ek_none');
    await page.keyboard.press('Enter');
    await page.getByText('The dashboard takes a key').waitFor({ state: 'detached' });
    assert.ok(visit.complaints.splice(0).every((line) => /40[13]/.test(line)));
  });
});

test('what is still being loaded is not shown as nothing', { skip }, async () => {
  await using errand = await newErrand();
  const workflow = await errand.workflow(FAILS);
  await errand.send(workflow, {});
  await errand.errors(workflow.id, 1);
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    let isOpen = false;
    const held: (() => void)[] = [];
    await page.route(/\/v1\/(stats|error_groups|subscriptions)/, async (route) => {
      if (!isOpen) await new Promise<void>((go) => held.push(go));
      await route.continue();
    });
    const release = (): void => {
      isOpen = true;
      for (const go of held.splice(0)) go();
    };
    const nothing = page.getByText(/^(0|0 open groups|Nothing needs attention\.|Nothing listens to it\.)$/);
    const pages = [
      ['/', page.locator('.charts'), '1 open group'],
      [`/workflows/${workflow.id}`, page.getByRole('heading', { name: 'Listeners' }), 'Nothing listens to it.'],
    ] as const;
    for (const [path, frame, text] of pages) {
      isOpen = false;
      await visit.open(path);
      await frame.waitFor();
      await until(`${path} asks for it`, () => held.length > 0);
      const shown = await nothing.and(page.locator('main *')).allTextContents();
      assert.deepEqual(path === '/' ? shown.filter((one) => one !== '0') : shown, [], path);
      if (path === '/') assert.deepEqual(await page.locator('.charts strong').allTextContents(), ['…', '…', '…', '…']);
      release();
      await page.getByText(text, { exact: true }).first().waitFor();
    }
  });
});
