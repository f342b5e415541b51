// errand owners, keys and audit: over a server that is named, and on the data dir; and how owners and keys are named.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient, type Json } from '../support/client.ts';
import { startErrand } from '../support/errand.ts';
import { createOwner, withScopes } from '../support/owners.ts';
import { openShell } from './command.ts';

test('owners and keys of a named server are tables', async () => {
  await using errand = await startErrand();
  await using shell = await openShell(errand.client);
  await shell.run(['login', '--url', errand.url, '--profile', 'prod'], { input: errand.client.key });
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await shell.run([...args, '--profile', 'prod'], { env: { ERRAND_API_KEY: '' } });
    assert.equal(code, 0, stderr);
    return stdout;
  };
  assert.match(await run('owners', 'create', '--name', 'Shop'), /^owner +u_\w{16}\nname +Shop\n(.+\n)+API key +\S+$/m);
  assert.match(await run('owners', 'list'), /^ID +CREATED +STATE +EMAIL +NAME\nu_\w{16} +\S+Z +active +Shop\n/);
  const made = await run(
    'keys',
    'create',
    '--owner',
    'sho',
    '--label',
    'laptop',
    '--scopes',
    'read',
    '--expires',
    '90d',
  );
  const key = /^API key +(\S+)$/m.exec(made)?.[1] ?? '';
  const mine = createClient(errand.url, key);
  assert.equal((await mine.get('/v1/users/me')).data.name, 'Shop');
  assert.match(await run('keys', 'list', '--owner', 'Shop'), /^key_\w{16} +read +\S+ +\S+ +laptop$/m);
  assert.match(
    await run('owners', 'quota', 'Shop', '--processes', '4'),
    /^processes of user code at each node +4 +0$/m,
  );
  assert.match(await run('keys', 'revoke', 'laptop', '--owner', 'Shop'), /^revoked +\S+Z$/m);
  assert.equal((await mine.request('GET', '/v1/users/me')).status, 401);
  assert.match(
    await run('audit', 'list', '--owner', 'Shop', '--operation', 'revokeOwnerKey'),
    /^\S+Z +first key +revokeOwnerKey +key_\w+ +200/m,
  );
});

test('a key without the scope manages its own owner alone', async () => {
  await using errand = await startErrand();
  const other = await createOwner(errand);
  const { key } = await withScopes(other.client, ['read', 'keys', 'account']);
  await using shell = await openShell({ url: errand.url, key: key.api_key });
  const keys = await shell.json('keys', 'list');
  assert.ok(keys.every(({ owner_id: owner }: Json) => owner === other.id));
  assert.ok(keys.length > 1);
  assert.equal((await shell.run(['owners', 'list', '--url', errand.url])).code, 4);
  const me = (await errand.client.get('/v1/users/me')).data.id;
  assert.equal((await shell.run(['keys', 'list', '--owner', me, '--url', errand.url])).code, 4);
  assert.equal((await shell.run(['audit', 'list', '--owner', me, '--url', errand.url])).code, 4);
});

test('the data dir answers as a server does', async () => {
  await using errand = await startErrand();
  await using shell = await openShell(null);
  await createOwner(errand);
  const json = async (...args: string[]): Promise<Json> => {
    const { code, stdout, stderr } = await shell.run([...args, '--json'], { env: { ...errand.settings } });
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout);
  };
  // When the key was used last is noted a moment later.
  const shown = async () => [
    await json('owners', 'list'),
    (await json('keys', 'list')).map((key: Json) => ({ ...key, last_used_at: 0 })),
    await json('audit', 'list'),
  ];
  const { client: reader } = await withScopes(errand.client, ['read']);
  const env = { ...errand.settings, ERRAND_API_KEY: reader.key };
  const refused = await shell.run(['owners', 'list'], { env });
  assert.equal(refused.code, 4);
  assert.match(refused.stderr, /"admin".* \(the key was that of ERRAND_API_KEY\)\n$/);
  const running = await shown();
  await errand.stop();
  assert.deepEqual(await shown(), running);
  await json('keys', 'create', '--label', 'nights');
  await json('keys', 'create', '--label', 'nightly');
  const both = await shell.run(['keys', 'revoke', 'night'], { env: { ...errand.settings } });
  assert.equal(both.code, 3);
  assert.match(
    both.stderr,
    /^errand: "night" fits more than one key: key_\w+ \(night(s|ly)\), key_\w+ \(night(s|ly)\)\n$/,
  );
  assert.ok((await json('keys', 'revoke', 'nightly')).revoked_at > 0);
});

test('records of the audit log are exported without an end', async () => {
  await using errand = await startErrand();
  await using shell = await openShell(errand.client);
  for (let n = 0; n < 120; n++) await errand.client.post(`/v1/webhooks?url=https://example.com/${n}`);
  const { code, stdout, stderr } = await shell.run(['audit', 'export', '--by-key', 'first key', '--url', errand.url]);
  assert.equal(code, 0, stderr);
  assert.equal(stdout.trimEnd().split('\n').length, 120);
  const none = await shell.run(['audit', 'list', '--until', '2001-01-01', '--url', errand.url]);
  assert.deepEqual([none.code, none.stdout, none.stderr], [0, '', 'no records\n']);
});
