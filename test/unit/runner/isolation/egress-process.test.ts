// Connections through the server at the level `process`: of components of our own always, of all code when it is told to.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, connect, createServer as createTcpServer, type Server } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { markedCode, originOf, plainCode } from '../../../../src/domain/origin.ts';
import type { Deployment } from '../../../../src/domain/resource.ts';
import type { IsolationSettings } from '../../../../src/runner/isolation/isolation.ts';
import type { RunnerOptions } from '../../../../src/runner/pool/pool.ts';
import { isOurComponent, ProcessKeys } from '../../../../src/runner/pool/process-keys.ts';
import { createAddresses } from '../../../../src/webhook/address.ts';
import { createEgress } from '../../../../src/webhook/egress.ts';
import type { ResolveName } from '../../../../src/webhook/names.ts';
import { createOwn } from '../../../../src/webhook/own.ts';
import { selfSigned } from '../../webhook/certificate.ts';
import { bodies, deploymentOf, faultOf, ISOLATION, type Kit, kit, requestOf, returned, signal } from '../kit.ts';
import { noJail } from './jail-kit.ts';

const noJails = await noJail();
const PUBLIC: IsolationSettings = { ...ISOLATION, network: 'public' };
const HERE = async () => [{ address: '127.0.0.1', family: 4 }];
const OPEN = ['127.0.0.0/8'];

function through(t: TestContext, allowTargets: readonly string[], options: Partial<RunnerOptions> = {}): Kit {
  const addresses = createAddresses({ allowTargets });
  return kit(t, { isolation: PUBLIC, openEgress: createEgress({ addresses, lookup: HERE }), ...options });
}

async function listening(t: TestContext, server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return (server.address() as AddressInfo).port;
}

/** A server that counts who comes. */
async function counting(t: TestContext): Promise<{ port: number; came: () => number }> {
  let came = 0;
  const server = createServer((request, response) => {
    response.setHeader('connection', 'close').end(`${request.method} ${request.url}`);
  });
  server.on('connection', () => came++);
  return { port: await listening(t, server), came: () => came };
}

const CONNECTING = `const net = node('net');
  const tried = (...to) => new Promise((resolve) => {
    const socket = net.connect(...to, () => { socket.destroy(); resolve('connected') });
    socket.on('error', ({ code }) => resolve(code));
  });`;

test('fetch, TLS and streams work through the server', async (t) => {
  const plain = await counting(t);
  const certificate = selfSigned('DNS:receiver.test');
  const secure = await listening(
    t,
    createHttpsServer({ ...certificate }, (request, response) => {
      response.setHeader('connection', 'close').end(`secure ${request.url}`);
    }),
  );
  const echo = createTcpServer({ allowHalfOpen: true }, (socket) => void socket.pipe(socket));
  const port = await listening(t, echo);
  const { evaluate } = through(t, OPEN);
  const outcome = await evaluate(`const [https, net] = [node('https'), node('net')];
    const read = async (stream) => { let text = ''; for await (const chunk of stream) text += chunk; return text };
    const fetched = await (await fetch('http://receiver.test:${plain.port}/a')).text();
    const request = https.get('https://receiver.test:${secure}/t', { ca: ${JSON.stringify(certificate.cert)} });
    const secured = await read(await new Promise((resolve, reject) => request.on('response', resolve).on('error', reject)));
    const socket = net.connect({ host: '127.0.0.1', port: ${port}, allowHalfOpen: true });
    socket.end('x'.repeat(1e6));
    const all = await Promise.all(Array.from({ length: 50 }, async (_, n) =>
      (await fetch('http://127.0.0.1:${plain.port}/' + n)).text()));
    return [fetched, secured, (await read(socket)).length, all.every((text, n) => text === 'GET /' + n)]`);
  assert.deepEqual(returned(outcome), ['GET /a', 'secure /t', 1e6, true]);
});

test('what is not public is refused in all spellings', async (t) => {
  const inside = await counting(t);
  const { evaluate } = through(t, []);
  const outcome = await evaluate(`${CONNECTING}
    const hosts = ['127.0.0.1', '127.9.9.9', 'localhost', 'LOCALHOST', '::1', '0.0.0.0', '::', '::ffff:127.0.0.1', '0x7f.1',
      '2130706433', '127.1', node('os').hostname(), 'receiver.test'];
    const codes = [];
    for (const host of hosts) {
      codes.push(await tried(${inside.port}, host), await tried({ port: '${inside.port}', host }));
      codes.push(await tried({ port: ${inside.port}, host, lookup: (name, options, done) => done(null, '127.0.0.1', 4) }));
      codes.push(await fetch('http://' + (host.includes(':') ? '[' + host + ']' : host) + ':${inside.port}/')
        .then(() => 'connected', ({ cause }) => cause.code));
    }
    codes.push(await tried(${inside.port}), await tried('${inside.port}'), await tried({ port: ${inside.port} }));
    codes.push(await tried({ port: ${inside.port}, host: '' }), await tried('0x' + (${inside.port}).toString(16)));
    codes.push(await new Promise((resolve) => new net.Socket().on('error', ({ code }) => resolve(code))
      .connect(${inside.port}, '127.0.0.1', () => resolve('connected'))));
    codes.push(await new Promise((resolve) => node('tls').connect(${inside.port}, '127.0.0.1').on('error', ({ code }) => resolve(code))));
    return codes`);
  const codes = returned(outcome) as string[];
  assert.equal(codes.length, 13 * 4 + 7);
  assert.deepEqual([...new Set(codes)], ['ERR_TARGET_FORBIDDEN']);
  assert.equal(inside.came(), 0);
});

test('a name in any letters is found, and a host that is none is refused', async (t) => {
  const { port } = await counting(t);
  const asked: string[] = [];
  const lookup: ResolveName = async (name) => {
    asked.push(name);
    return await HERE();
  };
  const openEgress = createEgress({ addresses: createAddresses({ allowTargets: OPEN }), lookup });
  const { evaluate } = kit(t, { isolation: PUBLIC, openEgress });
  const none = ['a b', 'a#b', 'a@b', 'fe80::1%lo', 'x'.repeat(300), 'x'.repeat(9000), '\u{ff0f}', 'a\r\nb', '\0'];
  const outcome = await evaluate(`${CONNECTING}
    const none = [];
    for (const host of ${JSON.stringify(none)}) none.push(await tried(${port}, host));
    return [await tried(${port}, 'b\u00fccher.test'), await tried(${port}, 'xn--bcher-kva.test'), none]`);
  assert.deepEqual(returned(outcome), ['connected', 'connected', none.map(() => 'ERR_INVALID_ARG_VALUE')]);
  assert.deepEqual(asked, ['xn--bcher-kva.test', 'xn--bcher-kva.test']);
});

test('Unix sockets are refused', async (t) => {
  const made = through(t, OPEN);
  const path = join(made.tmpDir, 'own.sock');
  let came = 0;
  const server = createTcpServer(() => came++).listen(path);
  await once(server, 'listening');
  t.after(() => server.close());
  const outcome = await made.evaluate(`${CONNECTING}
    return [await tried(${JSON.stringify(path)}), await tried({ path: ${JSON.stringify(path)} }),
      await new Promise((resolve) => node('http').get({ socketPath: ${JSON.stringify(path)} }).on('error', ({ code }) => resolve(code)))]`);
  assert.deepEqual(returned(outcome), Array(3).fill('ERR_TARGET_FORBIDDEN'));
  assert.equal(came, 0);
});

test('the server’s own port is refused where loopback is open', async (t) => {
  const server = await counting(t);
  const services = [{ host: null, port: server.port, reason: 'it is where the server listens' }];
  const addresses = createAddresses({ allowTargets: OPEN, own: createOwn({ services: () => services }) });
  const { evaluate } = kit(t, { isolation: PUBLIC, openEgress: createEgress({ addresses, lookup: HERE }) });
  const outcome = await evaluate(
    `${CONNECTING} return [await tried(${server.port}), await tried(${server.port}, '127.0.0.2')]`,
  );
  assert.deepEqual(returned(outcome), ['ERR_TARGET_FORBIDDEN', 'ERR_TARGET_FORBIDDEN']);
  assert.equal(server.came(), 0);
});

test('another process cannot come between', async (t) => {
  const held = createTcpServer(() => {});
  const port = await listening(t, held);
  const { evaluate } = through(t, OPEN);
  const { came, onAnswer } = signal();
  // The code tells where the relay listens: the one port on this machine that its own connections go to.
  const running = evaluate(
    `const net = node('net');
    const socket = net.connect(${port}, '127.0.0.1');
    await new Promise((resolve) => socket.once('connect', resolve));
    await $.respond({ immediate: true, body: String(socket.remotePort) });
    const ended = new Promise((resolve) => socket.once('close', () => resolve('closed')));
    const next = net.connect(${port}, '127.0.0.1');
    await new Promise((resolve) => next.once('connect', resolve));
    next.destroy(); socket.destroy();
    return await ended`,
    { onAnswer },
  );
  const relay = Number(Buffer.from((await came).body).toString());
  assert.notEqual(relay, port);
  const strangers = Array.from({ length: 300 }, () => connect(relay, '127.0.0.1').on('error', () => {}));
  let heard = 0;
  for (const stranger of strangers) stranger.on('data', () => heard++);
  assert.equal(returned(await running), 'closed');
  for (const stranger of strangers) stranger.destroy();
  assert.equal(heard, 0);
});

test('a long path to its folder will do', async (t) => {
  const inside = await counting(t);
  const { tmpDir } = kit(t);
  const long = join(tmpDir, 'x'.repeat(120));
  mkdirSync(long, { mode: 0o711 });
  const { evaluate } = through(t, OPEN, { tmpDir: long });
  assert.equal(
    returned(await evaluate(`return await (await fetch('http://127.0.0.1:${inside.port}/')).text()`)),
    'GET /',
  );
});

/** A source's deployment that fetches what its event says. */
async function fetching(mark: 'component' | 'component_path' | 'file' | null): Promise<Deployment> {
  const code = `export default { async run(event) {
    const said = await fetch(event.url).then((response) => response.text(), ({ cause }) => cause.code);
    this.$emit({ said });
  } };`;
  const made = await deploymentOf(code, 'dc_1');
  const [step] = made.steps;
  assert.ok(step);
  const marked = mark === null ? code : markedCode({ kind: mark, name: 'rss' }, 'a'.repeat(64), code);
  return { ...made, steps: [{ ...step, code: marked }] };
}

async function saidBy({ runner }: Kit, deployment: Deployment, url: string): Promise<unknown> {
  const source = { sourceId: 'dc_1', call: 'run', configuredProps: {}, endpoints: {}, db: {} } as const;
  const event = Buffer.from(JSON.stringify({ url }));
  const outcome = await runner.run(requestOf(deployment, { source, event }));
  return (bodies(outcome)[0] as { said: unknown } | undefined)?.said ?? faultOf(outcome);
}

const LEVELS: [IsolationSettings, skip: string | false][] = [
  [ISOLATION, false],
  [{ ...ISOLATION, level: 'jail', network: 'full' }, noJails],
];

for (const [isolation, skip] of LEVELS) {
  test(`a component of ours goes through the server at the level ${isolation.level}`, { skip }, async (t) => {
    const inside = await counting(t);
    const url = `http://127.0.0.1:${inside.port}/x`;
    const closed = through(t, [], { isolation });
    assert.equal(await saidBy(closed, await fetching('component'), url), 'ERR_TARGET_FORBIDDEN');
    assert.equal(inside.came(), 0);
    // It is alive: what is open is reached, and so is all by code of its owner's, as ever.
    assert.equal(await saidBy(through(t, OPEN, { isolation }), await fetching('component'), url), 'GET /x');
    for (const mark of ['component_path', 'file', null] as const) {
      assert.equal(await saidBy(closed, await fetching(mark), url), 'GET /x', `${mark}`);
    }
  });
}

test('a component of ours does not start without an egress tunnel', async (t) => {
  const inside = await counting(t);
  const fault = await saidBy(kit(t), await fetching('component'), `http://127.0.0.1:${inside.port}/`);
  assert.match(JSON.stringify(fault), /no egress/);
  assert.equal(inside.came(), 0);
});

test('ours never shares a process with the same code of an owner', async () => {
  const [ours, theirs] = [await fetching('component'), await fetching(null)];
  const sharing = new ProcessKeys();
  const keyOf = (deployment: Deployment) => sharing.keyOf({ deployment, memoryMb: 256, env: {} });
  assert.notEqual(keyOf(ours), keyOf(theirs));
  assert.deepEqual([isOurComponent(ours), isOurComponent(theirs)], [true, false]);
  assert.equal(isOurComponent({ ...ours, runnableId: 'p_1' }), false);
});

test('code that was sent has no mark left', () => {
  const own = 'export default {}';
  const mark = (text: string) => markedCode({ kind: 'component', name: 'rss' }, 'a'.repeat(64), text);
  for (const forged of [mark(own), mark(mark(own)), mark(mark(mark(own)))]) {
    assert.equal(plainCode(forged), own);
    assert.equal(originOf(plainCode(forged)), null);
  }
});
