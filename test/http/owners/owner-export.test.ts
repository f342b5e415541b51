// The export of an owner: everything that it has, without secrets, also while it is being deleted.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { createBelongings } from '../../support/belongings.ts';
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
  const mails = events.filter(({ name }) => name === '$email');
  assert.deepEqual(
    mails.map((mail) => 'event_text' in mail),
    [false],
    'a mail quotes what rules do not reach',
  );
  assert.match(events[0].event_text, /\[redacted\]/);
  assert.doesNotMatch(events[0].event_text, /12345678901234567890/);
  for (const secret of ['account-secret', 'header-secret', webhook.secret, other.data.api_key, mine.id, third.id]) {
    assert.ok(!text.includes(secret), secret);
  }

  // It goes on behind any line.
  for (const at of [0, 5, lines.length - 2]) {
    const after = encodeURIComponent(lines[at].id);
    const rest = linesOf((await errand.client.request('GET', `/v1/owners/${other.id}/export?after=${after}`)).text);
    assert.deepEqual(rest.slice(0, -1).filter(isLasting), lines.slice(at + 1).filter(isLasting));
  }
});

/** An export is in the log that it exports. */
const isLasting = ({ type, record }: Json): boolean => type !== 'audit_record' || record.operation !== 'exportOwner';

const SCHEMAS = join(import.meta.dirname, '../../unit/store/schema');

/** Which lines have what a table has of an owner. */
const EXPORTED: Readonly<Record<string, string>> = {
  accounts: 'account',
  answers: 'run',
  api_keys: 'key',
  audit: 'audit_record',
  channels: 'channel',
  data_records: 'data_record',
  data_stores: 'data_store',
  dedupe: 'memory',
  deliveries: 'delivery',
  deployments: 'deployment',
  emissions: 'event',
  error_groups: 'error_group',
  error_retentions: 'workflow',
  heartbeats: 'heartbeat',
  later_emissions: 'later_event',
  ledger: 'ledger',
  open_deliveries: 'delivery',
  open_runs: 'run',
  operation_results: 'replay_result',
  operations: 'operation',
  owner_quotas: 'quotas',
  owners: 'owner',
  redactions: 'redaction',
  runnables: 'source',
  runs: 'run',
  source_db: 'memory',
  subscriptions: 'subscription',
  triggers: 'workflow',
  watches: 'workflow',
  webhooks: 'webhook',
};

/** What docs/operations.md says of them: see "Not in it are". */
const NOT_EXPORTED: Readonly<Record<string, string>> = {
  attempts: 'attempts of deliveries: the lines of deliveries say how many, and what came of the last',
  codes: 'the code of deployments, once for each text: their lines have it',
  data_gone: 'records that were cleared and are not deleted yet',
  deployment_codes: 'which code a deployment has: its line has it',
  digests: 'mails about errors that wait to be sent: the errors are exported',
  error_group_deployments: 'counts for charts, which follow from the errors',
  error_group_hours: 'counts for charts, which follow from the errors',
  idempotency: 'keys of callers, kept for a day',
  ledger_hours: 'counts for charts, which follow from the rest',
  listener_queues: 'what waits for a listener: runs and deliveries say it',
  owner_bytes: 'a measurement',
  source_changes: 'marks of changes under way',
  throttles: 'how many runs began lately',
  versions: 'numbers for caches',
  watch_counts: 'how many runs ended lately',
  webhook_health: 'whether a webhook answers now',
  withheld: 'listeners that an event did not reach',
};

const OF_NO_OWNER: ReadonlySet<string> = new Set([
  ...['commit_markers', 'errand_schema', 'meta', 'nodes', 'watch_clock'],
]);

/** Names of the tables in either database. */
async function allTables(): Promise<string[]> {
  const found = new Set<string>();
  for (const database of ['sqlite', 'postgres']) {
    const text = await readFile(join(SCHEMAS, `001-${database}.txt`), 'utf8');
    for (const [, name = ''] of text.matchAll(/^table (\S+)/gm)) found.add(name);
  }
  return [...found].toSorted();
}

test('each table is exported, or says why not', async () => {
  const named = [...Object.keys(EXPORTED), ...Object.keys(NOT_EXPORTED), ...OF_NO_OWNER];
  assert.deepEqual(await allTables(), named.toSorted());
  await using errand = await startErrand();
  await createBelongings(errand);
  const { client } = errand;
  const { id } = (await client.get('/v1/users/me')).data;
  await client.put('/v1/users/me/redaction', { keys: ['pin'] });
  await client.put(`/v1/owners/${id}/quotas`, { processes: 7 });
  const [group] = (await client.get('/v1/error_groups')).data;
  const change = { state: 'resolved', note: 'the vendor knows', assignee: 'ada@example.com' };
  await client.put(`/v1/error_groups/${group.id}`, change);
  const source = await client.post('/v1/sources', {
    component_code: `export default { dedupe: 'unique', props: { db: '$.service.db' }, hooks: { deploy() {
      this.$emit({ later: true }, { id: 'l', delivery_ts: Date.now() + 3_600_000 });
      this.$emit({ n: 1 }, { id: 'o-1' });
      this.$emit({ n: 2 }, { id: 'o-1', name: 'paid' });
      this.db.set('cursor', { at: '2026-01-02', pin: 'hidden-pin' });
    } } };`,
  });
  const gone = await errand.workflow('export default () => 1');
  await errand.send(gone, {});
  await errand.settled();
  await client.delete(`/v1/workflows/${gone.id}`);
  const lines = linesOf((await client.request('GET', `/v1/owners/${id}/export`)).text);
  const types = new Set(lines.map(({ type }) => type));
  for (const [table, type] of Object.entries(EXPORTED)) assert.ok(types.has(type), `${table}: no line of ${type}`);
  const one = (type: string, of: string): Json => lines.find((line) => line.id === `${type}:${of}`)?.record;
  const { state, note, assignee } = one('error_group', group.id);
  assert.deepEqual({ state, note, assignee }, change);
  assert.equal(one('quotas', id).limits.processes, 7);
  const memory = one('memory', source.id);
  assert.deepEqual(memory.db, [{ name: 'cursor', value: { at: '2026-01-02', pin: '[redacted]' } }]);
  const seen = memory.seen_ids.map(({ event_name: name, id: itemId }: Json) => `${name} ${itemId}`);
  assert.deepEqual(seen.toSorted(), ['null l', 'null o-1', 'paid o-1']);
  const ofGone = lines.filter(({ type, record }) => type === 'run' && record.workflow_id === gone.id);
  assert.deepEqual([ofGone.length, ofGone[0]?.record.state], [1, 'succeeded'], 'of a workflow that is deleted');
  const replay = lines.find(({ type, record }) => type === 'operation' && record.kind === 'replay').record;
  const result = lines.find(({ type, record }) => type === 'replay_result' && record.operation_id === replay.id);
  assert.ok(result.record.outcome);
  const ledger = (await client.get('/v1/ledger')).data;
  assert.equal(one('ledger', id).emissions, ledger.emissions);
  assert.deepEqual(Object.keys(one('ledger', id)), Object.keys(ledger));
});

test('an export is in the audit logs of both owners', async () => {
  await using errand = await startErrand();
  const other = await createOwner(errand);
  await errand.client.request('GET', `/v1/owners/${other.id}/export`);
  const of = 'operation=exportOwner';
  const records = [
    ...(await errand.client.get(`/v1/audit?${of}`)).data,
    ...(await other.client.get(`/v1/audit?${of}`)).data,
  ];
  assert.deepEqual(
    records.map(({ owner_id: owner, method, target_id: target, status }) => [owner, method, target, status]),
    [
      [(await errand.client.get('/v1/users/me')).data.id, 'GET', other.id, 200],
      [other.id, 'GET', other.id, 200],
    ],
  );
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
