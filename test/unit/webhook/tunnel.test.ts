// Connections to targets that user code named: what is judged, and names that are not found.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createAddresses } from '../../../src/webhook/address.ts';
import { createEgress } from '../../../src/webhook/egress.ts';
import { Lookups, PLACES } from '../../../src/webhook/lookups.ts';
import type { ResolveName } from '../../../src/webhook/names.ts';
import { createOwn } from '../../../src/webhook/own.ts';
import { createTunnels, type Tunnels } from '../../../src/webhook/tunnel.ts';

const addresses = createAddresses({ allowTargets: [], own: createOwn({ services: () => [] }) });
const never = new AbortController().signal;

function failing(): { lookup: ResolveName; asked: string[]; fail: () => void } {
  const asked: string[] = [];
  const open: (() => void)[] = [];
  const lookup: ResolveName = (name) => {
    asked.push(name);
    return new Promise((_, reject) => {
      open.push(() => reject(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' })));
    });
  };
  const fail = (): void => {
    for (const end of open.splice(0)) end();
  };
  return { lookup, asked, fail };
}

/** Fails when it does not come to it. */
async function untilAsked(asked: readonly string[], count: number): Promise<void> {
  for (let i = 0; i < 1000 && asked.length < count; i++) await turns(1);
  assert.equal(asked.length, count);
}

async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve));
}

function tunnelsOf(lookup: ResolveName): Tunnels {
  const lookups = new Lookups(lookup, { places: PLACES.code });
  return createTunnels({ addresses, lookup: (name) => lookups.find(name, 'u_1') });
}

test('a name that is not found is a failed lookup, each time', async () => {
  const { lookup, asked, fail } = failing();
  const tunnels = tunnelsOf(lookup);
  for (const round of [1, 2]) {
    const both = [1, 2].map(() => tunnels.open({ host: 'gone.test', port: 443 }, never));
    const ended = Promise.all(
      both.map((opening) => assert.rejects(opening, { name: 'ConnectFailed', phase: 'dns', systemCode: 'ENOTFOUND' })),
    );
    await untilAsked(asked, round);
    await turns(5);
    fail();
    await ended;
    assert.equal(asked.length, round, 'asked once for both, and again the next time');
  }
});

test('lookups that fail make room for those that wait', async () => {
  const { lookup, asked, fail } = failing();
  const tunnels = tunnelsOf(lookup);
  const names = ['a.test', 'b.test', 'c.test', 'd.test', 'e.test'];
  const ended = names.map((host) =>
    assert.rejects(tunnels.open({ host, port: 443 }, never), { name: 'ConnectFailed', phase: 'dns' }),
  );
  await untilAsked(asked, 3);
  await turns(5);
  assert.deepEqual(asked, names.slice(0, 3));
  fail();
  await untilAsked(asked, 5);
  fail();
  await Promise.all(ended);
  assert.deepEqual(asked, names);
});

/** Of those for lookups, what deliveries and checks leave to code. */
const THREADS = 8;

function ask(path: string, name: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(path, () => socket.write(`CONNECT ${name}:443 HTTP/1.1\r\nHost: ${name}\r\n\r\n`));
    socket.setEncoding('latin1').on('data', (text: string) => {
      answer += text;
    });
    socket.on('error', reject).on('close', () => resolve(answer));
  });
}

test('names of one owner’s code hold up no other owner, in any number of processes', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'errand-egress-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const held: PromiseWithResolvers<[]>[] = [];
  const lookup: ResolveName = (name) => {
    if (held.length >= THREADS) return Promise.reject(new Error('no thread is left'));
    if (name === 'good.test') return Promise.resolve([{ address: '10.0.0.1', family: 4 }]);
    const answer = Promise.withResolvers<[]>();
    held.push(answer);
    return answer.promise;
  };
  const open = createEgress({ addresses, lookup });
  const processes = Array.from({ length: 5 }, (_, at) => ({ path: join(dir, `${at}`), ownerId: 'u_1' }));
  const other = { path: join(dir, 'other'), ownerId: 'u_2' };
  const opened = await Promise.all(
    [...processes, other].map(({ path, ownerId }) => open(path, { user: null, ownerId })),
  );
  t.after(() => {
    for (const egress of opened) egress.close();
  });
  const dead = processes.flatMap(({ path }, at) => [1, 2, 3, 4].map((n) => ask(path, `dead-${at}-${n}.test`)));
  while (held.length === 0) await turns(1);
  assert.match(await ask(other.path, 'good.test'), /resolves to what is not allowed/);
  const ended = Promise.all(dead).then(() => true);
  while (!(await Promise.race([ended, turns(1)]))) for (const answer of held.splice(0)) answer.resolve([]);
  for (const answer of await Promise.all(dead)) assert.match(answer, /^HTTP\/1.1 502 /);
});

test('a literal that is forbidden is not connected to', async () => {
  const { lookup, asked } = failing();
  const tunnels = createTunnels({ addresses, lookup });
  for (const host of ['127.0.0.1', '10.0.0.1', '::1']) {
    await assert.rejects(tunnels.open({ host, port: 9 }, never), { name: 'ForbiddenTarget' }, host);
  }
  assert.deepEqual(asked, []);
});

test('where a connection has ended up is judged', async () => {
  const server = createServer((socket) => socket.on('error', () => {})).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  // Judged to be good before, and bad when it has arrived: as a route that leads elsewhere.
  let judged = 0;
  const turning = {
    ...addresses,
    judgeName: () => ({ ok: true as const }),
    towards: async () => () => (judged++ === 0 ? { ok: true as const } : { ok: false as const, reason: 'elsewhere' }),
  };
  const tunnels = createTunnels({ addresses: turning, lookup: async () => [{ address: '127.0.0.1', family: 4 }] });
  try {
    await assert.rejects(tunnels.open({ host: '127.0.0.1', port }, never), { name: 'ForbiddenTarget' });
    assert.equal(judged, 2);
  } finally {
    server.close();
  }
});

test('a connection that is not made ends in time', async () => {
  const lookup: ResolveName = () => new Promise(() => {});
  const tunnels = createTunnels({ addresses, lookup, connectTimeoutMs: 20 });
  const alive = setTimeout(() => {}, 60_000);
  try {
    await assert.rejects(tunnels.open({ host: 'silent.test', port: 443 }, never), {
      name: 'ConnectTimeout',
      phase: 'dns',
    });
  } finally {
    clearTimeout(alive);
  }
});

test('a name that is forbidden is not looked up', async () => {
  const { lookup, asked } = failing();
  const tunnels = createTunnels({ addresses, lookup });
  const opening = tunnels.open({ host: 'metadata.google.internal', port: 80 }, never);
  await assert.rejects(opening, { name: 'ForbiddenTarget' });
  assert.deepEqual(asked, []);
});
