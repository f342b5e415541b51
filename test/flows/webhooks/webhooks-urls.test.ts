// Addresses that a webhook may not have, whatever their spelling.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Answer } from '../../support/client.ts';
import { type Errand, startErrand } from '../../support/errand.ts';
import { shareErrand } from '../../support/shared-errand.ts';

const newErrand = shareErrand();

const MAX_URL_CHARS = 2048;

const create = (errand: Errand, url: unknown): Promise<Answer> =>
  errand.client.request('POST', '/v1/webhooks', { url });

/** Asserts a refusal that names `url`, says why, and makes nothing. */
async function assertRefused(errand: Errand, url: unknown): Promise<Answer> {
  const answer = await create(errand, url);
  assert.ok([400, 422].includes(answer.status), `${String(url).slice(0, 80)}: ${answer.status} ${answer.text}`);
  assert.match(answer.headers.get('content-type') ?? '', /^application\/problem\+json/);
  assert.ok(answer.json.error.length > 10, 'a reason');
  assert.ok(
    answer.json.errors?.some((e: { parameter: string }) => e.parameter === 'url'),
    `names the parameter: ${answer.text}`,
  );
  return answer;
}

test('a webhook needs an http url', async () => {
  await using errand = await newErrand();
  const missing = await errand.client.request('POST', '/v1/webhooks?name=x');
  assert.equal(missing.status, 400);
  assert.match(missing.json.error, /url/);
  const bad = [
    '',
    'x',
    '/relative',
    'example.com',
    'ftp://example.com/',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'ws://example.com/',
    'http://',
    'http://exa mple.com/',
    'https://example.com/a\nb',
    'http://[::1',
    5,
    null,
    { a: 1 },
  ];
  for (const url of bad) await assertRefused(errand, url);
  assert.deepEqual((await errand.client.get('/v1/webhooks')).data, []);
});

test('urls with credentials are refused', async () => {
  await using errand = await newErrand();
  for (const url of ['http://user:pass@example.com/', 'https://user@example.com/', 'http://:pass@example.com/']) {
    const answer = await assertRefused(errand, url);
    assert.match(answer.json.error, /credentials|user|password/i);
    assert.ok(!answer.text.includes(':pass@'), 'and the password is not repeated');
  }
});

test('port 0 is refused and others pass', async () => {
  await using errand = await newErrand();
  const answer = await assertRefused(errand, 'http://example.com:0/');
  assert.match(answer.json.error, /port/i);
  await assertRefused(errand, 'http://example.com:65536/');
  assert.equal((await create(errand, 'http://example.com:65535/')).status, 200);
});

test('a url is at most 2048 characters', async () => {
  await using errand = await newErrand();
  const base = 'https://example.com/';
  const longest = base + 'a'.repeat(MAX_URL_CHARS - base.length);
  assert.equal((await create(errand, longest)).status, 200);
  const answer = await assertRefused(errand, `${longest}a`);
  assert.match(answer.text, /2,?048/);
});

test('public addresses are welcome as urls', async () => {
  await using errand = await startErrand({ ERRAND_ALLOW_TARGETS: '' });
  const good = [
    'http://example.com',
    'https://8.8.8.8/x?y=z#f',
    'http://[2606:4700::1111]/',
    'https://xn--bcher-kva.example/',
    'https://bücher.example/',
    'HTTPS://EXAMPLE.COM/Path',
    'http://172.32.0.1/',
    'http://11.0.0.1/',
  ];
  for (const url of good) {
    const answer = await create(errand, url);
    assert.equal(answer.status, 200, `${url}: ${answer.text}`);
  }
});

test('private literals are refused in every spelling', async () => {
  await using errand = await startErrand({ ERRAND_ALLOW_TARGETS: '' });
  const private4 = [
    '127.0.0.1',
    '127.1',
    '127.0.1',
    '2130706433',
    '0x7f000001',
    '0x7F.0.0.1',
    '0177.0.0.1',
    '017700000001',
    '127.0.0.1.',
    '①②⑦.⓪.⓪.①',
    '127。0。0。1',
    '%31%32%37.0.0.1',
    '0',
    '0.0.0.0',
    '10.1.2.3',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '168.63.129.16',
    '224.0.0.1',
    '255.255.255.255',
    '192.0.0.192',
  ];
  const private6 = [
    '::1',
    '::',
    '0:0:0:0:0:0:0:1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::127.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b::10.0.0.1',
    '2002:7f00:1::',
    '2002:a00:1::1',
    '2001:0:7f00:1::',
    '2001:0:808:808::80ff:fffe',
    'fe80::1',
    'fc00::1',
    'fd12:3456::1',
    'ff02::1',
    'fec0::1',
    '2001:db8::1',
    '4000::1',
    '100::1',
  ];
  for (const host of [...private4, ...private6.map((address) => `[${address}]`)]) {
    for (const url of [`http://${host}/`, `https://${host}:8443/x`]) {
      const answer = await create(errand, url);
      assert.equal(answer.status, 422, `${url}: ${answer.status} ${answer.text}`);
      assert.ok(answer.json.error.length > 20, `the reason: ${answer.json.error}`);
    }
  }
  assert.deepEqual((await errand.client.get('/v1/webhooks')).data, []);
});

test('every range of the list is refused', async () => {
  await using errand = await startErrand({ ERRAND_ALLOW_TARGETS: '' });
  const file = join(import.meta.dirname, '../../data/ssrf-ranges.json');
  const { ranges } = JSON.parse(await readFile(file, 'utf8')) as { ranges: { cidr: string; why: string }[] };
  assert.ok(ranges.length > 20);
  for (const { cidr, why } of ranges) {
    const [address = ''] = cidr.split('/');
    const url = address.includes(':') ? `http://[${address}]/` : `http://${address}/`;
    const answer = await create(errand, url);
    assert.equal(answer.status, 422, `${url} (${why}): ${answer.status} ${answer.text}`);
  }
});

test('what the settings open is open alone', async () => {
  await using errand = await startErrand({ ERRAND_ALLOW_TARGETS: '10.1.0.0/16,127.0.0.2/32' });
  for (const url of ['http://10.1.2.3/', 'http://127.0.0.2:9/'])
    assert.equal((await create(errand, url)).status, 200, url);
  for (const url of ['http://10.2.0.1/', 'http://127.0.0.1/', 'http://[::1]/']) {
    assert.equal((await create(errand, url)).status, 422, url);
  }
});

test('a webhook cannot move to a forbidden address', async () => {
  await using errand = await startErrand({ ERRAND_ALLOW_TARGETS: '' });
  const { data } = (await create(errand, 'https://example.com/')).json;
  for (const url of ['http://127.0.0.1/', 'ftp://example.com/', 'http://a:b@example.com/', 'http://example.com:0/']) {
    const answer = await errand.client.request('PUT', `/v1/webhooks/${data.id}`, { url });
    assert.ok([400, 422].includes(answer.status), `${url}: ${answer.text}`);
  }
  assert.equal((await errand.client.get(`/v1/webhooks/${data.id}`)).data.url, 'https://example.com/');
});
