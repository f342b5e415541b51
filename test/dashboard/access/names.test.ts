// What a screen reader says: controls by names that tell them apart, pages by their titles, and what changes by itself.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shareErrand } from '../../support/shared-errand.ts';
import { skip, visiting } from '../browser.ts';

const newErrand = shareErrand();
const FAILS = "export default () => { throw Object.assign(new Error('no card'), { code: 'NoCard' }); };";

test('controls of rows and cards have names that tell them apart', { skip }, async () => {
  await using errand = await newErrand();
  const { client } = errand;
  const orders = await errand.workflow(FAILS, { name: 'Orders' });
  const cards = await errand.workflow(FAILS, { name: 'Cards' });
  for (const workflow of [orders, cards]) await errand.send(workflow, {});
  const [record] = await errand.errors(orders.id, 1);
  await errand.settled();
  const { data: groups } = await client.get('/v1/error_groups');
  const group = groups.find((one: { emitter_id: string }) => one.emitter_id === orders.id);
  for (const name of ['On call', 'Duty'])
    await client.post('/v1/channels', { kind: 'mail', name, config: { to: 'duty@example.com' } });
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    for (const path of ['/errors', `/errors/${group.id}/${record.id}`, '/notices', `/workflows/${orders.id}`]) {
      await visit.open(path);
      await visit.still();
      const controls = page.getByRole('main').locator('button, [type=checkbox]');
      const names = await controls.evaluateAll((all) =>
        all.map((one) => one.getAttribute('aria-label') ?? one.textContent ?? ''),
      );
      assert.ok(names.length > 1, path);
      assert.deepEqual(
        names.filter((name, at) => names.indexOf(name) !== at),
        [],
        path,
      );
    }
    await visit.open('/errors');
    for (const name of ['Orders', 'Cards']) await page.getByRole('link', { name: `NoCard, ${name}` }).waitFor();
  });
});

test('a replay is named in the title, and its pause is said', { skip }, async () => {
  await using errand = await newErrand();
  const { client } = errand;
  const workflow = await errand.workflow(FAILS, { name: 'Orders' });
  for (let n = 0; n < 3; n++) await errand.send(workflow, {});
  await errand.settled();
  const [group] = (await client.get('/v1/error_groups')).data;
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await visit.open(`/operations/new?group=${group.id}`);
    await page.getByRole('button', { name: 'Replay 3' }).press('Enter');
    const status = page.getByRole('status');
    await status.filter({ hasText: 'paused. failed the same way: 1' }).waitFor();
    await status.filter({ hasText: 'The first error, which goes ahead of the others, did not end well' }).waitFor();
    assert.equal(await page.title(), 'Replay of the group NoCard · Errand');
  });
});
