import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import test from 'node:test';
import { ConfigError, readConfig, SETTINGS } from '../../../src/server/config.ts';

test('an empty environment gives documented defaults', () => {
  const config = readConfig({});
  assert.equal(config.host, '127.0.0.1');
  assert.equal(config.port, 4400);
  assert.equal(config.publicUrl, null);
  assert.equal(config.dataDir, resolve('./data'));
  assert.equal(config.maxBodyBytes, 524_288);
  assert.equal(config.retentionDays, 30);
  assert.equal(config.logLevel, 'info');
  assert.deepEqual(config.allowTargets, []);
  assert.equal(config.databaseUrl, null);
  assert.deepEqual([...config.roles], ['api', 'run', 'deliver']);
});

test('an unknown name stops the start, named', () => {
  assert.throws(
    () => readConfig({ ERRAND_PROT: '1' }),
    (error: Error) => {
      assert.ok(error instanceof ConfigError);
      assert.match(error.message, /ERRAND_PROT is no setting/);
      return true;
    },
  );
});

const WRONG: readonly [string, string][] = [
  ['ERRAND_HOST', 'no host!'],
  ['ERRAND_PORT', '65536'],
  ['ERRAND_PORT', '-1'],
  ['ERRAND_PORT', '80x'],
  ['ERRAND_PUBLIC_URL', 'ftp://x'],
  ['ERRAND_PUBLIC_URL', 'nonsense'],
  ...[
    'https://a.example/?x=1',
    'https://a.example/#x',
    'https://me:pw@a.example',
    ' https://a.example',
    'https://a.\nexample',
  ].map((value): [string, string] => ['ERRAND_PUBLIC_URL', value]),
  ...[
    ...['*.hooks.example.com', 'https://hooks.example.com', 'ftp://*.hooks.example.com', 'https://*', 'https://*.'],
    ...[
      'https://*.hooks.example.com/e',
      'https://*.hooks.example.com?',
      'https://*.hooks.example.com#',
      'https://*..a',
    ],
    ...['https://me@*.hooks.example.com', 'https://hooks-*.example.com', 'https://x.*.example.com', 'https://*.*.com'],
    ...['https://*.127.0.0.1', 'https://*.a:99999', 'https://*.-a.com', 'https://*.a_b.com', 'https://*.a.com.'],
    ...['https://*.hooks.\nexample.com', 'https://*.a b.com', `https://*${'.abcdefghi'.repeat(20)}`, '*', 'https://'],
  ].map((value): [string, string] => ['ERRAND_ENDPOINT_URL', value]),
  ['ERRAND_API_KEY', 'too-short'],
  ['ERRAND_API_KEY', 'with a blank in it, long enough'],
  ['ERRAND_SECRET_KEY', 'thirty-one-characters-is-short!'],
  ['ERRAND_SECRET_KEY', 'with a blank in it, and long enough to be one'],
  ['ERRAND_SMTP_URL', 'http://mail'],
  ['ERRAND_SMTP_URL', 'smtp://'],
  ['ERRAND_SMTP_URL', 'smtps://%'],
  ['ERRAND_SMTP_URL', 'smtp://user:%zz@mail'],
  ['ERRAND_MAIL_FROM', 'a\nb'],
  ['ERRAND_MAIL_FROM', 'a\n<a@example.com>'],
  ['ERRAND_MAIL_FROM', 'Errand'],
  ['ERRAND_MAIL_FROM', 'Errand <errand>'],
  ['ERRAND_MAIL_TO', 'ops'],
  ['ERRAND_MAIL_TO', 'a@example.com, b@example.com'],
  ['ERRAND_ALLOW_TARGETS', '10.0.0.0/33'],
  ['ERRAND_ALLOW_TARGETS', '10.0.0.0/8,localhost'],
  ['ERRAND_MAX_BODY_BYTES', '0'],
  ['ERRAND_RETENTION_DAYS', '0'],
  ['ERRAND_LOG_LEVEL', 'loud'],
  ['ERRAND_ISOLATION', 'none'],
  ['ERRAND_JAIL_NETWORK', 'private'],
  ['ERRAND_CODE_USER', 'nobody'],
  ['ERRAND_CODE_USER', '0:65534'],
  ['ERRAND_CODE_USER', '65534:0'],
  ['ERRAND_ROLES', 'everything'],
  ['ERRAND_ROLES', 'api,'],
  ['ERRAND_ROLES', 'run'],
  ['ERRAND_ROLES', 'api,deliver'],
  ['ERRAND_DATABASE_URL', 'mysql://localhost/errand'],
  ['ERRAND_DATABASE_URL', 'localhost:5432/errand'],
];

for (const [name, value] of WRONG) {
  test(`a bad value is refused with its name: ${name}=${JSON.stringify(value)}`, () => {
    assert.throws(() => readConfig({ [name]: value }), new RegExp(`^ConfigError: ${name}: `));
  });
}

test('the value of a secret setting is never shown', () => {
  assert.throws(
    () => readConfig({ ERRAND_API_KEY: 'hunter2' }),
    (error: Error) => !error.message.includes('hunter2'),
  );
  assert.throws(
    () => readConfig({ ERRAND_DATABASE_URL: 'postgres://me:hunter2@h:no-port/errand' }),
    (error: Error) => !error.message.includes('hunter2'),
  );
  assert.throws(
    () => readConfig({ ERRAND_SECRET_KEY: 'hunter2' }),
    (error: Error) => !error.message.includes('hunter2'),
  );
});

test('with a database a process may have some roles', () => {
  const rolesOf = (ERRAND_ROLES: string): string[] => {
    const { roles } = readConfig({ ERRAND_DATABASE_URL: 'postgres://localhost/errand', ERRAND_ROLES });
    return [...roles];
  };
  assert.deepEqual(rolesOf('run'), ['run']);
  assert.deepEqual(rolesOf('deliver, api,deliver'), ['api', 'deliver']);
  assert.deepEqual(rolesOf(''), ['api', 'run', 'deliver']);
  assert.throws(() => rolesOf(','), /some of api, run, deliver/);
});

test('with SQLite the roles may be spelled out in any order', () => {
  assert.equal(readConfig({ ERRAND_ROLES: 'deliver,run,api' }).roles.size, 3);
  assert.throws(() => readConfig({ ERRAND_ROLES: 'run' }), /leave ERRAND_ROLES out, or set ERRAND_DATABASE_URL$/);
});

test('mails may have a sender with a name', () => {
  const fromOf = (ERRAND_MAIL_FROM: string) => readConfig({ ERRAND_MAIL_FROM }).mailFrom;
  for (const right of ['errand@localhost', 'Errand <errand@example.com>']) assert.equal(fromOf(right), right);
});

test('a public URL may have a path, and loses the slash at its end', () => {
  const urlOf = (ERRAND_PUBLIC_URL: string) => readConfig({ ERRAND_PUBLIC_URL }).publicUrl;
  for (const right of ['https://a.example', 'http://[::1]:4400', 'https://a.example/errand/%20x']) {
    assert.equal(urlOf(right), right);
    assert.equal(urlOf(`${right}/`), right);
  }
});

test('a refused setting is told without the password in it', () => {
  assert.throws(
    () => readConfig({ ERRAND_PUBLIC_URL: 'https://ada:pw@a.example/x?y' }),
    /^ConfigError: ERRAND_PUBLIC_URL: "https:\/\/\*\*\*@a\.example\/x\?y" is not a URL/,
  );
});

test('single addresses count as their own range', () => {
  const { allowTargets } = readConfig({ ERRAND_ALLOW_TARGETS: '127.0.0.1, ::1, 10.0.0.0/8' });
  assert.deepEqual(allowTargets, ['127.0.0.1/32', '::1/128', '10.0.0.0/8']);
});

test('code runs as nobody, a user, or the server', () => {
  const userOf = (ERRAND_CODE_USER: string) => readConfig({ ERRAND_CODE_USER }).codeUser;
  assert.deepEqual(
    [userOf(''), userOf('1001:1002')],
    [
      { uid: 65_534, gid: 65_534, isAsked: false },
      { uid: 1001, gid: 1002, isAsked: true },
    ],
  );
  assert.equal(userOf('server'), null);
});

test('hosts of endpoints are a URL with a star', () => {
  const hostsOf = (ERRAND_ENDPOINT_URL: string) => readConfig({ ERRAND_ENDPOINT_URL }).endpointHosts;
  assert.equal(hostsOf(''), null);
  const hooks = { protocol: 'https:', suffix: '.hooks.example.com', port: '' };
  assert.deepEqual(hostsOf('https://*.hooks.example.com'), hooks);
  assert.deepEqual(hostsOf('HTTPS://*.Hooks.Example.COM:443/'), hooks);
  assert.deepEqual(hostsOf('https://*.bücher.example'), { ...hooks, suffix: '.xn--bcher-kva.example' });
  assert.deepEqual(hostsOf('http://*.localhost:4400'), { protocol: 'http:', suffix: '.localhost', port: ':4400' });
});

test('the API has no name among the endpoints', () => {
  const ERRAND_ENDPOINT_URL = 'https://*.example.com';
  const refused: Record<string, string>[] = [
    { ERRAND_PUBLIC_URL: 'https://errand.example.com' },
    { ERRAND_PUBLIC_URL: 'http://API.EU.Example.com.:8080/errand' },
    { ERRAND_HOST: 'errand.example.com' },
  ];
  for (const env of refused) {
    assert.throws(
      () => readConfig({ ...env, ERRAND_ENDPOINT_URL }),
      /^ConfigError: ERRAND_ENDPOINT_URL: \S+, where the API/,
    );
  }
  const right: Record<string, string>[] = [
    { ERRAND_PUBLIC_URL: 'https://example.com' },
    { ERRAND_PUBLIC_URL: 'https://errand-example.com' },
    { ERRAND_PUBLIC_URL: 'https://errand.example.org', ERRAND_HOST: 'errand.example.com' },
    { ERRAND_HOST: '0.0.0.0' },
  ];
  for (const env of right) assert.notEqual(readConfig({ ...env, ERRAND_ENDPOINT_URL }).endpointHosts, null);
});

test('an empty value means the default', () => {
  assert.equal(readConfig({ ERRAND_PORT: '' }).port, 4400);
});

test('every default is itself a good value', () => {
  const env = Object.fromEntries(SETTINGS.filter((s) => s.fallback !== '').map((s) => [s.name, s.fallback]));
  // What is shown says whether a setting was given.
  const { shown: _given, ...given } = readConfig(env);
  const { shown: _none, ...none } = readConfig({});
  assert.deepEqual(given, none);
});
