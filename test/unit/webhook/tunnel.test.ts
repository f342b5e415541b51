// Connections to targets that user code named: what is judged, and names that are not found.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { test } from 'node:test';
import { createAddresses } from '../../../src/webhook/address.ts';
import type { ResolveName } from '../../../src/webhook/names.ts';
import { createOwn } from '../../../src/webhook/own.ts';
import { createTunnels } from '../../../src/webhook/tunnel.ts';

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

test('a name that is not found is a failed lookup, each time', async () => {
  const { lookup, asked, fail } = failing();
  const tunnels = createTunnels({ addresses, lookup });
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
  const tunnels = createTunnels({ addresses, lookup });
  const names = ['a.test', 'b.test', 'c.test', 'd.test', 'e.test'];
  const ended = names.map((host) =>
    assert.rejects(tunnels.open({ host, port: 443 }, never), { name: 'ConnectFailed', phase: 'dns' }),
  );
  await untilAsked(asked, 4);
  await turns(5);
  assert.deepEqual(asked, names.slice(0, 4));
  fail();
  await untilAsked(asked, 5);
  fail();
  await Promise.all(ended);
  assert.deepEqual(asked, names);
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
