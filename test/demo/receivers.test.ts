// The receivers of the documents that are written in other languages, as programs, fed by a real server and by a stranger.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { type Errand, startErrand } from '../support/errand.ts';
import { programOf } from '../support/programs.ts';
import { until } from '../support/wait.ts';
import { deliveries, EMIT_BODY } from '../support/webhooks.ts';
import { ROOT } from './reader.ts';

const BODY = '{"a": "ä", "n": 12345678901234567890}';
const MINUTE_MS = 60_000;
const python = programOf('python3');
const go = programOf('go');

let errand: Errand;
before(async () => {
  errand = await startErrand();
});
after(() => errand[Symbol.asyncDispose]());

interface Program extends AsyncDisposable {
  readonly url: string;
  readonly lines: string[];
}

async function start(command: string, parameters: string[], env: NodeJS.ProcessEnv): Promise<Program> {
  const child: ChildProcess = spawn(command, parameters, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const lines: string[] = [];
  createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => lines.push(line));
  const first = await until('its first line', () => lines[0] ?? (child.exitCode !== null && 'it ended'));
  return {
    url: `http://127.0.0.1:${/port (\d+)$/.exec(first)?.[1]}/`,
    lines,
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.kill()) await once(child, 'exit');
    },
  };
}

/** Returns the status; null when the connection was closed before the body was read. */
function send(url: string, headers: Record<string, string>, body: string): Promise<number | null> {
  return new Promise((resolve) => {
    const sent = request(url, { method: 'POST', headers }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? null);
    });
    sent.on('error', () => resolve(null)).end(body);
  });
}

function signed(secret: string, body = BODY, atMs = Date.now()): Record<string, string> {
  return {
    'webhook-id': 'abc',
    'webhook-timestamp': String(Math.floor(atMs / 1000)),
    'webhook-signature': new Webhook(secret).sign('abc', new Date(atMs), body),
  };
}

/** Starts the receiver with a webhook's secret, and asserts what it takes and refuses. */
async function assertReceives(command: string, parameters: string[], more: NodeJS.ProcessEnv = {}): Promise<void> {
  const { id, secret } = await errand.client.post('/v1/webhooks', { url: 'http://127.0.0.1:9/' });
  await using receiver = await start(command, parameters, {
    PATH: process.env.PATH,
    PORT: '0',
    WEBHOOK_SECRET: secret,
    ...more,
  });
  const { url, lines } = receiver;
  await errand.client.put(`/v1/webhooks/${id}`, { url });
  const emitter = await errand.workflow(EMIT_BODY);
  await errand.subscribe(emitter.id, id);
  await errand.send(emitter, JSON.parse('{"text": "ä😀"}'));
  await deliveries(errand, id, 'delivered');
  await until('the event', () => lines.some((line) => line.includes('ä😀')));
  // While it is being rotated, each request carries both signatures.
  await errand.client.post(`/v1/webhooks/${id}/rotate_secret`, { overlap_s: 600 });
  await errand.send(emitter, { text: 'rotated' });
  await deliveries(errand, id, 'delivered', 2);

  assert.equal(await send(url, signed(secret), BODY), 204);
  assert.equal(await send(url, signed(secret), BODY), 204, 'a delivery that comes again is taken');
  const other = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;
  const good = signed(secret);
  const refused: [what: string, headers: Record<string, string>, body: string][] = [
    ['another secret', signed(other), BODY],
    ['another body', good, BODY.replace('ä', 'a')],
    ['another id', { ...good, 'webhook-id': 'abd' }, BODY],
    ['an old one', signed(secret, BODY, Date.now() - 6 * MINUTE_MS), BODY],
    ['one of the future', signed(secret, BODY, Date.now() + 6 * MINUTE_MS), BODY],
    ['no signature', { ...good, 'webhook-signature': '' }, BODY],
    ['half a signature', { ...good, 'webhook-signature': good['webhook-signature']?.slice(0, 20) ?? '' }, BODY],
    ['a time that is none', { ...good, 'webhook-timestamp': 'NaN' }, BODY],
    ['bytes that are no text', { ...good, 'webhook-timestamp': '\u00b2', 'webhook-signature': 'v1,\u00e4' }, BODY],
    ['no headers', {}, BODY],
  ];
  for (const [what, headers, body] of refused) assert.equal(await send(url, headers, body), 401, what);
  const tooLarge = ' '.repeat(8 * 1024 * 1024 + 1);
  assert.ok([413, null].includes(await send(url, signed(secret, tooLarge), tooLarge)));
  assert.equal(await send(url, signed(secret), BODY), 204, 'it goes on');
  assert.equal(lines.filter((line) => line.includes('12345678901234567890')).length, 1, lines.join('\n'));
  assert.equal(lines.length, 4, lines.join('\n'));
}

test('the receiver in Python takes what is signed', { skip: python ? false : 'needs Python' }, () =>
  assertReceives(python as string, [join(ROOT, 'examples/receivers/receiver.py')]),
);

test('the receiver in Go takes what is signed', { skip: go ? false : 'needs Go', timeout: 240_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'errand-go-'));
  try {
    const program = join(folder, 'receiver');
    const build = spawn(go as string, ['build', '-o', program, join(ROOT, 'examples/receivers/receiver.go')], {
      env: { PATH: process.env.PATH, HOME: folder, GOCACHE: join(folder, 'cache'), GOFLAGS: '-mod=mod' },
      stdio: 'inherit',
    });
    assert.deepEqual(await once(build, 'exit'), [0, null]);
    await assertReceives(program, []);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
