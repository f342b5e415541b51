// What code in a jail reaches that has public addresses alone: real receivers, behind real names.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createAddresses } from '../../../../src/webhook/address.ts';
import { createEgress, type EgressOptions } from '../../../../src/webhook/egress.ts';
import { createOwn } from '../../../../src/webhook/own.ts';
import { freePort } from '../../../support/port.ts';
import { selfSigned } from '../../webhook/certificate.ts';
import { nameServer } from '../../webhook/dns-server.ts';
import { deploymentOf, faultOf, ISOLATION, type Kit, kit, returned } from '../kit.ts';
import { noJail } from './jail-kit.ts';

const skip = await noJail();
const JAIL = { ...ISOLATION, level: 'jail', network: 'public' } as const;
const OPEN = createAddresses({ allowTargets: ['127.0.0.1/32'] });
const HERE = async () => [{ address: '127.0.0.1', family: 4 }];

function jailed(t: TestContext, options: Partial<EgressOptions> = {}): Kit {
  const openEgress = createEgress({ addresses: OPEN, lookup: HERE, ...options });
  return kit(t, { isolation: JAIL, openEgress });
}

async function listening(t: TestContext, server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return (server.address() as AddressInfo).port;
}

function hello(t: TestContext): Promise<number> {
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    response.setHeader('connection', 'close');
    response.end(`${request.method} ${request.url} ${request.headers.host} ${body.length}`);
  });
  return listening(t, server);
}

const FETCHED = 'const response = await fetch(w.url, w.init); return [response.status, await response.text()]';
const fetching = ({ evaluate }: Kit, url: string, init: object = {}) =>
  evaluate(`const w = ${JSON.stringify({ url, init })}; ${FETCHED}`);

/** The error that a connection to a target ends with, as code sees it. */
const connecting = (host: string, port: number) =>
  `const net = node('net');
  return await new Promise((resolve) => net.connect(${port}, '${host}', () => resolve('connected'))
    .on('error', ({ code, message }) => resolve([code, message])));`;

test('fetch works as it does elsewhere', { skip }, async (t) => {
  const port = await hello(t);
  const made = jailed(t);
  const url = `http://receiver.test:${port}/a?b=c`;
  assert.deepEqual(returned(await fetching(made, url)), [200, `GET /a?b=c receiver.test:${port} 0`]);
  const init = { method: 'POST', body: 'x'.repeat(1e6) };
  assert.deepEqual(returned(await fetching(made, url, init)), [200, `POST /a?b=c receiver.test:${port} 1000000`]);
});

test('agents of the code’s own work', { skip }, async (t) => {
  const port = await hello(t);
  const { evaluate } = jailed(t);
  const outcome = await evaluate(`const http = node('http');
    const agent = new http.Agent({ keepAlive: true, family: 4 });
    const request = http.request({ host: 'receiver.test', port: ${port}, agent, path: '/x' });
    request.end();
    const response = await new Promise((resolve, reject) => request.on('response', resolve).on('error', reject));
    let text = ''; for await (const chunk of response) text += chunk;
    agent.destroy();
    return text`);
  assert.equal(returned(outcome), `GET /x receiver.test:${port} 0`);
});

test('TLS is between the code and its target', { skip }, async (t) => {
  const certificate = selfSigned('DNS:receiver.test');
  const server = createHttpsServer({ ...certificate }, (request, response) => {
    response.setHeader('connection', 'close').end(`${request.url}`);
  });
  const port = await listening(t, server);
  const { evaluate } = jailed(t);
  const asking = (ca: string | undefined) => `const https = node('https');
    const request = https.get('https://receiver.test:${port}/t', { ca: ${JSON.stringify(ca)} });
    const response = await new Promise((resolve, reject) => request.on('response', resolve).on('error', reject));
    let text = ''; for await (const chunk of response) text += chunk;
    return text`;
  assert.equal(returned(await evaluate(asking(certificate.cert))), '/t');
  assert.equal(faultOf(await evaluate(asking(undefined))).code, 'DEPTH_ZERO_SELF_SIGNED_CERT');
});

test('a connection may be closed at one end', { skip }, async (t) => {
  const server = createTcpServer({ allowHalfOpen: true }, (socket) => {
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.on('end', () => socket.end(`heard ${text}`));
  });
  const port = await listening(t, server);
  const { evaluate } = jailed(t);
  const outcome = await evaluate(`const socket = node('net').connect({ host: 'receiver.test', port: ${port} });
    socket.end('all of it');
    let text = ''; for await (const chunk of socket) text += chunk;
    return text`);
  assert.equal(returned(outcome), 'heard all of it');
});

test('its own loopback stays within the process', { skip }, async (t) => {
  const outside = await hello(t);
  const { evaluate } = jailed(t);
  const outcome = await evaluate(`const http = node('http');
    const server = http.createServer((_, response) => response.setHeader('connection', 'close').end('inside'));
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    const port = server.address().port;
    const inside = await (await fetch('http://localhost:' + port)).text();
    // Not fetch: it writes names in small letters.
    const capitals = await new Promise((resolve) =>
      node('net').connect(port, 'LOCALHOST', function () { this.destroy(); resolve('inside') }).on('error', (error) => resolve(error.code)));
    server.close();
    const other = await fetch('http://127.0.0.1:${outside}').catch((error) => error.cause.code);
    return [inside, capitals, other]`);
  assert.deepEqual(returned(outcome), ['inside', 'inside', 'ECONNREFUSED']);
});

const CLOSED: [target: string, reason: RegExp][] = [
  ['10.1.2.3', /10\.0\.0\.0\/8, RFC1918/],
  ['169.254.169.254', /metadata/],
  ['0.0.0.0', /this network/],
  ['::ffff:127.0.0.1', /loopback/],
  ['fd00:ec2::254', /ULA/],
  ['0x7f.1', /resolves to what is not allowed/],
];

test('what is not public is refused', { skip }, async (t) => {
  const { evaluate } = jailed(t, { addresses: createAddresses({ allowTargets: [] }) });
  for (const [host, reason] of CLOSED) {
    const [code, message] = returned(await evaluate(connecting(host, 80))) as string[];
    assert.equal(code, 'ERR_TARGET_FORBIDDEN', host);
    assert.match(message as string, reason);
    assert.match(message as string, /:80 was refused/);
  }
});

test('fetch tells what was refused', { skip }, async (t) => {
  const made = jailed(t, { addresses: createAddresses({ allowTargets: [] }) });
  const outcome = await made.evaluate(`try { await fetch('http://192.168.0.1/') } catch (error) { throw error.cause }`);
  const { code, msg } = faultOf(outcome);
  assert.deepEqual([code, msg.includes('192.168.0.1:80 was refused')], ['ERR_TARGET_FORBIDDEN', true]);
});

test('a name that turns inward is refused', { skip }, async (t) => {
  const port = await hello(t);
  let asked = 0;
  // Public when it is looked up first, and inside ever after.
  await using names = await nameServer((name, type) => {
    if (type !== 'A') return [];
    return [{ name, type: 'A', value: asked++ === 0 ? '192.0.2.1' : '127.0.0.1' }];
  });
  const addresses = createAddresses({ allowTargets: ['192.0.2.1/32'] });
  const { evaluate } = jailed(t, { addresses, lookup: names.lookup, connectTimeoutMs: 50 });
  const [first] = returned(await evaluate(connecting('turns.test', port))) as string[];
  const [second, why] = returned(await evaluate(connecting('turns.test', port))) as string[];
  assert.notEqual(first, 'ERR_TARGET_FORBIDDEN');
  assert.equal(second, 'ERR_TARGET_FORBIDDEN');
  assert.match(why as string, /loopback/);
});

test('failures have the system’s codes', { skip }, async (t) => {
  const port = await freePort();
  await using names = await nameServer((name) =>
    name === 'none.test' ? 3 : [{ name, type: 'A', value: '127.0.0.1' }],
  );
  const { evaluate } = jailed(t, { lookup: names.lookup });
  assert.equal((returned(await evaluate(connecting('receiver.test', port))) as string[])[0], 'ECONNREFUSED');
  assert.equal((returned(await evaluate(connecting('none.test', 80))) as string[])[0], 'ENOTFOUND');
});

test('neither server nor database can be opened', { skip }, async (t) => {
  const [own, database] = [await hello(t), await hello(t)];
  const services = [
    { host: null, port: own, reason: 'it is where the server listens' },
    { host: 'database.test', port: database, reason: "it is the server's database" },
  ];
  const wide = createAddresses({
    allowTargets: ['0.0.0.0/0'],
    own: createOwn({ services: () => services, lookup: HERE }),
  });
  const { evaluate } = jailed(t, { addresses: wide });
  for (const [port, reason] of [
    [own, /where the server listens/],
    [database, /the server's database/],
  ] as const) {
    for (const host of ['receiver.test', '::ffff:127.0.0.1', '0.0.0.0', '::ffff:127.9.9.9']) {
      const [code, message] = returned(await evaluate(connecting(host, port))) as string[];
      assert.equal(code, 'ERR_TARGET_FORBIDDEN', host);
      assert.match(message as string, reason);
    }
  }
});

test('a process may have many connections, not more', { skip }, async (t) => {
  const server = createTcpServer(() => {});
  const port = await listening(t, server);
  const { evaluate } = jailed(t);
  const outcome = await evaluate(`const net = node('net');
    const one = () => new Promise((resolve) => { const s = net.connect(${port}, 'receiver.test', () => resolve([s, null])).on('error', ({ code }) => resolve([s, code])) });
    const all = []; for (let i = 0; i < 256; i++) all.push(await one());
    const [, last] = await one();
    const opened = all.filter(([, code]) => code === null).length;
    const closed = new Promise((resolve) => all[0][0].on('close', resolve));
    all[0][0].destroy(); await closed;
    let again; do [, again] = await one(); while (again === 'EMFILE');
    for (const [socket] of all) socket.destroy();
    return [opened, last, again]`);
  assert.deepEqual(returned(outcome), [256, 'EMFILE', null]);
});

test('one deployment does not see another’s egress tunnel', { skip }, async (t) => {
  const port = await hello(t);
  const made = jailed(t);
  const code = `import fs from 'node:fs'; export default async () => [fs.readdirSync('/errand').sort(), (await fetch('http://receiver.test:${port}')).status]`;
  for (const deployment of [await deploymentOf(code), await deploymentOf(code)]) {
    const [files, status] = returned(await made.run(deployment)) as [string[], number];
    assert.deepEqual([files, status], [['child.mjs', 'code', 'egress.sock', 'pid', 'tmp'], 200]);
  }
});

test('a data dir with a long path will do', { skip }, async (t) => {
  const port = await hello(t);
  const openEgress = createEgress({ addresses: OPEN, lookup: HERE });
  const { tmpDir } = kit(t);
  const long = join(tmpDir, 'x'.repeat(120));
  mkdirSync(long, { mode: 0o711 });
  const made = kit(t, { isolation: JAIL, openEgress, tmpDir: long });
  assert.equal((returned(await fetching(made, `http://receiver.test:${port}/`)) as unknown[])[0], 200);
});
