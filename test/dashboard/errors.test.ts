// Errors in the dashboard, in a real browser on a real server.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY_MS } from '../../src/domain/limits.ts';
import type { Json } from '../support/client.ts';
import { type Errand, startErrand } from '../support/errand.ts';
import { shareErrand } from '../support/shared-errand.ts';
import { until } from '../support/wait.ts';
import { skip, type Visit, visiting } from './browser.ts';

const newErrand = shareErrand();

const CODE = `export default {
  async run({ steps, $ }) {
    const order = steps.trigger.event.body;
    if (order.bad) throw Object.assign(new Error('order ' + order.number + ' is bad'), { code: order.code ?? 'BadOrder' });
    return order.number;
  },
};
`;

async function deploy(errand: Errand, name = 'Check orders'): Promise<{ id: string; url: string }> {
  const made = await errand.client.post('/v1/workflows', {
    name,
    steps: [{ namespace: 'check', code: CODE }],
    triggers: [{ type: 'http' }],
  });
  return { id: made.id, url: made.triggers[0].endpoint_url };
}

async function fail(url: string, body: string): Promise<void> {
  const { status } = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  assert.equal(status, 200);
}

async function groups(errand: Errand): Promise<Json[]> {
  return (await errand.client.get('/v1/error_groups')).data;
}

async function groupsOf(errand: Errand, count: number): Promise<Json[]> {
  await until(
    'the errors are in groups',
    async () => (await groups(errand)).reduce((sum: number, group: Json) => sum + group.count, 0) >= count,
  );
  return groups(errand);
}

const row = ({ page }: Visit, name: string) => page.getByRole('listitem').filter({ hasText: name });

test('the first error is seen within a minute, by clicks alone', { skip }, async () => {
  await using errand = await newErrand();
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await visit.open('/');
    await page.getByText('Your first error in a minute').waitFor();
    await visit.inspect('the first view');
    await page.getByRole('button', { name: 'Deploy: Check orders' }).click();
    await row(visit, 'TypeError').first().waitFor();
    await page.getByRole('link', { name: 'Errors', exact: true }).click();
    await page.getByRole('link', { name: 'TypeError' }).click();
    await page.getByRole('heading', { name: /TypeError/ }).waitFor();
    await visit.inspect('the group');
    await page.getByRole('region', { name: 'Errors of this group' }).getByRole('link').first().click();
    await page.getByText('(sum - order.voucher.amount)').waitFor();
    await visit.inspect('the error');
  });
});

test('an error shows by itself, and keys resolve it', { skip }, async () => {
  await using errand = await newErrand();
  const { url } = await deploy(errand);
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await visit.open('/errors');
    await page.getByText('No open errors').waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    await fail(url, '{"bad":true,"number":1}');
    await row(visit, 'BadOrder').waitFor();
    await visit.inspect('the inbox');
    await page.keyboard.press('j');
    await page.keyboard.press('e');
    await page.getByText('Resolved.', { exact: true }).waitFor();
    await page.getByText('No open errors').waitFor();
    await until('it is resolved', async () => (await groups(errand))[0].state === 'resolved');
    await page.getByRole('button', { name: 'Undo' }).click();
    await row(visit, 'BadOrder').waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('m');
    await until('it is muted', async () => (await groups(errand))[0].state === 'muted');
    await page.keyboard.press('?');
    await page.getByRole('dialog').getByText('Mute for a day').waitFor();
    await visit.inspect('the help');
  });
});

test('filters stand in the address', { skip }, async () => {
  await using errand = await newErrand();
  const { url } = await deploy(errand);
  const quiet = await errand.workflow('export default () => 1;', { name: 'Quiet' });
  await fail(url, '{"bad":true,"number":1}');
  await fail(url, '{"bad":true,"number":1,"code":"OtherCode"}');
  await groupsOf(errand, 2);
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await visit.open('/errors?q=other');
    await row(visit, 'OtherCode').waitFor();
    assert.equal(await row(visit, 'BadOrder').count(), 0);
    await page.keyboard.press('/');
    await page.keyboard.type('x');
    await page.getByText('No group matches').waitFor();
    assert.match(page.url(), /q=otherx/);
    await page.getByRole('link', { name: 'Clear filters' }).click();
    await row(visit, 'BadOrder').waitFor();
    await page.getByRole('button', { name: 'Resolved' }).click();
    await page.getByText('No group matches').waitFor();
    assert.match(page.url(), /state=resolved/);
    await page.getByRole('button', { name: 'Open', exact: true }).click();
    const workflow = page.getByRole('combobox', { name: 'Workflow' });
    await workflow.selectOption({ label: 'Quiet' });
    await page.getByText('No group matches').waitFor();
    assert.match(page.url(), new RegExp(`emitter=${quiet.id}`));
    await visit.open('/errors?emitter=p_gone');
    await page.getByText('No group matches').waitFor();
    assert.equal(await workflow.inputValue(), 'p_gone');
    await workflow.selectOption('');
    await row(visit, 'BadOrder').waitFor();
    assert.doesNotMatch(page.url(), /emitter/);
    await page.setViewportSize({ width: 380, height: 800 });
    await visit.inspect('the filters on a narrow screen');
  });
});

test('an error shows its event as it came, and replays another', { skip }, async () => {
  await using errand = await newErrand();
  const { id, url } = await deploy(errand);
  await fail(url, '{"bad":true,"number":12345678901234567890,"big":1e400}');
  const [group] = await groupsOf(errand, 1);
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await visit.open(`/errors/${group.id}/${group.last_error_id}`);
    await page.getByText('12345678901234567890').first().waitFor();
    await page.getByText('1e400').waitFor();
    await page.getByRole('button', { name: 'Raw' }).click();
    await page.getByText('{"bad":true,"number":12345678901234567890,"big":1e400}').waitFor();
    await page.getByRole('button', { name: 'Copy as curl' }).click();
    const copied = await until('it is copied', async () => {
      const text = String(await page.evaluate('navigator.clipboard.readText()'));
      return /^curl -sS -X POST http:\/\/127\.0\.0\.1:\d+\/e\//.test(text) && text;
    });
    assert.ok(copied.includes(`'{"bad":true,"number":12345678901234567890,"big":1e400}'`), copied);
    await page.getByRole('button', { name: 'Replay' }).click();
    const field = page.getByRole('textbox', { name: 'Original event' });
    const text = await field.inputValue();
    await page.getByRole('checkbox', { name: /^From the step that failed/ }).waitFor();
    await field.fill(text.replace('"bad": true', '"bad": fals'));
    await page.getByText('This is not valid JSON:').waitFor();
    assert.ok(await page.getByRole('button', { name: 'Replay with this event' }).isDisabled());
    await field.fill(text.replace('"bad": true', '"bad": false'));
    await page.getByText('2 lines changed').waitFor();
    assert.equal(await page.getByRole('checkbox', { name: /^From the step/ }).count(), 0, 'of another event');
    await visit.inspect('the replay');
    await page.getByRole('button', { name: 'Replay with this event' }).click();
    await page.getByText('The replay has started.').waitFor();
    await page.getByRole('heading', { name: 'Replays' }).waitFor();
    const ran = async () => (await errand.client.get(`/v1/workflows/${id}/runs?state=succeeded`)).data;
    await until('the replay ran', async () => (await ran()).length === 1);
    const { event } = (await errand.client.get(`/v1/runs/${(await ran())[0].id}`)).data;
    assert.equal(event.body.bad, false);
    const whole = await errand.client.request('GET', `/v1/runs/${(await ran())[0].id}`);
    assert.ok(whole.text.includes('12345678901234567890'), 'what was not edited runs as it came');
    await page.getByRole('button', { name: 'Replay' }).click();
    await page.getByRole('checkbox', { name: /^From the step that failed/ }).check();
    await page.getByRole('dialog').getByRole('button', { name: 'Replay' }).click();
    await until('it goes on', async () => {
      const { data: runs } = await errand.client.get(`/v1/workflows/${id}/runs?state=failed&limit=1`);
      return (await errand.client.get(`/v1/runs/${runs[0].id}`)).data.attempt === 2;
    });
  });
});

test('an error says what its replays came to, and when its run is no longer retained', { skip }, async () => {
  await using errand = await startErrand();
  const { id, url } = await deploy(errand);
  await errand.client.put(`/v1/workflows/${id}`, { settings: { error_retention: { days: 365 } } });
  await fail(url, '{"bad":true,"number":1}');
  const [group] = await groupsOf(errand, 1);
  const { id: operationId } = await errand.client.post('/v1/replays', { group_id: group.id });
  await groupsOf(errand, 2);
  const [, { id: errorId, run_id: runId }] = (await errand.client.get('/v1/errors')).data;
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await visit.inspectAll(`/errors/${group.id}/${errorId}`, 'failed the same way');
    await page.getByRole('link', { name: 'new error' }).waitFor();
    await page.getByRole('link', { name: 'part of a replay of many' }).click();
    await page.waitForURL(`**/operations/${operationId}`);
    await visit.open(`/errors/${group.id}/${errorId}`);
    await page.getByRole('link', { name: 'The run that failed' }).click();
    await page.waitForURL(`**/runs/${runId}`);
  });
  // The newest hundred events of a trigger stay in any case, with their runs.
  for (let n = 0; n < 101; n++) await fail(url, '{"number":2}');
  await until('they ran', async () => (await errand.client.get('/v1/ledger')).data.runs.succeeded >= 101);
  errand.forward(40 * DAY_MS);
  await errand.restart();
  await until('the run is gone', async () => (await errand.client.request('GET', `/v1/runs/${runId}`)).status === 404);
  await visiting(errand, async (visit) => {
    await visit.signIn();
    await visit.inspectAll(`/errors/${group.id}/${errorId}`, 'is no longer retained');
    assert.equal(await visit.page.getByRole('link', { name: 'The run that failed' }).count(), 0);
  });
});

test('a hostile error is shown as text', { skip }, async () => {
  await using errand = await newErrand();
  const { url } = await deploy(errand, `<img src=x onerror="window.owned=true">\u202e reversed 🎉`);
  const code = '<script>window.owned=true</script>';
  await fail(
    url,
    `{"bad":true,"number":"<svg onload=alert(1)>${'x'.repeat(3000)}","code":"${code}","deep":"${'x'.repeat(300_000)}","":1,"sku":"A\u200b1\u202e","\\u0007":2}`,
  );
  const [group] = await groupsOf(errand, 1);
  await visiting(errand, async (visit) => {
    await visit.signIn();
    for (const path of ['/errors', `/errors/${group.id}`, `/errors/${group.id}/${group.last_error_id}`]) {
      await visit.open(path);
      await visit.page.getByText(code).first().waitFor();
      assert.equal(await visit.page.evaluate('window.owned'), undefined);
      await visit.inspect(path);
    }
    // What no eye sees stands as in JSON.
    for (const text of ['"A\\u200b1\\u202e"', '"":', '"\\u0007":']) await visit.page.getByText(text).waitFor();
  });
});

test('pages fit narrow and dark screens', { skip }, async () => {
  await using errand = await newErrand();
  const { url } = await deploy(errand, 'A workflow with a very long name, as people give them when nothing stops them');
  await fail(url, JSON.stringify({ bad: true, number: `with-a-word-that-never-ends-${'x'.repeat(300)}` }));
  const [group] = await groupsOf(errand, 1);
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    // The other two looks are those of every-page.test.ts.
    for (const [colorScheme, width] of [
      ['light', 380],
      ['dark', 1280],
    ] as const) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 800 });
      for (const path of ['/', '/errors', `/errors/${group.id}`, `/errors/${group.id}/${group.last_error_id}`]) {
        await visit.open(path);
        await page.getByText('BadOrder').first().waitFor();
        await visit.inspect(`${path} in ${colorScheme} at ${width}`);
      }
    }
  });
});

test('a theme is chosen, and kept', { skip }, async () => {
  await using errand = await newErrand();
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await visit.open('/');
    const scheme = (name: string) => page.locator(`html[data-mantine-color-scheme="${name}"]`);
    await scheme('light').waitFor();
    await page.getByRole('button', { name: /Signed in as/ }).click();
    await visit.inspect('the menu of the session');
    assert.ok(await page.getByRole('menuitemradio', { name: 'System theme' }).isChecked());
    await page.getByRole('menuitemradio', { name: 'Dark theme' }).click();
    await scheme('dark').waitFor();
    await visit.open('/errors');
    await scheme('dark').waitFor();
    await page.getByRole('button', { name: /Signed in as/ }).click();
    assert.ok(await page.getByRole('menuitemradio', { name: 'Dark theme' }).isChecked());
  });
});

test('another owner sees nothing of the first', { skip }, async () => {
  await using errand = await newErrand();
  const { url } = await deploy(errand, 'Secret orders');
  await fail(url, '{"bad":true,"number":1}');
  const [group] = await groupsOf(errand, 1);
  await using other = await newErrand();
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signInByForm();
    await row(visit, 'BadOrder').waitFor();
    await page.getByRole('button', { name: /Signed in as/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByLabel('API key', { exact: true }).waitFor();
    visit.complaints.length = 0;
    await visit.signInByForm(other.client.key);
    for (const path of ['/', '/errors?state=all', `/errors/${group.id}`]) {
      await visit.open(path).catch(() => undefined);
      await page.getByText(/Nothing needs attention|No group matches|does not exist/).waitFor();
      const text = (await page.locator('body').textContent()) ?? '';
      assert.doesNotMatch(text, /BadOrder|Secret orders/);
    }
    visit.complaints.length = 0;
  });
});

test('a session that is over asks to sign in, and comes back', { skip }, async () => {
  await using errand = await newErrand();
  const { key } = { key: await errand.client.post('/v1/keys', { label: 'mine', scopes: ['read'] }) };
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn(key.api_key);
    await visit.open('/errors?state=all&sort=count');
    await errand.client.delete(`/v1/keys/${key.id}`);
    // The click asks the server; or its own stream has told the page before, and the button is gone.
    await page
      .getByRole('button', { name: 'Open' })
      .click({ timeout: 3000 })
      .catch(() => undefined);
    const why = page.getByRole('alert').filter({ hasText: 'Your session is over' });
    await why.waitFor();
    await visit.inspect('a session that is over');
    await page.getByLabel('API key', { exact: true }).fill(errand.client.key);
    visit.complaints.length = 0;
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Errors', exact: true, level: 1 }).waitFor();
    assert.equal(new URL(page.url()).searchParams.get('sort'), 'count');
    // Also when the page is opened later; and no reason is given to a person who has signed out.
    await page.goto('about:blank');
    await page.context().clearCookies();
    await page.goto(`${errand.url}/webhooks`);
    await why.waitFor();
    await page.getByLabel('API key', { exact: true }).fill(errand.client.key);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Webhooks', level: 1 }).waitFor();
    await page.getByRole('button', { name: /^Signed in as/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByLabel('API key', { exact: true }).waitFor();
    assert.equal(await why.count(), 0);
    // What the page asked with the old key may be told late.
    assert.ok(visit.complaints.splice(0).every((line) => /401/.test(line)));
  });
});
