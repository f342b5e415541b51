// Replays of many errors, channels and mails in the dashboard, in a real browser on a real server.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../support/client.ts';
import type { Errand } from '../support/errand.ts';
import { startReceiver } from '../support/receiver.ts';
import { shareErrand } from '../support/shared-errand.ts';
import { until } from '../support/wait.ts';
import { skip, visiting } from './browser.ts';

const newErrand = shareErrand();

const FAILS =
  'export default ({ steps }) => { throw new Error("order " + steps.trigger.event.body.number + " is bad"); };';
const WORKS = 'export default ({ steps }) => steps.trigger.event.body.number;';

/** A workflow with so many errors of one group. */
async function failing({ client }: Errand, count: number): Promise<{ workflow: Json; group: Json }> {
  const steps = [{ namespace: 'check', code: FAILS }];
  const workflow = await client.post('/v1/workflows', { name: 'Check orders', steps, triggers: [{ type: 'http' }] });
  const headers = { 'content-type': 'application/json' };
  for (let number = 1; number <= count; number++) {
    await fetch(workflow.triggers[0].endpoint_url, { method: 'POST', headers, body: `{"number":${number}}` });
  }
  const group = await until('the group', async () => {
    const { data } = await client.get(`/v1/error_groups?emitter_id=${workflow.id}`);
    return data.find((one: Json) => one.count >= count);
  });
  return { workflow, group };
}

test('a group is replayed: tried, stopped by its canary, and finished', { skip }, async () => {
  await using errand = await newErrand();
  const { workflow, group } = await failing(errand, 3);
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await visit.open('/operations');
    await page.getByText('Nothing has been replayed').waitFor();
    await visit.inspect('no operations');
    await visit.open(`/errors/${group.id}`);
    await page.getByRole('link', { name: 'Replay all…' }).click();
    await page.getByText('3 errors would be replayed now').waitFor();
    await page.getByText('order 1 is bad').waitFor();
    await page.getByText('The oldest 3 · 1 is replayed first').waitFor();
    assert.deepEqual((await errand.client.get('/v1/operations')).data, [], 'a dry run makes nothing');
    await visit.inspectAll(`/operations/new?group=${group.id}`, '3 errors');
    await page.clock.setFixedTime(Date.now() + 2 * 3_600_000);
    await page.getByRole('combobox', { name: 'Errors of' }).selectOption({ label: 'Last hour' });
    await page.getByText('No error would be replayed.').waitFor();
    assert.ok(await page.getByRole('button', { name: 'Nothing to replay' }).isDisabled());
    await page.getByRole('combobox', { name: 'Errors of' }).selectOption({ label: 'Last 24 hours' });
    await page.getByText('3 errors would be replayed now').waitFor();
    // Until it is known what another choice means, nothing is replayed by what the one before meant.
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    await page.route('**/v1/replays', async (route) => {
      await held;
      await route.continue();
    });
    await page.getByRole('combobox', { name: 'Errors of' }).selectOption({ label: 'Last 7 days' });
    const start = page.getByRole('button', { name: 'Replay 3 errors' });
    assert.ok(await start.isDisabled());
    release();
    await page.unrouteAll({ behavior: 'wait' });
    await page.getByLabel('Canary').fill('2');
    await page.getByText('The oldest 3 · 2 are replayed first').waitFor();
    await start.click();
    await page.getByText('failed the same way').first().waitFor();
    await page.getByRole('button', { name: 'Resume' }).waitFor();
    // It is paused: nothing goes on.
    assert.equal(await page.getByText('the others').locator('visible=true').count(), 1, 'the reason alone says it');
    assert.equal(await page.getByText('(the others').count(), 0);
    await page.getByRole('main').getByRole('link', { name: group.fingerprint.code, exact: true }).waitFor();
    const [operation] = (await errand.client.get('/v1/operations')).data;
    assert.equal(operation.replay.canary, 2);
    // The code is corrected; the others go on, live.
    await errand.client.put(`/v1/workflows/${workflow.id}`, { steps: [{ namespace: 'check', code: WORKS }] });
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.locator('h1').getByText('done').waitFor();
    const results = page.getByRole('region', { name: 'Results' });
    await results.getByLabel('Outcome').selectOption({ label: 'fixed' });
    await results.getByText('failed the same way').locator('visible=true').first().waitFor({ state: 'detached' });
    const { replay } = (await errand.client.get(`/v1/operations/${operation.id}`)).data;
    assert.deepEqual([replay.fixed, replay.failed_same], [1, 2]);
    await visit.inspectAll(`/operations/${operation.id}`, 'failed the same way');
    // From the operation to the error, from there to the operation, and from the operation to the run.
    await page.getByRole('region', { name: 'Results' }).getByRole('link').first().click();
    await page.getByRole('link', { name: 'part of a replay of many' }).first().click();
    await page.waitForURL(`**/operations/${operation.id}`);
    await page.getByRole('link', { name: 'run', exact: true }).first().click();
    await page.waitForURL('**/runs/r_*');
    await page.getByRole('link', { name: 'the error that was replayed' }).click();
    await page.waitForURL(`**/errors/${group.id}/*`);
    await visit.inspectAll('/operations', 'Replay of the group');
  });
});

test('what was replayed before is passed over, unless it is asked for', { skip }, async () => {
  await using errand = await newErrand();
  const { client } = errand;
  const { workflow, group } = await failing(errand, 1);
  await client.put(`/v1/workflows/${workflow.id}`, { steps: [{ namespace: 'check', code: WORKS }] });
  const { id } = await client.post('/v1/replays', { group_id: group.id });
  await until('the end of the replay', async () => (await client.get(`/v1/operations/${id}`)).data.ended_at_ms);
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await visit.open(`/operations/new?group=${group.id}`);
    await page.getByText('None of 1 error would be replayed now').waitFor();
    await page.getByText('1 passed over, because').waitFor();
    await page.getByText('The oldest one', { exact: true }).waitFor();
    assert.ok(await page.getByRole('button', { name: 'Nothing to replay' }).isDisabled());
    await page.getByRole('checkbox', { name: /^Also what was replayed before/ }).check();
    await page.getByText('1 error would be replayed now').waitFor();
    await page.getByText('The oldest one · 1 is replayed first').waitFor();
    await page.getByRole('checkbox', { name: /^From the step that failed/ }).check();
    await page.getByRole('button', { name: 'Replay 1 error' }).click();
    await page.getByText('From the step that failed · Also what was replayed before').waitFor();
  });
});

test('an operation is paused, and cancelled', { skip }, async () => {
  await using errand = await newErrand();
  const { workflow } = await failing(errand, 2);
  const operation = await errand.client.post('/v1/replays', { workflow_id: workflow.id, rate: 0.001, canary: 0 });
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await visit.open(`/operations/${operation.id}`);
    const state = async () => (await errand.client.get(`/v1/operations/${operation.id}`)).data.state;
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('button', { name: 'Resume' }).waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.locator('h1').getByText('cancelled').waitFor();
    assert.equal(await state(), 'cancelled');
    assert.equal(await page.getByRole('button', { name: 'Resume' }).count(), 0);
  });
});

test('a channel is made, tested, told of all errors, and deleted', { skip }, async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await visit.open('/notices');
    await page.getByText('No channels yet').waitFor();
    await page.getByRole('button', { name: 'New channel' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Kind').selectOption({ label: 'HTTP request' });
    await dialog.getByLabel('Address').fill(receiver.url);
    await dialog.getByLabel('Name').fill('<b>Board</b> \u202eabc 🎉');
    await visit.inspect('a new channel');
    await dialog.getByRole('button', { name: 'New channel' }).click();
    await page.getByText('<b>Board</b>').first().waitFor();
    const [channel] = (await errand.client.get('/v1/channels')).data;
    await page.getByText('notified of all errors').waitFor();
    assert.deepEqual((await errand.client.get('/v1/users/me')).data.channels, [channel.id]);
    await page.getByRole('button', { name: 'Send a test' }).click();
    await page
      .getByRole('status')
      .getByText(/^Delivered\./)
      .waitFor();
    assert.equal((await receiver.wait(1)).length, 1);
    await failing(errand, 1);
    await receiver.wait(2);
    await visit.open(`/notices?channel=${channel.id}&state=exhausted`);
    await page.getByText('Nothing has been sent yet').waitFor();
    await visit.open(`/notices?channel=${channel.id}`);
    await page
      .getByRole('link', { name: /^\[Errand\] .* failed: .*order 1 is bad/ })
      .first()
      .click();
    await page.frameLocator('iframe').getByText('order 1 is bad').first().waitFor();
    await visit.inspect('a notice');
    await page.getByRole('link', { name: 'Notices' }).first().click();
    await page.getByRole('button', { name: /^More for/ }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No channels yet').waitFor();
    assert.deepEqual((await errand.client.get('/v1/channels')).data, []);
  });
});

const hostile = (
  elsewhere: string,
): string => `<h1>Order 7</h1><script>parent.owned = true; document.body.innerHTML = 'owned'</script>
<img src="${elsewhere}" onerror="document.body.innerHTML='owned'"><a href="https://example.com" target="_top">out</a>`;

test('a hostile mail is shown, and nothing of it runs', { skip }, async () => {
  await using errand = await newErrand();
  await using elsewhere = await startReceiver();
  const code = `export default ({ $ }) => $.send.email({ subject: '<i>Order</i> 7', text: 'Order 7 in text', html: ${JSON.stringify(hostile(elsewhere.url))} });`;
  const workflow = await errand.client.post('/v1/workflows', {
    name: 'Mails',
    steps: [{ namespace: 'mail', code }],
    triggers: [{ type: 'http' }],
  });
  await fetch(workflow.triggers[0].endpoint_url, { method: 'POST', body: '{}' });
  const mails = async () => (await errand.client.get('/v1/deliveries?kind=mail')).data;
  await until('the mail went out', async () => (await mails())[0]?.state === 'delivered');
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await visit.inspectAll('/notices', 'Mail of Mails');
    await page.getByRole('link', { name: '<i>Order</i> 7', exact: true }).click();
    await page.getByRole('heading', { name: '<i>Order</i> 7' }).waitFor();
    const current = page.getByRole('navigation', { name: 'Main' }).locator('[aria-current="page"]');
    await until('a mail is among the notices', async () => (await current.allTextContents()).join() === 'Notices');
    assert.equal(await page.getByRole('heading', { name: 'Response' }).count(), 0, 'there is none of an outbox');
    assert.equal(await page.locator('.timing').count(), 0, 'nothing to split where no connection was made');
    const frame = page.frameLocator('iframe');
    await frame.getByRole('heading', { name: 'Order 7' }).waitFor();
    assert.doesNotMatch((await frame.locator('body').textContent()) ?? '', /^owned/);
    assert.equal(await page.evaluate('window.owned'), undefined);
    assert.equal(await page.locator('iframe').getAttribute('sandbox'), '', 'the frame may do nothing');
    // What the browser refused: the script, and the picture from elsewhere.
    await until('the browser has refused it', () => visit.complaints.some((said) => said.includes(elsewhere.url)));
    assert.equal(elsewhere.received.length, 0);
    visit.requested.length = 0;
    visit.complaints.length = 0;
    await page.getByRole('button', { name: 'Text', exact: true }).click();
    await page.getByText('Order 7 in text').waitFor();
    await visit.inspect('a mail as text');
    visit.complaints.length = 0;
  });
});

test('errors of a source are replayed from its page, and of a workflow those of one step', { skip }, async () => {
  await using errand = await newErrand();
  const { client } = errand;
  const component_code = `export default {
    props: { http: '$.interface.http' },
    run() { throw new Error('bad'); },
  };`;
  const source = await client.post('/v1/sources', { name: 'Feed', component_code });
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ n: 1, bad: true });
  await fetch(source.endpoint_url, { method: 'POST', headers, body });
  const workflow = await errand.workflow("export default () => { throw new Error('lost'); };", { name: 'Orders' });
  await errand.send(workflow, {});
  await until('both errors', async () => (await client.get('/v1/errors')).data.length === 2);
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await visit.open(`/sources/${source.id}`);
    await page.getByRole('link', { name: 'Replay them…' }).click();
    await page.getByRole('link', { name: '‹ Feed' }).waitFor();
    await page.getByText('1 error would be replayed now').waitFor();
    assert.equal(await page.getByRole('textbox', { name: 'Step' }).count(), 0);
    await visit.inspect('the form of a replay of a source');
    await page.getByRole('button', { name: /^Replay/ }).click();
    await page.waitForURL('**/operations/op_*');
    await page.getByRole('link', { name: 'Feed' }).first().waitFor();
    await visit.open(`/operations/new?workflow=${workflow.id}`);
    await page.getByText('1 error would be replayed now').waitFor();
    await page.getByRole('textbox', { name: 'Step' }).fill('other');
    await page.getByText('No error would be replayed.').waitFor();
    await page.getByRole('textbox', { name: 'Step' }).fill('step');
    await page.getByText('1 error would be replayed now').waitFor();
    await page.getByRole('button', { name: /^Replay/ }).click();
    await page.waitForURL('**/operations/op_*');
    await page.locator('dl').getByText('Step', { exact: true }).waitFor();
  });
  const { data } = await client.get('/v1/operations?kind=replay');
  assert.deepEqual(
    data.map(({ replay }: Json) => [replay.source_id, replay.workflow_id, replay.step]),
    [
      [null, workflow.id, 'step'],
      [source.id, null, null],
    ],
  );
});
