// Where sources of our own may connect to: what webhooks may reach, at both levels of isolation, whoever creates them.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { after, before, test } from 'node:test';
import type { Json } from '../../support/client.ts';
import { startErrand } from '../../support/errand.ts';
import { createOwn, runNow, startAsked, tryOwn } from '../../support/sources/own-sources.ts';
import { noJail } from '../../unit/runner/isolation/jail-kit.ts';

const noJails = await noJail();
const inside = createServer();
let came = 0;
let port = 0;
before(async () => {
  inside.on('connection', (socket) => {
    came++;
    socket.destroy();
  });
  await once(inside.listen(0, '127.0.0.1'), 'listening');
  port = (inside.address() as AddressInfo).port;
});
after(() => inside.close());

/** Each component that connects somewhere, with props that lead to a host and port. */
const CONNECTING: Record<string, (host: string, port: number) => Json> = {
  rss: (host, at) => ({ url: `http://${host}:${at}/feed` }),
  'poll-json': (host, at) => ({ url: `http://${host}:${at}/list` }),
  mailbox: (host, at) => ({ host: host.replace(/[[\]]/g, ''), port: at, security: 'none', user: 'u', password: 'p' }),
  'postgres-rows': (host, at) => ({ url: `postgres://u:p@${host}:${at}/db`, table: 't', column: 'id' }),
};
const NOT_CONNECTING = ['github-webhook', 'http', 'schedule', 'standard-webhook', 'stripe-webhook'];
const HOSTS = ['127.0.0.1', 'localhost', '0.0.0.0', '10.1.2.3', '169.254.169.254', '[::ffff:127.0.0.1]', '[::1]'];

const LEVELS: [settings: Record<string, string>, skip: string | false][] = [
  [{ ERRAND_ISOLATION: 'process' }, false],
  [{ ERRAND_ISOLATION: 'process', ERRAND_PROCESS_NETWORK: 'public' }, false],
  [{ ERRAND_ISOLATION: 'jail', ERRAND_JAIL_NETWORK: 'full' }, noJails],
  [{ ERRAND_ISOLATION: 'jail', ERRAND_JAIL_NETWORK: 'public' }, noJails],
];

test('every component that connects is tried here', async () => {
  await using errand = await startErrand();
  const { data } = await errand.client.get('/v1/components');
  const keys = data.map(({ key }: Json) => key).sort();
  assert.deepEqual(keys, [...Object.keys(CONNECTING), ...NOT_CONNECTING].sort());
});

for (const [settings, skip] of LEVELS) {
  test(`what is not public is refused with ${Object.values(settings).join(', ')}`, { skip }, async () => {
    await using errand = await startErrand({ ...settings, ERRAND_ALLOW_TARGETS: '' });
    const before = came;
    for (const [component, propsOf] of Object.entries(CONNECTING)) {
      // The loopback of a jail with no network of the machine's is the jail's own.
      const isOwn = settings.ERRAND_JAIL_NETWORK === 'public';
      const hosts = isOwn ? HOSTS.filter((host) => !/^(127|localhost|\[::1\])/.test(host)) : HOSTS;
      // All that are refused are refused in one place: one component tries every spelling.
      for (const host of component === 'poll-json' ? hosts : hosts.slice(0, 1)) {
        const { status, json } = await tryOwn(errand, component, propsOf(host, port));
        assert.equal(status, 422, `${component} ${host}: ${JSON.stringify(json)}`);
        assert.match(json.detail, /was refused: .*ERR_TARGET_FORBIDDEN/, `${component} ${host}`);
      }
    }
    assert.equal(came, before, 'nothing was connected to');
    assert.deepEqual((await errand.client.get('/v1/sources')).data, []);
  });
}

test('what is opened is connected to, the server is not', async () => {
  await using errand = await startErrand({ ERRAND_ALLOW_TARGETS: '127.0.0.1/32' });
  const before = came;
  // The others' own tests connect to real servers.
  const { status } = await tryOwn(errand, 'rss', CONNECTING.rss?.('127.0.0.1', port));
  assert.deepEqual([status, came > before], [422, true]);
  for (const [component, propsOf] of Object.entries(CONNECTING)) {
    const own = await tryOwn(errand, component, propsOf('127.0.0.1', Number(new URL(errand.url).port)));
    assert.match(own.json.detail, /was refused: it is where the server listens \(ERR_TARGET_FORBIDDEN\)/, component);
  }
});

test('a source that stands is refused what was closed', async () => {
  await using feed = await startAsked('/list');
  await using errand = await startErrand();
  feed.says({ body: '[{"id":1}]' });
  const source = await createOwn(errand, 'poll-json', { url: feed.url });
  const { length } = feed.requests;
  await errand.restart({ ERRAND_ALLOW_TARGETS: '' });
  assert.equal((await runNow(errand, source)).state, 'failed');
  const [error] = await errand.errors(source.id, 1);
  assert.match(error.event.error.msg, /was refused: the address lies in 127\.0\.0\.0\/8, loopback/);
  assert.equal(feed.requests.length, length);
  await errand.restart({ ERRAND_ALLOW_TARGETS: '127.0.0.0/8' });
  assert.equal((await runNow(errand, source)).state, 'succeeded');
  assert.equal(feed.requests.length, length + 1);
});

test('a redirect inward is refused where it leads', async () => {
  await using feed = await startAsked('/feed');
  await using errand = await startErrand({ ERRAND_ALLOW_TARGETS: '127.0.0.1/32' });
  for (const location of [
    'http://127.0.0.3:1/',
    'http://169.254.169.254/',
    'http://metadata.google.internal/',
    errand.url,
  ]) {
    feed.says({ status: 302, headers: { location } });
    const { status, json } = await tryOwn(errand, 'rss', { url: feed.url });
    assert.equal(status, 422);
    assert.match(json.detail, /was refused: .*ERR_TARGET_FORBIDDEN/, location);
  }
});

test('the mail server is refused, whatever is open', async () => {
  await using errand = await startErrand({
    ERRAND_ALLOW_TARGETS: '0.0.0.0/0,::/0',
    ERRAND_SMTP_URL: `smtp://localhost:${port}`,
  });
  for (const [component, propsOf] of Object.entries(CONNECTING)) {
    const { json } = await tryOwn(errand, component, propsOf('127.0.0.1', port));
    assert.match(json.detail, /was refused: it is the server's mail server \(ERR_TARGET_FORBIDDEN\)/, component);
  }
});

const noDatabase = process.env.TEST_STORE === 'postgres' ? false : 'needs a store on Postgres (TEST_STORE=postgres)';

test('the database is refused, whatever is open', { skip: noDatabase }, async () => {
  await using errand = await startErrand({ ERRAND_ALLOW_TARGETS: '0.0.0.0/0,::/0' });
  const { ERRAND_DATABASE_URL: url } = errand.settings;
  const { status, json } = await tryOwn(errand, 'postgres-rows', { url, table: 'owners', column: 'id' });
  assert.equal(status, 422);
  assert.match(json.detail, /was refused: it is the server's database \(ERR_TARGET_FORBIDDEN\)/);
});

test('a database behind a Unix socket is refused', async () => {
  await using errand = await startErrand({ ERRAND_ALLOW_TARGETS: '127.0.0.0/8' });
  for (const url of ['postgres://u:p@%2Fvar%2Frun%2Fpostgresql/db', 'postgres://u:p@h/db?host=/var/run/postgresql']) {
    const { status, json } = await tryOwn(errand, 'postgres-rows', { url, table: 't', column: 'id' });
    assert.equal(status, 422, JSON.stringify(json));
    assert.doesNotMatch(json.detail, /ENOENT|EACCES/, url);
  }
});

test('code that calls itself ours gains nothing', async () => {
  await using feed = await startAsked('/x');
  await using errand = await startErrand({ ERRAND_ALLOW_TARGETS: '' });
  feed.says({ body: 'x' });
  const mark = `// component "rss", sha256 ${'a'.repeat(64)}\n`;
  const code = `export default { key: 'rss', version: '1.0.0', props: { http: '$.interface.http' }, run() {} }`;
  const source = await errand.client.post('/v1/sources', { component_code: mark + mark + code });
  const { component, component_code: kept } = await errand.client
    .get(`/v1/sources/${source.id}`)
    .then(({ data }) => data);
  assert.deepEqual([component ?? null, kept ?? code], [null, code]);
});
