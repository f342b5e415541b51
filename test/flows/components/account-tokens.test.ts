// Access tokens of accounts, renewed with OAuth 2 at a token server that takes each refresh token once.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../support/client.ts';
import { type Errand, startErrand } from '../../support/errand.ts';
import { createOwner, withScopes } from '../../support/owners.ts';
import { startTokenServer, type TokenServer } from '../../support/sources/token-server.ts';

const SECRET = 'very-private-secret';
const STEP = `export default {
  props: { app: { type: 'app', app: 'acme', methods: { token() { return this.$auth.oauth_access_token; } } } },
  run() { return [this.app.token(), Object.keys(this.app.$auth)]; },
};`;

const oauthOf = (server: TokenServer): Json => ({
  ...{ token_url: server.url, client_id: 'ours', client_secret: SECRET, refresh_token: server.refreshToken },
});

async function workflowOf(errand: Errand, account: Json): Promise<Json> {
  const step = { namespace: 'call', code: STEP, configured_props: { app: { authProvisionId: account.id } } };
  return errand.workflow('', { steps: [step], settings: { concurrency: 20 } });
}

async function returned(errand: Errand, workflow: Json, count: number): Promise<Json[]> {
  const runs = await errand.runs(workflow.id, count);
  const whole = await Promise.all(runs.map(({ id }: Json) => errand.client.get(`/v1/runs/${id}`)));
  return whole.map(({ data }: Json) => data.steps[0].return_value?.[0]);
}

test('a run gets a token that is renewed when it must be, once for all runs', async () => {
  await using server = await startTokenServer();
  await using errand = await startErrand();
  const account = await errand.client.post('/v1/accounts', { app: 'acme', oauth: oauthOf(server) });
  deepEqual([account.field_names, account.oauth.expires_at, account.oauth.failure], [[], null, null]);
  let workflow = await workflowOf(errand, account);
  server.waitMs = 100;
  await Promise.all(Array.from({ length: 20 }, (_, order) => errand.send(workflow, { order })));
  deepEqual(new Set(await returned(errand, workflow, 20)), new Set(['token-1']));
  equal(server.asked.length, 1);
  const { form, headers } = server.asked[0] as TokenServer['asked'][0];
  deepEqual(form, {
    ...{ grant_type: 'refresh_token', refresh_token: 'refresh-0', client_id: 'ours', client_secret: SECRET },
  });
  deepEqual([headers.accept, headers['content-type']], ['application/json', 'application/x-www-form-urlencoded']);
  const shown = (await errand.client.get(`/v1/accounts/${account.id}`)).data;
  deepEqual([shown.field_names, shown.updated_at], [['oauth_access_token'], account.updated_at]);
  ok(Math.abs(shown.oauth.expires_at - Date.now() / 1000 - 3600) < 60);

  await errand.restart();
  workflow = (await errand.client.get(`/v1/workflows/${workflow.id}`)).data;
  await errand.send(workflow, {});
  deepEqual(new Set(await returned(errand, workflow, 21)), new Set(['token-1']));
  errand.forward(3_550_000);
  await Promise.all(Array.from({ length: 5 }, (_, order) => errand.send(workflow, { order })));
  const newest = (await returned(errand, workflow, 26)).slice(0, 5);
  deepEqual([new Set(newest), server.asked.length], [new Set(['token-2']), 2]);
  equal(server.asked[1]?.form.refresh_token, 'refresh-1', 'what came with the token is used the next time');
});

test('a token that cannot be renewed is an error that says why, without the secrets', async () => {
  await using server = await startTokenServer();
  await using errand = await startErrand();
  const account = await errand.client.post('/v1/accounts', {
    ...{ app: 'acme', oauth: { ...oauthOf(server), refresh_token: 'stolen-token' } },
  });
  const workflow = await workflowOf(errand, account);
  await Promise.all([1, 2, 3].map((order) => errand.send(workflow, { order })));
  const errors = await errand.errors(workflow.id, 3);
  for (const { event } of errors) {
    equal(event.error.code, 'ConfigurationError');
    const why = 'the token server answered 400 with invalid_grant: (hidden) of (hidden) was used before';
    ok(event.error.msg.endsWith(`${account.id}, which cannot be used: its access token could not be renewed: ${why}`));
  }
  equal(server.asked.length, 1, 'the next runs do not ask at once again');
  const refused = await errand.client.request('POST', `/v1/accounts/${account.id}/renew`);
  equal(refused.status, 422, refused.text);
  match(refused.json.error, /was not renewed: the token server answered 400 with invalid_grant/);
  const { data } = await errand.client.get(`/v1/accounts/${account.id}`);
  match(data.oauth.failure, /invalid_grant/);
  for (const told of [JSON.stringify([data, errand.logged, errors]), refused.text]) {
    ok(!told.includes(SECRET) && !told.includes('stolen-token'), told);
  }

  const changed = await errand.client.put(`/v1/accounts/${account.id}`, { oauth: { refresh_token: 'refresh-0' } });
  deepEqual([changed.oauth.failure, changed.oauth.client_id], [null, 'ours']);
  await errand.send(workflow, {});
  deepEqual((await returned(errand, workflow, 4))[0], 'token-1');

  // The old token is good for another minute, and the server is not: it is used.
  server.refusal = { status: 503, body: '<html>' };
  errand.forward(3_560_000);
  await errand.send(workflow, {});
  deepEqual((await returned(errand, workflow, 5))[0], 'token-1');
  errand.forward(120_000);
  await errand.send(workflow, {});
  const [late] = await errand.errors(workflow.id, 4);
  match(late.event.error.msg, /could not be renewed: the token server answered 503 with no reason$/);
  server.refusal = null;
  errand.forward(31_000);
  await errand.send(workflow, {});
  deepEqual((await returned(errand, workflow, 7))[0], 'token-2');
});

test('answers that give no token are failures, and odd ones do no harm', async () => {
  await using server = await startTokenServer();
  await using errand = await startErrand();
  const account = await errand.client.post('/v1/accounts', { app: 'acme', oauth: oauthOf(server) });
  const renew = (): Promise<Json> => errand.client.request('POST', `/v1/accounts/${account.id}/renew`);
  for (const [status, body, why] of [
    [200, '{"ok": false, "error": "invalid_refresh_token"}', /200 with invalid_refresh_token$/],
    [200, '{"access_token": ""}', /no access_token$/],
    [200, '{"access_token": {"a": 1}}', /no access_token$/],
    [200, 'null', /no access_token$/],
    [200, 'x'.repeat(200_000), /no access_token$/],
    [302, '{"access_token": "t"}', /answered 302/],
    [500, JSON.stringify({ error: 'e'.repeat(5000) }), /500 with e{500}$/],
  ] as const) {
    server.refusal = { status, body };
    const { status: answered, json } = await renew();
    equal(answered, 422);
    match(json.error, why);
  }
  for (const [expiresIn, seconds] of [
    ['120', 120],
    [-5, 3600],
    ['soon', 3600],
    [null, 3600],
  ]) {
    server.refusal = { status: 200, body: JSON.stringify({ access_token: 't', expires_in: expiresIn }) };
    const { json } = await renew();
    ok(Math.abs(json.data.oauth.expires_at - Date.now() / 1000 - Number(seconds)) < 60, JSON.stringify(json));
  }
  server.refusal = null;
  equal((await renew()).json.data.oauth.failure, null, 'the refresh token was kept where none came');
});

test('clients name themselves as they are told to', async () => {
  await using server = await startTokenServer();
  await using errand = await startErrand();
  const oauth = {
    token_url: server.url,
    client_id: 'ours:é',
    client_secret: 'a b+c',
    client_auth: 'basic',
    scope: 'x y',
  };
  const account = await errand.client.post('/v1/accounts', { app: 'acme', oauth });
  equal(account.oauth.grant, 'client_credentials');
  equal((await errand.client.post(`/v1/accounts/${account.id}/renew`)).oauth.grant, 'client_credentials');
  const { form, headers } = server.asked[0] as TokenServer['asked'][0];
  deepEqual(form, { grant_type: 'client_credentials', scope: 'x y' });
  equal(atob(String(headers.authorization).slice(6)), 'ours%3A%C3%A9:a+b%2Bc');
});

test('what is wrong is refused, and what is secret is never shown', async () => {
  await using server = await startTokenServer();
  await using errand = await startErrand();
  const { client } = errand;
  const good = oauthOf(server);
  for (const [oauth, status, why] of [
    [{ ...good, token_url: undefined }, 400, /oauth\.token_url is missing/],
    [{ ...good, client_id: undefined }, 400, /oauth\.client_id is missing/],
    [{ ...good, token_url: 'http://10.0.0.1/token' }, 422, /oauth\.token_url cannot be reached/],
    [{ ...good, token_url: 'ftp://example.com/' }, 422, /neither http nor https/],
    [{ ...good, client_auth: 'header' }, 400, /client_auth/],
    [{ ...good, client_secret: 7 }, 400, /client_secret/],
    [{ ...good, refresh_token: [SECRET] }, 400, /refresh_token/],
    [{ ...good, secret: SECRET }, 400, /secret/],
    [SECRET, 400, /oauth/],
  ] as const) {
    const answer = await client.request('POST', '/v1/accounts', { app: 'acme', oauth });
    deepEqual([answer.status, why.test(answer.json.error)], [status, true], answer.text);
    ok(!answer.text.includes(SECRET), answer.text);
  }
  const named = await client.request('POST', '/v1/accounts', { app: 'acme', fields: { $oauth: 1 } });
  equal(named.status, 400, named.text);
  const account = await client.post('/v1/accounts', { app: 'acme', oauth: { ...good, scope: 'read' } });
  deepEqual(
    { ...account.oauth, token_url: '' },
    {
      ...{ token_url: '', client_id: 'ours', client_auth: 'body', scope: 'read', grant: 'refresh_token' },
      ...{ expires_at: null, expires_at_iso: null, failure: null },
    },
  );
  const { client: reader } = await withScopes(client, ['read']);
  const other = await createOwner(errand);
  equal((await reader.request('POST', `/v1/accounts/${account.id}/renew`)).status, 403);
  equal((await other.client.request('POST', `/v1/accounts/${account.id}/renew`)).status, 404);
  equal(server.asked.length, 0);
  const none = await client.put(`/v1/accounts/${account.id}`, { oauth: null });
  equal(none.oauth, null);
  const refused = await client.request('POST', `/v1/accounts/${account.id}/renew`);
  deepEqual([refused.status, /has no oauth/.test(refused.text)], [422, true]);
  const all = [await client.request('GET', '/v1/accounts'), await client.request('GET', '/v1/audit')];
  for (const { text } of all) ok(!text.includes(SECRET) && !text.includes('refresh-0'), text);
});
