// One of everything, so that requests meet something that exists.

import type { Json } from '../../support/client.ts';
import type { Errand } from '../../support/errand.ts';
import { failedHeartbeat } from '../../support/heartbeats.ts';
import type { Receiver } from '../../support/receiver.ts';
import { createSource, ECHO_SOURCE, post } from '../../support/sources/sources.ts';
import { createWebhook, deliveries } from '../../support/webhooks.ts';

export interface Belongings {
  /** Returns ids that fit the hole of a path. */
  idsFor(path: string, hole: string): readonly string[];
  /** Returns an id of something that exists for one of that prefix, in bodies and queries. */
  instead(example: unknown): unknown;
}

export async function createBelongings(errand: Errand, receiver: Receiver): Promise<Belongings> {
  const { client } = errand;
  const failing = await errand.workflow(`export default ({ $ }) => { console.log('x'); throw new Error('x'); };`);
  const throwing = ECHO_SOURCE.replace('this.$emit', 'if (event.body.n === 1) throw new Error("x"); this.$emit');
  const source = await createSource(errand, throwing);
  const webhook = await createWebhook(errand, receiver);
  const [subscription] = await errand.subscribe(failing.id, webhook.id, '$errors');
  receiver.answer((n) => (n === 0 ? 410 : 200));
  const emitId = await errand.send(failing, { n: 1 });
  const [record] = await errand.errors(failing.id, 1);
  const [webhookRecord] = await errand.errors(webhook.id, 1);
  await post(source, { n: 1 });
  const [sourceRecord] = await errand.errors(source.id, 1);
  await errand.send(failing, { n: 2 });
  await errand.errors(failing.id, 2);
  const [held] = await deliveries(errand, webhook.id, 'held');
  const channel = await client.post('/v1/channels', { kind: 'http', config: { url: receiver.url } });
  const store = await client.post('/v1/data_stores', { name: 'seen' });
  await client.put(`/v1/data_stores/${store.id}/records/rss`, { value: 1 });
  const account = await client.post('/v1/accounts', { app: 'slack', fields: { t: 't' } });
  const [heartbeat, heartbeatRecord] = await failedHeartbeat(client);
  const owner = await client.post('/v1/owners', { name: 'other' });
  const key = await client.post('/v1/keys', { label: 'other' });
  const replaying = await client.post('/v1/replays', { error_ids: record.id });
  const resending = await client.post(`/v1/webhooks/${webhook.id}/resend`, { since: 0 });
  const [run] = await errand.runs(failing.id, 1);
  const group: string = (await client.get('/v1/errors')).data[0].metadata.group_id;
  const pings: Json = (await client.get(`/v1/heartbeats/${heartbeat}`)).data;
  const keyIn = (url: string): string => new URL(url).pathname.split('/')[2] ?? '';
  const byPlace: Readonly<Record<string, readonly string[]>> = {
    '/v1/workflows/': [failing.id],
    '/v1/sources/': [source.id],
    '/v1/webhooks/': [webhook.id],
    '/v1/runs/': [run.id],
    '/v1/deliveries/': [held.id],
    '/v1/operations/': [replaying.id, resending.id],
    '/v1/error_groups/': [group],
    '/v1/subscriptions/': [subscription.id],
    '/v1/owners/': [owner.id],
    '/v1/keys/': [key.id],
    '/v1/heartbeats/': [heartbeat],
    '/v1/accounts/': [account.id],
    '/v1/channels/': [channel.id],
    '/v1/data_stores/': [store.id],
    '/v1/events/': [record.id, emitId],
    '/v1/emitters/': [failing.id, source.id, webhook.id],
    '/sse/dc/': [source.id],
    '/e/': [keyIn(failing.triggers[0].endpoint_url)],
    '/h/': [keyIn(pings.ping_url)],
  };
  const byHole: Readonly<Record<string, readonly string[]>> = {
    record_id: [record.id, webhookRecord.id, sourceRecord.id, heartbeatRecord],
    deployment_id: [failing.deployment_id],
    key_id: [owner.key?.id ?? key.id],
    key: ['rss'],
    status: ['fail', 'start', '0'],
  };
  const all = [...Object.values(byPlace).flat(), failing.deployment_id, failing.steps[0].id];
  return {
    idsFor: (path, hole) => {
      const place = Object.keys(byPlace).find((prefix) => path.startsWith(prefix));
      const isOfPlace = place !== undefined && path.startsWith(`${place}{${hole}}`);
      return (isOfPlace ? byPlace[place] : byHole[hole]) ?? ['x'];
    },
    instead: (example) => {
      if (typeof example !== 'string') return example;
      if (/^https?:/.test(example)) return receiver.url;
      const prefix = /^[a-z]+_(?=[0-9A-Za-z]{10,}$)/.exec(example)?.[0];
      return (prefix !== undefined && all.find((id) => id.startsWith(prefix))) || example;
    },
  };
}
