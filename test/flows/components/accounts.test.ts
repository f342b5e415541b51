// Accounts over HTTP, and what the code of a source gets of them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../support/client.ts';
import { type Errand, startErrand } from '../../support/errand.ts';
import { createOwner, withScopes } from '../../support/owners.ts';
import { shareErrand } from '../../support/shared-errand.ts';
import { createSource, emissions, eventsOf, post, trySource } from '../../support/sources/sources.ts';
import { withoutIso } from '../../support/wire/iso-times.ts';

const newErrand = shareErrand();

const TOKEN = 'xoxb-very-private-token';

const SOURCE = `const slack = {
  type: 'app', app: 'slack',
  methods: { token() { return this.$auth.oauth_access_token; } },
};
export default {
  props: { http: '$.interface.http', slack },
  run() { this.$emit({ token: this.slack.token().length, team: this.slack.$auth.team ?? null }); },
};`;

async function slackOf(errand: Errand, fields: Json = { oauth_access_token: TOKEN }): Promise<Json> {
  return errand.client.post('/v1/accounts', { app: 'slack', name: 'Team', fields });
}

const naming = (account: Json): Json => ({ configured_props: { slack: { authProvisionId: account.id } } });

test('an account is made, shown, changed and deleted', async () => {
  await using errand = await startErrand();
  const { client } = errand;
  const made = await slackOf(errand, { oauth_access_token: TOKEN, nested: { a: [1, null] }, flag: false });
  assert.match(made.id, /^apn_[0-9A-Za-z]{16}$/);
  const { id, owner_id, created_at, updated_at, ...rest } = withoutIso(made);
  assert.equal(owner_id, (await client.get('/v1/users/me')).data.id);
  assert.deepEqual(rest, {
    app: 'slack',
    name: 'Team',
    field_names: ['oauth_access_token', 'nested', 'flag'],
    oauth: null,
  });
  assert.ok(Number.isInteger(created_at) && updated_at === created_at);
  assert.deepEqual((await client.get(`/v1/accounts/${id}`)).data, made);
  const changed = await client.put(`/v1/accounts/${id}`, { name: 'Ours', fields: { nested: null, api_key: 'k' } });
  assert.deepEqual([changed.name, changed.field_names], ['Ours', ['oauth_access_token', 'flag', 'api_key']]);
  await errand.restart();
  assert.deepEqual((await errand.client.get(`/v1/accounts/${id}`)).data, changed);
  assert.deepEqual(await errand.client.delete(`/v1/accounts/${id}`), changed);
  assert.equal((await errand.client.request('GET', `/v1/accounts/${id}`)).status, 404);
  assert.equal((await errand.client.request('PUT', `/v1/accounts/${id}`, { name: 'x' })).status, 404);
  assert.equal((await errand.client.request('DELETE', `/v1/accounts/${id}`)).status, 404);
});

test('accounts are listed, also of one app', async () => {
  await using errand = await newErrand();
  const { client } = errand;
  const made: Json[] = [];
  for (const app of ['slack', 'github', 'slack']) made.push(await client.post('/v1/accounts', { app }));
  assert.equal(made[1].name, 'github', 'without a name it has that of its app');
  for (const path of ['/v1/accounts', '/v1/users/me/accounts']) {
    const all = await client.get(path);
    assert.deepEqual(all.data, made.toReversed());
    assert.equal(all.page_info.total_count, 3);
    const first = await client.get(`${path}?limit=1&app=slack`);
    assert.deepEqual([first.data, first.page_info.total_count], [[made[2]], 2]);
    const next = await client.get(`${path}?app=slack&after=${first.page_info.end_cursor}`);
    assert.deepEqual(next.data, [made[0]]);
  }
  assert.equal((await client.request('GET', '/v1/accounts?after=nonsense')).status, 400);
});

test('bad input is refused without the fields', async () => {
  await using errand = await newErrand();
  const tooMany = Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`f${n}`, TOKEN]));
  const refused: [Json, RegExp][] = [
    [{ name: 'x', fields: { t: TOKEN } }, /app is missing/],
    [{ app: '', fields: { t: TOKEN } }, /app/],
    [{ app: 'slack', fields: TOKEN }, /fields/],
    [{ app: 'slack', fields: [TOKEN] }, /fields/],
    [{ app: 'slack', fields: tooMany }, /101 fields.*100/],
    [{ app: 'slack', fields: { t: TOKEN.repeat(4000) } }, /bytes.*65536/],
    [{ app: 'slack', fields: { ['n'.repeat(129)]: TOKEN } }, /129 characters/],
    [{ app: 'slack', token: TOKEN }, /token/],
    [`{"app":"slack","fields":{"t":"${TOKEN}"},}`, /JSON/],
    [`{"app":"slack","fields":{"t":${TOKEN}}}`, /JSON/],
  ];
  for (const [body, message] of refused) {
    const answer = await errand.client.request('POST', '/v1/accounts', body);
    assert.equal(answer.status, 400, answer.text);
    assert.match(answer.json.error, message);
    assert.ok(!answer.text.includes('xoxb'), answer.text);
  }
  assert.deepEqual((await errand.client.get('/v1/accounts')).data, []);
});

test('another owner sees no account', async () => {
  await using errand = await startErrand();
  const account = await slackOf(errand);
  const other = await createOwner(errand);
  for (const [method, body] of [['GET'], ['PUT', { name: 'mine' }], ['DELETE']] as const) {
    const answer = await other.client.request(method, `/v1/accounts/${account.id}`, body);
    assert.equal(answer.status, 404, answer.text);
  }
  assert.deepEqual((await other.client.get('/v1/accounts')).data, []);
  const answer = await other.client.request('POST', '/v1/sources', { component_code: SOURCE, ...naming(account) });
  assert.equal(answer.status, 422, answer.text);
  assert.match(answer.json.error, /slack.*which does not exist/);
});

test('reading needs read, changing needs write', async () => {
  await using errand = await newErrand();
  const account = await slackOf(errand);
  const { client: reader } = await withScopes(errand.client, ['read']);
  assert.equal((await reader.request('GET', `/v1/accounts/${account.id}`)).status, 200);
  assert.equal((await reader.request('POST', '/v1/accounts', { app: 'x' })).status, 403);
  assert.equal((await reader.request('PUT', `/v1/accounts/${account.id}`, { name: 'x' })).status, 403);
  assert.equal((await reader.request('DELETE', `/v1/accounts/${account.id}`)).status, 403);
});

test('code gets the fields as they are now', async () => {
  await using errand = await startErrand();
  const account = await slackOf(errand);
  const source = await createSource(errand, SOURCE, naming(account));
  assert.deepEqual(source.configured_props.slack, { authProvisionId: account.id });
  await post(source, {});
  await emissions(errand, source.id, 1);
  await errand.client.put(`/v1/accounts/${account.id}`, { fields: { oauth_access_token: 'short', team: 'T1' } });
  await post(source, {});
  await emissions(errand, source.id, 2);
  await errand.restart();
  await post((await errand.client.get(`/v1/sources/${source.id}`)).data, {});
  assert.deepEqual(eventsOf(await emissions(errand, source.id, 3)), [
    { token: TOKEN.length, team: null },
    { token: 5, team: 'T1' },
    { token: 5, team: 'T1' },
  ]);
});

test('steps get the fields as they are now', async () => {
  await using errand = await newErrand();
  const account = await slackOf(errand);
  const code = `export default {
    props: { slack: { type: 'app', app: 'slack', methods: { token() { return this.$auth.oauth_access_token; } } } },
    run() { return this.slack.token().length; },
  };`;
  const step = { namespace: 'call', code, configured_props: { slack: { authProvisionId: account.id } } };
  const workflow = await errand.workflow('', { steps: [step] });
  await errand.send(workflow, {});
  await errand.runs(workflow.id, 1);
  await errand.client.put(`/v1/accounts/${account.id}`, { fields: { oauth_access_token: 'short' } });
  await errand.send(workflow, {});
  const [second, first] = await errand.runs(workflow.id, 2);
  const returned = async (run: Json) => (await errand.client.get(`/v1/runs/${run.id}`)).data.steps[0].return_value;
  assert.deepEqual([await returned(first), await returned(second)], [TOKEN.length, 5]);
  await errand.client.delete(`/v1/accounts/${account.id}`);
  await errand.send(workflow, {});
  const [record] = await errand.errors(workflow.id, 1);
  assert.equal(record.event.error.code, 'ConfigurationError');
  assert.ok(record.event.error.msg.includes(account.id), record.event.error.msg);
  assert.ok(record.event.error.msg.includes('slack'), record.event.error.msg);
});

test('a run without its account names it', async () => {
  await using errand = await newErrand();
  const account = await slackOf(errand);
  const source = await createSource(errand, SOURCE, naming(account));
  await errand.client.delete(`/v1/accounts/${account.id}`);
  await post(source, {});
  const [record] = await errand.errors(source.id, 1);
  assert.equal(record.event.error.code, 'ConfigurationError');
  assert.match(record.event.error.msg, new RegExp(`"slack".*${account.id}`));
  assert.equal(record.event.error.namespace, 'source');
  const again = await slackOf(errand);
  await errand.client.put(`/v1/sources/${source.id}`, naming(again));
  await post(source, {});
  assert.deepEqual(eventsOf(await emissions(errand, source.id, 1)), [{ token: TOKEN.length, team: null }]);
});

test('an account in line is never shown', async () => {
  await using errand = await newErrand();
  const props = { configured_props: { slack: { $auth: { oauth_access_token: TOKEN } } } };
  const source = await createSource(errand, SOURCE, props);
  await errand.client.put(`/v1/sources/${source.id}`, { configured_props: {} });
  await post(source, {});
  assert.deepEqual(eventsOf(await emissions(errand, source.id, 1)), [{ token: TOKEN.length, team: null }]);
  for (const path of [`/v1/sources/${source.id}`, '/v1/sources']) {
    const answer = await errand.client.request('GET', path);
    assert.ok(!answer.text.includes(TOKEN), answer.text);
  }
  const wrong = SOURCE.replace('http: ', `text: { type: 'string', optional: true }, http: `);
  const answer = await trySource(errand, wrong, { configured_props: { text: { $auth: { t: TOKEN } } } });
  assert.equal(answer.status, 422);
  assert.ok(!answer.text.includes(TOKEN), answer.text);
});

test('an app prop that names nothing is refused', async () => {
  await using errand = await newErrand();
  for (const slack of ['apn_1', { authProvisionId: 'apn_1' }, { authProvisionId: 7 }, {}, [], { $auth: 'x' }]) {
    const answer = await trySource(errand, SOURCE, { configured_props: { slack } });
    assert.equal(answer.status, 422, `${JSON.stringify(slack)}: ${answer.text}`);
    assert.equal(answer.json.errors[0].parameter, 'configured_props.slack');
    assert.match(answer.json.error, /authProvisionId/);
  }
});

test('no field reaches the log', async () => {
  await using errand = await startErrand();
  const account = await slackOf(errand);
  const source = await createSource(errand, SOURCE, naming(account));
  await post(source, {});
  await emissions(errand, source.id, 1);
  await errand.client.put(`/v1/accounts/${account.id}`, { fields: { oauth_access_token: `${TOKEN}2` } });
  await errand.client.delete(`/v1/accounts/${account.id}`);
  await post(source, {});
  await errand.errors(source.id, 1);
  const log = JSON.stringify(errand.logged);
  assert.ok(log.includes(source.id), 'this is where it would be');
  assert.ok(!log.includes(TOKEN));
});

test('an app whose code asks for no field of an account needs none', async () => {
  await using errand = await newErrand();
  const tools = (methods: string): string => `const tools = { type: 'app', app: 'helper_functions', methods: {
      // this.$auth contains connected account data
      authKeys() { console.log(Object.keys(this.$auth)); }, ${methods} } };
    export default { props: { http: '$.interface.http', tools }, run() { this.$emit({ fields: Object.keys(this.tools.$auth) }); } };`;
  const source = await createSource(errand, tools(''));
  await post(source, {});
  assert.deepEqual(eventsOf(await emissions(errand, source.id, 1)), [{ fields: [] }]);
  for (const method of [
    'key() { return this.$auth.api_key; }',
    'key() { const { api_key } = this.$auth; return api_key; }',
    "key() { return this.$auth['api_key']; }",
    'key() { const { $auth } = this; return $auth?.api_key; }',
  ]) {
    const refused = await trySource(errand, tools(method));
    assert.equal(refused.status, 422, method);
    assert.match(refused.json.error, /"tools" \(app\) is required and was not configured/);
  }
});

test('an account of another app is refused', async () => {
  await using errand = await newErrand();
  const { client } = errand;
  const wrong = await client.post('/v1/accounts', { app: 'github', fields: { oauth_access_token: TOKEN } });
  const refused = await trySource(errand, SOURCE, naming(wrong));
  assert.equal(refused.status, 422, refused.text);
  assert.equal(refused.json.errors[0].parameter, 'configured_props.slack');
  assert.match(refused.json.error, /needs an account of the app slack; apn_\w+ is an account of github/);
  for (const app of ['slack', 'Slack', 'SLACK']) {
    const right = await client.post('/v1/accounts', { app, fields: { oauth_access_token: TOKEN } });
    await createSource(errand, SOURCE, naming(right));
  }
});
