// Every way to write a forbidden host, carried to the socket: whatever a spelling turns out to be, a literal or a name that
// leads to loopback, no connection is made.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createAddresses } from '../../../src/webhook/address.ts';
import { deliveryTo, httpReceiver, posterFor } from './receivers.ts';

const CLOSED = createAddresses({ allowTargets: [] });

const SPELLINGS: Record<string, string[]> = {
  'decimal, octal, hexadecimal, short': [
    '2130706433',
    '0x7f000001',
    '0X7F000001',
    '017700000001',
    '0177.0.0.1',
    '00000177.0.0.1',
    '0x7f.0x0.0x0.0x1',
    '0x7f.0.0.0x1',
    '127.1',
    '127.0.1',
    '127.0.0.0x1',
    '0',
    '00',
    '0x',
    '1',
  ],
  dots: ['127.0.0.1.', '127.0.0.1..', '127.0.0.1...', '127。0。0。1', '127．0．0．1', '127｡0｡0｡1', '127%2e0%2e0%2e1'],
  'digits of other alphabets': ['１２７.０.０.１', '①②⑦.⓪.⓪.①', '𝟏𝟐𝟕.𝟎.𝟎.𝟏', '𝟙𝟚𝟟.𝟘.𝟘.𝟙', '⑫⑦.0.0.1'],
  'characters that vanish': [
    '127.0.0\u00ad.1',
    '12\u200b7.0.0.1',
    '127.0.0.1\u2060',
    '127.0.0.1\ufeff',
    '\u00ad127.0.0.1',
  ],
  'percent signs': ['%31%32%37.0.0.1', '127.0.0.%31', '%6cocalhost', 'localhost%2e', '%5b::1%5d', '127.0.0.1%00'],
  'names of this machine': [
    'localhost',
    'LOCALHOST',
    'localhost.',
    'localhost..',
    'a.localhost',
    'lo\u00adcalhost',
    'ⓛⓞⓒⓐⓛⓗⓞⓢⓣ',
    'localhost.localdomain',
    'ip6-localhost',
    'ip6-loopback',
  ],
  'IPv6 and what it embeds': [
    '[::1]',
    '[::]',
    '[0:0:0:0:0:0:0:1]',
    '[0000:0000:0000:0000:0000:0000:0000:0001]',
    '[::0.0.0.1]',
    '[::ffff:127.0.0.1]',
    '[::FFFF:7F00:1]',
    '[0:0:0:0:0:ffff:127.0.0.1]',
    '[::ffff:0:127.0.0.1]',
    '[::127.0.0.1]',
    '[::7f00:1]',
    '[64:ff9b::127.0.0.1]',
    '[64:ff9b:1::127.0.0.1]',
    '[2002:7f00:1::]',
    '[2001:0:7f00:1::]',
    '[2001:0:808:808::80ff:fffe]',
    '[fe80::1]',
    '[fec0::1]',
    '[fd00:ec2::254]',
    '[ff02::1]',
  ],
  zones: [
    '[::1%lo]',
    '[::1%25lo]',
    '[fe80::1%25eth0]',
    '[fe80::1%eth0]',
    '::1',
    '[::1].',
    '[127.0.0.1]',
    '[v1.fe80::a]',
  ],
  'names that only look like addresses': [
    '127.0.0.1e0',
    '127.0.0.1;example.com',
    '127.0.0.1,example.com',
    '127.0.0.1-example.com',
    '127.0.0.1.example.com',
    '127-0-0-1.example.com',
    '7f000001.example.com',
    'a_b.example.com',
    'xn--',
    '*',
    '-',
  ],
  'metadata services': ['169.254.169.254', '0251.0376.0251.0376', '2852039166', '[::ffff:a9fe:a9fe]', '168.63.129.16'],
};

const URLS: Record<string, ((port: number) => string)[]> = {
  slashes: [
    (port) => `http:/127.0.0.1:${port}/`,
    (port) => `http:127.0.0.1:${port}/`,
    (port) => `http:///127.0.0.1:${port}/`,
    (port) => `http:\\\\127.0.0.1:${port}\\`,
    (port) => `http:/\\127.0.0.1:${port}/`,
    (port) => `HTTP:\\/127.0.0.1:${port}/`,
    (port) => `https:127.0.0.1:${port}`,
  ],
  userinfo: [
    (port) => `http://example.com@127.0.0.1:${port}/`,
    (port) => `http://127.0.0.1:${port}@example.com/`,
    (port) => `http://example.com\\@127.0.0.1:${port}/`,
    (port) => `http://127.0.0.1:${port}\\@example.com/`,
    (port) => `http://127.0.0.1:${port}#@example.com/`,
    (port) => `http://127.0.0.1:${port}?@example.com/`,
    (port) => `http://example.com:80\\@127.0.0.1:${port}/`,
    (port) => `http://@127.0.0.1:${port}/`,
    (port) => `http://:@127.0.0.1:${port}/`,
  ],
  ports: [
    (port) => `http://127.0.0.1:0${port}/`,
    (port) => `http://127.0.0.1:00000${port}/`,
    () => 'http://127.0.0.1:0/',
    () => 'http://127.0.0.1:/',
    () => 'http://127.0.0.1:65536/',
    (port) => `http://127.0.0.1:${port + 65_536}/`,
    () => 'http://127.0.0.1:-1/',
  ],
  blanks: [
    (port) => ` http://127.0.0.1:${port}/`,
    (port) => `ht\ttp://127.0.0.1:${port}/`,
    (port) => `http://127.0.\n0.1:${port}/`,
    (port) => `http://127.0.0.1:${port}/ `,
    (port) => `http://\x00127.0.0.1:${port}/`,
    (port) => `http://127.0.0.1:${port}/\r\nhost: example.com`,
  ],
  schemes: [
    (port) => `ftp://127.0.0.1:${port}/`,
    (port) => `ws://127.0.0.1:${port}/`,
    (port) => `gopher://127.0.0.1:${port}/_GET`,
    (port) => `blob:http://127.0.0.1:${port}/x`,
    (port) => `//127.0.0.1:${port}/`,
    (port) => `127.0.0.1:${port}`,
  ],
};

async function assertUnreached(urls: (port: number) => string[]): Promise<void> {
  await using receiver = await httpReceiver();
  const lookup = async () => [{ address: '127.0.0.1', family: 4 }];
  await using poster = posterFor({ addresses: CLOSED, lookup });
  for (const url of urls(receiver.port)) {
    const attempt = await poster.post(deliveryTo(url));
    assert.deepEqual([attempt.outcome, attempt.status], ['forbidden', null], JSON.stringify(url));
  }
  assert.equal(receiver.connections(), 0);
  await using open = posterFor({ lookup });
  assert.equal((await open.post(deliveryTo(`http://receiver.test:${receiver.port}/`))).status, 200, 'it listens');
}

for (const [kind, hosts] of Object.entries(SPELLINGS)) {
  test(`No spelling of a host gets through: ${kind}`, async () => {
    await assertUnreached((port) => hosts.flatMap((host) => [`http://${host}:${port}/`, `https://${host}:${port}/`]));
  });
}

for (const [kind, urls] of Object.entries(URLS)) {
  test(`No spelling of a URL gets through: ${kind}`, async () => {
    await assertUnreached((port) => urls.map((url) => url(port)));
  });
}

test('A URL that two readers read differently goes one way', async () => {
  // To the URL parser, which everything here goes by, the host ends at the backslash.
  await using receiver = await httpReceiver();
  const asked: string[] = [];
  const lookup = async (hostname: string) => {
    asked.push(hostname);
    return [{ address: '127.0.0.1', family: 4 }];
  };
  await using poster = posterFor({ lookup });
  await poster.post(deliveryTo(`http://receiver.test:${receiver.port}\\@127.0.0.2/x`));
  assert.deepEqual([asked, receiver.received[0]?.url], [['receiver.test'], '/@127.0.0.2/x']);
  assert.equal(receiver.received[0]?.headers.host, `receiver.test:${receiver.port}`);
});

test('No URL leads to a Unix socket', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'errand-unix-'));
  const path = join(folder, 'docker.sock');
  let connections = 0;
  const server = net.createServer((socket) => void (++connections && socket.destroy())).listen(path);
  await once(server, 'listening');
  try {
    const lookup = async () => [{ address: '127.0.0.1', family: 4 }];
    await using poster = posterFor({ addresses: CLOSED, lookup });
    const escaped = encodeURIComponent(path);
    const urls = [
      `http://unix:${path}:/x`,
      `unix:${path}`,
      `unix://${path}`,
      `http+unix://${escaped}/x`,
      `http://${escaped}/x`,
    ];
    for (const url of [...urls, `http://unix/${path}`, `http:${path}`, `file://${path}`]) {
      assert.equal((await poster.post(deliveryTo(url))).outcome, 'forbidden', url);
    }
  } finally {
    await new Promise((resolve) => server.close(resolve));
    await rm(folder, { recursive: true });
  }
  assert.equal(connections, 0);
});

test('What is opened is reached by its own spellings', async () => {
  await using receiver = await httpReceiver();
  await using poster = posterFor();
  const reached = ['127.0.0.1', '2130706433', '0x7f.1', '127.0.0.1.', '①②⑦.0.0.1', '[::ffff:127.0.0.1]'];
  for (const host of reached) {
    assert.equal((await poster.post(deliveryTo(`http://${host}:${receiver.port}/`))).status, 200, host);
  }
  // Through a relay, an opened address is somebody else's.
  for (const host of ['[::127.0.0.1]', '[64:ff9b::127.0.0.1]', '[2002:7f00:1::]', '[2001:0:7f00:1::]']) {
    assert.equal((await poster.post(deliveryTo(`http://${host}:${receiver.port}/`))).outcome, 'forbidden', host);
  }
});
