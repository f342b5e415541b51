import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createAddresses } from '../../../src/webhook/address.ts';
import { contains, parseCidr, parseIp } from '../../../src/webhook/cidr.ts';
import { judgedOnceASecond } from '../../../src/webhook/judged-urls.ts';
import { FORBIDDEN } from '../../../src/webhook/ranges.ts';

const closed = createAddresses({ allowTargets: [] });
const forbiddenV4 = FORBIDDEN.map(({ cidr }) => parseCidr(cidr)).filter(({ family }) => family === 4);
const forbiddenV6 = FORBIDDEN.map(({ cidr }) => parseCidr(cidr)).filter(({ family }) => family === 6);

// Every spelling of an IPv4 host that is known, in a URL or as the address that a resolver gives.
const hex = (value: number) => `${(value >>> 16).toString(16)}:${(value & 0xffff).toString(16)}`;
const IPV6_SPELLINGS: Record<string, (value: number) => string> = {
  mapped: (value) => `::ffff:${hex(value)}`,
  'mapped, dotted': (value) => `::ffff:${dotted(value)}`,
  'mapped, in full': (value) => `0:0:0:0:0:FFFF:${hex(value)}`,
  compatible: (value) => `::${hex(value)}`,
  NAT64: (value) => `64:ff9b::${hex(value)}`,
  'NAT64, dotted': (value) => `64:ff9b::${dotted(value)}`,
  'NAT64, local': (value) => `64:ff9b:1::${hex(value)}`,
  '6to4': (value) => `2002:${hex(value)}::1`,
  'Teredo client': (value) => `2001:0:808:808:0:0:${hex(~value >>> 0)}`,
  'Teredo server': (value) => `2001:0:${hex(value)}:0:0:${hex(~0x08080808 >>> 0)}`,
  translated: (value) => `::ffff:0:${hex(value)}`,
};
const IPV4_SPELLINGS: Record<string, (value: number) => string> = {
  dotted,
  decimal: String,
  octal: (value) => `0${value.toString(8)}`,
  hexadecimal: (value) => `0x${value.toString(16)}`,
  'two parts': (value) => `${value >>> 24}.${value & 0xffffff}`,
  'octal parts': (value) =>
    dotted(value)
      .split('.')
      .map((octet) => `0${Number(octet).toString(8)}`)
      .join('.'),
  'trailing dot': (value) => `${dotted(value)}.`,
  'full-width digits': (value) => dotted(value).replace(/\d/g, (digit) => String.fromCharCode(0xff10 + Number(digit))),
};

const anyForbidden = fc.constantFrom(...forbiddenV4).chain((range) => {
  const size = 2 ** (32 - range.prefixBits);
  return fc.integer({ min: 0, max: size - 1 }).map((offset) => Number(range.value) + offset);
});
// Without bias, which would draw again and again from the two forbidden ends of the address space.
const anyPublic = fc
  .noBias(fc.integer({ min: 0, max: 0xffffffff }))
  .filter((value) => !forbiddenV4.some((range) => contains(range, { family: 4, value: BigInt(value) })));

test('A forbidden IPv4 is refused in every spelling', () => {
  fc.assert(
    fc.property(anyForbidden, (value) => {
      assert.equal(closed.judgeAddress(dotted(value)).ok, false);
      for (const [spelling, spell] of Object.entries(IPV6_SPELLINGS)) {
        assert.equal(closed.judgeAddress(spell(value)).ok, false, `${spelling}: ${spell(value)}`);
        assert.equal(closed.judgeUrl(`http://[${spell(value)}]/`).ok, false, `${spelling}: ${spell(value)}`);
      }
      for (const [spelling, spell] of Object.entries(IPV4_SPELLINGS)) {
        assert.equal(closed.judgeUrl(`http://${spell(value)}/`).ok, false, `${spelling}: ${spell(value)}`);
      }
    }),
  );
});

test('A public IPv4 is allowed in every spelling', () => {
  const judgedByContent = ['mapped', 'mapped, dotted', 'compatible', 'NAT64', '6to4', 'Teredo client', 'Teredo server'];
  fc.assert(
    fc.property(anyPublic, (value) => {
      assert.deepEqual(closed.judgeAddress(dotted(value)), { ok: true });
      for (const spelling of judgedByContent) {
        const text = IPV6_SPELLINGS[spelling]?.(value) ?? '';
        assert.deepEqual(closed.judgeAddress(text), { ok: true }, `${spelling}: ${text}`);
      }
      for (const spell of Object.values(IPV4_SPELLINGS)) assert.ok(closed.judgeUrl(`http://${spell(value)}/`).ok);
    }),
  );
});

test('Both ends of every range are refused', () => {
  for (const range of [...forbiddenV4, ...forbiddenV6]) {
    const bits = range.family === 4 ? 32n : 128n;
    const last = range.value | ((1n << (bits - BigInt(range.prefixBits))) - 1n);
    for (const value of [range.value, last]) {
      const text = range.family === 4 ? dotted(Number(value)) : groups(value);
      assert.equal(closed.judgeAddress(text).ok, false, `${text} of ${range.text}`);
    }
  }
});

test('IPv6 outside the public part is refused', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: (1n << 128n) - 1n }), (value) => {
      const isCarrier = value >> 32n === 0n || value >> 32n === 0xffffn || value >> 32n === 0x64ff9b0000000000000000n;
      if (value >> 125n === 1n || isCarrier) return;
      assert.equal(closed.judgeAddress(groups(value)).ok, false, groups(value));
    }),
  );
});

test('Public addresses are allowed', () => {
  for (const ip of [
    '1.1.1.1',
    '93.184.216.34',
    '192.0.1.1',
    '172.32.0.1',
    '100.128.0.1',
    '2606:4700::1111',
    '3ffe::1',
  ]) {
    assert.deepEqual(closed.judgeAddress(ip), { ok: true }, ip);
  }
});

test('What is no address is refused', () => {
  for (const text of ['', 'example.com', '1.2.3', '2001:db8::1%eth0', '2606:4700::1%1', '0x8080808', '[::1]']) {
    assert.equal(closed.judgeAddress(text).ok, false, text);
  }
});

test('Reasons name the range but no address', () => {
  const judged = closed.judgeAddress('10.11.12.13');
  assert.deepEqual(judged, { ok: false, reason: 'the address lies in 10.0.0.0/8, RFC1918' });
  assert.deepEqual(closed.judgeAddress('::1'), { ok: false, reason: 'the address lies in ::1/128, loopback' });
});

const REFUSED_URLS: [url: string, reason: RegExp][] = [
  ['', /not a URL/],
  ['example.com', /not a URL/],
  ['//example.com', /not a URL/],
  ['http://', /not a URL/],
  ['http://exa mple.com', /white space/],
  [' http://example.com', /white space/],
  ['http://exa\nmple.com', /control/],
  ['http://example.com/\r\nhost: x', /control/],
  ['http://example.com/\0', /control/],
  ['ftp://example.com', /neither http nor https/],
  ['file:///etc/passwd', /neither http nor https/],
  ['javascript:alert(1)', /neither http nor https/],
  ['http+unix://%2Fvar%2Frun%2Fdocker.sock/x', /neither http nor https/],
  ['http://user@example.com', /credentials/],
  ['http://:secret@example.com', /credentials/],
  ['http://example.com:0', /port 0/],
  ['http://example.com:65536', /not a URL/],
  ['http://./', /no host/],
  [`http://example.com/${'x'.repeat(2048)}`, /longer than 2048/],
  ['http://localhost', /127\.0\.0\.0\/8/],
  ['http://LOCALHOST.:8080', /127\.0\.0\.0\/8/],
  ['http://a.b.localhost/', /127\.0\.0\.0\/8/],
  ['http://127.1', /127\.0\.0\.0\/8/],
  ['http://0', /0\.0\.0\.0\/8/],
  ['http://169.254.169.254/latest/meta-data', /169\.254\.0\.0\/16/],
  ['http://168.63.129.16', /168\.63\.129\.16\/32/],
  ['http://127.0.0.1..', /127\.0\.0\.0\/8/],
  ['http:\\\\127.0.0.1\\', /127\.0\.0\.0\/8/],
  ['http://①②⑦.0.0.1', /127\.0\.0\.0\/8/],
  ['http://%31%32%37.0.0.1', /127\.0\.0\.0\/8/],
  ['http://[::1]/', /::1\/128/],
  ['http://[::]/', /::\/128/],
  ['http://[fd00:ec2::254]/', /fc00::\/7/],
  ['http://[4000::1]/', /outside 2000::\/3/],
];

test('URLs are refused with their reason', () => {
  for (const [url, reason] of REFUSED_URLS) {
    const judged = closed.judgeUrl(url);
    assert.ok(!judged.ok, url);
    assert.match(judged.reason, reason, url);
  }
});

test('Public URLs are allowed and parsed', () => {
  for (const url of [
    'https://example.com/a?b#c',
    'http://example.com:8080',
    'http://notlocalhost',
    'http://8.8.8.8/',
  ]) {
    const judged = closed.judgeUrl(url);
    assert.ok(judged.ok, url);
    assert.equal(judged.url.href, new URL(url).href);
  }
  assert.ok(closed.judgeUrl(`http://example.com/${'x'.repeat(2048 - 'http://example.com/'.length)}`).ok);
});

test('An opened range opens exactly itself', () => {
  const addresses = createAddresses({ allowTargets: ['10.1.0.0/16', '::1/128'] });
  const ok = (ip: string) => addresses.judgeAddress(ip).ok;
  for (const ip of ['10.1.0.0', '10.1.255.255', '::ffff:10.1.2.3', '::ffff:a01:203', '::1']) assert.ok(ok(ip), ip);
  for (const ip of ['10.0.255.255', '10.2.0.0', '::ffff:10.2.0.0', '127.0.0.1', '::', '::2']) assert.ok(!ok(ip), ip);
  for (const ip of ['::10.1.2.3', '64:ff9b::10.1.2.3', '2002:a01:203::']) assert.ok(!ok(ip), ip);
  assert.ok(addresses.judgeUrl('http://localhost').ok, 'one of its two addresses is open');
});

test('A mapped range opens the IPv4 hosts', () => {
  const addresses = createAddresses({ allowTargets: ['::ffff:10.1.0.0/112'] });
  for (const ip of ['10.1.2.3', '::ffff:10.1.2.3']) assert.ok(addresses.judgeAddress(ip).ok, ip);
  for (const ip of ['10.2.0.0', '::10.1.2.3']) assert.ok(!addresses.judgeAddress(ip).ok, ip);
});

test('All of IPv6 opens no IPv4 host', () => {
  const addresses = createAddresses({ allowTargets: ['::/0'] });
  for (const ip of ['127.0.0.1', '::ffff:127.0.0.1']) assert.ok(!addresses.judgeAddress(ip).ok, ip);
  for (const ip of ['::1', 'fd00::1']) assert.ok(addresses.judgeAddress(ip).ok, ip);
});

test('A bad range to open throws by name', () => {
  assert.throws(() => createAddresses({ allowTargets: ['10.0.0.0/8', 'intranet'] }), /"intranet"/);
});

function dotted(value: number): string {
  return [24, 16, 8, 0].map((shift) => (value >>> shift) & 0xff).join('.');
}

function groups(value: bigint): string {
  const text = Array.from({ length: 8 }, (_, i) => ((value >> BigInt(112 - 16 * i)) & 0xffffn).toString(16)).join(':');
  assert.ok(parseIp(text));
  return text;
}

/** Addresses that count their judgements, and refuse everything once they are closed. */
function counted() {
  let nowMs = 0;
  let judgements = 0;
  let isClosed = false;
  const addresses = createAddresses({ allowTargets: [] });
  const judge = judgedOnceASecond(
    {
      ...addresses,
      judgeUrl: (url) => {
        judgements++;
        return isClosed ? { ok: false, reason: 'closed' } : addresses.judgeUrl(url);
      },
    },
    () => nowMs,
  );
  return {
    judge: (url: string) => judge(url).ok,
    judgements: () => judgements,
    close: () => {
      isClosed = true;
    },
    advance: (ms: number) => {
      nowMs += ms;
    },
  };
}

test('Each URL is judged once a second', () => {
  const { judge, judgements, advance } = counted();
  for (let n = 0; n < 10; n++) {
    assert.equal(judge('https://a.example/x'), true);
    assert.equal(judge('http://10.0.0.1/'), false);
    advance(50);
  }
  assert.equal(judgements(), 2);
});

test('A URL that becomes forbidden is refused within a second', () => {
  const { judge, close, advance } = counted();
  assert.equal(judge('https://a.example/x'), true);
  close();
  advance(999);
  assert.equal(judge('https://a.example/x'), true, 'the judgement is kept, or this test shows nothing');
  advance(1);
  assert.equal(judge('https://a.example/x'), false);
});

test('Ten thousand URLs are judged right, and not all kept', () => {
  const { judge, judgements } = counted();
  const urls = Array.from({ length: 10_000 }, (_, n) => (n % 2 ? `https://h${n}.example/` : `http://127.0.0.1/${n}`));
  for (const [n, url] of urls.entries()) assert.equal(judge(url), n % 2 === 1);
  for (const [n, url] of urls.entries()) assert.equal(judge(url), n % 2 === 1);
  assert.equal(judgements(), 20_000, 'the first were forgotten when the last came');
});
