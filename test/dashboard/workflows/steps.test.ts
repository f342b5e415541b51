// Steps of a workflow in the dashboard: they are added, renamed, moved and removed in a draft, which is deployed as a whole.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../support/client.ts';
import { type Errand, startErrand } from '../../support/errand.ts';
import { shareErrand } from '../../support/shared-errand.ts';
import { createComponents } from '../../support/sources/components.ts';
import { skip, type Visit, visiting } from '../browser.ts';

const newErrand = shareErrand();
const CODE: Readonly<Record<string, string>> = {
  price: 'export default () => 2;\n',
  tax: 'export default ({ steps }) => steps.price.$return_value / 2;\n',
  charge: 'export default ({ steps }) => [steps.price.$return_value, steps.tax.$return_value];\n',
};
const codeOf = (namespace: string): Json => ({ namespace, code: CODE[namespace] });

function deploy({ client }: Pick<Errand, 'client'>, names = ['price', 'tax', 'charge']): Promise<Json> {
  return client.post('/v1/workflows', { name: 'Price orders', steps: names.map(codeOf) });
}

async function stepsOf({ client }: Pick<Errand, 'client'>, { id }: Json): Promise<Json[]> {
  return (await client.get(`/v1/workflows/${id}`)).data.steps;
}

const namesOf = (steps: readonly Json[]): string => steps.map(({ namespace }) => namespace).join(' ');

async function show(visit: Visit, { id }: Json) {
  const { page } = visit;
  await visit.signIn();
  await visit.open(`/workflows/${id}`);
  const card = page.getByRole('region', { name: 'Code' });
  await card.getByRole('textbox').first().waitFor();
  const dialog = page.getByRole('dialog');
  return {
    card,
    dialog,
    name: dialog.getByRole('textbox', { name: 'Name' }),
    button: (name: string) => card.getByRole('button', { name, exact: true }),
    editor: (step: string) => card.getByRole('textbox', { name: `Code of the step ${step}` }),
    /** The names of the steps as they stand there. */
    order: async () => (await card.getByRole('heading', { level: 3 }).allInnerTexts()).join(' '),
    done: () => dialog.waitFor({ state: 'detached' }),
    said: (text: string) => card.getByRole('status').getByText(text).waitFor(),
  };
}

/** Returns what the name of the element with the focus is. */
const FOCUS = `(() => {
  let at = document.activeElement;
  while (at.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
  return at.getAttribute('aria-label') ?? at.textContent;
})()`;

test('steps are added, renamed, moved and removed, and deployed at once', { skip }, async () => {
  await using errand = await newErrand();
  const workflow = await deploy(errand);
  await visiting(errand, async (visit) => {
    const { page } = visit;
    const { card, dialog, name, button, editor, order, done, said } = await show(visit, workflow);
    await button('Add a step after price').press('Enter');
    for (const [typed, why] of [
      ['Two words', 'must be lower-case letters, digits and underscores'],
      ['charge', '"charge" is taken by an earlier step'],
      ['trigger', '"trigger" is the name of the event'],
    ] as const) {
      await name.fill(typed);
      await dialog.getByText(`The name ${why}`).waitFor();
      assert.equal(await dialog.getByRole('button', { name: 'Add step' }).isDisabled(), true);
    }
    await name.fill('discount');
    await visit.inspect('adding a step');
    await name.press('Enter');
    await editor('discount').and(page.locator(':focus')).waitFor();
    await said('The step discount is added: step 2 of 4.');
    await page.keyboard.press('Control+a');
    await page.evaluate(`navigator.clipboard.writeText('export default () => 7;')`);
    await page.keyboard.press('Control+v');
    await editor('discount').filter({ hasText: '=> 7;' }).waitFor();
    await button('Move charge up').press('Enter');
    await button('Move charge up').press('Enter');
    await said('charge is step 2 of 4 now.');
    assert.equal(await page.evaluate(FOCUS), 'Move charge up');
    await card.getByText('It refers to steps.tax, which runs after it.').waitFor();
    await page.keyboard.press('Enter');
    await said('charge is step 1 of 4 now.');
    assert.equal(await page.evaluate(FOCUS), 'Move charge down');
    await button('Rename the step price').click();
    await dialog.getByText('charge, line 1').waitFor();
    await name.fill('cost');
    await visit.inspect('renaming a step');
    await dialog.getByRole('button', { name: 'Rename' }).click();
    await done();
    await editor('tax').filter({ hasText: 'steps.cost.$return_value' }).waitFor();
    assert.equal(await page.evaluate(FOCUS), 'cost');
    await button('Remove the step tax').click();
    await dialog.getByText('One place refers to steps.tax').waitFor();
    await visit.inspect('removing a step');
    await dialog.getByRole('button', { name: 'Remove' }).click();
    await done();
    await card.getByText('It refers to steps.tax, and no step has this name.').waitFor();
    assert.equal(await order(), 'charge cost discount');
    await button('Review').click();
    for (const text of ['price is called cost.', 'cost is moved.', 'discount is added.', 'tax is removed.']) {
      await dialog.getByText(text).waitFor();
    }
    await dialog.getByText('+export default () => 7;').waitFor();
    await visit.inspect('what deploying changes');
    await dialog.getByRole('button', { name: 'Close' }).click();
    await done();
    assert.equal(namesOf(await stepsOf(errand, workflow)), 'price tax charge', 'nothing is deployed yet');
    await visit.inspect('changed steps');
    await button('Move cost down').focus();
    await page.keyboard.press('Control+s');
    await page.getByText('Deployed.', { exact: true }).waitFor();
    await card.getByText('Not deployed yet').waitFor({ state: 'detached' });
    const steps = await stepsOf(errand, workflow);
    assert.equal(namesOf(steps), 'charge cost discount');
    assert.match(steps[0]?.code, /steps\.cost\.\$return_value, steps\.tax/);
    assert.deepEqual([steps[1]?.code, steps[2]?.code], [CODE.price, 'export default () => 7;']);
    const { data: versions } = await errand.client.get(`/v1/workflows/${workflow.id}/deployments`);
    assert.equal(versions.length, 2, 'one deployment');
    await page.getByRole('button', { name: 'what changed' }).first().click();
    await dialog.getByText('price is called cost.').waitFor();
    await dialog.getByText('tax is removed.').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await visit.inspectAll(`/workflows/${workflow.id}`, 'discount');
  });
});

test('a draft of steps outlives its page, and is discarded as a whole', { skip }, async () => {
  await using errand = await newErrand();
  const workflow = await deploy(errand);
  await visiting(errand, async (visit) => {
    const { page } = visit;
    const { card, dialog, button, editor, order, done } = await show(visit, workflow);
    await button('Add step').click();
    await dialog.getByRole('button', { name: 'Add step' }).click();
    await editor('step_4').and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Control+End');
    await page.keyboard.type('// mine');
    await button('Remove the step price').click();
    await dialog.getByRole('button', { name: 'Remove' }).click();
    await done();
    await page.getByRole('link', { name: 'Errors', exact: true }).click();
    await page.getByRole('heading', { name: 'Errors', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'Workflows', exact: true }).click();
    await page.getByRole('link', { name: 'Price orders' }).click();
    await editor('step_4').filter({ hasText: '// mine' }).waitFor();
    assert.equal(await order(), 'tax charge step_4');
    await button('Discard').click();
    await editor('step_4').waitFor({ state: 'detached' });
    assert.equal(await order(), 'price tax charge');
    await card.getByText('Not deployed yet').waitFor({ state: 'detached' });
    await button('Move price down').click();
    await card.getByText('Not deployed yet').waitFor();
    await button('Move price up').click();
    await card.getByText('Not deployed yet').waitFor({ state: 'detached' });
  });
});

test('steps that another person deployed meanwhile are not lost', { skip }, async () => {
  await using errand = await newErrand();
  const workflow = await deploy(errand);
  await visiting(errand, async (visit) => {
    const { page } = visit;
    const { dialog, button, order, done } = await show(visit, workflow);
    await button('Move charge up').click();
    await button('Remove the step tax').click();
    await dialog.getByRole('button', { name: 'Remove' }).click();
    await done();
    const theirs = { namespace: 'theirs', code: 'export default () => 3;' };
    const steps = [...['price', 'tax', 'charge'].map(codeOf), theirs];
    await errand.client.put(`/v1/workflows/${workflow.id}`, { steps });
    await page.keyboard.press('Control+s');
    await page.getByRole('alert').filter({ hasText: 'Another version was deployed' }).waitFor();
    visit.complaints.length = 0;
    assert.equal(namesOf(await stepsOf(errand, workflow)), 'price tax charge theirs');
    assert.equal(await order(), 'price charge theirs');
    await page.getByRole('button', { name: 'What it changed' }).click();
    await dialog.getByText('theirs is added.').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await done();
    await button('Deploy over it').click();
    await page.getByText('Deployed.', { exact: true }).waitFor();
    assert.equal(namesOf(await stepsOf(errand, workflow)), 'price charge theirs');
  });
});

test('what is refused is said at its step, and nothing is lost', { skip }, async () => {
  await using errand = await newErrand();
  const props = `export default { props: { n: { type: 'integer' } }, run: () => 1 };`;
  const given = { namespace: 'given', code: props, configured_props: { n: 1 } };
  const workflow = await errand.client.post('/v1/workflows', { name: 'Price orders', steps: [codeOf('price'), given] });
  await visiting(errand, async (visit) => {
    const { page } = visit;
    const { card, dialog, name, button, editor, done } = await show(visit, workflow);
    const put = async (step: string, text: string): Promise<void> => {
      await editor(step).click();
      await page.keyboard.press('Control+a');
      await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`);
      await page.keyboard.press('Control+v');
      await editor(step).filter({ hasText: text }).waitFor();
    };
    await button('Rename the step given').click();
    await dialog.getByText('This step has a configuration').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await done();
    await button('Add step').click();
    await name.fill('needs');
    await name.press('Enter');
    await editor('needs').and(page.locator(':focus')).waitFor();
    await put('needs', `export default { props: { size: { type: 'integer' } }, run: () => 1 };`);
    await page.keyboard.press('Control+s');
    const needs = card.locator('.step').filter({ has: page.getByRole('heading', { name: 'needs' }) });
    await needs.getByText(/^size: /).waitFor();
    await visit.inspect('a refused deployment');
    await put('needs', 'export default () => {');
    await page.keyboard.press('Control+s');
    await needs.locator('.cm-lint-marker-error').waitFor();
    assert.equal(await card.locator('.cm-lint-marker-error').count(), 1);
    visit.complaints.length = 0;
    await put('needs', 'export default () => 1;');
    await button('Move given up').click();
    await button('Deploy').click();
    await page.getByText('Deployed.', { exact: true }).waitFor();
    const steps = await stepsOf(errand, workflow);
    assert.equal(namesOf(steps), 'given price needs');
    assert.deepEqual(steps[0]?.configured_props, { n: 1 });
  });
});

const COMPONENT = `import shop from '../shop.app.mjs';
export default { type: 'action', props: { n: 'integer', of: { type: 'string', optional: true } }, run: () => 1 };`;
const FILE = `import { defineWorkflow } from 'errand/workflow';
export default defineWorkflow({ name: 'Orders', steps: (flow) => flow.step('one', () => 1).step('two', () => 2) });
`;

test('steps of files stay as they are', { skip }, async () => {
  await using folder = await createComponents({
    'components/shop/shop.app.mjs': `export default { type: 'app', app: 'shop' };`,
    'components/shop/actions/times.mjs': COMPONENT,
  });
  await using errand = await startErrand(folder.settings);
  const props = { n: 2, of: '{{steps.price.$return_value}}' };
  const component = { namespace: 'times', component_path: 'shop/actions/times.mjs', configured_props: props };
  const steps = [codeOf('price'), component];
  const workflow = await errand.client.post('/v1/workflows', { name: 'Price orders', steps });
  const [, before] = await stepsOf(errand, workflow);
  const file = await errand.client.put('/v1/workflow_files', { path: 'orders.ts', source: FILE });
  await visiting(errand, async (visit) => {
    const { page } = visit;
    const { card, dialog, name, button, editor } = await show(visit, workflow);
    await card.getByText('shop/actions/times.mjs').waitFor();
    await button('Rename the step price').click();
    await dialog.getByText('These have to be changed by hand:').waitFor();
    await name.fill('cost');
    await name.press('Enter');
    await card.getByText('It refers to steps.price, and no step has this name.').waitFor();
    await button('Move times up').click();
    await button('Add step').click();
    await dialog.getByRole('button', { name: 'Add step' }).click();
    await editor('step_3').and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Control+s');
    await page.getByText('Deployed.', { exact: true }).waitFor();
    const after = await stepsOf(errand, workflow);
    assert.equal(namesOf(after), 'times cost step_3');
    assert.deepEqual(after[0], before);
    await visit.open(`/workflows/${file.workflow.id}`);
    await card.getByText('This workflow comes from the file orders.ts.').waitFor();
    await editor('two').waitFor();
    assert.deepEqual(await card.getByRole('button').allInnerTexts(), ['Deploy']);
  });
});

test('the only step stays, and a key that only reads sees no buttons', { skip }, async () => {
  await using errand = await newErrand();
  const workflow = await deploy(errand, ['price']);
  const { api_key: reader } = await errand.client.post('/v1/keys', { label: 'reads', scopes: ['read'] });
  await visiting(errand, async (visit) => {
    const { page } = visit;
    const { card, button } = await show(visit, workflow);
    assert.equal(await button('Remove the step price').isDisabled(), true);
    assert.equal(await button('Move price down').count(), 0);
    // A page asks again and again, and would be refused.
    await page.goto('about:blank');
    await page.context().clearCookies();
    await visit.signIn(reader);
    await visit.open(`/workflows/${workflow.id}`);
    await card.getByText('The key of this session may not change it.').waitFor();
    assert.equal(await card.getByRole('button').count(), 0);
  });
});
