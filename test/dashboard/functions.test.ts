// What a person changes: waits, channels, heartbeats, many deliveries at once, subscriptions; and what the overview says.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../support/client.ts';
import { startReceiver } from '../support/receiver.ts';
import { shareErrand } from '../support/shared-errand.ts';
import { until } from '../support/wait.ts';
import { onlyRun, overRun, stepped, waitingRun } from '../support/waits.ts';
import { skip, visiting } from './browser.ts';

const newErrand = shareErrand();

const HOSTILE = `<img src=x onerror="window.owned=true"> \u202e reversed`;
const FAILS = 'export default () => { throw new Error("no stock"); };';

test('a run that waits is resumed or cancelled on its page', { skip }, async () => {
  await using errand = await newErrand();
  const workflow = await stepped(errand, { ask: '$.flow.suspend();', done: 'return steps.ask.$resume_data;' });
  await errand.send(workflow, {});
  const { id } = await waitingRun(errand, workflow);
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await visit.open(`/runs/${id}`);
    await page.getByRole('heading', { name: 'It waits' }).waitFor();
    await visit.inspect('a run that waits');
    await page.getByRole('button', { name: 'Resume' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Data').fill('{"big":12345678901234567890');
    assert.ok(await dialog.getByRole('button', { name: 'Resume' }).isDisabled());
    await dialog.getByLabel('Data').fill('{"big":12345678901234567890}');
    await dialog.getByRole('button', { name: 'Resume' }).click();
    await page.locator('h1').getByText('succeeded').waitFor();
    await onlyRun(errand, workflow);
    assert.match((await errand.client.request('GET', `/v1/runs/${id}`)).text, /12345678901234567890/);
    await errand.send(workflow, {});
    const second = await waitingRun(errand, workflow);
    await visit.open(`/runs/${second.id}`);
    await page.getByRole('button', { name: 'Cancel' }).click();
    const asked = page.getByRole('dialog', { name: 'Cancel the run' });
    await asked.getByText('This cannot be taken back').waitFor();
    await asked.getByRole('button', { name: 'Cancel the run' }).click();
    assert.equal((await overRun(errand, second.id)).state, 'cancelled');
  });
});

test('channels and heartbeats are changed, and secrets stay', { skip }, async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  const { client } = errand;
  const channel = await client.post('/v1/channels', { kind: 'http', name: 'Hall', config: { url: receiver.url } });
  const heartbeat = await client.post('/v1/heartbeats', { name: 'Backup', interval_seconds: 600 });
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await visit.open('/notices');
    await page.getByRole('button', { name: 'More for Hall' }).click();
    await page.getByRole('menuitem', { name: 'Change' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill(HOSTILE);
    await dialog.getByLabel('Template').fill('{"text": "{{title}}"}');
    await visit.inspect('a channel that is changed');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    const changed = (await client.get(`/v1/channels/${channel.id}`)).data;
    assert.deepEqual([changed.name, changed.config.template], [HOSTILE, '{"text": "{{title}}"}']);
    assert.equal(
      (await client.post(`/v1/channels/${channel.id}/test`, {})).delivered,
      true,
      'its address is as it was',
    );
    await visit.open(`/heartbeats/${heartbeat.id}`);
    await page.getByRole('button', { name: 'Change' }).click();
    await dialog.getByLabel('When the job runs').selectOption('cron');
    await dialog.getByLabel('Cron expression').fill('0 5 * * *');
    await dialog.getByLabel('Time zone').fill('Europe/Berlin');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('0 5 * * * (Europe/Berlin)').waitFor();
    assert.equal((await client.get(`/v1/heartbeats/${heartbeat.id}`)).data.cron, '0 5 * * *');
  });
});

test('many deliveries are sent again after a dry run, and a subscription is drawn', { skip }, async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  const { client } = errand;
  const workflow = await errand.workflow('export default ({ $ }) => { $.send.emit({ event: 1 }); };');
  const webhook = await client.post('/v1/webhooks', { url: receiver.url, name: 'To the shop' });
  await client.post(`/v1/subscriptions?emitter_id=${workflow.id}&listener_id=${webhook.id}`);
  for (let n = 0; n < 3; n++) await errand.send(workflow, {});
  const delivered = async () => (await client.get(`/v1/webhooks/${webhook.id}/deliveries?state=delivered`)).data.length;
  await until('all are delivered', async () => (await delivered()) === 3);
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await visit.open(`/webhooks/${webhook.id}`);
    await page.getByRole('button', { name: 'Send many again…' }).click();
    const dialog = page.getByRole('dialog');
    const dryRun = dialog.getByRole('region', { name: 'What would be sent again' });
    await dryRun.getByText('No delivery would be sent again.').waitFor();
    assert.ok(await dialog.getByRole('button', { name: 'Send again' }).isDisabled());
    await dialog.getByRole('checkbox', { name: /^exhausted/ }).uncheck();
    await dialog.getByRole('checkbox', { name: /^delivered/ }).check();
    await dryRun.getByText('3 deliveries').waitFor();
    assert.equal(await dryRun.getByRole('listitem').count(), 3, 'those that go first');
    assert.deepEqual((await client.get('/v1/operations')).data, [], 'a dry run makes nothing');
    assert.equal(receiver.received.length, 3);
    await visit.inspect('sending many again');
    await dialog.getByRole('button', { name: 'Send again' }).click();
    await page.waitForURL('**/operations/op_*');
    await receiver.wait(6);
    await page.locator('h1').getByText('done').waitFor();
    await visit.open('/subscriptions');
    const node = (id: string) => page.locator(`[data-node="${id}"]`);
    const [from, to] = [
      await node(workflow.id).locator('.graph-port').boundingBox(),
      await node(webhook.id).boundingBox(),
    ];
    assert.ok(from && to);
    await page.mouse.move(from.x + 8, from.y + 8);
    await page.mouse.down();
    await page.mouse.move(to.x + 40, to.y + 20, { steps: 5 });
    await page.mouse.up();
    await dialog.getByLabel('Which events').selectOption('errors');
    await dialog.getByRole('button', { name: 'Subscribe' }).click();
    await page.getByText('Subscribed.').waitFor();
    const found = (await client.get(`/v1/subscriptions?emitter_id=${workflow.id}&listener_id=${webhook.id}`)).data;
    assert.deepEqual(found.map(({ event_name }: { event_name: string }) => event_name).sort(), ['', '$errors']);
    // A trigger by what another emits is a link, too; it is no subscription that could be ended here.
    await client.post('/v1/workflows', {
      name: 'Invoices',
      steps: [{ namespace: 'step', code: 'export default () => 1;' }],
      triggers: [{ type: 'emitter', emitter_id: workflow.id }, { type: 'http' }],
    });
    await client.post(`/v1/subscriptions?emitter_id=${workflow.id}&listener_id=${workflow.id}&event_name=again`);
    await visit.open('/subscriptions');
    const trigger = page.getByRole('listitem').filter({ hasText: 'Invoices' });
    await trigger.getByText('trigger', { exact: true }).waitFor();
    assert.equal(await trigger.getByRole('button').count(), 0);
    assert.equal(await trigger.count(), 1, 'of its HTTP trigger there is no other end');
    assert.equal(await page.locator('.graph-node').count(), 3);
    assert.equal(await page.locator('.graph .edge').count(), 4);
    await visit.inspect('a graph with a trigger, and what hears itself');
  });
});

test('the overview says what came, and what needs attention', { skip }, async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  receiver.answer(500, {}, 'no');
  const { client } = errand;
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await visit.open('/');
    await page.getByText('Nothing needs attention.').waitFor();
    assert.equal(await page.getByText('Over time').count(), 0, 'nothing to draw yet');
    const workflow = await errand.workflow(FAILS);
    const webhook = await client.post('/v1/webhooks', { url: receiver.url, name: HOSTILE });
    await client.post(`/v1/subscriptions?emitter_id=${workflow.id}&listener_id=${webhook.id}&event_name=$errors`);
    await errand.send(workflow, {});
    await until('the webhook fails', async () => {
      return (await client.get(`/v1/webhooks/${webhook.id}`)).data.health.status === 'failing';
    });
    await visit.inspectAll('/', 'Over time');
    await page.getByRole('img', { name: 'Errors over time: 1 in all' }).waitFor();
    await page.getByText('no stock').first().waitFor();
    await page.getByRole('link', { name: /reversed/ }).waitFor();
    await page.getByLabel('How far back').selectOption('week');
    await page.getByRole('img', { name: 'Errors over time: 1 in all' }).waitFor();
    assert.equal(await page.evaluate('window.owned'), undefined);
  });
});

test('several groups are resolved, muted and opened again at once', { skip }, async () => {
  await using errand = await newErrand();
  const code = `export default ({ steps }) => {
    const { code } = steps.trigger.event.body;
    throw Object.assign(new Error('failed'), { code });
  }`;
  const workflow = await errand.workflow(code, { name: 'Orders' });
  for (const code of ['First', 'Second', 'Third']) await errand.send(workflow, { code });
  await errand.errors(workflow.id, 3);
  const states = async (): Promise<string> => {
    const { data } = await errand.client.get('/v1/error_groups');
    return data
      .map(({ fingerprint, state }: Json) => `${fingerprint.code} ${state}`)
      .sort()
      .join(', ');
  };
  const are = (wanted: string): Promise<unknown> => until(wanted, async () => (await states()) === wanted);
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await visit.open('/errors');
    await page.getByRole('checkbox', { name: 'Select First' }).check();
    await page.getByRole('checkbox', { name: 'Select Third' }).check();
    await page.getByText('2 selected').waitFor();
    await visit.inspect('the selection');
    await page.getByRole('button', { name: 'Resolve', exact: true }).click();
    await page.getByText('2 groups: Resolved.').waitFor();
    await are('First resolved, Second open, Third resolved');
    await page.getByRole('button', { name: 'Undo' }).click();
    await are('First open, Second open, Third open');
    await page.getByRole('checkbox', { name: 'Select Third' }).waitFor();
    await page.getByRole('checkbox', { name: 'Select all that are shown' }).check();
    await page.getByText('3 selected').waitFor();
    await page.keyboard.press('m');
    await page.getByText('3 groups: Muted.').waitFor();
    await are('First muted, Second muted, Third muted');
    await page.getByRole('button', { name: 'Muted', exact: true }).click();
    await page.getByRole('checkbox', { name: 'Select Second' }).waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    await page.getByText('1 selected').waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('1 selected').waitFor({ state: 'detached' });
    await page.getByRole('checkbox', { name: 'Select all that are shown' }).check();
    await page.getByRole('button', { name: 'Open again' }).click();
    await are('First open, Second open, Third open');
    // What a deployment will show: said of all that are selected.
    await page.getByRole('button', { name: 'Open', exact: true }).click();
    await page.getByRole('checkbox', { name: 'Select First' }).waitFor();
    for (const [item, is] of [
      ['Until the next deployment', 'muted_until_next_deployment'],
      ['Resolve in the next deployment', 'resolved_in_next_deployment'],
    ] as const) {
      await page.getByRole('button', { name: 'All', exact: true }).click();
      await page.getByRole('checkbox', { name: 'Select all that are shown' }).check();
      await page.getByText('3 selected').waitFor();
      await page.getByRole('button', { name: 'Mute', exact: true }).click();
      await page.getByRole('menuitem', { name: item }).click();
      await until(item, async () => {
        const { data } = await errand.client.get('/v1/error_groups');
        return data.length === 3 && data.every((group: Json) => group[is]);
      });
      await page.getByText('3 selected').waitFor({ state: 'detached' });
    }
  });
});

test('all groups that match are assigned at once, and only they', { skip }, async () => {
  await using errand = await newErrand();
  const workflow = await errand.workflow(
    `export default ({ steps }) => {
      const { code, message } = steps.trigger.event.body;
      throw Object.assign(new Error(message), { code });
    }`,
    { name: 'Orders' },
  );
  const MATCHING = 120;
  for (let n = 0; n < MATCHING; n++) await errand.send(workflow, { code: `Code${n}`, message: 'no stock' });
  await errand.send(workflow, { code: 'Another', message: 'no money' });
  await errand.settled();
  const assigned = async (assignee: string): Promise<number> =>
    (await errand.client.get('/v1/error_groups/assignees')).data.find((one: Json) => one.assignee === assignee)
      ?.groups ?? 0;
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await visit.open('/errors?q=stock');
    await page.getByRole('checkbox', { name: 'Select all that are shown' }).check();
    await page.getByRole('button', { name: 'Select all that match' }).click();
    await page.getByText(`${MATCHING} selected`).waitFor();
    assert.equal(await page.getByRole('button', { name: 'Select all that match' }).count(), 0);
    await page.getByRole('button', { name: 'Assign', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: `Assign ${MATCHING} groups` });
    assert.ok(await dialog.getByRole('button', { name: 'Assign', exact: true }).isDisabled(), 'to whom?');
    await visit.inspect('the dialog that assigns');
    await dialog.getByLabel('Assignee').fill(' ada@example.com ');
    await dialog.getByRole('button', { name: 'Assign', exact: true }).click();
    await page.getByText(`${MATCHING} groups: Assigned to ada@example.com.`).waitFor();
    assert.equal(await assigned('ada@example.com'), MATCHING);
    await page.getByText(`${MATCHING} selected`).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Undo' }).click();
    await until('as before', async () => (await assigned('ada@example.com')) === 0);
    // By key, the row that was chosen.
    await page.keyboard.press('j');
    await page.keyboard.press('a');
    const one = page.getByRole('dialog', { name: 'Assign the group' });
    await one.getByLabel('Assignee').fill('bo@example.com');
    await page.keyboard.press('Enter');
    await page.getByText('Assigned to bo@example.com.').waitFor();
    assert.equal(await assigned('bo@example.com'), 1);
    // What is assigned already stands there, and can be taken away.
    await page.getByText('· bo@example.com').waitFor();
    await page.keyboard.press('a');
    assert.equal(await one.getByLabel('Assignee').inputValue(), 'bo@example.com');
    await one.getByLabel('Assignee').fill('');
    await one.getByRole('button', { name: 'Remove assignee' }).click();
    await page.getByText('No assignee any more.').waitFor();
    assert.equal(await assigned('bo@example.com'), 0);
  });
});

test('what comes into the inbox is said to a screen reader, and what was there is not', { skip }, async () => {
  await using errand = await newErrand();
  const workflow = await errand.workflow(
    `export default ({ steps }) => {
      throw Object.assign(new Error('failed'), { code: steps.trigger.event.body.code });
    }`,
    { name: 'Orders' },
  );
  const send = async (...codes: string[]): Promise<void> => {
    for (const code of codes) await errand.send(workflow, { code });
    await errand.settled();
  };
  await send('Old');
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await visit.open('/errors');
    await page.getByRole('link', { name: 'Old' }).waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    const said = page.getByRole('status').filter({ hasText: /^New error/ });
    assert.equal(await said.count(), 0);
    await send('Fresh\u202e');
    await page.getByRole('status').filter({ hasText: 'New error: Fresh' }).waitFor();
    // The first one of an empty list is news, too.
    await visit.open('/errors?state=muted');
    await page.getByText('No group matches').waitFor();
    const { data } = await errand.client.get('/v1/error_groups?code=Old');
    await errand.client.request('PATCH', `/v1/error_groups/${data[0].id}`, { state: 'muted', muted_errors: 9 });
    await send('Old');
    await page.getByRole('status').filter({ hasText: 'New error: Old' }).waitFor();
    await visit.open('/errors');
    await page.getByRole('link', { name: 'Fresh' }).waitFor();
    // Another list has no news, however new its groups are.
    await page.getByRole('button', { name: 'All', exact: true }).click();
    await send('Third', 'Fourth');
    await page.getByRole('link', { name: 'Fourth' }).waitFor();
    await page
      .getByRole('status')
      .filter({ hasText: /^New error(: Third|s in 2 groups)|^New error: Fourth/ })
      .waitFor();
    await visit.inspect('an inbox with news');
  });
});
