// What a workflow's pages do besides its code: it is made and deleted, its settings change, and it runs by hand with an event that it had.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../support/client.ts';
import { shareErrand } from '../support/shared-errand.ts';
import { until } from '../support/wait.ts';
import { skip, visiting } from './browser.ts';

const newErrand = shareErrand();

const PRICE = `export default ({ steps }) => {
  const { lines } = steps.trigger.event.body;
  if (lines.length > 1) throw new Error('too many');
  return lines.length;
};
`;

test('a workflow runs with one of its last events, byte for byte', { skip }, async () => {
  await using errand = await newErrand();
  const workflow = await errand.workflow(PRICE, { name: 'Price orders' });
  const headers = { 'content-type': 'application/json' };
  const body = '{"lines":[1,2],"big":12345678901234567890,"much":1e400}';
  await fetch(workflow.triggers[0].endpoint_url, { method: 'POST', headers, body });
  const [failed] = await errand.runs(workflow.id, 1);
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await visit.open(`/workflows/${workflow.id}`);
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Begin with').selectOption(failed.id);
    const field = dialog.getByRole('textbox', { name: 'Event' });
    await until('the event is there', async () => (await field.inputValue()).includes('12345678901234567890'));
    await visit.inspect('running with the last event');
    await field.fill((await field.inputValue()).replace(/\[\s*1,\s*2\s*\]/, '[1]'));
    await dialog.getByRole('button', { name: 'Run' }).click();
    await page.waitForURL('**/runs/r_*');
    const [run] = await errand.runs(workflow.id, 2);
    const { text } = await errand.client.request('GET', `/v1/runs/${run.id}`);
    assert.match(text, /"lines":\s*\[\s*1\s*\]/);
    for (const number of ['12345678901234567890', '1e400']) assert.ok(text.includes(number), number);
  });
});

test('settings of a workflow are read and changed', { skip }, async () => {
  await using errand = await newErrand();
  const workflow = await errand.workflow(PRICE, { name: 'Price orders' });
  const retry = { attempts: 2, base_ms: 50, also: ['Timeout'] };
  await errand.client.put(`/v1/workflows/${workflow.id}`, { settings: { retry, env: { REGION: 'eu' } } });
  const settings = async (): Promise<Json> => (await errand.client.get(`/v1/workflows/${workflow.id}`)).data.settings;
  const before = await settings();
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await visit.open(`/workflows/${workflow.id}`);
    const card = page.getByRole('region', { name: 'Settings' });
    await card.getByText('2 attempts').waitFor();
    await card.getByText('REGION').waitFor();
    await card.getByRole('button', { name: 'Change' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Price <b>all</b> orders');
    await dialog.getByLabel('Seconds that a run may take').fill('12.5');
    await dialog.getByLabel('Runs at the same time').fill('3');
    await dialog.getByLabel('Runs that may begin').fill('10');
    await dialog.getByLabel('Within this many seconds').fill('60');
    await dialog.getByLabel('Attempts, the first one included').fill('4');
    await dialog.getByLabel('Minutes after which silence').fill('90');
    await visit.inspect('changing settings');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    await page.getByRole('heading', { name: 'Price <b>all</b> orders' }).waitFor();
    await card.getByText('10 in 1 min').waitFor();
    const changed = await settings();
    assert.deepEqual(
      [
        changed.timeout_ms,
        changed.concurrency,
        changed.throttle,
        changed.retry.attempts,
        changed.watch.silent_after_ms,
      ],
      [12_500, 3, { limit: 10, interval_ms: 60_000 }, 4, 5_400_000],
    );
    const { attempts: _, ...others } = before.retry;
    assert.deepEqual({ ...changed.retry, ...others }, changed.retry, 'what has no field stays as it was');
    assert.deepEqual([changed.env, changed.memory_mb], [before.env, before.memory_mb]);
    await card.getByRole('button', { name: 'Change' }).click();
    for (const label of ['Runs that may begin', 'Attempts, the first one included', 'Minutes after which silence'])
      await dialog.getByLabel(label).fill('');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    const again = await settings();
    assert.deepEqual([again.throttle, again.retry, again.watch?.silent_after_ms ?? null], [null, null, null]);
    await visit.inspectAll(`/workflows/${workflow.id}`, 'Runs at the same time');
  });
});

test('a workflow is watched for its error ratio, and its state is shown', { skip }, async () => {
  await using errand = await newErrand();
  const workflow = await errand.workflow(PRICE);
  const watch = async (): Promise<Json> =>
    (await errand.client.get(`/v1/workflows/${workflow.id}`)).data.settings.watch;
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await visit.open(`/workflows/${workflow.id}`);
    const card = page.getByRole('region', { name: 'Settings' });
    const [dialog, change] = [page.getByRole('dialog'), card.getByRole('button', { name: 'Change' })];
    const save = async (): Promise<void> => {
      await dialog.getByRole('button', { name: 'Save' }).click();
      await dialog.waitFor({ state: 'detached' });
    };
    await change.click();
    await dialog.getByLabel('Minutes without a success').fill('1500');
    const ratio = dialog.getByRole('group', { name: 'Error ratio' });
    const [percent, runs, minutes] = ['percentage', 'this many runs', 'ended within'].map((text) =>
      ratio.getByLabel(text),
    );
    await percent?.fill('7');
    await runs?.fill('1');
    await minutes?.fill('60');
    await visit.inspect('watching');
    await save();
    await card.getByText('more than 7 % of at least 1 run in 1 h failed').waitFor();
    await until('both are up', async () => (await card.getByText('up', { exact: true }).count()) === 2);
    const set = {
      silent_after_ms: null,
      succeeded_within_ms: 90_000_000,
      error_ratio: { over: 0.07, of_at_least: 1, window_ms: 3_600_000 },
    };
    assert.deepEqual(await watch(), set);
    await errand.send(workflow, { lines: [1, 2] });
    await card.getByText('down', { exact: true }).waitFor();
    await visit.inspectAll(`/workflows/${workflow.id}`, 'Unhealthy when');
    await page.getByRole('button', { name: 'Deactivate' }).click();
    const asked = page.getByRole('dialog', { name: 'Deactivate' });
    await asked.getByText('its addresses answer 404').waitFor();
    await asked.getByRole('button', { name: 'Deactivate' }).click();
    await card.getByText('not watched while it is inactive').first().waitFor();
    await change.click();
    assert.equal(await percent?.inputValue(), '7');
    await minutes?.fill('');
    await save();
    await card.getByText('more than 7 %').waitFor({ state: 'detached' });
    assert.deepEqual(await watch(), { ...set, error_ratio: null });
  });
});

test('redaction before storing says that it turns replay off', { skip }, async () => {
  await using errand = await newErrand();
  const workflow = await errand.workflow(PRICE);
  await errand.client.put('/v1/users/me/redaction', { keys: ['password'] });
  const rules = async (): Promise<Json> => (await errand.client.get(`/v1/workflows/${workflow.id}/redaction`)).data;
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await visit.open(`/workflows/${workflow.id}`);
    const card = page.getByRole('region', { name: 'Redaction' });
    await card.getByText('as it arrived').waitFor();
    await card.getByRole('button', { name: 'Change what is hidden' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Names of fields').fill('lines');
    const before = dialog.getByRole('checkbox', { name: /^Redact before storing.*Turns replay off for new errors/s });
    await before.press('Space');
    await visit.inspect('redaction of a workflow');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await card.getByText('new errors cannot be replayed').waitFor();
    assert.deepEqual(await rules(), { keys: ['lines'], patterns: [], before_storing: true });
    await errand.send(workflow, { lines: [1, 2] });
    const [error] = await errand.errors(workflow.id, 1);
    await visit.open(`/emitters/${workflow.id}/errors/${error.id}`);
    await page.getByText('[redacted]').first().waitFor();
    await visit.inspectAll(`/workflows/${workflow.id}`, 'new errors cannot be replayed');
  });
});

test('a workflow is made, called and deleted', { skip }, async () => {
  await using errand = await newErrand();
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await visit.open('/workflows');
    await page.getByRole('button', { name: 'New workflow' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('From the dashboard');
    await visit.inspect('the dialog for a new workflow');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { name: 'From the dashboard' }).waitFor();
    await page.getByRole('textbox', { name: 'Code of the step first' }).waitFor();
    const id = new URL(page.url()).pathname.split('/').at(-1);
    const { triggers } = (await errand.client.get(`/v1/workflows/${id}`)).data;
    assert.equal(triggers[0].type, 'http');
    assert.equal((await fetch(triggers[0].endpoint_url, { method: 'POST', body: 'hello' })).status, 200);
    await page.getByText('It ran').first().waitFor();
    await page.getByRole('button', { name: 'Delete' }).click();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { name: 'Workflows' }).waitFor();
    await until('it is gone', async () => (await errand.client.request('GET', `/v1/workflows/${id}`)).status === 404);
  });
});

test('a new workflow is started by a schedule', { skip }, async () => {
  await using errand = await newErrand();
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await visit.open('/workflows');
    await page.getByRole('button', { name: 'New workflow' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Each night');
    await dialog.getByLabel('What starts it').selectOption('cron');
    await dialog.getByLabel('Cron expression').fill('every night');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog
      .getByRole('alert')
      .filter({ hasText: /every night/ })
      .waitFor();
    visit.complaints.length = 0;
    await dialog.getByLabel('Cron expression').fill('0 3 * * *');
    await dialog.getByLabel('Time zone').fill('Europe/Berlin');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByText('0 3 * * * Europe/Berlin').waitFor();
  });
});

test('the global error workflow has no button that deletes it', { skip }, async () => {
  await using errand = await newErrand();
  const { global_error_workflow_id: id } = (await errand.client.get('/v1/users/me')).data;
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await visit.open(`/workflows/${id}`);
    await page.getByRole('button', { name: 'Deactivate' }).waitFor();
    assert.equal(await page.getByRole('button', { name: 'Delete' }).count(), 0);
  });
});
