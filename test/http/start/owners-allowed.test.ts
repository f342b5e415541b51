// How many owners a server makes whose code is not in a jail.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { maxOwnersOf, readConfig } from '../../../src/server/config.ts';
import { createClient } from '../../support/client.ts';
import { type Errand, startErrand } from '../../support/errand.ts';
import { createErrandOn } from '../../support/flows.ts';
import { createOwner, runCommand } from '../../support/owners.ts';
import { assertProblem } from '../../support/problem.ts';

const ALONE = { ERRAND_OWNERS_WITHOUT_JAIL: '' };
const REASON = /ERRAND_ISOLATION is process.*ERRAND_ISOLATION to jail.*ERRAND_OWNERS_WITHOUT_JAIL/;

async function ownersOf(errand: Errand): Promise<number> {
  return (await errand.client.get('/v1/owners')).data.length;
}

test('a second owner is refused without a jail', async () => {
  await using errand = await startErrand(ALONE);
  const refused = await errand.client.request('POST', '/v1/owners', { name: 'second' });
  assertProblem(refused, 422);
  assert.match(JSON.parse(refused.text).detail, REASON);
  assert.equal(await ownersOf(errand), 1);
  await errand.client.get('/v1/users/me');
});

test('no more owners come at once than fit', async () => {
  await using errand = await startErrand({ ERRAND_OWNERS_WITHOUT_JAIL: '3' });
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  const answers = await Promise.all(names.map((name) => errand.client.request('POST', '/v1/owners', { name })));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 200, 422, 422, 422, 422]);
  assert.equal(await ownersOf(errand), 3);
});

test('owners that are there go on with a warning', async () => {
  await using errand = await startErrand();
  const other = await createOwner(errand);
  const workflow = await other.workflow('export default () => 1');
  const warnings = () => errand.logged.filter(({ name }) => name.startsWith('more owners than'));
  assert.deepEqual(warnings(), []);
  await errand.restart(ALONE);
  assert.deepEqual(
    warnings().map(({ level, fields }) => [level, fields]),
    [['warn', { owners: 2, owners_without_jail: 1 }]],
  );
  const later = createErrandOn(() => createClient(errand.url, other.data.api_key));
  const { endpoint_url } = (await createClient(errand.url, other.data.api_key).get(`/v1/workflows/${workflow.id}`)).data
    .triggers[0];
  assert.equal((await fetch(endpoint_url, { method: 'POST' })).status, 200);
  assert.equal((await later.runs(workflow.id, 1)).length, 1);
  assertProblem(await errand.client.request('POST', '/v1/owners', { name: 'third' }), 422);
});

test('the command line refuses as the server does', async () => {
  await using errand = await startErrand(ALONE);
  const create = ['owners', 'create', '--name', 'second'];
  const running = await runCommand(errand, create);
  assert.notEqual(running.code, 0);
  assert.match(running.stderr, REASON);
  await errand.stop();
  const stopped = await runCommand(errand, create);
  assert.notEqual(stopped.code, 0);
  assert.match(stopped.stderr, REASON);
  const allowed = await runCommand(errand, create, { ERRAND_OWNERS_WITHOUT_JAIL: '2' });
  assert.equal(allowed.code, 0, allowed.stderr);
});

test('in jails there may be any number', () => {
  assert.equal(maxOwnersOf(readConfig({})), 1);
  assert.equal(maxOwnersOf(readConfig({ ERRAND_OWNERS_WITHOUT_JAIL: '7' })), 7);
  assert.equal(maxOwnersOf(readConfig({ ERRAND_ISOLATION: 'jail' })), null);
});
