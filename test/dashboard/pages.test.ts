// Pages of workflows, runs and webhooks in both themes, wide and narrow, with names and texts that try to be more than text.

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
