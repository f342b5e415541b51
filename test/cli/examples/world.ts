// What the examples of commands speak of: a server with things of those names, and files in the folder where they are run.

import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Json } from '../../support/client.ts';
import type { Errand } from '../../support/errand.ts';
import { ECHO_SOURCE } from '../../support/sources/sources.ts';
import { until } from '../../support/wait.ts';

/** At a port where nothing listens. */
const OAUTH = { token_url: 'http://127.0.0.1:9/', client_id: 'ours' };
const THROWS = `export default () => { throw new TypeError('no card'); };`;
const WAITS = 'export default async ({ $ }) => { await $.flow.delay(3_600_000); };';
export const WORKFLOW_FILE = `import { defineWorkflow } from 'errand/workflow';
export default defineWorkflow({
  name: 'From a file',
  triggers: [{ type: 'http' }],
  steps: (flow) => flow.step('charge', () => 7),
});
`;
const SOURCE_FILE = 'export default { name: "Shop", key: "shop", version: "0.0.1", type: "source", run() {} };';
/** As Node.js alone can load it. */
export const PLAIN_CODE = 'export default () => 7;';
/** With a step of the name that examples have; nothing is mailed. */
const QUIET = { settings: { notify: false }, steps: [{ namespace: 'charge', code: THROWS }] };
/** Replayed so slowly, they are still under way when another command comes. */
const SLOW = { errors: 30, rate: 1 } as const;

const FILES: Readonly<Record<string, string>> = {
  'corrected.json': '{"order": 7}',
  'event.json': '{"order": 7}',
  'body.json': '{"order": 7}',
  'headers.txt': 'webhook-id: 1\nwebhook-timestamp: 1782000000\nwebhook-signature: v1,c2lnbmF0dXJl\n',
  'slack.json': '{"url": "https://hooks.slack.com/services/T0/B0/private"}',
  'workflows/charge-orders.ts': WORKFLOW_FILE,
  'src/workflows/charge-orders.ts': WORKFLOW_FILE,
  'shop/order.ts': SOURCE_FILE,
  'components/shop.mjs': SOURCE_FILE,
  'package.json': '{"name": "examples", "type": "module"}',
  'my-project/orders-p_abc123/workflow.yaml':
    'schema: workflow/2022.04\nname: Orders\nsteps:\n- namespace: charge\n  uses: "./charge.mjs"\n',
  'my-project/orders-p_abc123/charge.mjs': 'export default defineComponent({ async run() { return 7; } });',
  '.config/fish/completions/.keep': '',
  'card-key.txt': 'a-key',
  'prod.env': 'REGION=eu\n',
  'new-key.txt': 'k'.repeat(40),
};

export async function writeFiles(home: string): Promise<void> {
  for (const [name, text] of Object.entries(FILES)) {
    await mkdir(dirname(join(home, name)), { recursive: true });
    await writeFile(join(home, name), text);
  }
}

type Make = (errand: Errand) => Promise<Json>;

function putRecord({ client }: Errand, { id }: Json): Promise<Json> {
  return client.put(`/v1/data_stores/${id}/records/order-17`, { value: { total: 12.5 } });
}

/** Name → its list, and how one is made when there is none of that name. */
const NAMED: Readonly<Record<string, readonly [list: string, make: Make]>> = {
  'Charge orders': ['workflows', (errand) => errand.workflow(THROWS, { name: 'Charge orders', ...QUIET })],
  Invoices: ['workflows', (errand) => errand.workflow(THROWS, { name: 'Invoices', ...QUIET })],
  'Stripe events': ['workflows', (errand) => errand.workflow(THROWS, { name: 'Stripe events', ...QUIET })],
  'Orders feed': [
    'sources',
    ({ client }) => client.post('/v1/sources', { name: 'Orders feed', component_code: ECHO_SOURCE }),
  ],
  'Errors to chat': [
    'webhooks',
    ({ client }) => client.post('/v1/webhooks', { url: 'http://127.0.0.1:9/', name: 'Errors to chat' }),
  ],
  'On call': [
    'channels',
    ({ client }) => client.post('/v1/channels', { kind: 'mail', config: { to: 'a@example.com' }, name: 'On call' }),
  ],
  Backup: ['heartbeats', ({ client }) => client.post('/v1/heartbeats', { name: 'Backup', interval_seconds: 600 })],
  'Team chat': [
    'accounts',
    ({ client }) => client.post('/v1/accounts', { app: 'slack', name: 'Team chat', oauth: OAUTH }),
  ],
  'Seen orders': ['data_stores', ({ client }) => client.post('/v1/data_stores', { name: 'Seen orders' })],
  Shop: ['owners', ({ client }) => client.post('/v1/owners', { name: 'Shop' })],
  'on my laptop': ['keys', ({ client }) => client.post('/v1/keys', { label: 'on my laptop', scopes: ['read'] })],
};

/** Makes what the line names and what is not there. A command that makes it itself finds none. */
export async function makeNamed(errand: Errand, line: string): Promise<void> {
  for (const [name, [list, make]] of Object.entries(NAMED)) {
    if (!line.includes(name) || line.includes(`${list.replace('_', '-')} create`)) continue;
    const all: Json[] = (await errand.client.get(`/v1/${list}`)).data;
    const isThere = (one: Json): boolean => !one.revoked_at && one.state !== 'deleted';
    const [found, ...more] = all.filter((one) => (one.name ?? one.label) === name && isThere(one)).reverse();
    // An example has made a second one.
    for (const one of more) await errand.client.request('DELETE', `/v1/${list}/${one.id}`);
    const made = found ?? (await make(errand));
    // An example has deleted it.
    if (list === 'data_stores') await putRecord(errand, made);
  }
}

async function failedRun(errand: Errand): Promise<Json> {
  await makeNamed(errand, 'Charge orders');
  const [{ id }] = (await errand.client.get('/v1/workflows?name=Charge+orders')).data;
  const workflow = await errand.client.get(`/v1/workflows/${id}`);
  const sent = await errand.send(workflow.data, { order: 7 });
  return until('the run to fail', async () => {
    const runs: Json[] = (await errand.client.get(`/v1/workflows/${id}/runs`)).data;
    return runs.find(({ emission_id: emission, state }) => emission === sent && state === 'failed');
  });
}

async function waitingRun(errand: Errand): Promise<Json> {
  const workflow = await errand.workflow(WAITS, { name: `Waits ${Date.now()}` });
  await errand.send(workflow, {});
  return until('the run to wait', async () => {
    const [run] = (await errand.client.get(`/v1/workflows/${workflow.id}/runs`)).data;
    return run?.state === 'waiting' && run;
  });
}

/** Starts a replay that takes a while; the errors are those of a workflow of its own. */
async function operation(errand: Errand, isSlow: boolean): Promise<Json> {
  const workflow = await errand.workflow(THROWS, { name: `Fails ${Date.now()}`, ...QUIET });
  const count = isSlow ? SLOW.errors : 1;
  for (let n = 0; n < count; n++) await errand.send(workflow, { n });
  await errand.errors(workflow.id, count);
  return errand.client.post('/v1/replays', { workflow_id: workflow.id, ...(isSlow ? { rate: SLOW.rate } : {}) });
}

/** Returns the ids in place of those that examples show. */
export async function idsFor(errand: Errand, line: string): Promise<ReadonlyMap<string, string>> {
  const { client } = errand;
  const first = async (path: string): Promise<string> => (await client.get(path)).data[0]?.id ?? '';
  const known: Readonly<Record<string, () => Promise<string>>> = {
    r_g4w9zl7uo0: async () => (await (line.includes('cancel') ? waitingRun(errand) : failedRun(errand))).id,
    dl_g4w9zl7uo0: () => first(line.includes('mail') ? '/v1/deliveries?kind=mail' : '/v1/deliveries?kind=webhook'),
    '1782000000123-0': () => first('/v1/errors'),
    eg_0Vj3aBc9dEfGhIjK: () => first('/v1/error_groups'),
    d_0Vj3aBc9dEfGhIjK: async () => {
      const workflow = await first('/v1/workflows?name=Charge+orders');
      return first(`/v1/workflows/${workflow}/deployments`);
    },
    wh_0Vj3aBc9dEfGhIjK: () => first('/v1/webhooks'),
    hi_0Vj3aBc9dEfGhIjK: async () => {
      const { triggers } = await errand.workflow(THROWS, { name: `Called ${Date.now()}` });
      return triggers[0].id;
    },
    sub_0Vj3aBc9dEfGhIjK: async () => {
      // An earlier example may have deleted the webhook.
      const listener = await errand.workflow(THROWS, { name: `Listens ${Date.now()}` });
      const made = await errand.subscribe('*', listener.id, `of-${Date.now()}`);
      return made[0].id;
    },
    op_0Vj3aBc9dEfGhIjK: async () => {
      const made = await operation(errand, /pause|resume|cancel/.test(line));
      if (line.includes('resume')) await client.post(`/v1/operations/${made.id}/pause`);
      return made.id;
    },
    u_0Vj3aBc9dEfGhIjK: async () => (await client.post('/v1/owners', { name: `Shop ${Date.now()}` })).id,
    key_0Vj3aBc9dEfGhIjK: async () => (await client.post('/v1/keys', { label: 'other', scopes: ['read'] })).id,
  };
  const found = new Map<string, string>();
  for (const [shown, find] of Object.entries(known)) if (line.includes(shown)) found.set(shown, await find());
  return found;
}

/** Lets the source that examples name emit an event. */
export async function emitted(errand: Errand): Promise<void> {
  await makeNamed(errand, 'Orders feed');
  const sources: Json[] = (await errand.client.get('/v1/sources')).data;
  const { endpoint_url: url } = sources.find(({ name }) => name === 'Orders feed') ?? {};
  await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"order": 7}' });
}

/** Makes what lists show: errors, mails, deliveries and a replay. */
export async function makeHistory(errand: Errand): Promise<void> {
  const { client } = errand;
  const loud = await errand.workflow(THROWS, { name: 'Loud' });
  await makeNamed(errand, 'Charge orders Errors to chat');
  const [webhook] = (await client.get('/v1/webhooks')).data;
  await errand.subscribe(loud.id, webhook.id, '$errors');
  await errand.send(loud, { order: 7 });
  for (const kind of ['mail', 'webhook'])
    await until(kind, async () => (await client.get(`/v1/deliveries?kind=${kind}`)).data.length > 0);
  await operation(errand, false);
  await failedRun(errand);
}
