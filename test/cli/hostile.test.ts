// What others wrote must not control a terminal, whichever command prints it. A relay stands before the server, and each text
// in its answers is followed by what would change a terminal's title, its links, its screen and the direction of its text.

import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { commandLine, commandsIn } from '../../release/cli-docs.ts';
import { type Errand, startErrand } from '../support/errand.ts';
import { ECHO_SOURCE } from '../support/sources/sources.ts';
import { until } from '../support/wait.ts';
import { openShell } from './command.ts';
import type { Asked, Written } from './every-command.ts';

const POISON = '\u001b]0;title\u0007\u001b]8;;http://evil/\u001b\\\u009b2J\u0085\u202e\u2066\u007f\r\u001b[8mhidden';
/** By these, commands find their way: ids, states, addresses. */
const FOLLOWED =
  /(^|_)(id|ids|url|at|kind|state|type|status|cursor|fixture|base64|told|health|rule_state)$|^(scopes|error_id)$/;

function poisoned(value: unknown, name = ''): unknown {
  if (typeof value === 'string') return FOLLOWED.test(name) ? value : value + POISON;
  if (Array.isArray(value)) return value.map((one) => poisoned(one, name));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, poisoned(one, key)]));
}

/** JSON, lines of it, or events of a stream. */
function poisonedText(text: string): string {
  try {
    return JSON.stringify(poisoned(JSON.parse(text)));
  } catch {
    return text.replace(/^(data: )?(\{.*\})$/gm, (_, before = '', json: string) => before + poisonedText(json));
  }
}

async function relayTo(url: string) {
  const relayed = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const body = req.method === 'GET' ? undefined : new Uint8Array(await buffer(req));
    const headers = { ...req.headers, connection: 'close' } as unknown as Record<string, string>;
    for (const name of ['host', 'content-length', 'accept-encoding', 'connection', 'expect']) delete headers[name];
    const gone = new AbortController();
    res.on('close', () => gone.abort());
    const answer = await fetch(url + req.url, { method: req.method, headers, body, signal: gone.signal });
    const type = answer.headers.get('content-type') ?? 'application/json';
    res.writeHead(answer.status, { 'content-type': type });
    if (!type.includes('event-stream')) return void res.end(poisonedText(await answer.text()));
    let left = '';
    for await (const part of answer.body ?? []) {
      left += Buffer.from(part).toString();
      const whole = left.lastIndexOf('\n') + 1;
      res.write(poisonedText(left.slice(0, whole)));
      left = left.slice(whole);
    }
  };
  // A command that has what it wants goes away.
  const server = createServer((req, res) => void relayed(req, res).catch(() => res.destroy()));
  server.on('error', () => undefined);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.dispose]: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Commands that print nothing of a server's, or that other tests run in a process of their own. */
const OF_THIS_MACHINE = [
  ...['start', 'dev', 'init', 'completion', 'login', 'logout', 'profiles list', 'profiles use', 'test', 'mcp'],
  ...['store backup', 'store check', 'store move', 'store salvage', 'store rekey', 'verify', 'components check'],
  ...['webhooks explain-signature', 'privacy preview', 'import', 'listen', 'accounts connect'],
];

const ENDLESS = ['errors tail', 'events tail', 'runs tail'];
/** They come last: what they take away is shown by others. */
const TAKES_AWAY = /delete|revoke|disable|cancel$|restore/;

/** Ids of what there is, by how ids begin. */
type Ids = Readonly<Record<string, string>>;

function argumentsOf({ words, takesId }: { words: string; takesId: boolean }, ids: Ids): string[] {
  const first: Readonly<Record<string, string>> = {
    ...{ workflows: 'p', sources: 'dc', webhooks: 'wh', channels: 'ch', heartbeats: 'hb', owners: 'u', keys: 'key' },
    accounts: 'apn',
    ...{ runs: 'r', deliveries: 'dl', mail: 'dl', operations: 'op', subscriptions: 'sub', trigger: 'p' },
  };
  const id = ids[first[words.split(' ')[0] ?? ''] ?? ''] ?? '';
  const known: Readonly<Record<string, string[]>> = {
    'errors show': [ids.error ?? ''],
    'errors tail': ['--after', '1000000000000-0'],
    'events list': [ids.dc ?? ''],
    'events show': [ids.error ?? ''],
    'events tail': [ids.dc ?? '', '--after', '1000000000000-0'],
    'errors replay': ['--of', ids.p ?? '', '--dry-run'],
    'runs retry': ['last', '--again'],
    'workflows activate': [id, 'last'],
    'workflows run': [id],
    'webhooks create': ['https://example.com/x'],
    'operations results': [ids.replay ?? ''],
    'webhooks resend': [id, '--since', '1d', '--dry-run'],
    'channels create': ['mail', '--config', ids.config ?? ''],
    'heartbeats create': ['other', '--every', '60'],
    'subscriptions create': [ids.p ?? '', ids.wh ?? '', '--event', 'other'],
    'owners create': ['--name', 'Other'],
    'keys create': ['--label', 'other'],
    'privacy set': ['--hide', 'iban', '--yes'],
    deploy: [ids.folder ?? '', '--project', 'x', '--check', '--prune', '--yes'],
    'explain-url': ['https://example.com/'],
  };
  if (known[words]) return known[words];
  const groups = words.startsWith('errors groups ') && words !== 'errors groups list';
  if (groups) return words.endsWith('mute') ? [ids.eg ?? '', '--errors', '3'] : [ids.eg ?? ''];
  return takesId ? [id] : [];
}

async function everything(errand: Errand, home: string): Promise<Ids> {
  const { client } = errand;
  const throws = `export default ({ steps }) => { console.log('printed'); throw new RangeError('no card'); };`;
  const workflow = await errand.workflow(throws, { name: 'Orders' });
  const answers = createServer((_req, res) => void res.writeHead(500, { 'x-says': 'no' }).end('no'));
  await once(answers.listen(0, '127.0.0.1'), 'listening');
  answers.unref();
  const url = `http://127.0.0.1:${(answers.address() as AddressInfo).port}/`;
  const webhook = await client.post('/v1/webhooks', { url, name: 'Chat', description: 'Chat' });
  const [subscription] = await client.post('/v1/subscriptions', {
    ...{ emitter_id: workflow.id, listener_id: webhook.id, event_name: '$errors' },
  });
  const source = await client.post('/v1/sources', { name: 'Feed', component_code: ECHO_SOURCE });
  const channel = await client.post('/v1/channels', { kind: 'mail', config: { to: 'a@example.com' }, name: 'Call' });
  const heartbeat = await client.post('/v1/heartbeats', { name: 'Backup', interval_seconds: 60 });
  const account = await client.post('/v1/accounts', { app: 'slack', name: 'Team' });
  const key = await client.post('/v1/keys', { label: 'laptop', scopes: ['read'] });
  const owner = await client.post('/v1/owners', { name: 'Shop' });
  await errand.send(workflow, { n: 1 });
  await errand.errors(workflow.id, 1);
  const operation = await client.post(`/v1/webhooks/${webhook.id}/resend`, { since: '2026-01-31T12:00:00Z' });
  const replay = await client.post('/v1/replays', { workflow_id: workflow.id });
  await until(
    'a result of the replay',
    async () => (await client.get(`/v1/operations/${replay.id}/results`)).data.length > 0,
  );
  await until('a mail and a delivery', async () => (await client.get('/v1/deliveries')).data.length >= 2);
  const [error] = (await client.get('/v1/errors')).data;
  const [group] = (await client.get('/v1/error_groups')).data;
  const [run] = (await client.get('/v1/runs')).data;
  const [delivery] = (await client.get('/v1/deliveries')).data;
  await writeFile(join(home, 'a.mjs'), 'export default {};');
  await writeFile(join(home, 'config.json'), JSON.stringify({ to: 'b@example.com' }));
  return {
    ...{
      p: workflow.id,
      wh: webhook.id,
      sub: subscription?.id,
      dc: source.id,
      ch: channel.id,
      hb: heartbeat.id,
      apn: account.id,
    },
    ...{ key: key.id, u: owner.id, op: operation.id, error: error.id, eg: group.id, r: run.id, dl: delivery.id },
    ...{ replay: replay.id, folder: home, config: join(home, 'config.json') },
  };
}

/** Runs of the workflow end as long as commands that wait for them are asked. */
async function run(asked: Asked, { cwd, again }: { cwd: string; again: () => Promise<unknown> }): Promise<Written[]> {
  const child = fork(join(import.meta.dirname, 'every-command.ts'), [JSON.stringify(asked)], { cwd });
  const all: Written[] = [];
  child.on('message', (written: Written) => {
    all.push(written);
  });
  const running = setInterval(() => void again().catch(() => undefined), 500);
  const [code] = await once(child, 'exit');
  clearInterval(running);
  assert.equal(code, 0, `ended behind ${JSON.stringify(all.at(-1))}`);
  return all;
}

/** Colours of ours. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they begin with one
const STYLED = /\u001b\[(1|2|22|31|32|33|36|39)m/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it looks for
const CONTROL = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;
/** It begins with what removes a bar. */
const BAR = /\r[^\r\n]*(?=\r)|\r/g;

test('no command lets what others wrote control a terminal', async () => {
  await using errand = await startErrand();
  await using shell = await openShell(null);
  const ids = await everything(errand, shell.home);
  using relay = await relayTo(errand.url);
  const commands = commandsIn(commandLine())
    .filter(({ words }) => !OF_THIS_MACHINE.includes(words))
    .sort((a, b) => Number(TAKES_AWAY.test(a.words)) - Number(TAKES_AWAY.test(b.words)));
  assert.ok(commands.length > 70, `${commands.length} commands`);
  const all = commands.map(({ words, command }) => {
    const sure = command.options.some(({ long }) => long === '--yes') && !words.startsWith('privacy') ? ['--yes'] : [];
    const takesId = command.registeredArguments.some(({ required }) => required);
    const given = argumentsOf({ words, takesId }, ids);
    return [...words.split(' '), ...given, ...sure.filter((one) => !given.includes(one))];
  });
  const shows = all.filter((args) => !TAKES_AWAY.test(args.join(' ')));
  const at = { url: relay.url, key: errand.client.key, endless: ENDLESS };
  const modes: Asked[] = [
    { ...at, isTerminal: true, commands: [...shows, ['errors', 'show', ids.error ?? '', '--event']] },
    { ...at, isTerminal: true, commands: shows.map((args) => [...args, '--json']) },
    { ...at, isTerminal: false, commands: shows.filter((args) => args[1] !== 'code') },
    { ...at, isTerminal: true, commands: all.slice(shows.length) },
  ];
  const again = () => errand.client.post(`/v1/workflows/${ids.p}/runs`, { event: {} });
  let poisoned = 0;
  for (const asked of modes) {
    for (const { args, text, error } of await run(asked, { cwd: shell.home, again })) {
      const shown = text.replace(STYLED, '').replace(BAR, '');
      assert.doesNotMatch(shown, CONTROL, `errand ${args.join(' ')}: ${JSON.stringify(shown)}`);
      if (error !== null) assert.doesNotMatch(error, /TypeError|ReferenceError/, args.join(' '));
      if (text.includes('hidden')) poisoned += 1;
    }
  }
  assert.ok(poisoned > 120, `${poisoned} commands printed what the relay wrote`);
});

test('messages of a server are made safe, too', async () => {
  await using errand = await startErrand();
  using relay = await relayTo(errand.url);
  await using shell = await openShell({ url: relay.url, key: errand.client.key });
  for (const name of ['One', 'Two']) await errand.workflow('export default () => 1;', { name: `Same ${name}` });
  for (const args of [
    ['workflows', 'show', 'p_0000000000000000'],
    ['workflows', 'show', 'Same'],
    ['runs', 'list', '--key', 'a-key-that-no-owner-has-0000'],
    ['deploy', '.', '--dry-run'],
  ]) {
    const { code, stderr, stdout } = await shell.run([...args, '--url', relay.url]);
    assert.notEqual(code, 0);
    assert.doesNotMatch(stderr + stdout, CONTROL, args.join(' '));
    assert.match(stderr, /^errand: /);
  }
});
