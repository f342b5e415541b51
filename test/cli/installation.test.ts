// errand config and explain-url: what the server that is asked says, and not the environment of the shell.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient, type Json } from '../support/client.ts';
import { startErrand } from '../support/errand.ts';
import { withScopes } from '../support/owners.ts';
import { openShell } from './command.ts';

const PASSWORD = 'a-password-in-a-url';

test('the settings shown are those of the server', async () => {
  await using errand = await startErrand({
    ERRAND_RETENTION_DAYS: '7',
    ERRAND_SMTP_URL: `smtp://ada:${PASSWORD}@127.0.0.1:2525`,
    ERRAND_PUBLIC_URL: 'https://errand.example.com/',
    OTEL_EXPORTER_OTLP_HEADERS: `authorization=${PASSWORD}`,
  });
  await using shell = await openShell(errand.client);
  const env = { ERRAND_RETENTION_DAYS: '9' };
  const asked = await shell.run(['config', '--url', errand.url], { env });
  assert.equal(asked.code, 0, asked.stderr);
  assert.match(asked.stdout, /^ERRAND_RETENTION_DAYS +7 +30 +Days that/m);
  assert.match(asked.stdout, /^ERRAND_SMTP_URL +\(set, secret\)/m);
  assert.match(asked.stdout, /^ERRAND_PUBLIC_URL +https:\/\/errand\.example\.com /m);
  assert.ok(asked.stderr.includes(`settings of ${errand.url}`));
  for (const secret of [PASSWORD, errand.client.key])
    assert.ok(!(asked.stdout + asked.stderr).includes(secret), secret);
  const local = await shell.run(['config', '--local'], { env });
  assert.match(local.stdout, /^ERRAND_RETENTION_DAYS +9 +30 /m);
  assert.match(local.stderr, /this shell's environment: no server was asked/);
  const none = await shell.run(['config'], { env });
  assert.deepEqual([none.code, none.stdout], [0, local.stdout], 'where none runs, what one would start with here');
  assert.match(none.stderr, /this shell's environment: no server runs on the data dir here/);
  const profile = await shell.run(['config', '--profile', 'prod']);
  assert.deepEqual([profile.code !== 0, profile.stdout], [true, ''], 'never in the place of one that is named');
});

test('an owner without the scope admin reads no settings', async () => {
  await using errand = await startErrand();
  const { key } = await withScopes(errand.client, ['ingest', 'read', 'write', 'keys', 'account']);
  await using shell = await openShell({ url: errand.url, key: key.api_key });
  const { code, stdout } = await shell.run(['config', '--url', errand.url]);
  assert.deepEqual([code, stdout], [4, '']);
  const other = createClient(errand.url, key.api_key);
  assert.equal((await other.request('GET', '/v1/settings')).status, 403);
});

test('the server judges a URL, and not the shell', async () => {
  await using errand = await startErrand({ ERRAND_ALLOW_TARGETS: '10.1.0.0/16' });
  await using shell = await openShell(errand.client);
  const ask = (target: string, ...more: string[]) => shell.run(['explain-url', target, ...more]);
  const opened = await ask('http://10.1.2.3/hook', '--url', errand.url);
  assert.equal(opened.code, 0, opened.stderr);
  assert.match(opened.stdout, /10\.1\.0\.0\/16 is opened\nverdict: may be reached\n$/);
  assert.equal((await ask('http://10.1.2.3/hook', '--local')).code, 1);
  assert.equal((await ask('http://127.0.0.1/', '--url', errand.url)).code, 1);
  const none = await ask('http://127.0.0.1/');
  assert.equal(none.code, 1);
  assert.match(none.stderr, /judged by this shell's environment: no server runs on the data dir here/);
  assert.deepEqual(await shell.json('explain-url', 'http://10.1.2.3/').then(({ allowed }: Json) => allowed), true);
  const { key } = await withScopes(errand.client, ['write']);
  const writer = createClient(errand.url, key.api_key);
  const told = (await writer.post('/v1/targets/check', { url: 'http://10.1.2.3/hook' })) as Json;
  assert.equal(told.allowed, true);
  assert.ok(!JSON.stringify(told).includes('10.1.0.0/16'), 'what is opened is the operator’s');
});
