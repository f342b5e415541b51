// The token of an account, which runs of several nodes need at once: one of them renews it.

import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../../support/client.ts';
import { startTokenServer } from '../../../support/sources/token-server.ts';
import { startNodes } from '../nodes.ts';

test('one node renews a token that several need', async () => {
  await using server = await startTokenServer();
  await using nodes = await startNodes({}, {}, {});
  const [a] = nodes.all;
  const oauth = { token_url: server.url, client_id: 'ours', refresh_token: server.refreshToken };
  const account = await a.client.post('/v1/accounts', { app: 'acme', oauth });
  server.waitMs = 300;
  const renew = (): Promise<Json[]> =>
    Promise.all(nodes.all.map(({ client }) => client.post(`/v1/accounts/${account.id}/renew`)));
  await renew();
  const used = server.asked.map(({ form }) => form.refresh_token);
  deepEqual(used, [...new Set(used)], 'no refresh token is used twice');
  const code = `export default {
    props: { app: { type: 'app', app: 'acme' } },
    run() { return this.app.$auth.oauth_access_token; },
  };`;
  const step = { namespace: 'call', code, configured_props: { app: { authProvisionId: account.id } } };
  const workflow = await a.workflow('', { steps: [step], settings: { concurrency: 30 } });
  const before = server.asked.length;
  nodes.forward(3_590_000);
  await Promise.all(Array.from({ length: 30 }, (_, order) => a.send(workflow, { order })));
  const runs = await a.runs(workflow.id, 30);
  deepEqual(new Set(runs.map(({ state }: Json) => state)), new Set(['succeeded']));
  equal(server.asked.length, before + 1);
});
