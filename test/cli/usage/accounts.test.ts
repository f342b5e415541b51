// errand accounts connect: a sign-in in a browser, which this test is, at a token server on loopback.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { startErrand } from '../../support/errand.ts';
import { startTokenServer } from '../../support/sources/token-server.ts';
import { until } from '../../support/wait.ts';
import { openShell, type Running, type Shell } from '../command.ts';

async function addressIn(running: Running): Promise<URL> {
  return until('the address for the browser', () => {
    const [line] = /^https:\/\/id\.example\.com\/\S+$/m.exec(running.stderr()) ?? [];
    return line !== undefined && new URL(line);
  });
}

const connecting = (shell: Shell, tokenUrl: string, ...more: string[]): Running =>
  shell.start(
    ...['accounts', 'connect', 'acme', '--authorize-url', 'https://id.example.com/authorize?tenant=1', '--json'],
    ...[
      '--token-url',
      tokenUrl,
      '--client-id',
      'ours',
      '--scope',
      'read write',
      '--param',
      'access_type=offline',
      ...more,
    ],
  );

test('a sign-in in the browser makes an account that the server renews, and connects one again', async () => {
  await using server = await startTokenServer();
  await using errand = await startErrand();
  await using shell = await openShell({ url: errand.url, key: errand.client.key });
  const running = connecting(shell, server.url, '--name', 'Sheets');
  const address = await addressIn(running);
  const asked = Object.fromEntries(address.searchParams);
  const { redirect_uri: back = '', state = '', code_challenge: challenge, ...rest } = asked;
  deepEqual(rest, {
    ...{ tenant: '1', response_type: 'code', client_id: 'ours', scope: 'read write', access_type: 'offline' },
    code_challenge_method: 'S256',
  });
  match(back, /^http:\/\/127\.0\.0\.1:\d+\/callback$/);
  for (const [url, status] of [
    [`${back}?code=stolen`, 400],
    [`${back}?code=stolen&state=${state.slice(1)}`, 400],
    [new URL('/', back), 404],
  ] as const) {
    equal((await fetch(url)).status, status);
  }
  const page = await fetch(`${back}?code=good&state=${state}`);
  match(await page.text(), /^Done\./);
  const { code, stdout, stderr } = await running.ended;
  equal(code, 0, stderr);
  const account = JSON.parse(stdout);
  deepEqual([account.app, account.name, account.oauth.grant], ['acme', 'Sheets', 'refresh_token']);
  const { code_verifier: verifier = '', ...form } = server.asked[0]?.form ?? {};
  deepEqual(form, { grant_type: 'authorization_code', code: 'good', redirect_uri: back, client_id: 'ours' });
  equal(createHash('sha256').update(verifier).digest('base64url'), challenge);
  const renewed = await shell.json('accounts', 'renew', 'Sheets');
  deepEqual([renewed.oauth.failure, server.asked[1]?.form.refresh_token], [null, 'refresh-1']);
  ok(!/token-|refresh-/.test(stdout + stderr), 'tokens are not printed');

  const again = connecting(shell, server.url, '--account', 'Sheets');
  const second = (await addressIn(again)).searchParams;
  await fetch(`${second.get('redirect_uri')}?code=good&state=${second.get('state')}`);
  deepEqual([(await again.ended).code, JSON.parse(again.stdout()).id], [0, account.id]);
  equal((await errand.client.get('/v1/accounts')).data.length, 1);
});

test('a sign-in that gives no access makes no account, and says why', async () => {
  await using server = await startTokenServer();
  await using errand = await startErrand();
  await using shell = await openShell({ url: errand.url, key: errand.client.key });
  const refused = connecting(shell, server.url);
  const address = (await addressIn(refused)).searchParams;
  const said = 'error=access_denied&error_description=The+user%0Asaid+%1b[31mno';
  await fetch(`${address.get('redirect_uri')}?${said}&state=${address.get('state')}`);
  const { code, stderr } = await refused.ended;
  deepEqual(
    [code, /gave no access: access_denied: The user.said/.test(stderr), stderr.includes('\u001b')],
    [1, true, false],
  );

  server.refusal = { status: 400, body: '{"error": "invalid_client"}' };
  const unknown = connecting(shell, server.url);
  const second = (await addressIn(unknown)).searchParams;
  await fetch(`${second.get('redirect_uri')}?code=good&state=${second.get('state')}`);
  deepEqual([(await unknown.ended).code, /answered 400 with invalid_client/.test(unknown.stderr())], [1, true]);

  const stopped = connecting(shell, server.url);
  await addressIn(stopped);
  stopped.interrupt();
  deepEqual([(await stopped.ended).code, /no account was made/.test(stopped.stderr())], [130, true]);
  deepEqual((await errand.client.get('/v1/accounts')).data, []);
  const wrong = await shell.run(['accounts', 'connect', 'acme', '--token-url', 'x']);
  equal(wrong.code, 2);
});
