// Sources, subscriptions and what differs in a group, in a real browser on a real server.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../support/client.ts';
import { startReceiver } from '../support/receiver.ts';
import { shareErrand } from '../support/shared-errand.ts';
import { until } from '../support/wait.ts';
import { skip, visiting } from './browser.ts';

const newErrand = shareErrand();

const FEED = `export default {
  key: 'feed', name: 'Feed', version: '0.0.1', type: 'source',
  props: {
    http: '$.interface.http',
    db: '$.service.db',
    city: { type: 'string', label: 'City', options: () => [{ label: 'Rome, Italy', value: 'rome' }, 'oslo'], reloadProps: true },
    many: { type: 'string[]', label: 'Kinds', options: ['a', 'b'], optional: true },
    token: { type: 'string', label: 'Token', secret: true, optional: true },
    every: { type: 'boolean', label: 'Every one', optional: true },
    shop: { type: 'app', app: 'shop', label: 'Account of the shop', optional: true },
  },
  additionalProps() {
    return this.city === 'rome' ? { district: { type: 'integer', label: 'District of Rome' } } : {};
  },
  run(event) {
    this.db.set('<i>last</i>', { seen: event.body.n });
    this.db.set('much', 'x'.repeat(9000));
    for (let n = 0; n < (event.body.keeps ?? 0); n++) this.db.set('z' + String(n).padStart(3, '0'), n);
    console.log('got <img src=x onerror=alert(1)>');
    this.$emit({ body: event.body, city: this.city, district: this.district }, { summary: '<b>Order</b> ' + event.body.n + ' \u202eabc' });
  },
};
`;
const HEARS = 'export default ({ steps }) => steps.trigger.event.body;';

test('a source is deployed by a form that its props make', { skip }, async () => {
  await using errand = await newErrand();
  await using other = await newErrand();
  const account = (of: typeof errand, app: string, name: string): Promise<Json> =>
    of.client.post('/v1/accounts', { app, name, fields: { token: 'hunter2' } });
  const mine = await account(errand, 'shop', 'Mine <b>');
  for (const [of, app] of [
    [errand, 'chat'],
    [other, 'shop'],
  ] as const)
    await account(of, app, 'Not offered');
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await visit.open('/sources');
    await page.getByText('No sources yet').waitFor();
    await visit.inspectAll('/sources/new', 'Code of your own');
    await page.getByRole('link', { name: 'Code of your own' }).click();
    await page.getByRole('textbox', { name: 'Code' }).fill(FEED);
    await page.getByRole('button', { name: 'Read its props' }).click();
    await page.getByLabel('Name').fill('Shop <script>feed</script>');
    // Options that code looks up, and a prop that comes with one of them.
    const city = page.getByLabel('City');
    await city.focus();
    await page.locator('option[value="rome"]').waitFor({ state: 'attached' });
    assert.equal(await page.locator('option[value="rome"]').textContent(), 'Rome, Italy');
    assert.equal(await page.getByLabel('District of Rome').count(), 0);
    await page.getByRole('button', { name: 'Deploy' }).click();
    await page.getByRole('status').filter({ hasText: 'The fields in red say why' }).waitFor();
    await city.and(page.locator(':focus')).waitFor();
    await page.getByText('This is required.').first().waitFor();
    assert.equal(await page.getByText('was not configured').count(), 0);
    visit.complaints.length = 0;
    await city.fill('rome');
    await page.getByLabel('District of Rome').fill('7');
    await page.getByRole('checkbox', { name: 'b' }).check();
    await page.getByRole('checkbox', { name: /^Every one/ }).check();
    await page.getByLabel('Token').fill('s3cret');
    const shop = page.getByLabel('Account of the shop');
    await shop.locator('option', { hasText: 'Mine <b>' }).waitFor({ state: 'attached' });
    assert.equal(await shop.locator('option').count(), 2, 'none, and the one account of this app and owner');
    await shop.selectOption({ label: 'Mine <b>' });
    await visit.inspect('the form');
    await page.getByRole('button', { name: 'Deploy' }).click();
    await page.waitForURL('**/sources/dc_*');
    await page.getByRole('heading', { name: 'Shop <script>feed</script>' }).waitFor();

    const [source] = (await errand.client.get('/v1/sources')).data;
    const { city: given, district, many, every } = source.configured_props;
    assert.deepEqual([given, district, many, every], ['rome', 7, ['b'], true]);
    assert.equal(source.configured_props.shop.authProvisionId, mine.id);
    const headers = { 'content-type': 'application/json' };
    await fetch(source.endpoint_url, { method: 'POST', headers, body: '{"n":7}' });
    await page.getByText('<b>Order</b> 7').click();
    await page.getByText('district:').first().waitFor();
    await page.getByText('got <img src=x onerror=alert(1)>').waitFor();
    const state = page.getByRole('region', { name: 'State' });
    await state.filter({ hasText: /<i>last<\/i>.*seen: 7.*much.*9,002 characters/ }).waitFor();
    assert.equal(await page.evaluate('window.owned'), undefined);
    await visit.inspectAll(`/sources/${source.id}`, '<b>Order</b> 7');
    await fetch(source.endpoint_url, { method: 'POST', headers, body: '{"n":8,"keeps":230}' });
    await page.getByText('<b>Order</b> 8').waitFor();
    // What stands behind the first hundred names comes when its place is reached.
    await until('the last name', async () => {
      await page.evaluate(`document.querySelector('section[aria-label="State"]').scrollIntoView({ block: 'end' })`);
      return (await state.getByText('z229', { exact: true }).count()) > 0;
    });
    assert.ok(visit.requested.some((url) => url.endsWith(`/v1/sources/${source.id}/state?skip=200`)));
    await page.getByRole('button', { name: 'Change' }).click();
    const token = page.getByLabel('Token');
    assert.equal(await token.inputValue(), '', 'what is secret is not shown');
    await page.getByLabel('District of Rome').fill('8');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    assert.equal((await errand.client.get(`/v1/sources/${source.id}`)).data.configured_props.district, 8);
    await visit.inspectAll('/sources', 'Shop <script>feed</script>');
    await visit.open(`/sources/${source.id}`);
    // It runs by hand as if a request had come.
    await page.getByRole('button', { name: 'Run now' }).click();
    const event = page.getByRole('textbox', { name: 'Event' });
    assert.deepEqual(Object.keys(JSON.parse(await event.inputValue())), ['method', 'path', 'query', 'headers', 'body']);
    await visit.inspect('the event of a source');
    await event.fill('{"body": {"n": 12345678901234567890}}');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.waitForURL('**/runs/r_*');
    await page.getByText('12345678901234567890').first().waitFor();
    await visit.open(`/sources/${source.id}`);
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No sources yet').waitFor();
  });
});

const PAGED = `export default {
  key: 'paged', name: 'Paged', version: '0.0.1', type: 'source',
  props: {
    http: '$.interface.http',
    list: {
      type: 'string', label: 'List', description: 'Where <b>items</b> go',
      async options({ page, prevContext }) {
        if (page > 1) return { options: [] };
        const after = prevContext?.after ?? 'nothing';
        return { options: [{ label: 'List after ' + after, value: 'l' + page }], context: { after: 'l' + page } };
      },
    },
    numbers: { type: 'integer[]', label: 'Numbers', description: 'Which of them' },
    every: { type: '$.interface.timer', label: 'Time', description: 'How often', default: { intervalSeconds: 3600 } },
  },
  run() {},
};
`;

/** Cannot say which further props it has before there is a token. */
const SHEET = `export default {
  name: 'Sheet',
  props: { http: '$.interface.http', token: { type: 'string', label: 'Token' } },
  additionalProps() {
    if (this.token === undefined) throw new Error('not signed in');
    return { column: { type: 'string', label: 'Column of the sheet' } };
  },
  run() {},
};
`;

test('a form shows the props that are known, and asks again for the others', { skip }, async () => {
  await using errand = await newErrand();
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await visit.open('/sources');
    await page.getByRole('link', { name: 'New source' }).first().click();
    await page.getByRole('link', { name: 'Code of your own' }).click();
    await page.getByRole('textbox', { name: 'Code' }).fill(SHEET);
    await page.getByRole('button', { name: 'Read its props' }).click();
    await page.getByText('could not say which further settings it has: not signed in').waitFor();
    await page.getByLabel('Token').fill('abc');
    await page.getByRole('button', { name: 'Ask the component again' }).click();
    await page.getByLabel('Column of the sheet').fill('A');
    assert.equal(await page.getByText('could not say').count(), 0);
    await page.getByRole('button', { name: 'Deploy' }).click();
    await page.waitForURL('**/sources/dc_*');
    const [source] = (await errand.client.get('/v1/sources')).data;
    assert.equal(source.configured_props.column, 'A');
  });
});

test('options come page by page, and values are read in plain words', { skip }, async () => {
  await using errand = await newErrand();
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await visit.open('/sources/new?component=own');
    await page.getByRole('textbox', { name: 'Code' }).fill(PAGED);
    await page.getByRole('button', { name: 'Read its props' }).click();
    const list = page.getByLabel('List');
    const option = (value: string) => page.locator(`option[value="${value}"]`);
    await list.focus();
    await option('l0').waitFor({ state: 'attached' });
    for (const hint of ['Where <b>items</b> go', 'Which of them', 'How often'])
      await page.getByText(hint, { exact: true }).waitFor();
    const more = page.getByRole('button', { name: 'More options' });
    await more.click();
    await option('l1').waitFor({ state: 'attached' });
    assert.equal(await option('l1').textContent(), 'List after l0', 'the page before said where it ended');
    await list.focus();
    assert.equal(await page.locator('datalist option').count(), 2, 'what is known stays');
    await list.fill('l1');
    await page.locator('bdi').getByText('List after l0').waitFor();
    await more.click();
    await more.waitFor({ state: 'detached' });
    await page.getByLabel('Numbers').fill('7\n12');
    await page.getByLabel('Seconds', { exact: true }).fill('600');
    await visit.inspect('a form with pages of options');
    await page.getByRole('button', { name: 'Deploy' }).click();
    await page.waitForURL('**/sources/dc_*');
    const [{ id, configured_props: props }] = (await errand.client.get('/v1/sources')).data;
    assert.deepEqual([props.list, props.numbers], ['l1', [7, 12]]);
    const facts = page.getByRole('region', { name: 'Configuration' });
    for (const said of ['l1', '7, 12', 'every 10 min']) await facts.getByText(said, { exact: true }).waitFor();
    assert.doesNotMatch((await facts.textContent()) ?? '', /endpoint_url|triggerId/, 'the address has its own card');
    await visit.inspectAll(`/sources/${id}`, '7, 12');
  });
});

test('subscriptions are drawn, listed, made and deleted', { skip }, async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  const { client } = errand;
  const make = (name: string): Promise<Json> =>
    client.post('/v1/workflows', { name, steps: [{ namespace: 'hear', code: HEARS }], triggers: [{ type: 'http' }] });
  const [orders, stock] = [await make('Orders'), await make('Stock <i>')];
  const webhook = await client.post('/v1/webhooks', { url: receiver.url, name: 'To the shop' });
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await visit.open('/subscriptions');
    await page.getByText('No subscriptions yet').waitFor();
    for (const [emitter, listener, events] of [
      ['Orders', 'To the shop', 'Those without a name'],
      ['Orders', 'Stock <i>', 'Errors'],
      ['all workflows', 'To the shop', 'All with a name'],
    ] as const) {
      await page.getByRole('button', { name: 'Subscribe', exact: true }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Emitter').selectOption({ label: emitter });
      await dialog.getByLabel('Listener').selectOption({ label: listener });
      await dialog.getByLabel('Which events').selectOption({ label: events });
      await dialog.getByRole('button', { name: 'Subscribe', exact: true }).click();
      await dialog.waitFor({ state: 'detached' });
    }
    const made = (await client.get('/v1/subscriptions')).data;
    assert.deepEqual(
      made.map(({ emitter_id, listener_id, event_name }: Json) => [emitter_id, listener_id, event_name]).sort(),
      [
        [orders.id, stock.id, '$errors'],
        [orders.id, webhook.id, ''],
        ['p_*', webhook.id, '*'],
      ].sort(),
    );
    const list = page.getByRole('region', { name: 'List', exact: true });
    await list.getByText('gets errors of').waitFor();
    await visit.inspectAll('/subscriptions', 'gets errors of');
    // Each node is a link, and says who it is.
    const graph = page.getByRole('region', { name: 'Graph', exact: true });
    await until('all nodes have their names', async () => {
      const names = await graph.getByRole('link').allTextContents();
      return names.sort().join() === 'Orders,Stock <i>,To the shop';
    });
    await page.getByLabel('Search by name or event…').fill('stock');
    await graph.getByText('To the shop').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Unsubscribe Stock <i> from Orders' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Unsubscribe' }).click();
    await page.getByText('No subscription matches').waitFor();
    await until('it is gone', async () => (await client.get('/v1/subscriptions')).data.length === 2);
    await page.getByLabel('Search by name or event…').fill('');
    await graph.getByRole('link', { name: 'To the shop' }).click();
    await page.waitForURL(`**/webhooks/${webhook.id}`);
  });
});

test('a group tells what differs from successes, in fields and in code', { skip }, async () => {
  await using errand = await newErrand();
  const code = (check: string): string =>
    `export default ({ steps }) => {\n  const { body } = steps.trigger.event;\n  ${check}\n};\n`;
  const workflow = await errand.client.post('/v1/workflows', {
    name: 'Orders',
    steps: [{ namespace: 'check', code: code('return body.number.toFixed();') }],
    triggers: [{ type: 'http' }],
  });
  const send = async (body: object): Promise<void> => {
    const headers = { 'content-type': 'application/json' };
    await fetch(workflow.triggers[0].endpoint_url, { method: 'POST', headers, body: JSON.stringify(body) });
  };
  await send({ number: null, currency: 'EUR' });
  const first = await until('the first error', async () => {
    const { data } = await errand.client.get(`/v1/error_groups?emitter_id=${workflow.id}`);
    return data[0];
  });
  for (let number = 0; number < 5; number++) await send({ number, currency: 'EUR' });
  const ended = async () => (await errand.client.get(`/v1/workflows/${workflow.id}/runs?state=succeeded`)).data.length;
  await until('five succeeded', async () => (await ended()) === 5);
  const steps = [
    { namespace: 'check', code: code('if (body.currency === null) throw new Error("<b>no</b> currency");') },
  ];
  await errand.client.put(`/v1/workflows/${workflow.id}`, { steps });
  for (let number = 5; number < 8; number++) await send({ number, currency: null });
  const group = await until('the group', async () => {
    const { data } = await errand.client.get(`/v1/error_groups?emitter_id=${workflow.id}`);
    return data.find(({ count }: Json) => count === 3);
  });
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await visit.inspectAll(`/errors/${group.id}`, 'is null in 3 of 3 failures, in 0 of 5 successes');
    const card = page.getByRole('region', { name: 'What differs' });
    await card.getByText('of 3 failures and 5 successes').waitFor();
    await card.getByText('-  return body.number.toFixed();').waitFor();
    await card.getByText('The code was deployed between them.').waitFor();
    await card.getByRole('link', { name: 'its run' }).first().click();
    await page.waitForURL('**/runs/r_*');
    await page.locator('h1').getByText('succeeded').waitFor();
    await visit.open(`/errors/${first.id}`);
    await card.getByText('of 1 failure and 5 successes').waitFor();
    await card.getByText('none is stored from before the first error').waitFor();
  });
});
