// How many connections a server takes, in all and from one address.

import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { Server } from 'node:http';
import { test } from 'node:test';
import { problemFrom } from '../../../../src/http/problem.ts';
import { BOUNDS } from '../../../../src/http/server/bounds.ts';
import { boundConnections, networkOf } from '../../../../src/http/server/connections.ts';
import { startServer } from '../harness.ts';
import { connect } from '../raw-connection.ts';

const HEALTH = 'GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n';

test('connections are bounded in all', async (t) => {
  const harness = await startServer(t, { bounds: { maxConnections: 3 } });
  const taken = [];
  for (let n = 0; n < 3; n++) {
    const raw = connect(t, harness.port);
    raw.send(HEALTH);
    assert.equal((await raw.answer()).status, 200);
    taken.push(raw);
  }
  for (const sent of ['', HEALTH]) {
    const raw = connect(t, harness.port);
    raw.send(sent);
    const { status, head: headers, body } = await raw.answer();
    assert.equal(status, 503);
    assert.match(headers, /retry-after: 1/);
    assert.match(JSON.parse(body).detail, /too many connections/);
    assert.equal(await raw.closed(), '');
  }
  taken[0]?.end();
  await taken[0]?.closed();
  // The server hears of closed sockets in its own time.
  for (let status = 503; status === 503; ) {
    const raw = connect(t, harness.port);
    raw.send(HEALTH);
    ({ status } = await raw.answer());
  }
});

/** A server's side of a connection from `remoteAddress`. */
class FakeSocket extends EventEmitter {
  readonly remoteAddress: string;
  answered = '';

  constructor(remoteAddress: string) {
    super();
    this.remoteAddress = remoteAddress;
  }

  end(text: string): void {
    this.answered = text;
  }

  destroySoon(): void {}
}

test('connections are bounded for each address', () => {
  const server = Object.assign(new EventEmitter(), { setTimeout: () => {} });
  const bounds = { ...BOUNDS, maxConnectionsPerAddress: 2 };
  boundConnections(server as unknown as Server, {
    bounds,
    errors: { isIdle: () => true },
    problemTo: (refusal) => problemFrom(refusal, 'r'),
  });
  const from = (address: string): FakeSocket => {
    const socket = new FakeSocket(address);
    server.emit('connection', socket);
    return socket;
  };
  const isTaken = (address: string): boolean => from(address).answered === '';
  const first = from('192.0.2.1');
  assert.deepEqual([isTaken('192.0.2.1'), isTaken('192.0.2.1'), isTaken('::ffff:192.0.2.1')], [true, false, false]);
  assert.equal(isTaken('192.0.2.2'), true);
  first.emit('close');
  assert.deepEqual([isTaken('192.0.2.1'), isTaken('192.0.2.1')], [true, false]);
  assert.deepEqual([isTaken('2001:db8::1'), isTaken('2001:db8::2'), isTaken('2001:db8::ffff:3')], [true, true, false]);
  assert.equal(isTaken('2001:db8:0:1::1'), true);
  for (const address of ['127.0.0.1', '::1', '::ffff:127.0.0.1', '127.9.9.9']) {
    for (let n = 0; n < 5; n++) assert.equal(isTaken(address), true, address);
  }
});

test('an address names its network', () => {
  for (const [address, network] of [
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::1', '::1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:db8::', '2001:db8:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::2', '0:0:0:0::/64'],
  ]) {
    assert.equal(networkOf(address as string), network);
  }
});
