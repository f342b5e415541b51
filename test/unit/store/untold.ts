// A server that is given every kind of secret, has everything go wrong, and is killed. All that it said is kept.

import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { type Answer, type Client, createClient, type Json } from '../../support/client.ts';
import { createErrandOn } from '../../support/flows.ts';
import { spawnErrand } from '../../support/process.ts';
import { startMailServer } from '../../support/sources/mail-server.ts';
import { until } from '../../support/wait.ts';
import { call } from './command.ts';
import { API_KEY, OTHER, refusalOf, SETTING } from './seal/sealed.ts';

export const DATABASE_PASSWORD = 'database-password-8c1f';
const MAIL_PASSWORD = 'mail-password-5d2e';
const HEADER = 'Bearer header-value-9a3b';
const PROP = 'prop-value-7e4c';
const VARIABLE = 'variable-value-6f1d';

const SOURCE = `export default {
  props: { http: '$.interface.http', token: { type: 'string', secret: true } },
  run() { throw new Error('the source failed'); },
};`;
const THROW = "export default () => { throw new Error('the workflow failed'); };";

type Env = Record<string, string>;

export interface Told {
  /** By what they are. */
  readonly secrets: ReadonlyMap<string, string>;
  /** By where it was said. */
  readonly said: ReadonlyMap<string, string>;
}

/** `env`: where its store is. */
export async function provokeAll(env: Env): Promise<Told> {
  await using mail = await startMailServer({
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    onAuth: (_auth, _session, done) => done(new Error('535 who are you?')),
  });
  const smtp = `smtp://ada:${MAIL_PASSWORD}@127.0.0.1:${mail.port}`;
  const all = {
    ...env,
    ERRAND_SECRET_KEY: SETTING,
    ERRAND_SMTP_URL: smtp,
    ERRAND_MAIL_TO: 'ada@example.org',
    ERRAND_LOG_LEVEL: 'debug',
  };
  const said = new Map<string, string>();
  const secrets = new Map([
    ['secret key', SETTING],
    ['another secret key', OTHER],
    ['API key', API_KEY],
    ['mail password', MAIL_PASSWORD],
    ['database password', DATABASE_PASSWORD],
    ['header', HEADER.slice('Bearer '.length)],
    ['prop', PROP],
    ['variable of env', VARIABLE],
  ]);
  {
    await using errand = await spawnErrand(all);
    const told: Answer[] = [];
    const { made, client } = await makeAll(errand.url, told);
    for (const [i, secret] of made.entries()) secrets.set(`made ${i}`, secret);
    await refuseAll(client, told);
    await until('the mail was refused', () => errand.stderr().includes('535'));
    said.set('answers', told.map(({ text, headers }) => JSON.stringify([...headers]) + text).join('\n'));
    errand.child.kill('SIGKILL');
    await errand.exited;
    said.set('stdout', errand.stdout());
    said.set('log', errand.stderr());
  }
  await stopAtStart(all, said);
  return { secrets, said };
}

/** `made`: what was shown this once. */
async function makeAll(url: string, told: Answer[]): Promise<{ made: string[]; client: Client }> {
  const client = createClient(url, API_KEY);
  const errand = createErrandOn(() => client);
  await using receiver = await startFailing();
  const key = await client.post('/v1/keys', { label: 'reader', scopes: ['read'] });
  const settings = { headers: { authorization: HEADER }, retry: { delays_ms: [] }, signature: ['v1', 'v1a'] };
  const [fails, refuses] = await Promise.all(
    [receiver.url, 'http://127.0.0.1:9/'].map((target) => client.post('/v1/webhooks', { url: target, ...settings })),
  );
  const workflow = await errand.workflow(THROW, { settings: { env: { TOKEN: VARIABLE } } });
  for (const { id } of [fails, refuses]) await errand.subscribe(workflow.id, id, '$errors');
  const source = await client.post('/v1/sources', {
    name: 'feed',
    component_code: SOURCE,
    configured_props: { token: PROP },
  });
  await errand.send(workflow, { n: 1 });
  await fetch(source.endpoint_url, { method: 'POST', body: '{}' }).then((answer) => answer.arrayBuffer());
  for (const { id } of [workflow, source, fails, refuses]) await errand.errors(id, 1);
  const rotated = await client.request('POST', `/v1/webhooks/${fails.id}/rotate_secret`, {});
  const reader = createClient(url, key.api_key ?? key.key);
  const shown = [
    `/v1/webhooks/${fails.id}`,
    '/v1/webhooks',
    `/v1/webhooks/${fails.id}/deliveries`,
    `/v1/webhooks/${refuses.id}/$errors/event_summaries?expand=event`,
    `/v1/sources/${source.id}`,
    `/v1/sources/${source.id}/$errors/event_summaries?expand=event`,
    '/v1/keys',
    '/v1/users/me',
    '/metrics',
  ];
  for (const path of shown) told.push(await reader.request('GET', path));
  const made = [key.api_key ?? key.key, fails.secret, refuses.secret, rotated.json?.data?.secret];
  return { made: made.filter((secret) => typeof secret === 'string'), client };
}

/** Whatever a caller may get wrong, with the secret in it. */
async function refuseAll(client: Client, told: Answer[]): Promise<void> {
  const url = 'https://example.com/';
  const wrong: [string, string, Json][] = [
    ['POST', '/v1/webhooks', { url, headers: { authorization: `${HEADER}\n` } }],
    ['POST', '/v1/webhooks', { url, headers: { 'content-length': HEADER } }],
    ['POST', '/v1/webhooks', { url, headers: HEADER }],
    ['POST', '/v1/webhooks', `{"url": "${url}", "headers": {"authorization": "${HEADER}"`],
    ['POST', '/v1/webhooks', { url: `https://ada:${PROP}@example.com/` }],
    ['POST', '/v1/sources', { name: 'x', component_code: SOURCE, configured_props: { token: { PROP } } }],
    ['POST', '/v1/sources', { name: 'x', component_code: SOURCE, configured_props: { token: [PROP] } }],
    ['POST', '/v1/sources', { name: 'x', component_code: SOURCE, configured_props: PROP }],
    ['POST', '/v1/workflows', { name: 'x', settings: { env: VARIABLE } }],
    ['POST', '/v1/workflows', { name: 'x', triggers: [{ type: 'http', auth: { type: 'bearer', token: [VARIABLE] } }] }],
    ['POST', '/v1/workflows', { name: 'x', triggers: [{ type: 'http', auth: { type: 'basic', token: VARIABLE } }] }],
  ];
  for (const [method, path, body] of wrong) {
    const answer = await client.request(method, path, body);
    if (answer.status < 400) throw new Error(`${method} ${path} was not refused: ${JSON.stringify(body)}`);
    told.push(answer);
  }
  told.push(await createClient(client.url, `${API_KEY}-no-more`).request('GET', '/v1/webhooks'));
}

/** Starts that end at once, and what the command line says. */
async function stopAtStart(env: Env, said: Map<string, string>): Promise<void> {
  const taken = createTcpServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  const { port } = taken.address() as AddressInfo;
  const cases: Record<string, Env> = {
    'a port that is taken': { ERRAND_PORT: String(port) },
    'another key': { ERRAND_SECRET_KEY: OTHER },
    'no address of a mail server': { ERRAND_SMTP_URL: `http://ada:${MAIL_PASSWORD}@127.0.0.1` },
    'a key with a blank': { ERRAND_SECRET_KEY: `${SETTING} ${OTHER}` },
    'an API key with a blank': { ERRAND_API_KEY: `${API_KEY} ${API_KEY}` },
  };
  for (const [name, more] of Object.entries(cases)) {
    const refusal = await refusalOf({ ...env, ...more });
    if (refusal === '') throw new Error(`${name}: it started`);
    said.set(name, refusal);
  }
  taken.close();
  for (const args of [
    ['config', '--local'],
    ['store', 'check'],
    ['owners', 'list'],
  ]) {
    const { stdout, stderr } = await call(args, env);
    said.set(args.join(' '), stdout + stderr);
  }
}

async function startFailing(): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer((_, response) => response.writeHead(500).end('it failed'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
