// What all pages do alike: empty lists say what to do next, times are local, texts stand in one file, keys work the list.

import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Json } from '../support/client.ts';
import { assertProblem } from '../support/problem.ts';
import { startReceiver } from '../support/receiver.ts';
import { shareErrand } from '../support/shared-errand.ts';
import { until } from '../support/wait.ts';
import { skip, visiting } from './browser.ts';

const newErrand = shareErrand();
const SOURCES = join(import.meta.dirname, '../../dashboard/src');
const FAILS = `export default ({ steps }) => {
  const { code } = steps.trigger.event.body;
  console.log('fails with ' + code);
  throw Object.assign(new Error('of ' + code), { code });
};`;

test('each empty list says what to do next, with a command to copy', { skip }, async () => {
  await using errand = await newErrand();
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    for (const noun of [
      'errors',
      'runs',
      'sources',
      'webhooks',
      'subscriptions',
      'operations',
      'accounts',
      'data-stores',
    ].concat(...['heartbeats', 'notices', 'deliveries'])) {
      await visit.open(`/${noun}`);
      const command = page.locator('.empty .command').first();
      await command.waitFor();
      const text = (await command.locator('code').textContent()) ?? '';
      assert.match(text, /^(npx errand|curl) /, noun);
      await command.getByRole('button').click();
      await until(`${noun} is copied`, async () => (await page.evaluate('navigator.clipboard.readText()')) === text);
    }
  });
});

test('times are local, and UTC when the pointer rests on them', { skip }, async () => {
  await using errand = await newErrand();
  const workflow = await errand.workflow(FAILS);
  await errand.send(workflow, { code: 'Bad' });
  const [run] = await errand.runs(workflow.id, 1);
  await visiting(errand, async (visit) => {
    const { page } = visit;
    const session = await page.context().newCDPSession(page);
    await session.send('Emulation.setTimezoneOverride', { timezoneId: 'Asia/Kolkata' });
    await visit.signIn();
    await visit.open(`/runs/${run.id}`);
    const line = page.getByRole('region', { name: 'Logs' }).locator('time');
    await line.waitFor();
    const iso = (await line.getAttribute('datetime')) ?? '';
    const local = new Date(Date.parse(iso) + 5.5 * 3_600_000).toISOString().slice(11, 23);
    assert.equal(((await line.textContent()) ?? '').replace(',', '.'), local);
    assert.ok((await line.getAttribute('title'))?.endsWith(iso));
    for (const path of ['/workflows', `/runs/${run.id}`, '/errors']) {
      await visit.open(path);
      await page.locator('time').first().waitFor();
      for (const one of await page.locator('time').all())
        assert.ok((await one.getAttribute('title'))?.endsWith((await one.getAttribute('datetime')) ?? 'none'), path);
    }
  });
});

test('keys go through the groups, open and replay one, and its error is downloaded', { skip }, async () => {
  await using errand = await newErrand();
  const workflow = await errand.workflow(FAILS);
  for (const code of ['First', 'Second']) {
    await errand.send(workflow, { code });
    await errand.settled();
  }
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await visit.open('/errors');
    const at = page.locator('[aria-current="true"].group-row');
    await page.getByRole('link', { name: 'Second' }).waitFor();
    for (const [key, code] of [
      ['j', 'Second'],
      ['j', 'First'],
      ['k', 'Second'],
    ] as const) {
      await page.keyboard.press(key);
      await at.filter({ hasText: code }).waitFor();
    }
    // What a replay does cannot be taken back: the key asks, and a second one says yes.
    await page.keyboard.press('r');
    const asked = page.getByRole('dialog', { name: 'Replay the newest error' });
    await asked.getByText('Second').waitFor();
    await page.keyboard.press('Escape');
    await asked.waitFor({ state: 'detached' });
    assert.equal((await errand.runs(workflow.id, 2)).length, 2);
    await page.keyboard.press('r');
    await asked.getByRole('button', { name: 'Replay' }).and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Enter');
    await page.getByText('The replay has started.').waitFor();
    assert.equal((await errand.runs(workflow.id, 3)).filter(({ replay }) => replay).length, 1);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Second' }).waitFor();
    await page.getByRole('region', { name: 'Errors of this group' }).getByRole('link').first().click();
    const link = page.getByRole('link', { name: 'Download fixture' });
    await link.waitFor();
    const [download] = await Promise.all([page.waitForEvent('download'), link.click()]);
    const fixture = JSON.parse(await readFile(await download.path(), 'utf8'));
    assert.match(download.suggestedFilename(), /^error-\d+-\d+\.json$/);
    assert.equal(JSON.parse(fixture.original_event_text).body.code, 'Second');
  });
});

test('the way back to a list leads to it as it was left, and the menu to all of it', { skip }, async () => {
  await using errand = await newErrand();
  const workflow = await errand.workflow(FAILS);
  for (const code of ['First', 'Second']) await errand.send(workflow, { code });
  await errand.settled();
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await visit.open('/errors?state=all&q=Sec&sort=count');
    await page.getByRole('link', { name: 'Second' }).click();
    await page.getByRole('link', { name: 'All errors' }).click();
    await page.waitForURL(/state=all/);
    const { searchParams } = new URL(page.url());
    assert.deepEqual(Object.fromEntries(searchParams), { state: 'all', q: 'Sec', sort: 'count' });
    await page.getByRole('link', { name: 'Second' }).waitFor();
    assert.equal(await page.getByRole('link', { name: 'First' }).count(), 0);
    await page.getByRole('link', { name: 'Second' }).click();
    await page.getByRole('heading', { name: 'Second' }).waitFor();
    await page.getByRole('navigation').getByRole('link', { name: 'Errors' }).click();
    await page.getByRole('link', { name: 'First' }).waitFor();
    assert.equal(new URL(page.url()).search, '');
  });
});

test('what no run failed with is not offered to be replayed, as the server refuses it', { skip }, async () => {
  await using errand = await newErrand();
  const late = `export default ({ $ }) => {
    setTimeout(() => { $.send.emit({}); throw new RangeError('late'); }, 50);
    return 1;
  }`;
  const workflow = await errand.workflow(late);
  await errand.client.post('/v1/errors', { workflow_id: workflow.id, code: 'Elsewhere', message: 'no' });
  await errand.send(workflow, {});
  await errand.errors(workflow.id, 3);
  const groups = (await errand.client.get('/v1/error_groups')).data;
  assert.deepEqual(groups.map(({ fingerprint }: Json) => fingerprint.code).sort(), [
    'Elsewhere',
    'LostAfterEnd',
    'ThrownAfterEnd',
  ]);
  await visiting(errand, async (visit) => {
    await visit.signIn();
    for (const group of groups) {
      const path = `/v1/workflows/${workflow.id}/$errors/${group.last_error_id}/replay`;
      assert.equal((await errand.client.request('POST', path)).status, 422);
      await visit.open(`/errors/${group.id}/${group.last_error_id}`);
      await visit.page.getByRole('heading', { name: group.fingerprint.code }).waitFor();
      await visit.page.getByRole('link', { name: 'Download fixture' }).waitFor();
      assert.equal(await visit.page.getByRole('button', { name: /^Replay/ }).count(), 0, group.fingerprint.code);
    }
  });
});

test('a request that was given up is not offered to be replayed, as the server refuses it', { skip }, async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  receiver.answer(410);
  const workflow = await errand.workflow(
    `export default ({ $ }) => { $.send.http({ method: 'POST', url: '${receiver.url}' }) }`,
  );
  await errand.send(workflow, {});
  const [record] = await errand.errors(workflow.id, 1);
  const [group] = (await errand.client.get('/v1/error_groups')).data;
  await visiting(errand, async (visit) => {
    await visit.signIn();
    await visit.open(`/errors/${group.id}/${record.id}`);
    await visit.page.getByRole('link', { name: 'The delivery that was given up' }).waitFor();
    assert.equal(await visit.page.getByRole('button', { name: 'Replay', exact: true }).count(), 0);
  });
  const replay = `/v1/workflows/${workflow.id}/$errors/${record.id}/replay`;
  const refused = assertProblem(await errand.client.request('POST', replay, {}), 422, record.id);
  assert.match(refused.detail, /is of a mail or a request: deliveries are sent again, and not replayed/);
  const own = (await errand.client.post(replay, { event: { by: 'hand' } })).run_id;
  assert.deepEqual((await errand.client.get(`/v1/runs/${own}`)).data.event, { by: 'hand' });
});

test('keys act on the row that was chosen, whatever comes before it', { skip }, async () => {
  await using errand = await newErrand();
  const workflow = await errand.workflow(FAILS);
  const stateOf = async (code: string) => (await errand.client.get(`/v1/error_groups?code=${code}`)).data[0].state;
  for (const code of ['First', 'Second']) {
    await errand.send(workflow, { code });
    await errand.settled();
  }
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await visit.open('/errors');
    await page.getByText('Live', { exact: true }).waitFor();
    const chosen = (code: string) => page.locator('[aria-current="true"].group-row').getByText(code, { exact: true });
    await page.getByRole('link', { name: 'Second' }).waitFor();
    await page.keyboard.press('j');
    await chosen('Second').waitFor();
    await errand.send(workflow, { code: 'Third' });
    await page.getByRole('link', { name: 'Third' }).waitFor();
    await page.keyboard.press('e');
    await page.getByText('Resolved.').waitFor();
    assert.deepEqual([await stateOf('Second'), await stateOf('Third')], ['resolved', 'open']);
    // It leaves the list: the next one has its place.
    await chosen('First').waitFor();
    await page.keyboard.press('k');
    await chosen('Third').waitFor();
  });
});

test('what another person does to a group shows by itself', { skip }, async () => {
  await using errand = await newErrand();
  const workflow = await errand.workflow(FAILS);
  await errand.send(workflow, { code: 'First' });
  await errand.settled();
  const [group] = (await errand.client.get('/v1/error_groups')).data;
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    for (const [path, before, state, after] of [
      [`/errors/${group.id}`, 'Open', 'resolved', 'Resolved'],
      ['/errors?state=resolved', 'First', 'open', 'No group matches'],
    ] as const) {
      await visit.open(path);
      await page.getByRole('main').getByText(before, { exact: true }).first().waitFor();
      await visit.still();
      await errand.client.put(`/v1/error_groups/${group.id}`, { state });
      await page.getByRole('main').locator('h1, h2').getByText(after).waitFor();
    }
  });
});

test('a group takes a note and an assignee, whom the inbox shows', { skip }, async () => {
  await using errand = await newErrand();
  const workflow = await errand.workflow(FAILS);
  await errand.send(workflow, { code: 'First' });
  await errand.settled();
  const [group] = (await errand.client.get('/v1/error_groups')).data;
  const saved = async () => (await errand.client.get(`/v1/error_groups/${group.id}`)).data;
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await visit.open(`/errors/${group.id}`);
    const assignee = page.getByLabel('Assignee');
    await assignee.fill('not an address');
    await page.getByRole('button', { name: 'Save' }).click();
    await page
      .locator('.toast.is-bad')
      .getByText(/assignee/)
      .waitFor();
    await assignee.fill('ada@example.com');
    await page.getByRole('textbox', { name: 'Note' }).fill('Orders from Norway');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    await page.getByRole('button', { name: 'Save' }).waitFor({ state: 'detached' });
    const { note, assignee: by } = await saved();
    assert.deepEqual([note, by], ['Orders from Norway', 'ada@example.com']);
    visit.complaints.length = 0;
    await visit.open('/errors');
    const row = page.locator('.group-row');
    await row.getByText('ada@example.com').waitFor();
    const of = page.getByRole('combobox', { name: 'Assignee' });
    await of.selectOption({ label: 'No assignee' });
    await page.getByText('No group matches').waitFor();
    await of.selectOption({ label: 'ada@example.com' });
    await row.getByText('ada@example.com').waitFor();
    assert.match(page.url(), /assignee=ada/);
    await visit.open('/errors?assignee=eve@example.com');
    await page.getByText('No group matches').waitFor();
    assert.equal(await of.inputValue(), 'eve@example.com');
    await visit.open(`/errors/${group.id}`);
    await assignee.fill('');
    await page.getByRole('button', { name: 'Save' }).click();
    await until('no person has it', async () => (await saved()).assignee === null);
    assert.equal((await saved()).note, 'Orders from Norway');
  });
});

test('a note outlives its page, and is not lost to that of another person', { skip }, async () => {
  await using errand = await newErrand();
  const workflow = await errand.workflow(FAILS);
  await errand.send(workflow, { code: 'First' });
  await errand.settled();
  const [group] = (await errand.client.get('/v1/error_groups')).data;
  const put = (note: string) => errand.client.put(`/v1/error_groups/${group.id}`, { note });
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await visit.open(`/errors/${group.id}`);
    const note = page.getByRole('textbox', { name: 'Note' });
    const save = page.getByRole('button', { name: 'Save' });
    await note.fill('Half of a note');
    await page.getByRole('link', { name: 'Webhooks', exact: true }).click();
    await page.getByRole('heading', { name: 'Webhooks', exact: true }).waitFor();
    await page.goBack();
    await until('it is there again', async () => (await note.inputValue()) === 'Half of a note');
    await put('By another person');
    await page.getByText('Another person has changed this meanwhile').waitFor();
    await page.getByText('By another person').waitFor();
    await visit.inspect('a note that was overtaken');
    await note.fill('Of both');
    await save.click();
    await save.waitFor({ state: 'detached' });
    assert.equal(await page.getByText('Another person has changed').count(), 0);
    // What is saved follows the server again.
    await put('By another person, later');
    await until('it is shown', async () => (await note.inputValue()) === 'By another person, later');
    assert.equal(await save.count(), 0);
  });
});

test('no text of the dashboard stands outside of its file', async () => {
  const files = (await readdir(SOURCES, { recursive: true })).filter((file) => file.endsWith('.tsx'));
  assert.ok(files.length > 60);
  for (const file of files) {
    const text = await readFile(join(SOURCES, file), 'utf8');
    const written = [
      ...text.matchAll(/\b(?:aria-label|label|title|placeholder|description|alt)="[^"]*[a-z]{2}[^"]*"/g),
      ...text.matchAll(/(?<![=)])>\s*[A-Z]?[a-z]{2,}(?: [a-z]+)*[.…:]?\s*<\//g),
    ].map(([found]) => found);
    assert.deepEqual(written, [], file);
  }
});
