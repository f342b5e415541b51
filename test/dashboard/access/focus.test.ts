// A person at the keyboard is never sent back to the top of the page: what had the focus may go, and the focus stays near.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { shareErrand } from '../../support/shared-errand.ts';
import { skip, visiting } from '../browser.ts';

const newErrand = shareErrand();
const FAILS = `export default ({ steps }) => {
  const { code } = steps.trigger.event.body;
  throw Object.assign(new Error('of ' + code), { code });
};`;

/** Waits until what is named has the focus. */
async function focused(one: Locator): Promise<void> {
  await one.and(one.page().locator(':focus')).waitFor();
}

function button(page: Page, name: string): Locator {
  return page.getByRole('button', { name, exact: true });
}

function inDialog(page: Page, name: string): Locator {
  return page.getByRole('dialog').getByRole('button', { name, exact: true });
}

test('what goes when it is used leaves the focus at the heading near it', { skip }, async () => {
  await using errand = await newErrand();
  const { client } = errand;
  const { id } = await errand.workflow(FAILS, { name: 'Orders' });
  await client.post('/v1/keys', { label: 'Shop front', scopes: ['read'] });
  await client.post('/v1/accounts', { app: 'stripe', name: 'Live', fields: { token: 'x' } });
  await visiting(errand, async (visit) => {
    const { page } = visit;
    const heading = (name: string) => page.getByRole('heading', { name });
    await visit.signIn();
    await visit.open(`/workflows/${id}`);
    await button(page, 'Deactivate').press('Enter');
    await inDialog(page, 'Deactivate').press('Enter');
    await button(page, 'Activate').waitFor();
    await focused(heading('Orders'));
    await button(page, 'Activate').press('Enter');
    await button(page, 'Deactivate').waitFor();
    await focused(heading('Orders'));

    const code = page.getByRole('textbox', { name: 'Code of the step' });
    await code.click();
    await page.keyboard.type('// ');
    await button(page, 'Discard').press('Enter');
    await focused(heading('Code'));
    await code.click();
    await page.keyboard.type('// ');
    await button(page, 'Deploy').press('Enter');
    await page.getByText('Deployed').waitFor();
    await focused(heading('Code'));

    await visit.open('/keys');
    await button(page, 'Revoke Shop front').press('Enter');
    await inDialog(page, 'Revoke').press('Enter');
    await focused(heading('API keys'));
    await visit.open('/accounts');
    await button(page, 'Delete Live').press('Enter');
    await inDialog(page, 'Delete').press('Enter');
    await focused(heading('Accounts'));
  });
});

test('a button that failed has the focus again, and what a person left does not', { skip }, async () => {
  await using errand = await newErrand();
  const workflow = await errand.workflow(FAILS);
  await errand.send(workflow, { code: 'First' });
  await errand.settled();
  await visiting(errand, async (visit) => {
    const { page, complaints } = visit;
    await visit.signIn();
    await visit.open('/accounts');
    await button(page, 'New account').press('Enter');
    await page.getByLabel('App').fill('stripe');
    await page.route('**/v1/accounts', (route) =>
      route.request().method() === 'POST' ? route.fulfill({ status: 503, body: '{}' }) : route.continue(),
    );
    const submit = page.getByRole('dialog').locator('[type=submit]');
    await submit.press('Enter');
    await page.getByRole('alert').waitFor();
    await focused(submit);

    await visit.open('/errors');
    const search = page.getByRole('searchbox');
    await search.fill('First');
    await search.press('Escape');
    // What comes changes the page, and takes nothing back.
    await errand.send(workflow, { code: 'First of many' });
    await page.getByRole('link', { name: 'First of many' }).waitFor();
    assert.equal(await page.evaluate('document.activeElement === document.body'), true);
    complaints.length = 0;
  });
});

test('the row that keys go to has the focus, also when the one before it goes', { skip }, async () => {
  await using errand = await newErrand();
  const workflow = await errand.workflow(FAILS, { name: 'Orders' });
  for (const code of ['Third', 'Second', 'First']) await errand.send(workflow, { code });
  await errand.settled();
  await visiting(errand, async (visit) => {
    const { page } = visit;
    const row = (code: string) => page.getByRole('link', { name: `${code}, Orders` });
    await visit.signIn();
    await visit.open('/errors');
    await row('First').waitFor();
    await page.keyboard.press('j');
    await focused(row('First'));
    // What cuts a long name would cut a line around it.
    const lines = "['', '::after'].map((part) => getComputedStyle(document.activeElement, part).outlineStyle)";
    assert.deepEqual(await page.evaluate(lines), ['none', 'solid']);
    await page.keyboard.press('e');
    await focused(row('Second'));
    await page.keyboard.press('Tab');
    await focused(page.getByRole('checkbox', { name: 'Select Third of Orders' }));
    await page.keyboard.press('k');
    await focused(row('Second'));
    await page.keyboard.press('Enter');
    await focused(page.getByRole('heading', { name: 'Second' }));
    await page.getByRole('link', { name: 'All errors' }).press('Enter');
    await focused(row('Second'));
  });
});

test('Escape closes the menu of a phone, and leaves the focus at its button', { skip }, async () => {
  await using errand = await newErrand();
  await visiting(errand, async (visit) => {
    const { page } = visit;
    await visit.signIn();
    await page.setViewportSize({ width: 360, height: 800 });
    await visit.open('/workflows');
    const menu = button(page, 'Menu');
    const link = page.getByRole('navigation').getByRole('link', { name: 'Errors', exact: true });
    assert.equal(await link.isVisible(), false);
    await menu.press('Enter');
    await link.focus();
    await page.keyboard.press('Escape');
    await focused(menu);
    assert.deepEqual([await link.isVisible(), await menu.getAttribute('aria-expanded')], [false, 'false']);
    // It was for the menu alone: on a page without one open, it goes where it went.
    await page.keyboard.press('Escape');
    await focused(menu);
  });
});
