// errand privacy: rules are shown, set and tried out.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shareErrand } from '../support/shared-errand.ts';
import { openShell } from './command.ts';

const newErrand = shareErrand();
const THROWS = "export default () => { throw new RangeError('no'); };";

test('rules are set, added to and taken away', async () => {
  await using errand = await newErrand();
  await using shell = await openShell(errand.client);
  const privacy = (...args: string[]) => shell.run(['privacy', ...args, '--url', errand.client.url]);
  assert.equal((await privacy('list')).stderr, 'nothing is hidden\n');
  const set = await privacy('set', '--hide', 'password', '*token', '--pattern', '\\d{13,19}');
  assert.equal(set.code, 0, set.stderr);
  assert.match(set.stdout, /^OF +HIDES +RULE\neverything +member +password\n.*\*token\n.*pattern +\\d\{13,19\}\n$/);
  await privacy('set', '--add', '--hide', 'iban');
  assert.deepEqual((await errand.client.get('/v1/users/me/redaction')).data, {
    keys: ['password', '*token', 'iban'],
    patterns: ['\\d{13,19}'],
  });
  const asked = await privacy('set', '--hide', 'iban');
  assert.equal(asked.code, 2);
  assert.match(asked.stderr, /Show what "password", "\*token", "\\\\d\{13,19\}" hid again/);
  assert.equal((await privacy('set', '--clear')).code, 2);
  assert.equal((await privacy('set')).code, 2);
  assert.equal((await privacy('set', '--before-storing')).code, 2);
  assert.equal((await privacy('set', '--pattern', '(', '--add')).code, 2);
  assert.equal((await privacy('set', '--clear', '--yes')).code, 0);
  assert.deepEqual((await errand.client.get('/v1/users/me/redaction')).data, { keys: [], patterns: [] });
});

test('rules of a workflow are apart', async () => {
  await using errand = await newErrand();
  await using shell = await openShell(errand.client);
  const workflow = await errand.workflow(THROWS, { name: 'Charge orders' });
  const privacy = (...args: string[]) =>
    shell.run(['privacy', ...args, '--workflow', 'charge', '--url', errand.client.url]);
  assert.equal((await privacy('set', '--hide', 'card', '--before-storing')).code, 0);
  const { data } = await errand.client.get(`/v1/workflows/${workflow.id}/redaction`);
  assert.deepEqual(data, { keys: ['card'], patterns: [], before_storing: true });
  assert.equal((await privacy('set', '--add', '--hide', 'name')).code, 0);
  assert.equal((await errand.client.get(`/v1/workflows/${workflow.id}/redaction`)).data.before_storing, true);
  assert.equal((await privacy('set', '--no-before-storing')).code, 0);
  assert.deepEqual((await errand.client.get(`/v1/workflows/${workflow.id}/redaction`)).data, {
    ...{ keys: ['card', 'name'], patterns: [], before_storing: false },
  });
  assert.deepEqual((await errand.client.get('/v1/users/me/redaction')).data.keys, []);
});

test('an event is shown as rules would leave it', async () => {
  await using errand = await newErrand();
  await using shell = await openShell(errand.client);
  const workflow = await errand.workflow(THROWS);
  await errand.send(workflow, { card: '4111', name: 'Ada', n: 12345678901234 });
  await errand.errors(workflow.id, 1);
  await shell.run(['privacy', 'set', '--hide', 'card', '--url', errand.client.url]);
  const preview = (args: string[], input?: string) =>
    shell.run(['privacy', 'preview', ...args, '--url', errand.client.url], input === undefined ? {} : { input });
  const told = await preview(['--error', 'last', '--hide', 'na*']);
  assert.match(told.stdout, /"card":"\[redacted\]","name":"\[redacted\]","n":12345678901234\}/);
  const given = await preview(['--event', '-', '--pattern', '\\d{13,19}'], '{"card": 1, "n": 12345678901234}');
  assert.equal(given.stdout, '{"card": "[redacted]", "n": "[redacted]"}\n');
  assert.deepEqual((await errand.client.get('/v1/users/me/redaction')).data.keys, ['card'], 'nothing is set');
  assert.equal((await preview(['--event', '-', '--pattern', '('], '{}')).code, 2);
  assert.equal((await preview([])).code, 2);
});
