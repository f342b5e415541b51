// Metadata services of clouds: whatever range is opened, they are not, but by their own address.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAddresses } from '../../../src/webhook/address.ts';
import { parseCidr } from '../../../src/webhook/cidr.ts';
import { METADATA, METADATA_NAMES } from '../../../src/webhook/ranges.ts';
import { deliveryTo, httpReceiver, posterFor } from './receivers.ts';

const EVERYTHING = ['0.0.0.0/0', '::/0'];
const hostOf = (cidr: string) => cidr.slice(0, cidr.indexOf('/'));
const inUrl = (host: string) => `http://${host.includes(':') ? `[${host}]` : host}/latest/meta-data/`;

/** All ranges that hold an address and more than it. */
function widerThan(cidr: string): string[] {
  const { family, value, prefixBits } = parseCidr(cidr);
  return Array.from({ length: prefixBits }, (_, bits) => {
    const rest = BigInt(prefixBits - bits);
    const base = (value >> rest) << rest;
    const groups = (count: number, size: bigint) =>
      Array.from({ length: count }, (_, i) => (base >> (size * BigInt(count - 1 - i))) & ((1n << size) - 1n));
    if (family === 4) return `${groups(4, 8n).join('.')}/${bits}`;
    return `${groups(8, 16n)
      .map((group) => group.toString(16))
      .join(':')}/${bits}`;
  });
}

for (const { cidr, why } of METADATA) {
  const host = hostOf(cidr);

  test(`No wider range opens ${host}, ${why}`, () => {
    const wider = widerThan(cidr);
    assert.ok(wider.length >= 32);
    for (const range of wider) {
      const addresses = createAddresses({ allowTargets: [range] });
      assert.equal(addresses.judgeAddress(host).ok, false, range);
      assert.equal(addresses.judgeUrl(inUrl(host)).ok, false, range);
    }
    const judged = createAddresses({ allowTargets: EVERYTHING }).judgeAddress(host);
    assert.match(judged.ok ? '' : judged.reason, /metadata service, which ERRAND_ALLOW_TARGETS opens by itself alone/);
    assert.ok(createAddresses({ allowTargets: [cidr] }).judgeAddress(host).ok);
    assert.ok(createAddresses({ allowTargets: [...EVERYTHING, cidr] }).judgeUrl(inUrl(host)).ok);
  });
}

test('No spelling of a metadata service is open under everything', () => {
  const open = createAddresses({ allowTargets: EVERYTHING });
  for (const { cidr } of METADATA.filter((row) => !row.cidr.includes(':'))) {
    const host = hostOf(cidr);
    const number = host.split('.').reduce((value, octet) => value * 256 + Number(octet), 0);
    const hex = `${(number >>> 16).toString(16)}:${(number & 0xffff).toString(16)}`;
    const flipped = ~number >>> 0;
    const spellings = [
      `::ffff:${hex}`,
      `::${hex}`,
      `64:ff9b::${hex}`,
      `64:ff9b:1::${hex}`,
      `::ffff:0:${hex}`,
      `2002:${hex}::1`,
      `2001:0:808:808:0:0:${(flipped >>> 16).toString(16)}:${(flipped & 0xffff).toString(16)}`,
      `fe80::${hex}`,
      `2606:4700:64::${hex}`,
    ];
    for (const spelling of spellings) assert.equal(open.judgeAddress(spelling).ok, false, spelling);
    for (const spelling of [number, `0x${number.toString(16)}`, `0${number.toString(8)}`, `${host}.`, `${host}..`]) {
      assert.equal(open.judgeUrl(`http://${spelling}/`).ok, false, `${spelling}`);
    }
  }
});

test('A mapped address by itself opens its host', () => {
  const addresses = createAddresses({ allowTargets: ['::ffff:169.254.169.254/128'] });
  assert.ok(addresses.judgeAddress('169.254.169.254').ok);
  assert.equal(addresses.judgeAddress('64:ff9b::a9fe:a9fe').ok, false);
});

test('What lies beside a metadata service is open', () => {
  const addresses = createAddresses({ allowTargets: ['169.254.0.0/16', 'fd00::/8'] });
  for (const ip of ['169.254.169.253', '169.254.1.1', 'fd00:ec2::255']) assert.ok(addresses.judgeAddress(ip).ok, ip);
});

for (const [name, hosts] of METADATA_NAMES) {
  test(`The name ${name} is refused before it is looked up`, async () => {
    const wide = createAddresses({ allowTargets: EVERYTHING });
    for (const spelled of [name, `${name}.`, name.toUpperCase()]) {
      assert.equal(wide.judgeUrl(`http://${spelled}/`).ok, false, spelled);
      assert.equal(wide.judgeName(spelled).ok, false, spelled);
    }
    const opened = createAddresses({ allowTargets: hosts.map((host) => `${host}/${host.includes(':') ? 128 : 32}`) });
    assert.ok(opened.judgeUrl(`http://${name}/`).ok);
  });
}

test('A name that leads to a metadata service is refused', async () => {
  await using receiver = await httpReceiver();
  for (const address of ['169.254.169.254', 'fd00:ec2::254', '::ffff:a9fe:a9fe', '100.100.100.200']) {
    const lookup = async () => [{ address, family: address.includes(':') ? 6 : 4 }];
    await using poster = posterFor({ addresses: createAddresses({ allowTargets: EVERYTHING }), lookup });
    const attempt = await poster.post(deliveryTo(`http://receiver.test:${receiver.port}/`));
    assert.equal(attempt.outcome, 'forbidden', address);
    assert.match(attempt.detail, /the name resolves to what is not allowed \(the address is a cloud's metadata/);
  }
  assert.equal(receiver.connections(), 0);
});
