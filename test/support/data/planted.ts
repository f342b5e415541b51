// An owner whose personal data is everywhere that data of events can get to, and nowhere in what the owner configured.

import type { Json } from '../client.ts';
import type { Errand } from '../errand.ts';
import type { Receiver } from '../receiver.ts';
import { createSource, ECHO_SOURCE, post } from '../sources/sources.ts';
import { until } from '../wait.ts';
import { createWebhook, deliveries } from '../webhooks.ts';

/** Hidden by a pattern. */
export const CARD = 'card-5501-aefw';
/** Hidden by the name of its member. */
export const PASSWORD = 'hunter-of-nine-tails';
export const RULES: Json = { keys: ['password'], patterns: ['card-[0-9]+-[a-z]+'] };
export const PLANTED = /5501-aefw|of-nine-tails/;

/** Puts what it is given wherever code can put it. */
const LEAK = `export default async ({ steps, $ }) => {
  const { card, password, url, fails } = steps.trigger.event.body ?? steps.trigger.event;
  const said = 'card ' + card + ' with password=' + password;
  console.log(said);
  console.error({ card, password });
  $.export('$summary', said);
  $.export('charge', { card, nested: { password } });
  $.send.emit({ card, password });
  $.send.email({ subject: said, text: said, html: '<p>' + said + '</p>' });
  if (url) $.send.http({ method: 'POST', url: url + '?password=' + password, headers: { 'x-card': card }, data: { card, password } });
  if (fails === 'late') setTimeout(() => { throw new Error('stray ' + said); }, 1);
  if (fails === 'death') {
    const { writeSync } = process.getBuiltinModule('node:fs');
    writeSync(2, said);
    writeSync(3, Buffer.alloc(64, 0xff));
    await new Promise(() => {});
  }
  if (fails && fails !== 'late') throw new Error('no charge of ' + said, { cause: new Error(said) });
  return { card, password };
};`;

export interface Planted {
  /** Values of the holes of a path of the OpenAPI document, in order. */
  holesOf(path: string): readonly string[];
  /** Requests that a channel and webhooks of the owner got. */
  readonly notices: () => string[];
  /** The signed page of a group. */
  readonly link: string;
}

/** `receiver`: of notices; `echo`: of webhooks and requests. */
export async function plant(
  errand: Errand,
  { receiver, echo }: { readonly receiver: Receiver; readonly echo: Receiver },
): Promise<Planted> {
  const { client } = errand;
  echo.answer(410, { 'x-card': CARD, 'set-cookie': `password=${PASSWORD}` }, `card ${CARD} password=${PASSWORD}`);
  const channel = await client.post('/v1/channels', { kind: 'http', config: { url: receiver.url } });
  const me = await client.put('/v1/users/me', { channels: [channel.id] });
  const event = { card: CARD, password: PASSWORD, url: echo.url };
  const workflow = await errand.workflow(LEAK, { name: 'Shop' });
  const webhook = await createWebhook(errand, echo, { name: 'Shop' });
  const [subscription] = await errand.subscribe(workflow.id, webhook.id);
  const headers = { 'x-card': CARD, password: PASSWORD };
  const path = new URL(workflow.triggers[0].endpoint_url).pathname;
  await client.request(
    'POST',
    `${path}/${CARD}?password=${PASSWORD}&card=${CARD}`,
    { ...event, reason: 'none' },
    headers,
  );
  await client.request('POST', path, { ...event, fails: true, reason: CARD }, headers);
  await client.request('POST', path, { ...event, fails: true, reason: CARD }, headers);
  await client.request('POST', path, { card: CARD, password: PASSWORD, fails: 'late', reason: 'none' });
  await until('a stray exception', () => errand.logged.some(({ name }) => name === 'runner.stray_exception'));
  await client.request('POST', path, { card: CARD, password: PASSWORD, fails: 'death' });
  const said = ECHO_SOURCE.replace('this.$emit(event.body)', SAID_BY_SOURCE);
  const source = await createSource(errand, said.replace('props: {', "props: { db: '$.service.db',"), { name: 'Shop' });
  await post(source, { card: CARD, password: PASSWORD });
  await post(source, { card: CARD, password: PASSWORD, fails: true });
  await report(errand);
  const heartbeat = await client.post('/v1/heartbeats', { name: 'Backup', interval_seconds: 86_400 });
  await fetch(`${heartbeat.ping_url}/fail`, { method: 'POST', body: `card ${CARD}\npassword: ${PASSWORD}\n` });
  const records = await errand.errors(workflow.id, 3);
  const record = records.find((one) => one.event.error.msg.startsWith('no charge')) as Json;
  const replay = await client.post('/v1/replays', { error_ids: [record.id] });
  await until('the replay to be over', async () => {
    const { data } = await client.get(`/v1/operations/${replay.id}`);
    return data.state !== 'running' && data.replay.under_way === 0;
  });
  await errand.settled();
  await until('notices', () => receiver.received.some(({ body }) => String(body).includes('no charge')));
  const notice = receiver.received.map(({ body }) => JSON.parse(String(body))).find(({ code }) => code === 'Error');
  const { data: groups } = await client.get('/v1/error_groups');
  const runs = await errand.runs(workflow.id, 3);
  const [sourceRecord] = await errand.errors(source.id, 1);
  const { data: emitted } = await client.get(`/v1/sources/${source.id}/event_summaries`);
  const { data: mails } = await client.get('/v1/deliveries?kind=mail');
  const [delivery] = await deliveries(errand, webhook.id, 'exhausted');
  const [webhookRecord] = await errand.errors(webhook.id, 1);
  const [heartbeatRecord] = await errand.errors(heartbeat.id, 1);
  const holes: Record<string, readonly string[]> = {
    workflows: [workflow.id, record.id],
    sources: [source.id, emitted[0].id],
    'sources $errors': [source.id, sourceRecord?.id],
    emitters: [workflow.id],
    dc: [source.id],
    errors: [record.id],
    webhooks: [webhook.id, webhookRecord?.id],
    heartbeats: [heartbeat.id, heartbeatRecord?.id],
    runs: [(runs.find(({ state }) => state === 'failed') as Json).id],
    deliveries: [delivery?.id],
    'deliveries mail': [mails[0].id],
    events: [record.id],
    operations: [replay.id],
    error_groups: [groups.find(({ fingerprint }: Json) => fingerprint.template.startsWith('no charge'))?.id],
    subscriptions: [subscription.id],
    channels: [channel.id],
    owners: [me.id],
  };
  return {
    link: notice.link,
    notices: () => receiver.received.map(({ headers: got, body }) => JSON.stringify(got) + String(body)),
    holesOf: (template) => {
      const noun = template.split('/')[2] ?? '';
      const special = ['$errors', 'mail'].find((part) => template.split('/').includes(part));
      const [first = '', second = ''] = holes[`${noun} ${special}`] ?? holes[noun] ?? [];
      return [first, template.includes('{deployment_id}') ? workflow.deployment_id : second];
    },
  };
}

const SAID_BY_SOURCE = `const { card, password } = event.body;
    console.log('card', card, { password });
    this.db.set('password', password);
    this.db.set('last', { card });
    if (event.body.fails) throw new Error('no ' + card + ' password=' + password);
    this.$emit(event.body, { id: card, summary: 'card ' + card });
    this.$emit({ card, password, later: true }, { delivery_ts: Date.now() + 86400000 });`;

/** Errors of programs elsewhere: with a key, and as a client of Sentry sends them. */
async function report({ client }: Errand): Promise<void> {
  await client.post('/v1/errors', {
    service: 'till',
    message: `no charge of ${CARD}, password=${PASSWORD}`,
    stack: `Error: ${CARD}\n    at pay (till.js:4:2) ${CARD}`,
    context: { card: CARD, password: PASSWORD },
    original_event: { card: CARD, password: PASSWORD },
  });
  const made = await client.post('/v1/keys', { label: 'till', scopes: ['ingest'], service: 'till' });
  const { origin, username, pathname } = new URL(made.dsn);
  await fetch(`${origin}/api${pathname}/store/?sentry_key=${username}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      event_id: '9ec79c33ec9942ab8353589fcb2e04dc',
      user: { card: CARD, password: PASSWORD },
      breadcrumbs: { values: [{ message: CARD, data: { password: PASSWORD } }] },
      exception: { values: [{ type: 'TillError', value: `card ${CARD} password=${PASSWORD}` }] },
    }),
  });
}
