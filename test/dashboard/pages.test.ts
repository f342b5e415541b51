// Pages in both themes, wide and narrow, with names and texts that try to be more than text; and what they take from their address and from keys.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startReceiver } from '../support/receiver.ts';
import { shareErrand } from '../support/shared-errand.ts';
import { until } from '../support/wait.ts';
import { skip, visiting } from './browser.ts';

const newErrand = shareErrand();

const HOSTILE = `<img src=x onerror="window.owned=true"> \u202e reversed 🎉 ${'long'.repeat(40)}`;
const CODE = `export default ({ steps, $ }) => {
  const { body } = steps.trigger.event;
  console.log(body.said);
  $.export('$summary', body.said.slice(0, 300));
  $.send.emit({ event: body });
  return { said: body.said, much: 'x'.repeat(1_000_000) };
};
`;

test('workflows, runs and webhooks fit, whatever they are called', { skip }, async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  receiver.answer(200, {}, HOSTILE);
  const { client } = errand;
  const steps = [{ namespace: 'say', code: CODE }];
  const workflow = await client.post('/v1/workflows', { name: HOSTILE, steps, triggers: [{ type: 'http' }] });
  const webhook = await client.post('/v1/webhooks', { url: receiver.url, name: HOSTILE, description: HOSTILE });
  await client.post(`/v1/subscriptions?emitter_id=${workflow.id}&listener_id=${webhook.id}`);
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ said: HOSTILE });
  await fetch(workflow.triggers[0].endpoint_url, { method: 'POST', headers, body });
  await until('it is delivered', async () => {
    const { data } = await client.get(`/v1/webhooks/${webhook.id}/deliveries?state=delivered`);
    return data.length > 0;
  });
  const [run] = (await client.get(`/v1/workflows/${workflow.id}/runs`)).data;
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    for (const path of ['/workflows', `/workflows/${workflow.id}`, `/runs/${run.id}`, '/webhooks']) {
      await visit.inspectAll(path, /reversed/);
      assert.equal(await page.evaluate('window.owned'), undefined, path);
    }
    await visit.open(`/runs/${run.id}`);
    await page.locator('summary').filter({ hasText: 'say' }).click();
    await page.getByText('much:').waitFor();
    await visit.inspect('a step that returned a megabyte');
  });
});

test('colours of terminals are left out of what code says, and seen elsewhere', { skip }, async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  receiver.answer(200, {}, '\u001b[31mred\u001b[39m');
  const { client } = errand;
  const workflow = await errand.workflow(`export default ({ $ }) => {
    $.send.emit({ n: 1 });
    console.log('\\u001b[32mprinted\\u001b[39m');
    throw new Error('Timeout \\u001b[31m30s\\u001b[39m exceeded');
  };`);
  const webhook = await client.post('/v1/webhooks', { url: receiver.url });
  await client.post(`/v1/subscriptions?emitter_id=${workflow.id}&listener_id=${webhook.id}`);
  await errand.send(workflow, {});
  const [error] = await errand.errors(workflow.id, 1);
  assert.equal(error.event.error.msg, 'Timeout \u001b[31m30s\u001b[39m exceeded', 'the API has it as it was thrown');
  const [run] = (await client.get(`/v1/workflows/${workflow.id}/runs`)).data;
  const deliveries = `/v1/webhooks/${webhook.id}/deliveries`;
  const delivery = await until(
    'it is delivered',
    async () => (await client.get(`${deliveries}?state=delivered`)).data[0],
  );
  const [group] = (await client.get('/v1/error_groups')).data;
  await visiting(errand, async (visit) => {
    const { page } = visit;
    const main = page.getByRole('main');
    await visit.signIn();
    const message = /Timeout 30s exceeded/;
    for (const [path, texts] of [
      ['/errors', [/Timeout \{n\}s exceeded/]],
      [`/errors/${group.id}`, [message]],
      [`/errors/${group.id}/${error.id}`, [message]],
      [`/runs/${run.id}`, [message, 'printed']],
      [`/workflows/${workflow.id}`, [message]],
      [`/deliveries/${delivery.id}`, ['\\u001b[31mred\\u001b[39m']],
    ] as const) {
      await visit.open(path);
      for (const text of texts) await main.getByText(text).first().waitFor();
      assert.doesNotMatch((await main.innerText()).replaceAll('\\u001b[', ''), /\[3\dm/, path);
    }
  });
});

test('the inbox is limited to a period, and takes no choice from its address that there is not', { skip }, async () => {
  await using errand = await newErrand();
  const code = "export default () => { throw new Error('no stock'); };";
  await errand.send(await errand.workflow(code, { name: 'Orders' }), {});
  await until('the group', async () => (await errand.client.get('/v1/error_groups')).data.length === 1);
  await visiting(errand, async (visit) => {
    const { page } = visit;
    const group = page.getByRole('main').getByRole('link', { name: 'Error, Orders', exact: true });
    const seen = page.getByRole('combobox', { name: 'Seen last' });
    await visit.signIn();
    // Two days from now, what failed today was not seen within the last 24 hours.
    await page.addInitScript('const { now } = Date; Date.now = () => now() + 48 * 3_600_000;');
    await visit.open('/errors');
    await group.waitFor();
    await seen.selectOption({ label: 'Last 24 hours' });
    await page.getByText('No group matches').waitFor();
    assert.match(page.url(), /within=day/);
    await page.reload();
    await page.getByText('No group matches').waitFor();
    await seen.selectOption({ label: 'Last 7 days' });
    await group.waitFor();
    for (const written of ['within=never', 'state=closed', 'sort=nothing', 'emitter[]=1', 'code=None']) {
      await visit.open(`/errors?${written}`);
      await group.waitFor();
      assert.equal(await seen.inputValue(), '');
    }
    for (const other of ['/operations?kind=none', '/notices?state=none', '/webhooks?hears=none']) {
      await visit.open(other);
      await visit.still();
      assert.equal(await page.getByText('This could not be loaded').count(), 0, other);
    }
  });
});

test('Enter presses what has the focus, and opens the row that keys went to', { skip }, async () => {
  await using errand = await newErrand();
  const fails = "export default () => { throw Object.assign(new Error('no card'), { code: 'First' }); };";
  await errand.send(await errand.workflow(fails), {});
  await errand.settled();
  const [group] = (await errand.client.get('/v1/error_groups')).data;
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await visit.open(`/errors/${group.id}`);
    await page.getByRole('button', { name: 'Mute' }).press('Enter');
    await page.getByRole('menu').waitFor();
    // It hears the key a moment after it is there.
    await until('the menu to close', async () => {
      await page.keyboard.press('Escape');
      return (await page.getByRole('menu').count()) === 0;
    });
    await page.getByRole('link', { name: 'All errors' }).press('Enter');
    await page.getByRole('link', { name: 'First' }).waitFor();
    await page.getByRole('button', { name: 'All', exact: true }).press('Enter');
    await page.waitForURL(/state=all/);
    // The focus is still on a filter: keys that choose a row take it from there.
    await page.keyboard.press('j');
    await page.locator('[aria-current="true"].group-row').waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'First' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Download fixture' }).waitFor();
  });
});

test('what changes many groups, or takes it back, leaves the focus in the page', { skip }, async () => {
  await using errand = await newErrand();
  const fails =
    'export default ({ steps }) => { throw Object.assign(new Error("no"), { code: steps.trigger.event.body.code }); };';
  const workflow = await errand.workflow(fails);
  for (const code of ['First', 'Second', 'Third']) await errand.send(workflow, { code });
  await errand.settled();
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await visit.open('/errors');
    for (const code of ['First', 'Second']) await page.getByRole('checkbox', { name: `Select ${code}` }).check();
    await page.getByRole('button', { name: 'Resolve', exact: true }).press('Enter');
    await page.getByText('2 groups: Resolved.').waitFor();
    const heading = page.getByRole('heading', { level: 1 }).and(page.locator(':focus'));
    await heading.waitFor();
    const undo = page.getByRole('button', { name: 'Undo' });
    await undo.press('Enter');
    await undo.waitFor({ state: 'detached' });
    await heading.waitFor();
    await page.getByRole('link', { name: 'First' }).waitFor();
  });
});

test('a workflow made after the page was opened has its name in the inbox', { skip }, async () => {
  await using errand = await newErrand();
  const fails = "export default () => { throw Object.assign(new Error('no card'), { code: 'First' }); };";
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await visit.open('/errors');
    await page.getByText('No open errors').waitFor();
    await visit.still();
    await errand.send(await errand.workflow(fails, { name: 'Made meanwhile' }), {});
    await page.getByRole('link', { name: 'First' }).waitFor();
    await page.locator('.group-where').getByText('Made meanwhile').waitFor();
  });
});

test('a raw event shows what no eye sees, and is copied as it came', { skip }, async () => {
  await using errand = await newErrand();
  const { client } = errand;
  const steps = [{ namespace: 'say', code: 'export default () => { throw new Error("no"); };' }];
  const workflow = await client.post('/v1/workflows', { name: 'Says', steps, triggers: [{ type: 'http' }] });
  const headers = { 'content-type': 'application/json' };
  await fetch(workflow.triggers[0].endpoint_url, { method: 'POST', headers, body: '{"said":"a\u202eb"}' });
  const [error] = await errand.errors(workflow.id, 1);
  const [group] = (await client.get('/v1/error_groups')).data;
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await visit.open(`/errors/${group.id}/${error.id}`);
    await page.getByRole('button', { name: 'Raw' }).click();
    const raw = page.getByRole('region', { name: 'Raw' });
    await raw.getByText(String.raw`{"said":"a\u202eb"}`).waitFor();
    const padding = await raw.evaluate('(one) => getComputedStyle(one).paddingLeft');
    assert.notEqual(padding, '0px');
    await visit.inspect('a raw event');
    await page.getByRole('button', { name: 'Copy: Original event' }).click();
    const copied = async () => String(await page.evaluate('navigator.clipboard.readText()'));
    await until('it is copied as it came', async () => (await copied()).includes('{"said":"a\u202eb"}'));
  });
});
