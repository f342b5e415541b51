// errand listen and errand webhooks explain-signature.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { verifyWebhook } from '../../src/verifier/verify.ts';
import { startErrand } from '../support/errand.ts';
import { freePort } from '../support/port.ts';
import { startReceiver } from '../support/receiver.ts';
import { shareErrand } from '../support/shared-errand.ts';
import { until } from '../support/wait.ts';
import { openShell } from './command.ts';

const newErrand = shareErrand();
const THROWS = `export default () => { throw new Error('no card'); };`;

test('deliveries of a webhook are sent on, and a refused signature is explained', async () => {
  await using errand = await newErrand();
  await using shell = await openShell(errand.client);
  const seen: { body: Buffer; headers: Record<string, string> }[] = [];
  let status = 200;
  const receiver = createServer(async (req, res) => {
    seen.push({ body: await buffer(req), headers: req.headers as Record<string, string> });
    res.writeHead(status).end(status === 200 ? 'thanks' : 'bad \u001b[2J signature');
  });
  await once(receiver.listen(0, '127.0.0.1'), 'listening');
  const { port } = receiver.address() as AddressInfo;
  const workflow = await errand.workflow(THROWS);
  // Nothing listens at its own address: the server need not reach this machine.
  const webhook = await errand.client.post('/v1/webhooks', { url: 'http://127.0.0.1:1/', name: 'Orders' });
  await errand.client.post('/v1/subscriptions', {
    ...{ emitter_id: workflow.id, listener_id: webhook.id, event_name: '$errors' },
  });
  await errand.send(workflow, '{"total": 1.50}');
  await until('a delivery', async () => {
    return (await errand.client.get(`/v1/deliveries?webhook_id=${webhook.id}`)).data.length > 0;
  });
  for (const wrong of ['bad', 'whsec_', 'whpk_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'])
    assert.equal((await shell.run(['listen', 'Orders', '--to', String(port), '--secret', wrong])).code, 2, wrong);
  const listening = shell.start('listen', 'Orders', '--to', String(port), '--secret', webhook.secret, '--last');
  try {
    await until('the delivery to come', () => seen.length > 0);
    const [first] = seen;
    assert.match(first?.body.toString() ?? '', /"body":\{"total": 1\.50\}/, 'byte for byte');
    assert.equal(first?.headers['errand-event-name'], '$errors');
    assert.ok(first && verifyWebhook({ secrets: webhook.secret, headers: first.headers, body: first.body }).ok);
    await until('it to be shown', () => /dl_\w+ 200 thanks \d+ ms/.test(listening.stdout()));
    status = 401;
    const before = listening.stdout().length;
    await errand.send(workflow, '{"total": 2.50}');
    await until('the explanation', () => listening.stdout().slice(before).includes('Check the bytes as they came'));
    const said = listening.stdout().slice(before);
    assert.match(said, /401 bad \ufffd\[2J signature/);
    assert.match(said, /signed: \w+\.\d{10}\.<body>, the body being \d+ bytes/);
    assert.match(said, /with the secret whsec_.{4}…/);
    assert.ok(!said.includes(webhook.secret));
  } finally {
    listening.interrupt();
    await listening.ended;
    receiver.close();
  }
  const last = seen.at(-1) as (typeof seen)[number];
  const [headers, body] = [join(shell.home, 'headers.txt'), join(shell.home, 'body.json')];
  const lines = Object.entries(last.headers).map(([name, value]) => `${name}: ${value}`);
  await writeFile(headers, `POST / HTTP/1.1\r\n${lines.join('\r\n')}\r\n`);
  await writeFile(body, last.body);
  const asked = ['webhooks', 'explain-signature', '--headers', headers, '--body', body, '--secret', webhook.secret];
  const genuine = await shell.run(asked);
  assert.deepEqual([genuine.code, genuine.stdout.split('\n')[0]], [0, 'genuine'], genuine.stderr);
  const stale = await shell.run([...asked, '--at', '2026-01-31T12:00:00Z', '--json']);
  assert.deepEqual([stale.code, JSON.parse(stale.stdout).verdict], [1, 'stale']);
});

test('an address that cannot be, and another owner’s webhook, are refused', async () => {
  await using errand = await newErrand();
  await using other = await newErrand();
  await using shell = await openShell(other.client);
  const webhook = await errand.client.post('/v1/webhooks', { url: 'http://127.0.0.1:1/' });
  const named = ['--url', other.client.url];
  assert.equal((await shell.run(['listen', webhook.id, '--to', 'ftp://x', ...named])).code, 2);
  assert.equal((await shell.run(['listen', webhook.id, '--to', '3000', ...named])).code, 3);
});

test('what is followed outlasts a server that is away for longer than a call is tried', async () => {
  // Its address stays.
  await using errand = await startErrand({ ERRAND_PORT: String(await freePort()) });
  await using shell = await openShell(errand.client);
  await using receiver = await startReceiver();
  const workflow = await errand.workflow(THROWS, { name: 'Orders' });
  const webhook = await errand.client.post('/v1/webhooks', { url: 'http://127.0.0.1:1/', name: 'Chat' });
  await errand.client.post('/v1/subscriptions', {
    ...{ emitter_id: workflow.id, listener_id: webhook.id, event_name: '$errors' },
  });
  const followed = [
    shell.start('runs', 'tail', '--workflow', workflow.id),
    shell.start('errors', 'tail'),
    shell.start('listen', webhook.id, '--to', receiver.url),
  ];
  const heard = (): boolean =>
    followed[0]?.stdout().includes(' failed ') === true &&
    followed[1]?.stdout().includes('Orders') === true &&
    followed[2]?.stdout().includes(' 200 ') === true;
  try {
    // What begins late does not hear the first error.
    await until('all of them to hear', async () => {
      if (heard()) return true;
      await errand.send(workflow, {});
      await pause(200);
    });
    await errand.stop();
    await until('all of them to tell', () => followed.every(({ stderr }) => stderr().includes('connecting again')));
    const before = followed.map(({ stdout }) => stdout().length);
    // Longer than the attempts of a call, which are three.
    await pause(5000);
    await errand.restart();
    await errand.send(workflow, {});
    await until('all of them to go on', () => followed.every(({ stdout }, i) => stdout().length > (before[i] ?? 0)));
    for (const { stderr } of followed)
      assert.equal(stderr().split('connecting again').length, 2, 'each outage is told once');
  } finally {
    for (const { interrupt } of followed) interrupt();
    await Promise.all(followed.map(({ ended }) => ended));
  }
});
