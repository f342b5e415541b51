import assert from 'node:assert/strict';
import { BlockList, isIPv6, SocketAddress } from 'node:net';
import { test } from 'node:test';
import fc from 'fast-check';
import { contains, parseCidr, parseIp, unmapped } from '../../../src/webhook/cidr.ts';

const WELL_FORMED: [text: string, family: 4 | 6, value: bigint][] = [
  ['0.0.0.0', 4, 0n],
  ['127.0.0.1', 4, 0x7f000001n],
  ['255.255.255.255', 4, 0xffffffffn],
  ['::', 6, 0n],
  ['::1', 6, 1n],
  ['2001:db8::', 6, 0x20010db8n << 96n],
  ['1:2:3:4:5:6:7:8', 6, 0x00010002000300040005000600070008n],
  ['1:2:3:4:5:6:7::', 6, 0x00010002000300040005000600070000n],
  ['::2:3:4:5:6:7:8', 6, 0x00000002000300040005000600070008n],
  ['64:ff9b::10.0.0.1', 6, 0x0064ff9b00000000000000000a000001n],
  ['::10.0.0.1', 6, 0x0a000001n],
  ['1:2:3:4:5:6:1.2.3.4', 6, 0x00010002000300040005000601020304n],
  ['::ffff:10.0.0.1', 4, 0x0a000001n],
  ['::FFFF:a00:1', 4, 0x0a000001n],
  ['0:0:0:0:0:ffff:0a00:0001', 4, 0x0a000001n],
];

const NO_ADDRESS = [
  '',
  '1.2.3',
  '1.2.3.4.5',
  '010.0.0.1',
  '0x7f.0.0.1',
  '1.2.3.256',
  '2130706433',
  'localhost',
  '[::1]',
];
const NO_ADDRESS_6 = [
  '::1%lo',
  'fe80::1%1',
  ':::',
  '1::2::3',
  '12345::',
  '::ffff:1.2.3',
  ' ::1',
  '1.2.3.4 ',
  '１.2.3.4',
];

test('Addresses are read in every spelling', () => {
  for (const [text, family, value] of WELL_FORMED) assert.deepEqual(parseIp(text), { family, value }, text);
});

test('What is no address is null', () => {
  for (const text of [...NO_ADDRESS, ...NO_ADDRESS_6]) assert.equal(parseIp(text), null, text);
});

test('IPv6 texts read as Node reads them', () => {
  fc.assert(
    fc.property(fc.ipV6(), (text) => {
      if (!isIPv6(text)) return;
      const canonical = new SocketAddress({ family: 'ipv6', address: text }).address;
      assert.deepEqual(parseIp(text), parseIp(canonical));
    }),
  );
});

test('Ranges hold what a block list holds', () => {
  fc.assert(
    fc.property(fc.ipV4(), fc.integer({ min: 0, max: 32 }), fc.ipV4(), (base, prefixBits, other) => {
      const mask = prefixBits === 0 ? 0 : (-1 << (32 - prefixBits)) >>> 0;
      const value = (Number(parseIp(base)?.value) & mask) >>> 0;
      const network = [24, 16, 8, 0].map((shift) => (value >>> shift) & 0xff).join('.');
      const list = new BlockList();
      list.addSubnet(network, prefixBits, 'ipv4');
      const range = parseCidr(`${network}/${prefixBits}`);
      for (const text of [base, other]) {
        const ip = parseIp(text);
        assert.ok(ip);
        assert.equal(contains(range, ip), list.check(text, 'ipv4'), `${text} in ${range.text}`);
      }
    }),
  );
});

test('A malformed range throws and is quoted', () => {
  const bad = [
    '',
    '10.0.0.0',
    '10.0.0.0/',
    '10.0.0.0/33',
    '10.0.0.0/08',
    '10.0.0.0/-1',
    '10.0.0.0/8 ',
    'all',
    '::/129',
  ];
  for (const text of [...bad, '10.1.2.3/8', 'fe80::1%lo/64', 'example.com/8', '::1/64', '10.0.0.0/8,::1/128']) {
    assert.throws(
      () => parseCidr(text),
      (error: Error) => error.message.includes(`"${text}"`),
      text,
    );
  }
});

test('A mapped range means an IPv4 range', () => {
  const range = unmapped(parseCidr('::ffff:10.0.0.0/104'));
  assert.deepEqual([range.family, range.prefixBits], [4, 8]);
});
