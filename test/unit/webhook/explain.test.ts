import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { explainUrl } from '../../../src/webhook/explain.ts';
import type { ResolveName } from '../../../src/webhook/names.ts';

const ERRAND = join(import.meta.dirname, '../../../src/errand.ts');

function resolving(...addresses: string[]): ResolveName {
  return async () => addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
}

const neverAsked: ResolveName = () => Promise.reject(new Error('no name should be looked up'));

interface Case {
  readonly given: string;
  readonly allowTargets?: readonly string[];
  readonly lookup?: ResolveName;
  readonly lines: readonly string[];
  readonly isAllowed: boolean;
}

const NOTHING_OPEN = 'opened by ERRAND_ALLOW_TARGETS: nothing';

const CASES: Record<string, Case> = {
  'a spelling of loopback': {
    given: 'http://0x7f.1:8080/x',
    lookup: neverAsked,
    lines: [
      NOTHING_OPEN,
      'given: "http://0x7f.1:8080/x"',
      'host: 127.0.0.1, an address, spelled "0x7f.1"',
      'url: refused: the address lies in 127.0.0.0/8, loopback',
      'address 127.0.0.1: refused: the address lies in 127.0.0.0/8, loopback',
      'verdict: refused: the address lies in 127.0.0.0/8, loopback',
    ],
    isAllowed: false,
  },
  'an opened address': {
    given: 'http://10.1.2.3/',
    allowTargets: ['127.0.0.0/8', '10.1.0.0/16'],
    lookup: neverAsked,
    lines: [
      'opened by ERRAND_ALLOW_TARGETS: 127.0.0.0/8, 10.1.0.0/16',
      'given: "http://10.1.2.3/"',
      'host: 10.1.2.3, an address',
      'url: ok',
      'address 10.1.2.3: ok: the address lies in 10.0.0.0/8, RFC1918, but 10.1.0.0/16 is opened',
      'verdict: may be reached',
    ],
    isAllowed: true,
  },
  'an address behind NAT64': {
    given: 'http://[64:ff9b::10.1.2.3]/',
    allowTargets: ['10.1.0.0/16'],
    lookup: neverAsked,
    lines: [
      'opened by ERRAND_ALLOW_TARGETS: 10.1.0.0/16',
      'given: "http://[64:ff9b::10.1.2.3]/"',
      'host: [64:ff9b::a01:203], an address, spelled "[64:ff9b::10.1.2.3]"',
      'url: refused: the address embeds an IPv4 address in 10.0.0.0/8, RFC1918',
      'address 64:ff9b::a01:203: refused: the address embeds an IPv4 address in 10.0.0.0/8, RFC1918; nothing that is opened holds it',
      'verdict: refused: the address embeds an IPv4 address in 10.0.0.0/8, RFC1918',
    ],
    isAllowed: false,
  },
  'a name with two addresses': {
    given: 'https://Bücher.example',
    lookup: resolving('93.184.216.34', 'fd00::1'),
    lines: [
      NOTHING_OPEN,
      'given: "https://Bücher.example"',
      'host: xn--bcher-kva.example, a name, spelled "Bücher.example"',
      'url: ok',
      'name xn--bcher-kva.example: 2 addresses',
      'address 93.184.216.34: ok: it is public',
      'address fd00::1: refused: the address lies in fc00::/7, ULA; AWS fd00:ec2::254, GCP fd20:ce::254',
      'verdict: refused: one forbidden address is enough',
    ],
    isAllowed: false,
  },
  'a public name': {
    given: 'https://example.com/a?b#c',
    lookup: resolving('93.184.216.34'),
    lines: [
      NOTHING_OPEN,
      'given: "https://example.com/a?b#c"',
      'host: example.com, a name',
      'url: ok',
      'name example.com: 1 address',
      'address 93.184.216.34: ok: it is public',
      'verdict: may be reached',
    ],
    isAllowed: true,
  },
  'a name without address': {
    given: 'https://example.com',
    lookup: resolving(),
    lines: [
      NOTHING_OPEN,
      'given: "https://example.com"',
      'host: example.com, a name',
      'url: ok',
      'name example.com: it has no address',
      'verdict: refused: nothing is sent to a name without address',
    ],
    isAllowed: false,
  },
  'a lookup that fails': {
    given: 'https://example.com',
    lookup: () => Promise.reject(Object.assign(new Error('getaddrinfo'), { code: 'EAI_AGAIN' })),
    lines: [
      NOTHING_OPEN,
      'given: "https://example.com"',
      'host: example.com, a name',
      'url: ok',
      'name example.com: it could not be looked up (EAI_AGAIN)',
      'verdict: refused: nothing is sent to a name without address',
    ],
    isAllowed: false,
  },
  credentials: {
    given: 'http://me:secret@example.com/',
    lookup: neverAsked,
    lines: [
      NOTHING_OPEN,
      'given: "http://***@example.com/"',
      'host: example.com, a name',
      'url: refused: the URL contains credentials',
      'verdict: refused: the URL contains credentials',
    ],
    isAllowed: false,
  },
  'what is no URL': {
    given: 'exa\u001b[31mmple',
    lookup: neverAsked,
    lines: [
      NOTHING_OPEN,
      'given: "exa\\u001b[31mmple"',
      'url: refused: the URL contains white space or control characters',
      'verdict: refused: the URL contains white space or control characters',
    ],
    isAllowed: false,
  },
};

for (const [name, { given, allowTargets = [], lookup, ...expected }] of Object.entries(CASES)) {
  test(`Every step is explained of ${name}`, async () => {
    assert.deepEqual(await explainUrl(given, { allowTargets, ...(lookup ? { lookup } : {}) }), expected);
  });
}

test('Callers of the interface learn no address of a name', async () => {
  const lookup = resolving('93.184.215.14', '10.0.0.7');
  const explained = await explainUrl('http://intra.example.com/', {
    allowTargets: ['10.9.0.0/16'],
    lookup,
    namesAddresses: false,
  });
  assert.deepEqual(explained, {
    lines: [
      'given: "http://intra.example.com/"',
      'host: intra.example.com, a name',
      'url: ok',
      'verdict: refused: one forbidden address is enough',
    ],
    isAllowed: false,
  });
});

test('The command prints the steps and its verdict', async () => {
  const refused = await errand(['explain-url', '--local', 'http://2130706433/'], {});
  assert.equal(refused.code, 1);
  assert.match(refused.stdout, /^host: 127\.0\.0\.1, an address, spelled "2130706433"$/m);
  assert.match(refused.stdout, /verdict: refused: the address lies in 127\.0\.0\.0\/8, loopback\n$/);
  const opened = await errand(['explain-url', '--local', 'http://127.0.0.1/'], {
    ERRAND_ALLOW_TARGETS: '127.0.0.1/32',
  });
  assert.equal(opened.code, 0);
  assert.match(opened.stdout, /but 127\.0\.0\.1\/32 is opened\nverdict: may be reached\n$/);
  const misspelled = await errand(['explain-url', '--local', 'http://127.0.0.1/'], {
    ERRAND_ALLOW_TARGETS: 'intranet',
  });
  assert.deepEqual([misspelled.code, misspelled.stdout], [1, '']);
  assert.match(misspelled.stderr, /ERRAND_ALLOW_TARGETS: "intranet"/);
});

test('Ranges with bits beyond their prefix are told in one line', async () => {
  const meant: [range: string, words: string][] = [
    ['10.1.2.3/8', 'write 10.0.0.0/8 for the range that holds it, or 10.1.2.3/32 for this address alone'],
    ['fd00:0:0::1/64', 'write fd00::/64 for the range that holds it, or fd00::1/128 for this address alone'],
    ['::ffff:10.1.2.3/104', 'write ::ffff:a00:0/104 for'],
  ];
  for (const [range, words] of meant) {
    const { code, stdout, stderr } = await errand(['explain-url', '--local', 'http://10.0.0.1/'], {
      ERRAND_ALLOW_TARGETS: range,
    });
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, /^errand: ERRAND_ALLOW_TARGETS: [^\n]*\n$/);
    assert.ok(stderr.includes(words), stderr);
  }
});

test('What is the server’s own is explained', async () => {
  const env = {
    ERRAND_ALLOW_TARGETS: '127.0.0.0/8,169.254.0.0/16',
    ERRAND_METRICS_PORT: '4500',
    ERRAND_DATABASE_URL: 'postgres://127.0.0.1:5432/errand',
    ERRAND_SMTP_URL: 'smtp://127.0.0.1:2525',
  };
  const cases: [url: string, line: RegExp][] = [
    ['http://127.0.0.1:4500/', /^address 127\.0\.0\.1: refused: it is where the server listens$/m],
    ['http://localhost:5432/', /^url: refused: it is the server's database$/m],
    ['http://127.0.0.2:2525/', /^verdict: refused: it is the server's mail server$/m],
    [
      'http://169.254.169.254/',
      /^address 169\.254\.169\.254: refused: the address is a cloud's metadata service, which/m,
    ],
    ['http://metadata.google.internal/', /^verdict: refused: the name is that of a cloud's metadata service$/m],
  ];
  for (const [url, line] of cases) {
    const { code, stdout } = await errand(['explain-url', '--local', url], env);
    assert.equal(code, 1, url);
    assert.match(stdout, line, url);
  }
  const open = await errand(['explain-url', '--local', 'http://127.0.0.1:4501/'], env);
  assert.match(open.stdout, /but 127\.0\.0\.0\/8 is opened\nverdict: may be reached\n$/);
});

function errand(args: string[], env: Record<string, string>) {
  return new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) => {
    const child = execFile(process.execPath, [ERRAND, ...args], { env }, (_, stdout, stderr) =>
      resolve({ code: child.exitCode, stdout, stderr }),
    );
  });
}
