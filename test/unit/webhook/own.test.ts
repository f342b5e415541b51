// What is the server's own: its machine's addresses, and what listens there or serves it.

import assert from 'node:assert/strict';
import { networkInterfaces } from 'node:os';
import { test } from 'node:test';
import { createAddresses } from '../../../src/webhook/address.ts';
import type { ResolveName } from '../../../src/webhook/names.ts';
import { createOwn, type OwnService } from '../../../src/webhook/own.ts';
import { createTunnels } from '../../../src/webhook/tunnel.ts';
import { deliveryTo, httpReceiver, posterFor } from './receivers.ts';

// Public addresses as far as the ranges go.
const V4 = '198.41.0.4';
const V6 = '2606:4700::1111';
const interfaces = () => ['127.0.0.1', '::1', V4, V6];
const LISTENS = 'it is where the server listens';
const EVERYTHING = ['0.0.0.0/0', '::/0'];
const SPELLED = ['::ffff:198.41.0.4', '::198.41.0.4', '64:ff9b::c629:4', '2002:c629:4::1', '2606:4700:0::1111'];

function addressesOf(services: readonly OwnService[], allowTargets = EVERYTHING, lookup?: ResolveName) {
  const own = createOwn({ services: () => services, interfaces, ...(lookup && { lookup }) });
  return createAddresses({ allowTargets, own });
}

test('The addresses of the machine are closed', () => {
  const closed = addressesOf([], []);
  for (const ip of [V4, V6, ...SPELLED]) {
    assert.deepEqual(closed.judgeAddress(ip), { ok: false, reason: 'the address is one of this machine' }, ip);
    assert.equal(closed.judgeUrl(`http://${ip.includes(':') ? `[${ip}]` : ip}/`).ok, false, ip);
  }
  assert.ok(closed.judgeAddress('198.41.0.5').ok);
  const opened = addressesOf([], [`${V4}/32`]);
  assert.ok(opened.judgeAddress(V4).ok);
  assert.equal(opened.judgeAddress(V6).ok, false);
});

test('Every interface of this very machine is closed', () => {
  const real = Object.values(networkInterfaces()).flatMap((all) => all?.map(({ address }) => address) ?? []);
  assert.ok(real.length > 0);
  const closed = createAddresses({ allowTargets: [] });
  for (const ip of real) assert.equal(closed.judgeAddress(ip).ok, false, ip);
});

test('An address that has just come is closed', async () => {
  const now = ['127.0.0.1'];
  const own = createOwn({ interfaces: () => now });
  const closed = createAddresses({ allowTargets: [], own });
  const judge = await closed.towards(80);
  assert.ok(judge(V4).ok);
  now.push(V4);
  assert.equal(judge(V4).ok, false);
  assert.equal(closed.judgeAddress(V4).ok, false);
});

test('Where the server listens is never open', async () => {
  const addresses = addressesOf([{ host: null, port: 4400, reason: LISTENS }]);
  const judge = await addresses.towards(4400);
  const elsewhere = await addresses.towards(4401);
  for (const ip of ['127.0.0.1', '127.9.9.9', '0.0.0.0', '::', '::1', '::ffff:127.0.0.1', V4, V6, ...SPELLED]) {
    assert.deepEqual(judge(ip), { ok: false, reason: LISTENS }, ip);
    assert.ok(elsewhere(ip).ok, ip);
    const host = ip.includes(':') ? `[${ip}]` : ip;
    assert.equal(addresses.judgeUrl(`http://${host}:4400/`).ok, false, ip);
    assert.ok(addresses.judgeUrl(`http://${host}:4401/`).ok, ip);
  }
  assert.ok(judge('198.41.0.5').ok, 'another machine may listen there');
  assert.equal(addresses.judgeUrl('http://localhost:4400/').ok, false);
});

test('A port that goes without saying counts', () => {
  const addresses = addressesOf([
    { host: null, port: 80, reason: LISTENS },
    { host: null, port: 443, reason: LISTENS },
  ]);
  assert.equal(addresses.judgeUrl('http://127.0.0.1/').ok, false);
  assert.equal(addresses.judgeUrl('https://127.0.0.1/').ok, false);
  assert.ok(addresses.judgeUrl('https://127.0.0.1:8443/').ok);
});

test('A database by name is found at each connection', async () => {
  let at = ['10.0.0.9', 'fd00::9'];
  const lookup: ResolveName = async () => at.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  const addresses = addressesOf(
    [{ host: 'db.internal', port: 5432, reason: 'it is the database' }],
    EVERYTHING,
    lookup,
  );
  const first = await addresses.towards(5432);
  for (const ip of ['10.0.0.9', '::ffff:10.0.0.9', '64:ff9b::a00:9', 'fd00::9']) assert.equal(first(ip).ok, false, ip);
  assert.ok(first('10.0.0.8').ok);
  at = ['10.0.0.8'];
  const second = await addresses.towards(5432);
  assert.equal(second('10.0.0.8').ok, false);
  assert.ok((await addresses.towards(5433))('10.0.0.8').ok);
});

test('A database on this machine is on all its addresses', async () => {
  const lookup: ResolveName = async () => [{ address: '127.0.0.1', family: 4 }];
  for (const host of ['localhost', '127.0.0.1', V4, '::1']) {
    const addresses = addressesOf([{ host, port: 5432, reason: 'it is the database' }], EVERYTHING, lookup);
    const judge = await addresses.towards(5432);
    for (const ip of ['127.0.0.1', '127.0.0.2', '::1', '0.0.0.0', V4, V6]) assert.equal(judge(ip).ok, false, ip);
  }
});

test('A database that cannot be found may be anywhere', async () => {
  const lookup: ResolveName = () => Promise.reject(new Error('no name server'));
  const addresses = addressesOf(
    [{ host: 'db.internal', port: 5432, reason: 'it is the database' }],
    EVERYTHING,
    lookup,
  );
  const judge = await addresses.towards(5432);
  for (const ip of ['10.0.0.9', '198.41.0.5']) assert.equal(judge(ip).ok, false, ip);
});

test('A request to the server is never sent', async () => {
  await using receiver = await httpReceiver();
  const own = createOwn({ services: () => [{ host: null, port: receiver.port, reason: LISTENS }] });
  const addresses = createAddresses({ allowTargets: EVERYTHING, own });
  const lookup: ResolveName = async () => [{ address: '127.0.0.1', family: 4 }];
  await using poster = posterFor({ addresses, lookup });
  for (const host of ['127.0.0.1', '2130706433', '[::ffff:127.0.0.1]', 'localhost', 'receiver.test', '0.0.0.0']) {
    const attempt = await poster.post(deliveryTo(`http://${host}:${receiver.port}/`));
    assert.equal(attempt.outcome, 'forbidden', host);
    assert.match(attempt.detail, /it is where the server listens/, host);
  }
  const tunnels = createTunnels({ addresses, lookup });
  for (const host of ['127.0.0.1', '::ffff:127.0.0.1', 'receiver.test', '0.0.0.0']) {
    const opening = tunnels.open({ host, port: receiver.port }, new AbortController().signal);
    await assert.rejects(opening, { name: 'ForbiddenTarget' }, host);
  }
  assert.equal(receiver.connections(), 0);
});
