// The dashboard's session: what a browser, a foreign page and a thief of its cookie may do with it.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { SignInLinks } from '../../../../src/http/session/sign-in-links.ts';
import {
  type Answer,
  type CallOptions,
  type Harness,
  KEY,
  OTHER_KEY,
  type Overrides,
  startServer,
} from '../harness.ts';
import { connect } from '../raw-connection.ts';
import { idOf, OTHER_ID, OWNER_ID, sha256, T0_MS } from '../records.ts';

const DAY_MS = 86_400_000;
const OWN = { 'x-errand-dashboard': '1' };

interface Browser extends Harness {
  /** Sends the cookie, and the headers of the dashboard's own requests. */
  own(method: string, path: string, more?: CallOptions): Promise<Answer>;
  /** Sends the cookie, and only the headers given. */
  foreign(method: string, path: string, headers?: Record<string, string>): Promise<Answer>;
  readonly cookie: string;
  readonly setCookie: string;
}

async function signIn(server: Harness, body: object, headers: Record<string, string> = OWN): Promise<Answer> {
  return server.call('POST', '/v1/session', { key: null, json: body, headers });
}

function cookieOf(answer: Answer): string {
  return (answer.headers.get('set-cookie') ?? '').split(';')[0] as string;
}

async function browse(t: TestContext, overrides: Overrides = {}, apiKey = KEY): Promise<Browser> {
  const server = await startServer(t, overrides);
  const answer = await signIn(server, { api_key: apiKey });
  assert.equal(answer.status, 200, answer.text);
  const cookie = cookieOf(answer);
  const foreign: Browser['foreign'] = (method, path, headers = {}) =>
    server.call(method, path, { key: null, headers: { cookie, ...headers } });
  const own: Browser['own'] = (method, path, more = {}) =>
    server.call(method, path, {
      key: null,
      ...more,
      headers: { cookie, ...OWN, 'sec-fetch-site': 'same-origin', ...more.headers },
    });
  return { ...server, own, foreign, cookie, setCookie: answer.headers.get('set-cookie') ?? '' };
}

test('a key signs in to a session', async (t) => {
  const { own, setCookie, port, cookie } = await browse(t);
  assert.match(
    setCookie,
    new RegExp(`^errand-session-${port}=[^;]+; Path=/; HttpOnly; SameSite=Strict; Max-Age=604800$`),
  );
  assert.ok(
    !setCookie.includes(KEY) && !setCookie.includes(sha256(KEY)),
    'the cookie tells neither the key nor its hash',
  );
  const { json, headers } = await own('GET', '/v1/session');
  assert.deepEqual(
    [json.data.owner.id, json.data.key.id, json.data.ends_at_ms],
    [OWNER_ID, idOf('key_', 1), T0_MS + 7 * DAY_MS],
  );
  assert.equal(headers.get('cache-control'), 'no-store');
  assert.equal((await own('GET', '/v1/users/me', { headers: { cookie: `a=b; ${cookie}; c=d` } })).status, 200);
});

test('a wrong or short key signs in to nothing', async (t) => {
  const server = await startServer(t);
  const writeOnly = await server.seed.key(3, ['write']);
  const tried: [object, number][] = [
    [{ api_key: `${KEY}x` }, 401],
    [{ api_key: '' }, 401],
    [{ api_key: writeOnly }, 403],
    [{ link: 'x' }, 401],
    [{}, 400],
    [{ api_key: KEY, link: 'x' }, 400],
  ];
  for (const [body, status] of tried) {
    const answer = await signIn(server, body);
    assert.deepEqual([answer.status, answer.headers.get('set-cookie')], [status, null], JSON.stringify(body));
  }
});

test('of what is sent to sign in, no more is read than a key takes', async (t) => {
  const server = await startServer(t);
  assert.equal((await signIn(server, { api_key: 'x'.repeat(10_000) })).status, 400);
  assert.equal((await signIn(server, { api_key: 'x'.repeat(20_000) })).status, 413);
  const raw = connect(t, server.port);
  raw.send('POST /v1/session HTTP/1.1\r\nhost: x\r\nx-errand-dashboard: 1\r\ncontent-length: 8000000\r\n\r\n');
  const answer = await raw.answer();
  assert.equal(answer.status, 413);
  assert.match(answer.head, /connection: close/i);
});

test('a foreign page can use no session', async (t) => {
  const { foreign, own, stage } = await browse(t);
  const before = await stage.store.listKeys(OWNER_ID);
  const refused: Record<string, string>[] = [
    {},
    { ...OWN, 'sec-fetch-site': 'cross-site' },
    { ...OWN, 'sec-fetch-site': 'same-site' },
    { ...OWN, 'sec-fetch-site': 'none' },
    { ...OWN, origin: 'https://evil.example' },
    { ...OWN, origin: 'null' },
    // Another port of this machine: the same site, and another origin.
    { ...OWN, origin: 'http://127.0.0.1:1' },
    { 'sec-fetch-site': 'same-origin' },
  ];
  for (const headers of refused) {
    for (const [method, path] of [
      ['POST', '/v1/keys?label=x'],
      ['DELETE', `/v1/keys/${idOf('key_', 1)}`],
      ['PUT', '/v1/users/me?name=x'],
    ]) {
      const answer = await foreign(method as string, path as string, headers);
      assert.equal(answer.status, 403, `${method} ${JSON.stringify(headers)}: ${answer.text}`);
    }
  }
  for (const site of ['cross-site', 'same-site', 'none']) {
    const answer = await foreign('GET', '/v1/users/me', { 'sec-fetch-site': site });
    assert.deepEqual([answer.status, answer.headers.get('access-control-allow-origin')], [403, null]);
  }
  assert.deepEqual((await stage.store.listKeys(OWNER_ID)).length, before.length);
  assert.equal((await foreign('GET', '/v1/users/me')).status, 200, 'a browser that tells no site');
  assert.equal((await own('GET', '/v1/users/me')).status, 200);
});

test('a foreign page cannot sign a browser in', async (t) => {
  const server = await startServer(t);
  for (const headers of [{}, { ...OWN, origin: 'https://evil.example' }, { ...OWN, 'sec-fetch-site': 'cross-site' }]) {
    const answer = await signIn(server, { api_key: OTHER_KEY }, headers);
    assert.deepEqual([answer.status, answer.headers.get('set-cookie')], [403, null]);
  }
});

test('a preflight permits nothing', async (t) => {
  const { call } = await startServer(t);
  const headers = {
    origin: 'https://evil.example',
    'access-control-request-method': 'PUT',
    'access-control-request-headers': 'x-errand-dashboard',
  };
  const answer = await call('OPTIONS', '/v1/users/me', { key: null, headers });
  assert.deepEqual(
    [...answer.headers.keys()].filter((name) => name.startsWith('access-control-')),
    [],
  );
  assert.notEqual(answer.status, 200);
});

test('a session ends with its key', async (t) => {
  const { own, stage } = await browse(t);
  assert.equal((await own('GET', '/v1/users/me')).status, 200);
  await stage.store.revokeKey(OWNER_ID, idOf('key_', 1), T0_MS);
  assert.equal((await own('GET', '/v1/users/me')).status, 401);
});

test('signing out everywhere ends all sessions of the key', async (t) => {
  const { own, foreign, call, cookie, stage } = await browse(t, {
    actions: { endSessions: (ownerId: string, keyId: string | null) => stage.store.endSessions(ownerId, keyId) },
  });
  const second = cookieOf(await signIn({ call } as Harness, { api_key: KEY }));
  for (const headers of [{}, { ...OWN, 'sec-fetch-site': 'cross-site' }, { ...OWN, origin: 'https://evil.example' }]) {
    assert.equal((await foreign('DELETE', '/v1/sessions', headers)).status, 403, 'a foreign page');
  }
  assert.equal((await own('GET', '/v1/users/me')).status, 200);
  const ended = await own('DELETE', '/v1/sessions');
  assert.deepEqual(ended.json.data, { keys: 1 });
  assert.match(ended.headers.get('set-cookie') ?? '', /^errand-session-\d+=; .*Max-Age=0$/);
  for (const one of [cookie, second]) {
    const answer = await call('GET', '/v1/users/me', { key: null, headers: { cookie: one, ...OWN } });
    assert.deepEqual([answer.status, /sign in again/.test(answer.text)], [401, true]);
  }
  const again = cookieOf(await signIn({ call } as Harness, { api_key: KEY }));
  assert.equal((await call('GET', '/v1/users/me', { key: null, headers: { cookie: again, ...OWN } })).status, 200);
});

test('all sessions of an owner are ended by who may change its settings', async (t) => {
  const server = await browse(t, {
    actions: { endSessions: (ownerId: string, keyId: string | null) => server.stage.store.endSessions(ownerId, keyId) },
  });
  const reader = await server.seed.key(3, ['read']);
  const cookie = cookieOf(await signIn(server, { api_key: reader }));
  const other = cookieOf(await signIn(server, { api_key: OTHER_KEY }));
  const state = async (one: string): Promise<number> =>
    (await server.call('GET', '/v1/session', { key: null, headers: { cookie: one, ...OWN } })).status;
  assert.equal((await server.call('DELETE', '/v1/sessions?of=owner', { key: reader })).status, 403);
  assert.equal((await server.call('DELETE', '/v1/sessions?of=all', { key: reader })).status, 400);
  assert.deepEqual([await state(cookie), await state(server.cookie), await state(other)], [200, 200, 200]);
  assert.equal((await server.own('DELETE', '/v1/sessions?of=owner')).status, 200);
  assert.deepEqual([await state(cookie), await state(server.cookie), await state(other)], [401, 401, 200]);
  assert.equal((await server.call('GET', '/v1/session', { key: reader })).status, 200, 'the keys stay good');
});

test('a session ends when its key expires', async (t) => {
  const server = await startServer(t);
  const apiKey = await server.seed.key(3, ['read'], { expiresAtMs: T0_MS + 1000 });
  const answer = await signIn(server, { api_key: apiKey });
  assert.equal(answer.json.data.ends_at_ms, T0_MS + 1000);
  assert.match(answer.headers.get('set-cookie') ?? '', /Max-Age=1$/);
  const headers = { cookie: cookieOf(answer), ...OWN };
  assert.equal((await server.call('GET', '/v1/users/me', { key: null, headers })).status, 200);
  server.stage.clock.advance(1000);
  assert.equal((await server.call('GET', '/v1/users/me', { key: null, headers })).status, 401);
});

test('a session ends after seven days', async (t) => {
  const { own, stage } = await browse(t);
  stage.clock.advance(7 * DAY_MS - 1);
  assert.equal((await own('GET', '/v1/users/me')).status, 200);
  stage.clock.advance(1);
  assert.equal((await own('GET', '/v1/users/me')).status, 401);
});

test('a changed cookie is no session', async (t) => {
  const { call, cookie } = await browse(t);
  const [name, value] = [cookie.slice(0, cookie.indexOf('=')), cookie.slice(cookie.indexOf('=') + 1)];
  const middle = Math.floor(value.length / 2);
  const flipped = value.slice(0, middle) + (value[middle] === 'A' ? 'B' : 'A') + value.slice(middle + 1);
  // The last two: a plain text that the seal opens, and a second cookie planted beside the first.
  const tried = [flipped, value.slice(0, -4), '', 'x'.repeat(4000), '[]', '{}', `${value}; ${name}=${value}`];
  for (const one of tried) {
    const answer = await call('GET', '/v1/users/me', { key: null, headers: { cookie: `${name}=${one}`, ...OWN } });
    assert.equal(answer.status, 401, one.slice(0, 60));
  }
});

test('a cookie of another store is no session', async (t) => {
  const [first, second] = [await browse(t), await browse(t, { store: { deriveKey: () => new Uint8Array(32) } })];
  const renamed = second.cookie.replace(/^[^=]+/, `errand-session-${first.port}`);
  const answer = await first.call('GET', '/v1/users/me', { key: null, headers: { cookie: renamed, ...OWN } });
  assert.equal(answer.status, 401);
});

test('signing in makes a new session each time', async (t) => {
  const server = await browse(t);
  const planted = await signIn(server, { api_key: KEY }, { ...OWN, cookie: server.cookie });
  assert.notEqual(cookieOf(planted), server.cookie);
});

test('a session is of one owner, and its key’s scopes', async (t) => {
  const other = await browse(t, {}, OTHER_KEY);
  assert.equal((await other.own('GET', '/v1/users/me')).json.data.id, OTHER_ID);
  const apiKey = await other.seed.key(3, ['read']);
  const headers = { cookie: cookieOf(await signIn(other, { api_key: apiKey })), ...OWN };
  assert.equal((await other.call('GET', '/v1/users/me', { key: null, headers })).json.data.id, OWNER_ID);
  assert.equal((await other.call('GET', '/v1/keys', { key: null, headers })).status, 403);
});

test('a key in the header counts more than a session', async (t) => {
  const { call, cookie } = await browse(t);
  const mine = await call('GET', '/v1/users/me', { key: OTHER_KEY, headers: { cookie } });
  assert.equal(mine.json.data.id, OTHER_ID);
  const wrong = await call('GET', '/v1/users/me', { key: 'wrong', headers: { cookie } });
  assert.equal(wrong.status, 401, 'a session does not stand in for a wrong key');
});

test('signing out removes the cookie', async (t) => {
  const { own, call, port } = await browse(t);
  const answer = await own('DELETE', '/v1/session');
  assert.deepEqual(answer.json.data, { ended: true });
  assert.equal(
    answer.headers.get('set-cookie'),
    `errand-session-${port}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0`,
  );
  assert.deepEqual((await call('DELETE', '/v1/session')).json.data, { ended: false });
});

test('signing in and what follows stand in the audit log', async (t) => {
  const { own, stage } = await browse(t);
  await own('DELETE', '/v1/session');
  const { items } = await stage.store.listAudit({ ownerId: OWNER_ID }, { limit: 10 });
  assert.deepEqual(
    items.map(({ operation, keyId }) => [operation, keyId]),
    [
      ['endSession', idOf('key_', 1)],
      ['createSession', idOf('key_', 1)],
    ],
  );
});

test('over https the cookie is bound to its host', async (t) => {
  const urls = { publicUrl: () => 'https://errand.example', endpointUrl: (key: string) => key, endpointHosts: null };
  const { port } = await startServer(t, { urls });
  const raw = connect(t, port);
  const body = JSON.stringify({ api_key: KEY });
  raw.send(
    `POST /v1/session HTTP/1.1\r\nhost: errand.example\r\norigin: https://errand.example\r\nx-errand-dashboard: 1\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  const { status, head } = await raw.answer();
  assert.equal(status, 200);
  assert.match(
    head,
    /set-cookie: __Host-errand-session=[^;]+; Path=\/; HttpOnly; SameSite=Strict; Max-Age=604800; Secure/i,
  );
});

test('a link signs in once, soon, and from this machine', async (t) => {
  const signInLinks = new SignInLinks();
  const server = await startServer(t, { signInLinks });
  const make = (token: string): string | null =>
    signInLinks.create(sha256(KEY), { url: 'http://0.0.0.0:4400', token, nowMs: server.stage.clock.nowMs() });
  assert.equal(make('one'), 'http://127.0.0.1:4400/sign-in#one');
  for (const header of ['x-forwarded-for', 'forwarded', 'via']) {
    assert.equal((await signIn(server, { link: 'one' }, { ...OWN, [header]: '127.0.0.1' })).status, 401, header);
  }
  assert.equal((await signIn(server, { link: 'two' })).status, 401);
  assert.equal((await signIn(server, { link: 'one' })).json.data.key.id, idOf('key_', 1));
  assert.equal((await signIn(server, { link: 'one' })).status, 401, 'it was used');
  make('three');
  server.stage.clock.advance(600_000);
  assert.equal((await signIn(server, { link: 'three' })).status, 401, 'it is too old');
  make('four');
  const raw = connect(t, server.port);
  const body = JSON.stringify({ link: 'four' });
  raw.send(
    `POST /v1/session HTTP/1.1\r\nhost: rebound.example\r\nx-errand-dashboard: 1\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  assert.equal((await raw.answer()).status, 401, 'a name that leads to this machine');
  assert.equal(signInLinks.create(null, { url: 'http://127.0.0.1:1', token: 'x', nowMs: 0 }), null);
});
