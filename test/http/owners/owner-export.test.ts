// The export of an owner: everything that it has, without secrets, also while it is being deleted.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient, type Json } from '../../support/client.ts';
import { startErrand } from '../../support/errand.ts';
import { createOwner, withScopes } from '../../support/owners.ts';
import { assertProblem } from '../../support/problem.ts';

const linesOf = (text: string): Json[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

test('an export has everything of its owner, and no secret', async () => {
  await using errand = await startErrand();
  const [other, third] = [await createOwner(errand, 'shop'), await createOwner(errand, 'third')];
  const { client } = other;
  const workflow = await other.workflow(`export default () => { throw new Error('out of stock') }`);
  await other.send(workflow, '{ "order": 12345678901234567890 }');
  await other.errors(workflow.id, 1);
  const account = await client.post('/v1/accounts', { app: 'slack', name: 'ops', fields: { token: 'account-secret' } });
  const webhook = await client.post('/v1/webhooks', {
    url: 'https://shop.example/hook',
    headers: { authorization: 'header-secret' },
  });
  await other.subscribe(workflow.id, webhook.id, 'nothing');
  const store = await client.post('/v1/data_stores', { name: 'stock' });
  await client.put(`/v1/data_stores/${store.id}/records/a%20b`, { value: { left: 3 } });
  await client.put('/v1/users/me/redaction', { keys: ['order'] });
  const mine = await third.workflow('export default () => 1');
  await other.settled();
  await errand.client.delete(`/v1/owners/${other.id}`);

  const { text, headers } = await errand.client.request('GET', `/v1/owners/${other.id}/export`);
  assert.match(headers.get('content-type') ?? '', /ndjson/);
  const lines = linesOf(text);
  const { end } = lines.pop();
  assert.deepEqual(end, { complete: true, cursor: lines.at(-1).id, count: lines.length });
  assert.equal(new Set(lines.map(({ id }) => id)).size, lines.length, 'each once');
  const byType = (type: string) => lines.filter((line) => line.type === type).map(({ record }) => record);
  const one = (type: string): Json => byType(type)[0];
  assert.equal(one('owner').state, 'deleting');
  assert.deepEqual(
    byType('workflow')
      .map(({ id }) => id)
      .toSorted(),
    [workflow.id, one('owner').global_error_workflow_id].toSorted(),
  );
  assert.match(byType('workflow').find(({ id }) => id === workflow.id).steps[0].code, /out of stock/);
  assert.deepEqual([one('account').id, one('account').field_names], [account.id, ['token']]);
  assert.equal(one('webhook').id, webhook.id);
  assert.equal(one('data_record').value.left, 3);
  assert.deepEqual(one('redaction').keys, ['order']);
  assert.ok(byType('run').some(({ state }) => state === 'failed'));
  assert.ok(byType('delivery').length > 0);
  assert.ok(byType('audit_record').some(({ operation }) => operation === 'createWebhook'));
  const events = byType('event');
  assert.ok(events.some(({ name }) => name === '$errors'));
  assert.match(events[0].event_text, /\[redacted\]/);
  assert.doesNotMatch(events[0].event_text, /12345678901234567890/);
  for (const secret of ['account-secret', 'header-secret', webhook.secret, other.data.api_key, mine.id, third.id]) {
    assert.ok(!text.includes(secret), secret);
  }

  // It goes on behind any line.
  for (const at of [0, 5, lines.length - 2]) {
    const after = encodeURIComponent(lines[at].id);
    const rest = linesOf((await errand.client.request('GET', `/v1/owners/${other.id}/export?after=${after}`)).text);
    assert.deepEqual(rest.slice(0, -1), lines.slice(at + 1));
  }
});

test('an export is for admins who may read', async () => {
  await using errand = await startErrand();
  const other = await createOwner(errand);
  const path = `/v1/owners/${other.id}/export`;
  assertProblem(await other.client.request('GET', path), 403);
  const { client } = await withScopes(errand.client, ['admin']);
  assertProblem(await client.request('GET', path), 403, 'read');
  assertProblem(await errand.client.request('GET', '/v1/owners/u_0000000000009999/export'), 404);
  assertProblem(await errand.client.request('GET', `${path}?after=workflow:p_none`), 400, 'after');
  assert.equal((await createClient(errand.url, errand.client.key).request('GET', path)).status, 200);
});
