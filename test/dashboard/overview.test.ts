// The overview: the examples of the first minute, what needs attention, the counts that add up.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../support/client.ts';
import { startErrand } from '../support/errand.ts';
import { pass } from '../support/heartbeats.ts';
import { startReceiver } from '../support/receiver.ts';
import { shareErrand } from '../support/shared-errand.ts';
import { until } from '../support/wait.ts';
import { skip, visiting } from './browser.ts';

const newErrand = shareErrand();

test('each example is deployed by one click, and works', { skip }, async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  const { client } = errand;
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await visit.open('/');
    // The form of the next step is open, and says what for.
    const makeWebhook = async (): Promise<void> => {
      await page.waitForURL('**/webhooks?hears=p_*');
      const dialog = page.getByRole('dialog');
      await dialog.getByText('What “Pass orders on” emits is delivered').waitFor();
      assert.equal(await dialog.getByLabel('Name').inputValue(), 'Gets “Pass orders on”');
      await visit.inspect('the webhook of the example');
      await dialog.getByLabel('Address').fill(receiver.url);
      await dialog.getByRole('button', { name: 'New webhook' }).click();
      await dialog.getByText(/whsec_/).waitFor();
      await dialog.getByRole('button', { name: 'Done' }).click();
      await page.waitForURL('**/webhooks');
      await until(
        'it is subscribed',
        async () => (await client.get('/v1/subscriptions?via=subscription')).data.length === 1,
      );
      await visit.open('/');
    };
    for (const made of ['Check stock', 'Pass orders on', 'Check orders']) {
      if (made !== 'Check stock') {
        // They stand behind a line when there is a workflow.
        const others = page.locator('details.card');
        await others.waitFor();
        if ((await others.getAttribute('open')) === null) await others.locator('summary').click();
      }
      await page.getByRole('button', { name: `Deploy: ${made}` }).click();
      await until(made, async () => (await client.get('/v1/workflows')).data.some(({ name }: Json) => name === made));
      if (made === 'Pass orders on') await makeWebhook();
    }
    const ofName = async (name: string): Promise<Json> => {
      const found = (await client.get('/v1/workflows')).data.find((one: Json) => one.name === name);
      return (await client.get(`/v1/workflows/${found.id}`)).data;
    };
    const stock = await ofName('Check stock');
    assert.deepEqual(
      stock.triggers.map(({ type, interval_seconds }: Json) => [type, interval_seconds]),
      [['schedule', 60]],
    );
    assert.ok(stock.settings.watch.silent_after_ms > 60_000, 'silence of it is an error');
    // Each of them runs.
    await client.post(`/v1/workflows/${stock.id}/runs`, { event: {} });
    for (const name of ['Check stock', 'Pass orders on', 'Check orders']) {
      const { id } = await ofName(name);
      await until(`a run of ${name}`, async () => (await client.get(`/v1/workflows/${id}/runs`)).data.length > 0);
    }
    const emitted = await until('what was passed on', async () => {
      const { id } = await ofName('Pass orders on');
      return (await client.get(`/v1/workflows/${id}/event_summaries?expand=event`)).data[0];
    });
    assert.equal(emitted.event.order.number, 1043);
    const passing = await ofName('Pass orders on');
    await client.post(`/v1/workflows/${passing.id}/runs`, { event: { body: { number: 1044 } } });
    const [got] = await receiver.wait(1);
    assert.equal(JSON.parse(String(got?.body)).order.number, 1044);
  });
});

test('silence and a queue that lags need attention', { skip }, async () => {
  await using errand = await startErrand();
  const { client } = errand;
  const silent = await errand.workflow('export default () => 1;', {
    name: 'Nightly report',
    settings: { watch: { silent_after_ms: 60_000 } },
  });
  const slow = await errand.workflow('export default () => new Promise(() => undefined);', {
    name: 'Slow import',
    settings: { concurrency: 1, timeout_ms: 700_000 },
  });
  await errand.send(slow, {});
  await errand.send(slow, {});
  await until('one waits', async () => (await client.get('/v1/ledger')).data.runs.queued === 1);
  await pass(errand, 5);
  await until('it is silent', async () => {
    return (await client.get(`/v1/error_groups?emitter_id=${silent.id}&code=Silent`)).data.length === 1;
  });
  await visiting(errand, async (visit) => {
    const { page } = visit;
    // The browser's clock goes with the server's.
    await page.clock.setSystemTime(Date.now() + 70_000);
    await visit.signIn();
    await visit.open('/');
    const rows = page.getByRole('listitem');
    const silence = rows.filter({ hasText: 'Nightly report' });
    await silence.getByText('silent', { exact: true }).waitFor();
    const lag = rows.filter({ hasText: 'Slow import' });
    await lag.getByText('queued').waitFor();
    assert.match((await lag.textContent()) ?? '', /\d min \d+ s/, 'how long the oldest has waited');
    await visit.inspect('what needs attention');
    await lag.getByRole('link').click();
    await page.waitForURL('**/runs/r_*');
    // What runs for ever would hold up the end of the server.
    for (const { id } of (await client.get(`/v1/workflows/${slow.id}/runs`)).data)
      await client.post(`/v1/runs/${id}/cancel`);
  });
});

test('groups stand by their count, and the counts of the ledger add up', { skip }, async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  const { client } = errand;
  const workflow = await errand.workflow(
    `export default ({ steps, $ }) => {
      const { code } = steps.trigger.event.body;
      if (code) throw Object.assign(new Error(code), { code });
      $.send.emit({ event: 1 });
    };`,
  );
  const webhook = await client.post('/v1/webhooks', { url: receiver.url });
  await client.post(`/v1/subscriptions?emitter_id=${workflow.id}&listener_id=${webhook.id}`);
  for (const code of ['Seldom', 'Often', 'Often', 'Often', undefined, undefined]) await errand.send(workflow, { code });
  await errand.settled();
  const { runs, deliveries, emissions, errors } = (await client.get('/v1/ledger')).data;
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await visit.open('/');
    const groups = page.locator('.group-link');
    await groups.filter({ hasText: 'Seldom' }).waitFor();
    const codes = await groups.getByRole('link').allTextContents();
    assert.ok(codes.indexOf('Often') < codes.indexOf('Seldom'), codes.join());
    for (const [name, total] of [
      ['Events', emissions],
      ['Runs', runs.total],
      ['Errors', errors.captured],
      ['Deliveries', deliveries.total],
    ] as const)
      await page.getByRole('img', { name: new RegExp(`^${name} over time: ${total} in all`) }).waitFor();
    const parts = page.locator('.ledger > div');
    const figures = await parts.evaluateAll((all) =>
      (all as unknown as Part[]).map((part) => ({
        name: part.querySelector('h3').textContent,
        total: Number(part.querySelector('.big').textContent),
        states: [...part.querySelectorAll('dd')].map((one) => Number(one.textContent)),
      })),
    );
    const of = (name: string) => figures.find((one) => one.name === name);
    assert.deepEqual([of('Runs')?.total, of('Deliveries')?.total], [runs.total, deliveries.total]);
    for (const name of ['Runs', 'Deliveries']) {
      const { total, states = [] } = of(name) ?? {};
      assert.equal(
        states.reduce((sum, one) => sum + one, 0),
        total,
        `${name} add up`,
      );
      assert.ok(states.length > 0, name);
    }
  });
});

test('a global error workflow that is switched off needs attention', { skip }, async () => {
  await using errand = await newErrand();
  const { client } = errand;
  const id = (await client.get('/v1/users/me')).data.global_error_workflow_id;
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await visit.open('/');
    await page.getByText('Nothing needs attention.').waitFor();
    await client.put(`/v1/workflows/${id}`, { active: false });
    await visit.open('/');
    const row = page.getByRole('listitem').filter({ hasText: 'The global error workflow is off: it mails no errors.' });
    await row.getByText('inactive', { exact: true }).waitFor();
    await visit.inspect('a global error workflow that is off');
    await row.getByRole('link', { name: 'Global error workflow' }).click();
    await page.waitForURL(`**/workflows/${id}`);
  });
});

test('mails that reach no person need attention, until a channel tells of errors', { skip }, async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  const { client } = errand;
  const workflow = await errand.workflow('export default () => { throw new Error("no stock") };');
  await errand.send(workflow, {});
  await until('the mail', async () => (await client.get('/v1/deliveries?kind=mail&state=delivered')).data.length === 1);
  const [group] = (await client.get('/v1/error_groups')).data;
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await visit.open('/');
    const row = page.getByRole('listitem').filter({ hasText: 'Mails reach no person' });
    await row.getByText('No mail was sent, since no mail server is configured (ERRAND_SMTP_URL).').waitFor();
    await visit.inspect('mails that reach no person');
    await row.getByRole('link').click();
    await page.waitForURL('**/notices');
    await page.getByText('only in the outbox', { exact: true }).waitFor();
    await visit.open(`/errors/${group.id}`);
    await page.getByText('only in the outbox', { exact: true }).waitFor();
    assert.equal(await page.getByText('delivered', { exact: true }).count(), 0);
    // A channel that gets nothing tells no person, either.
    receiver.answer(500);
    const channel = await client.post('/v1/channels', { kind: 'http', name: 'Board', config: { url: receiver.url } });
    await client.put('/v1/users/me', { channels: [channel.id] });
    await errand.send(await errand.workflow('export default () => { throw new Error("no paper") };'), {});
    const notices = (state: string) => client.get(`/v1/deliveries?channel_id=${channel.id}&state=${state}`);
    const [notice] = await until('the notice fails', async () => {
      const { data } = await notices('retrying');
      return data.length > 0 && data;
    });
    await errand.settled();
    await visit.open('/');
    const board = page.getByRole('listitem').filter({ hasText: 'Board' });
    await board.getByText('failing', { exact: true }).waitFor();
    assert.equal(await row.count(), 1);
    await visit.inspect('a channel that fails');
    await board.getByRole('link').click();
    await page.waitForURL('**/notices?channel=*');
    const channels = page.getByRole('region', { name: 'Channels' });
    await channels.getByText('last notice failed').waitFor();
    await visit.inspect('a channel that fails, among the channels');
    receiver.answer(200);
    await client.post(`/v1/deliveries/${notice.id}/resend`);
    await until('the notice has come', async () => (await notices('delivered')).data.length > 0);
    await channels.getByText('last notice failed').waitFor({ state: 'detached' });
    await visit.open('/');
    await page.locator('.group-link').first().waitFor();
    assert.equal((await row.count()) + (await board.count()), 0);
  });
});

test('a webhook that the server disabled needs attention, and says why', { skip }, async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  const { client } = errand;
  const workflow = await errand.workflow('export default ({ $ }) => { $.send.emit({ event: 1 }); };');
  const webhook = await client.post('/v1/webhooks', { url: receiver.url, name: 'Shop' });
  await client.post('/v1/webhooks', { url: receiver.url, name: 'Put aside', active: false });
  await errand.subscribe(workflow.id, webhook.id);
  receiver.answer(410);
  await errand.send(workflow, {});
  const gone = await until('the error', async () => {
    const { data } = await client.get(`/v1/error_groups?emitter_id=${webhook.id}&code=WebhookGone`);
    return data[0];
  });
  await client.put(`/v1/error_groups/${gone.id}`, { state: 'resolved' });
  await visiting(errand, async (visit) => {
    const { page } = visit;
    const why = 'The server disabled it: it answered 410';
    await visit.signIn();
    await visit.open('/');
    const row = page.getByRole('listitem').filter({ hasText: 'Shop' });
    await row.getByText(why).waitFor();
    assert.equal(await page.getByText('Nothing needs attention.').count(), 0);
    assert.equal(await page.getByText('Put aside').count(), 0, 'a person disabled it');
    await visit.inspect('a webhook that the server disabled');
    await row.getByRole('link').click();
    await page.getByRole('link', { name: why }).waitFor();
    await visit.inspect('why the server disabled a webhook');
    await page.getByRole('button', { name: 'Enable' }).click();
    await page.getByRole('button', { name: 'Disable' }).waitFor();
    assert.equal(await page.getByText(why).count(), 0);
    await visit.open('/');
    await page.getByText('Nothing needs attention.').waitFor();
  });
});

/** An element, as far as it is used here: tests are checked without the types of a page. */
interface Part {
  readonly textContent: string;
  querySelector(of: string): Part;
  querySelectorAll(of: string): Iterable<Part>;
}
