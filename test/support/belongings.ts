// One of everything that an owner can have, and every operation of the OpenAPI document to reach it by.

import type { Client, Json } from './client.ts';
import type { Errand } from './errand.ts';
import { failedHeartbeat } from './heartbeats.ts';
import { startReceiver } from './receiver.ts';
import { createSource, ECHO_SOURCE, post } from './sources/sources.ts';
import { until } from './wait.ts';
import { createWebhook, deliveries } from './webhooks.ts';

const THROW = `export default () => { throw new Error('secret-of-a'); };`;

export interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly example: Json;
  /** The scope that its key needs; null: none is needed. */
  readonly scope: string | null;
}

/** Ids of everything that the first owner has, by the path that shows them. */
export interface Belongings {
  readonly all: string[];
  /** Values of the holes of a path, in order. */
  holesOf(path: string): string[];
}

/** Those of paths of that kind. */
export async function operationsOf(client: Client, paths = /^\/v1\//): Promise<Operation[]> {
  const document = await client.get('/v1/openapi.json');
  return Object.entries<Json>(document.paths)
    .filter(([path]) => paths.test(path))
    .flatMap(([path, item]) =>
      Object.entries<Json>(item).map(([method, spec]) => {
        const content = spec.requestBody?.content?.['application/json'];
        const example = content?.example ?? content?.schema?.example ?? content?.schema?.examples?.[0];
        const [security] = spec.security;
        return { id: spec.operationId, method: method.toUpperCase(), path, example, scope: security?.key[0] ?? null };
      }),
    );
}

export async function createBelongings(errand: Errand): Promise<Belongings> {
  await using receiver = await startReceiver();
  receiver.answer(410);
  const { client } = errand;
  const me = (await client.get('/v1/users/me')).data;
  const workflow = await errand.workflow(THROW, { name: 'secret-of-a' });
  const source = await createSource(
    errand,
    ECHO_SOURCE.replace('this.$emit', `console.log('secret-of-a'); this.$emit`),
    {
      name: 'secret-of-a',
    },
  );
  const webhook = await createWebhook(errand, receiver, { name: 'secret-of-a' });
  const [subscription] = await errand.subscribe(workflow.id, webhook.id, '$errors');
  await errand.send(workflow, { text: 'secret-of-a' });
  await post(source, 'secret-of-a', { 'content-type': 'text/plain' });
  const [record] = await errand.errors(workflow.id, 1);
  const [webhookRecord] = await errand.errors(webhook.id, 1);
  const [delivery] = await deliveries(errand, webhook.id, 'exhausted');
  const [run] = await errand.runs(workflow.id, 1);
  const key = await client.post('/v1/keys', { label: 'secret-of-a', scopes: ['read'] });
  const operation = await client.post(`/v1/webhooks/${webhook.id}/resend`, { since: 0 });
  const account = await client.post('/v1/accounts', { app: 'secret-of-a', fields: { token: 'secret-of-a' } });
  const config = { to: 'secret-of-a@example.com' };
  const channel = await client.post('/v1/channels', { kind: 'mail', name: 'secret-of-a', config });
  const dataStore = await client.post('/v1/data_stores', { name: 'secret-of-a' });
  await client.put(`/v1/data_stores/${dataStore.id}/records/key-of-a`, { value: 'secret-of-a' });
  const replay = await client.post('/v1/replays', { error_ids: [record.id] });
  await until('the replay to be over', async () => {
    const { data } = await client.get(`/v1/operations/${replay.id}`);
    return data.state !== 'running' && data.replay.under_way === 0;
  });
  const heartbeats = await failedHeartbeat(client, 'secret-of-a');
  // What goes on by itself would look like a change that somebody else made.
  await client.post(`/v1/operations/${operation.id}/cancel`);
  await errand.settled();
  const holes: Record<string, string[]> = {
    workflows: [workflow.id, record.id],
    sources: [source.id, record.id],
    emitters: [source.id],
    errors: [record.id],
    events: [run.emission_id],
    webhooks: [webhook.id, webhookRecord.id],
    runs: [run.id],
    deliveries: [delivery.id],
    operations: [operation.id],
    error_groups: [(await errand.client.get('/v1/error_groups')).data[0].id],
    subscriptions: [subscription.id],
    accounts: [account.id],
    channels: [channel.id],
    data_stores: [dataStore.id, 'key-of-a'],
    heartbeats,
    keys: [key.id],
    owners: [me.id],
  };
  return {
    all: [...Object.values(holes).flat(), replay.id, 'secret-of-a', workflow.deployment_id],
    holesOf: (path) => {
      if (path.endsWith('/results')) return [replay.id];
      const [first = '', second = ''] = holes[path.split('/')[2] ?? ''] ?? [];
      return [first, path.includes('{deployment_id}') ? workflow.deployment_id : second];
    },
  };
}

export const fill = (path: string, values: string[]): string => {
  let n = 0;
  return path.replace(/\{[^}]+\}/g, () => values[n++] ?? '');
};

/** Everything that can be read, as text, by path; but for the log of who asked, and when keys were used. */
export async function readAll(
  client: Client,
  operations: readonly Operation[],
  belongings: Belongings,
): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  for (const { method, path } of operations) {
    // A stream has no end, an export ends with how far the log was read, and how much is used of a quota changes by itself.
    if (method !== 'GET' || /^\/(v1\/emitters|sse)\/|\/(audit|quotas|stream|export)$/.test(path)) continue;
    const filled = fill(path, belongings.holesOf(path));
    const { text } = await client.request('GET', filled);
    texts.set(filled, text.replace(/"last_used_at":(null|\d+),"last_used_at_iso":(null|"[^"]*")/g, '"last_used_at":0'));
  }
  return texts;
}
