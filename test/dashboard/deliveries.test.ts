// Webhooks and their deliveries: each attempt, why it is due when it is, the secret, the pause; and who was told of an error.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { Json } from '../support/client.ts';
import type { Errand } from '../support/errand.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { shareErrand } from '../support/shared-errand.ts';
import { until } from '../support/wait.ts';
import { skip, visiting } from './browser.ts';

/** A page asks for its record every four seconds. */
const LATE_MS = 6000;
const newErrand = shareErrand();
const EMITS = 'export default ({ $ }) => { $.send.emit({ event: 1, at: "\u202e<i>" }); };';

test('a delivery says when it is due and why, and shows both attempts', { skip }, async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  receiver.answer(
    (n) => (n === 0 ? 503 : 200),
    { 'x-said': '<b>&lt;</b>', 'set-cookie': 'a=hunter2' },
    '<b>said</b> \u202eabc',
  );
  const { client } = errand;
  const workflow = await errand.workflow(EMITS, { name: `<b>Orders</b> of ${'a shop '.repeat(20)}` });
  const webhook = await client.post('/v1/webhooks', {
    url: receiver.url,
    retry: { delays_ms: [600_000] },
    headers: { 'x-own': 'hunter2' },
  });
  await client.post(`/v1/subscriptions?emitter_id=${workflow.id}&listener_id=${webhook.id}`);
  await errand.send(workflow, {});
  const listed = async (state: string): Promise<Json> =>
    (await client.get(`/v1/webhooks/${webhook.id}/deliveries?state=${state}`)).data[0];
  const delivery = await until('it waits', () => listed('retrying'));
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await visit.open(`/webhooks/${webhook.id}`);
    const row = page.getByRole('region', { name: 'Deliveries' }).getByRole('listitem');
    await row.getByText(delivery.why).waitFor();
    await row.getByRole('link').click();
    await page.waitForURL(`**/deliveries/${delivery.id}`);
    await page
      .getByText(/attempt 2/i)
      .first()
      .waitFor();
    // Its times are local, as all others.
    assert.match((await client.get(`/v1/deliveries/${delivery.id}`)).data.why, /due at \d{4}-\d\d-\d\dT/);
    const why = page.getByText(/It is due at/);
    await why.waitFor();
    assert.doesNotMatch(await why.innerText(), /\d{4}-\d\d-\d\dT/);
    const due = page.locator('p', { hasText: 'Next attempt' }).locator('time');
    assert.equal(await due.getAttribute('datetime'), new Date(delivery.next_attempt_at_ms).toISOString());
    const first = page.getByRole('region', { name: 'Attempt 1' });
    await first.getByText('503', { exact: true }).waitFor();
    await first.getByText(/connection .* · first byte /).waitFor();
    const facts = page.getByRole('region', { name: 'Delivery', exact: true });
    await facts
      .getByRole('link')
      .and(page.locator(`[href="/workflows/${workflow.id}"]`))
      .waitFor();
    await facts.getByText(delivery.emission_id).waitFor();
    await first.getByRole('region', { name: 'Response' }).getByText('<b>said</b>').waitFor();
    await first.getByText(`POST ${receiver.url}`).waitFor();
    for (const headers of ['Headers of the request', 'Headers of the response']) await first.getByText(headers).click();
    const valueIn = (name: string) =>
      first
        .locator('dl > div', { has: page.getByText(name, { exact: true }) })
        .locator('dd')
        .textContent();
    const [got] = receiver.received;
    assert.equal(await valueIn('webhook-id'), got?.headers['webhook-id']);
    assert.equal(await valueIn('errand-attempt'), '1');
    for (const name of ['webhook-signature', 'x-own']) assert.equal(await valueIn(name), 'not kept');
    assert.deepEqual([await valueIn('x-said'), await valueIn('set-cookie')], ['<b>&lt;</b>', '(hidden)']);
    assert.match(
      (await page.getByRole('region', { name: 'What was sent' }).textContent()) ?? '',
      /event: ?1.*at: ?"\\u202e<i>"/,
    );
    await visit.inspectAll(`/deliveries/${delivery.id}`, '<b>said</b>');
    await visit.inspectAll(`/webhooks/${webhook.id}`, '<b>Orders</b>');
    await visit.open(`/deliveries/${delivery.id}`);
    await page.getByRole('button', { name: 'Send again' }).click();
    await page.getByRole('region', { name: 'Attempt 2' }).getByText('200', { exact: true }).waitFor();
    await page.locator('h1').getByText('delivered').waitFor();
    // What is chosen stands in the address: the same view for another person.
    await visit.open(`/webhooks/${webhook.id}?state=exhausted`);
    await page.getByText('No deliveries').waitFor();
    await page.getByRole('combobox', { name: 'Deliveries' }).selectOption('delivered');
    await page.waitForURL('**?state=delivered');
    await row.getByRole('link').waitFor();
  });
});

test('the error of a delivery that was given up leads to it', { skip }, async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  receiver.answer(410);
  const { client } = errand;
  const workflow = await errand.workflow('export default ({ $ }) => $.send.emit({ event: 1 });');
  const webhook = await client.post('/v1/webhooks', { url: receiver.url });
  await client.post(`/v1/subscriptions?emitter_id=${workflow.id}&listener_id=${webhook.id}`);
  await errand.send(workflow, {});
  const [record] = await errand.errors(webhook.id, 1);
  await visiting(errand, async (visit) => {
    await visit.signIn();
    await visit.open(`/emitters/${webhook.id}/errors/${record.id}`);
    await visit.page.getByRole('link', { name: 'The delivery that was given up' }).click();
    await visit.page.waitForURL('**/deliveries/dl_*');
    await visit.page.locator('h1').getByText('exhausted').waitFor();
  });
});

test('a new secret is shown once, and a webhook is disabled', { skip }, async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  const { client } = errand;
  const webhook = await client.post('/v1/webhooks', { url: receiver.url, name: 'Shop' });
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await visit.open(`/webhooks/${webhook.id}`);
    await page.getByRole('button', { name: 'New secret' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('A new secret signs every request from now on').waitFor();
    await dialog.getByRole('button', { name: 'New secret' }).click();
    await dialog.getByText('Requests are also signed with the old secret for one more day.').waitFor();
    const secret = (await dialog.locator('.command code').textContent()) ?? '';
    assert.match(secret, /^whsec_/);
    assert.notEqual(secret, webhook.secret);
    await visit.inspect('the new secret');
    await dialog.getByRole('button', { name: 'Copy' }).click();
    await until('it is copied', async () => (await page.evaluate('navigator.clipboard.readText()')) === secret);
    await dialog.getByRole('button', { name: 'Done' }).click();
    await visit.open(`/webhooks/${webhook.id}`);
    assert.doesNotMatch(await page.content(), /whsec_/, 'it is not shown again');
    await page.getByRole('button', { name: 'Disable' }).click();
    await page.locator('h1').getByText('disabled').waitFor();
    assert.equal((await client.get(`/v1/webhooks/${webhook.id}`)).data.active, false);
    await page.getByRole('link', { name: 'Its errors' }).waitFor();
    await page.getByRole('button', { name: 'Enable' }).click();
    await page.locator('h1').getByText('healthy').waitFor();
    assert.equal((await client.get(`/v1/webhooks/${webhook.id}`)).data.active, true);
  });
});

test('a webhook tells its settings, is changed and deleted', { skip }, async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  const { client } = errand;
  const hostile = '<b>Shop</b> \u202eabc 🎉';
  const webhook = await client.post('/v1/webhooks', {
    ...{ url: receiver.url, name: 'Shop', headers: { 'x-own': 'hunter2' }, timeout_ms: 20_000 },
    rate_limit: { limit: 5, interval_ms: 60_000 },
  });
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await visit.open(`/webhooks/${webhook.id}`);
    const facts = page.getByRole('region', { name: 'Webhook', exact: true });
    await facts.filter({ hasText: /Time limit20 s.*up to 10.*5 within 1 min.*HMAC-SHA256.*x-own/ }).waitFor();
    assert.doesNotMatch((await page.locator('body').textContent()) ?? '', /hunter2/);
    const choose = async (more: string, item: string): Promise<void> => {
      await page.getByRole('button', { name: more }).click();
      await page.getByRole('menuitem', { name: item }).click();
    };
    await choose('More for Shop', 'Change');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill(hostile);
    await dialog.getByLabel('Address').fill(`${receiver.url}/other`);
    await dialog.getByLabel('Description').fill('For the shop');
    await visit.inspect('a webhook that is changed');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: '<b>Shop</b>' }).waitFor();
    const { name, url, description, headers } = (await client.get(`/v1/webhooks/${webhook.id}`)).data;
    assert.deepEqual(
      [name, url, description, headers],
      [hostile, `${receiver.url}/other`, 'For the shop', { 'x-own': 'hunter2' }],
    );
    await visit.inspectAll(`/webhooks/${webhook.id}`, 'Time limit');
    // It is gone, and the page is told of it later than it would ask for it again.
    await page.route(`**/v1/webhooks/${webhook.id}`, async (route) => {
      if (route.request().method() !== 'DELETE') return route.continue();
      const response = await route.fetch();
      await pause(LATE_MS);
      await route.fulfill({ response });
    });
    await choose('More for', 'Delete');
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No webhooks yet').waitFor();
    assert.deepEqual((await client.get('/v1/webhooks')).data, []);
  });
});

/** A workflow that fails, and tells a webhook that is gone and a channel of it. */
async function toldOf({ client, workflow }: Errand, { gone, chat }: { gone: Receiver; chat: Receiver }): Promise<Json> {
  gone.answer(410);
  const failing = await workflow('export default () => { throw new Error("no stock"); };', { name: 'Sync stock' });
  const webhook = await client.post('/v1/webhooks', { url: gone.url, name: 'To the shop', retry: { delays_ms: [] } });
  await client.post(`/v1/subscriptions?emitter_id=${failing.id}&listener_id=${webhook.id}&event_name=$errors`);
  const channel = await client.post('/v1/channels', { kind: 'http', name: 'On call', config: { url: chat.url } });
  await client.put('/v1/users/me', { channels: [channel.id] });
  return failing;
}

test('an error says who was told, and leads to each of them', { skip }, async () => {
  await using errand = await newErrand();
  await using gone = await startReceiver();
  await using chat = await startReceiver();
  const { client } = errand;
  const failing = await toldOf(errand, { gone, chat });
  const handler = await errand.workflow('export default () => 1;', { name: 'Handles it', triggers: [] });
  await client.post(`/v1/subscriptions?emitter_id=${failing.id}&listener_id=${handler.id}&event_name=$errors`);
  await errand.send(failing, {});
  const [error] = await errand.errors(failing.id, 1);
  const [{ id: groupId }] = (await client.get(`/v1/error_groups?emitter_id=${failing.id}`)).data;
  await chat.wait(1);
  await errand.settled();
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    for (const path of [`/errors/${groupId}`, `/errors/${groupId}/${error.id}`]) {
      await visit.open(path);
      const told = page.locator('section.card').filter({ has: page.getByRole('heading', { name: 'Who was told' }) });
      const row = (name: string, ...said: string[]) =>
        said.reduce(
          (rows, text) => rows.filter({ hasText: text }),
          told.getByRole('listitem').filter({ hasText: name }),
        );
      await row('Handles it', 'succeeded', 'workflow').waitFor();
      await row('To the shop', 'webhook', 'given up after 1 attempt: The receiver answered').waitFor();
      await row('On call', 'channel', 'delivered').waitFor();
      const global = row('Global error workflow', 'succeeded');
      await global.waitFor();
      assert.doesNotMatch((await global.textContent()) ?? '', /global$/, 'what it is, its name says already');
      await visit.inspect(path);
    }
    await page.getByRole('link', { name: 'To the shop' }).click();
    await page.waitForURL('**/deliveries/dl_*');
    await page.getByText('410').first().waitFor();
    await page.goBack();
    await page.getByRole('link', { name: 'Handles it' }).click();
    await page.waitForURL('**/runs/r_*');
    await page.getByRole('link', { name: 'the run that emitted the event' }).click();
    await page.getByRole('heading', { name: 'Sync stock' }).waitFor();
    assert.equal(new URL(page.url()).pathname, `/runs/${(await errand.runs(failing.id, 1))[0].id}`);
  });
});

test('what goes to all receivers is one list, by receiver and by state', { skip }, async () => {
  await using errand = await newErrand();
  await using gone = await startReceiver();
  await using chat = await startReceiver();
  const failing = await toldOf(errand, { gone, chat });
  await errand.send(failing, {});
  await chat.wait(1);
  await errand.settled();
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await visit.open('/webhooks');
    await page.getByRole('link', { name: 'All deliveries' }).click();
    const rows = page.getByRole('region', { name: 'Deliveries' }).getByRole('listitem');
    const choose = (name: string, label: string) => page.getByRole('combobox', { name }).selectOption({ label });
    const shows = async (...texts: readonly (string | RegExp)[]): Promise<void> => {
      for (const text of texts) await rows.filter({ hasText: text }).first().waitFor();
      await until(`rows of ${texts}`, async () => (await rows.count()) === texts.length);
    };
    // Of the webhook: the end of its delivery is an error itself, with notices of its own.
    const all = [/Webhook To the shop/, /Channel On call/, /Mail/];
    for (const text of all) await rows.filter({ hasText: text }).first().waitFor();
    await visit.inspectAll('/deliveries', 'Sync stock');
    await choose('Receiver', 'To the shop');
    await shows(/exhausted.*Sync stock.*Webhook To the shop/s);
    await choose('Receiver', 'All webhooks');
    await shows(/Webhook To the shop/);
    await choose('State', 'delivered');
    await page.getByText('No delivery matches').waitFor();
    await page.getByRole('link', { name: 'Clear filters' }).click();
    await rows.filter({ hasText: 'On call' }).first().waitFor();
    await choose('Receiver', 'On call');
    await until(
      'only notices',
      async () => (await rows.count()) === (await rows.filter({ hasText: 'Channel On call' }).count()),
    );
    await choose('Receiver', 'All mails');
    await rows.filter({ hasText: 'only in the outbox' }).first().waitFor();
    await until('only mails', async () => (await rows.filter({ hasText: 'On call' }).count()) === 0);
    assert.match(page.url(), /\?to=mail$/);
    await visit.open('/');
    await page.getByRole('link', { name: 'exhausted', exact: true }).click();
    await page.waitForURL('**/deliveries?state=exhausted');
    await shows(/exhausted.*Webhook To the shop/s);
    await page.locator('.nav-link[aria-current]').getByText('Webhooks').waitFor();
    await rows.getByRole('link').click();
    await page.waitForURL('**/deliveries/dl_*');
    await visit.open('/deliveries?to=wh_gone&state=nope');
    await page.getByText('No delivery matches').waitFor();
  });
});
