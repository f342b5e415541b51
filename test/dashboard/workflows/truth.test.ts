// What pages say of events, versions, states and listeners is so, also where it would be easy to say something near it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shareErrand } from '../../support/shared-errand.ts';
import { createSource } from '../../support/sources/sources.ts';
import { until } from '../../support/wait.ts';
import { skip, visiting } from '../browser.ts';

const newErrand = shareErrand();
const EXACT = '12345678901234567890';
const FAILS = `export default ({ steps }) => {
  const { n } = steps.trigger.event.body;
  throw new Error('no card');
};`;
const step = (code: string) => ({ steps: [{ namespace: 'charge', code }], triggers: [{ type: 'http' }] });

test('numbers of the event of a run are not rounded', { skip }, async () => {
  await using errand = await newErrand();
  const workflow = await errand.workflow('export default () => 1;');
  const headers = { 'content-type': 'application/json' };
  await fetch(workflow.triggers[0].endpoint_url, { method: 'POST', headers, body: `{"order":${EXACT}}` });
  const [run] = await errand.runs(workflow.id, 1);
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await visit.open(`/runs/${run.id}`);
    await page.getByText(EXACT).waitFor();
  });
});

test('the lines under a stack are of the version that failed', { skip }, async () => {
  await using errand = await newErrand();
  const workflow = await errand.client.post('/v1/workflows', { name: 'Charge', ...step(FAILS) });
  await errand.send(workflow, { n: 1 });
  const [record] = await errand.errors(workflow.id, 1);
  const mended = `// Mended.\n// In two lines.\n${FAILS.replace("throw new Error('no card')", 'return n')}`;
  await errand.client.put(`/v1/workflows/${workflow.id}`, { steps: [{ namespace: 'charge', code: mended }] });
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await visit.open(`/emitters/${workflow.id}/errors/${record.id}`);
    const blamed = page.locator('.line.is-at');
    await blamed.filter({ hasText: "throw new Error('no card')" }).waitFor();
    assert.match((await blamed.textContent()) ?? '', /^3/);
    await page.getByText('The lines are of the version that failed').waitFor();
    await visit.inspect('an error of an older version');
  });
});

test('a group says until when it is quiet, and a person who opens it is no regression', { skip }, async () => {
  await using errand = await newErrand();
  const workflow = await errand.client.post('/v1/workflows', { name: 'Charge', ...step(FAILS) });
  await errand.send(workflow, { n: 1, order: 'order-77' });
  await errand.errors(workflow.id, 1);
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await visit.open('/errors');
    const link = page.locator('.group-row').getByRole('link', { name: 'Error' });
    await link.waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('e');
    await page.getByRole('button', { name: 'Undo' }).click();
    await until(
      'it is open again',
      async () => (await errand.client.get('/v1/error_groups?state=open')).data.length > 0,
    );
    await page.reload();
    await link.waitFor();
    assert.equal(await page.getByText('came back').count(), 0);

    await link.click();
    const facts = page.locator('.facts').first();
    for (const [item, label, text] of [
      ['For 100 more errors', 'Muted until', '100 more errors'],
      ['Until the next deployment', 'Muted until', 'an error of a later version'],
      ['Resolve in the next deployment', 'Resolved until', 'an error of a later version'],
    ] as const) {
      await page.getByRole('button', { name: 'Mute' }).click();
      await page.getByRole('menuitem', { name: item }).click();
      await facts.getByText(label).waitFor();
      await facts.getByText(text).waitFor();
    }
    // Of the order that one event is about, no group knows.
    await visit.open('/errors?q=order-77&state=all');
    await page.getByRole('link', { name: 'Search the events of runs for it' }).click();
    await page.getByRole('region', { name: 'Runs' }).getByText('Error: no card').waitFor();
    await visit.open('/errors?state=all');
    await page.locator('.group-row').getByText('until an error of a later version').waitFor();
    await visit.inspectAll('/errors?state=all', 'until an error of a later version');
  });
});

test('a run under way does not say that nothing has happened', { skip }, async () => {
  await using errand = await newErrand();
  const workflow = await errand.workflow(
    "export default async () => { console.log('begun'); await new Promise((later) => setTimeout(later, 60_000)); };",
  );
  await errand.send(workflow, {});
  const run = await until('the run to begin', async () => {
    const { data } = await errand.client.get(`/v1/runs?workflow_id=${workflow.id}&state=running`);
    return data[0];
  });
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await visit.open(`/runs/${run.id}`);
    await until('both say so', async () => (await page.getByText('shown when the run ends').count()) === 2);
    const took = page.getByText(/ · [\d.]+ s$/);
    const before = await took.textContent();
    await until('its time goes on', async () => (await took.textContent()) !== before);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the run' }).click();
    await page.locator('h1').getByText('cancelled').waitFor();
  });
});

test('a source names the workflows that it triggers, and what was typed survives a click beside it', {
  skip,
}, async () => {
  await using errand = await newErrand();
  const source = await createSource(
    errand,
    `export default { name: 'Orders', version: '0.0.1', props: { http: '$.interface.http' }, run(event) { this.$emit(event); } };`,
  );
  const packs = await errand.workflow('export default () => 1;', {
    name: 'Pack orders',
    triggers: [{ type: 'source', source_id: source.id }],
  });
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await visit.open(`/sources/${source.id}`);
    await page.getByRole('link', { name: 'Pack orders' }).waitFor();
    await visit.open(`/workflows/${packs.id}`);
    await page.getByText('Besides its triggers, it listens to nothing.').waitFor();

    await page.getByRole('button', { name: 'Run', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.locator('.cm-content, textarea').first().fill('{"typed": true}');
    await page.mouse.click(5, 5);
    await page.keyboard.press('Escape');
    await dialog.getByText('typed').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'detached' });
  });
});
