// The whole story by clicks and keys alone: an error shows by itself, is read, its code mended in the editor, its group replayed
// and resolved, and who was told of the error hears that it is over.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../support/client.ts';
import { startReceiver } from '../support/receiver.ts';
import { shareErrand } from '../support/shared-errand.ts';
import { until } from '../support/wait.ts';
import { skip, visiting } from './browser.ts';

const newErrand = shareErrand();

test('an error is seen live, read, mended, replayed, resolved, and told as recovered', { skip }, async () => {
  await using errand = await newErrand();
  await using chat = await startReceiver();
  const { client } = errand;
  const channel = await client.post('/v1/channels', { kind: 'http', name: 'On call', config: { url: chat.url } });
  await client.put('/v1/users/me', { channels: [channel.id] });
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signInByForm();
    await page.getByRole('button', { name: 'Deploy: Check orders' }).click();
    // It shows by itself.
    await page.getByRole('link', { name: 'TypeError' }).first().click();
    await page.getByRole('heading', { name: /TypeError/ }).waitFor();
    await chat.wait(1);
    await page.getByRole('main').getByRole('link', { name: 'Check orders' }).waitFor();
    await page.getByRole('region', { name: 'Errors of this group' }).getByRole('link').first().click();
    await page.getByText('(sum - order.voucher.amount)').waitFor();
    const [workflow] = (await client.get('/v1/workflows')).data.filter(({ name }: Json) => name === 'Check orders');
    // The code is mended where it failed: both pages lead to it.
    await page.getByRole('main').getByRole('link', { name: 'Check orders' }).click();
    await page.getByRole('textbox', { name: 'Code of the step check_order' }).waitFor();
    await page.getByRole('link', { name: 'Workflows', exact: true }).click();
    await page.getByRole('link', { name: 'Check orders' }).click();
    const editor = page.getByRole('textbox', { name: 'Code of the step check_order' });
    await editor.waitFor();
    const { steps } = (await client.get(`/v1/workflows/${workflow.id}`)).data;
    const mended = steps[0].code.replace('order.voucher.amount', '(order.voucher?.amount ?? 0)');
    await editor.click();
    await page.keyboard.press('Control+a');
    await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(mended)})`);
    await page.keyboard.press('Control+v');
    await editor.filter({ hasText: 'voucher?.amount' }).waitFor();
    await page.keyboard.press('Control+s');
    // "Deployed." may still be said of the example.
    await until('it is deployed', async () => {
      const { data } = await client.get(`/v1/workflows/${workflow.id}`);
      return data.steps[0].code === mended;
    });
    await page.getByRole('link', { name: 'Its errors' }).click();
    await page.getByRole('link', { name: 'TypeError' }).click();
    await page.getByRole('link', { name: 'Replay all…' }).click();
    await page.getByRole('button', { name: 'Replay 1 error' }).click();
    await page.locator('h1').getByText('done').waitFor();
    await page
      .getByRole('region', { name: 'Results' })
      .getByRole('listitem')
      .getByText('fixed', { exact: true })
      .waitFor();
    // Nobody resolved it: all its errors are fixed.
    await page.getByRole('link', { name: 'Errors', exact: true }).click();
    await page.getByText('No open errors').waitFor();
    await page.getByRole('button', { name: 'Resolved' }).click();
    const resolved = page.locator('h1').getByText('Resolved');
    const inList = page.getByRole('link', { name: 'TypeError' });
    // A click is lost on a row that the list draws again meanwhile.
    await until('the page of the resolved group', async () => {
      if (await resolved.isVisible()) return true;
      if (await inList.isVisible()) await inList.click({ timeout: 5000 }).catch(() => undefined);
      return resolved.isVisible();
    });
    const told = await until('the recovery', () =>
      chat.received.map(({ body }) => JSON.parse(String(body)) as Json).find(({ kind }) => kind === 'recovered'),
    );
    assert.deepEqual(told.replayed, { succeeded: 1, of: 1 });
    await visit.open(`/notices?channel=${channel.id}`);
    await until('both notices are listed', async () => {
      return (
        (await page
          .getByRole('main')
          .getByRole('listitem')
          .filter({ hasText: /Notice/ })
          .count()) === 2
      );
    });
  });
});
