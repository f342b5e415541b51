// Which server a command talks to: options, the data dir, profiles; and what its exit code says.

import assert from 'node:assert/strict';
import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { EXIT_CODES } from '../../src/cli/shell/exit.ts';
import { type Errand, startErrand } from '../support/errand.ts';
import { freePort } from '../support/port.ts';
import { openShell } from './command.ts';

const LIST = ['runs', 'list'];
const login = (errand: Errand, ...more: string[]) => ['login', '--url', `${errand.url}/`, ...more];

test('a profile keeps the key where only its user can read it', async () => {
  await using errand = await startErrand();
  await using shell = await openShell(null);
  const away = await shell.run(LIST);
  assert.deepEqual([away.code, away.stdout], [5, '']);
  assert.match(away.stderr, /^errand: no server runs on the data dir here.*errand login/);
  const done = await shell.run(login(errand), { input: `${errand.client.key}\n` });
  assert.equal(done.code, 0, done.stderr);
  assert.ok(!done.stdout.includes(errand.client.key));
  const file = join(shell.home, '.config/errand/profiles.json');
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  assert.deepEqual(JSON.parse(await readFile(file, 'utf8')).profiles.default, {
    url: errand.url,
    key: errand.client.key,
  });
  assert.deepEqual((await shell.run(LIST)).code, 0);
  // Of that server, the key is known.
  assert.equal((await shell.run([...LIST, '--url', errand.url])).code, 0);
  await chmod(file, 0o640);
  const open = await shell.run(LIST);
  assert.equal(open.code, 1);
  assert.match(open.stderr, /other users can read it: chmod 600/);
  await writeFile(file, '{');
  await chmod(file, 0o600);
  assert.match((await shell.run(LIST)).stderr, /profiles\.json is not JSON/);
});

test('profiles that cannot be read stand in the way of no other server', async () => {
  await using errand = await startErrand();
  await using shell = await openShell(null);
  const file = join(shell.home, '.config/errand/profiles.json');
  await mkdir(dirname(file), { recursive: true });
  const running = { ERRAND_DATA_DIR: errand.dataDir, ERRAND_API_KEY: errand.client.key };
  await writeFile(join(errand.dataDir, 'running.json'), JSON.stringify({ pid: process.pid, url: errand.url }));
  for (const text of ['{', '[]', '{"current":"a","profiles":{"a":{}}}', '{"current":1,"profiles":{}}', 'null']) {
    await writeFile(file, text, { mode: 0o600 });
    const { code, stderr } = await shell.run(LIST);
    assert.equal(code, 1, text);
    assert.match(stderr, /^errand: .*profiles\.json is not JSON as "errand login" writes it/);
    assert.equal((await shell.run(LIST, { env: running })).code, 0, 'of the data dir');
    assert.equal((await shell.run([...LIST, '--url', errand.url], { env: running })).code, 0, 'of --url');
  }
  await writeFile(file, '{"current":"gone","profiles":{}}');
  assert.equal((await shell.run(LIST)).code, 3);
});

test('a wrong key is not kept', async () => {
  await using errand = await startErrand();
  await using shell = await openShell(null);
  const wrong = await shell.run(login(errand), { input: 'a-key-that-no-owner-has-0000' });
  assert.equal(wrong.code, 4);
  const none = await shell.run(login(errand), { input: '\n' });
  assert.deepEqual([none.code, /^errand: no API key was given: paste it/.test(none.stderr)], [2, true], none.stderr);
  const hostile = await shell.run(login(errand), { input: 'two words' });
  assert.equal(hostile.code, 2);
  assert.ok(!hostile.stderr.includes('two words'));
  assert.equal((await shell.run(['profiles', 'list'])).stdout, '');
});

test('profiles are listed, chosen and forgotten', async () => {
  await using errand = await startErrand();
  await using shell = await openShell(null);
  for (const name of ['prod', 'test']) {
    await shell.run(login(errand, '--profile', name), { input: errand.client.key });
  }
  const list = async () => JSON.parse((await shell.run(['profiles', 'list', '--json'])).stdout);
  assert.deepEqual(
    (await list()).map(({ name, current }: { name: string; current: boolean }) => [name, current]),
    [
      ['prod', false],
      ['test', true],
    ],
  );
  await shell.run(['profiles', 'use', 'prod']);
  assert.equal((await list())[0].current, true);
  assert.equal((await shell.run(['logout'])).code, 0);
  assert.deepEqual(
    (await list()).map(({ name }: { name: string }) => name),
    ['test'],
  );
  const none = await shell.run([...LIST, '--profile', 'prod']);
  assert.deepEqual([none.code, none.stderr], [3, 'errand: there is no profile "prod"; there are test\n']);
  assert.equal((await shell.run([...LIST, '--profile', 'test'])).code, 0);
  for (const name of ['../x', '', '__proto__x y'])
    assert.equal((await shell.run(['login', '--url', errand.url, '--profile', name])).code, 2, name);
});

test('the server of the data dir needs no option', async () => {
  await using errand = await startErrand();
  await using shell = await openShell(null);
  const env = { ERRAND_DATA_DIR: errand.dataDir, ERRAND_API_KEY: errand.client.key };
  const { running } = { running: join(errand.dataDir, 'running.json') };
  await writeFile(running, JSON.stringify({ pid: process.pid, url: errand.url }));
  assert.equal((await shell.run(LIST, { env })).code, 0);
  const both = await shell.run([...LIST, '--url', errand.url, '--profile', 'x'], { env });
  assert.equal(both.code, 2);
});

test('an option goes before the environment, and that before a profile', async () => {
  await using errand = await startErrand();
  await using shell = await openShell(null);
  const right = errand.client.key;
  const [wrong, other] = ['a-key-that-no-owner-has-0000', 'a-key-that-no-owner-has-0001'];
  const [named, empty] = [['--url', errand.url], join(shell.home, 'empty')];
  await mkdir(empty);
  await shell.run(login(errand, '--profile', 'prod'), { input: right });
  await writeFile(join(errand.dataDir, 'running.json'), JSON.stringify({ pid: process.pid, url: errand.url }));
  const places = [
    { args: named, dataDir: empty },
    { args: [], dataDir: empty },
    // Without the file `api-key`: the key is one of the environment's or of the option's.
    { args: [], dataDir: errand.dataDir },
  ];
  for (const { args, dataDir } of places) {
    const of = async (more: readonly string[], key: string) => {
      const env = { ERRAND_DATA_DIR: dataDir, ERRAND_API_KEY: key };
      const { code, stderr } = await shell.run([...LIST, ...args, ...more], { env });
      return [code, /\(the key was that of (.+)\)$/m.exec(stderr)?.[1] ?? null];
    };
    assert.deepEqual(await of([], wrong), [4, 'ERRAND_API_KEY'], `${args}`);
    assert.deepEqual(await of([], right), [0, null], `${args}`);
    assert.deepEqual(await of(['--key', right], wrong), [0, null], `${args}`);
    assert.deepEqual(await of(['--key', other], right), [4, '--key'], `${args}`);
    // An empty setting is none.
    const kept = dataDir === empty ? 0 : 4;
    assert.equal((await of([], ''))[0], kept, `${args}`);
    assert.deepEqual(await of(['--key', right], ''), [0, null], `${args}`);
  }
  // A profile that is named is an option, too: the key of another server stays here.
  const elsewhere = { env: { ERRAND_DATA_DIR: empty, ERRAND_API_KEY: wrong } };
  assert.equal((await shell.run([...LIST, '--profile', 'prod'], elsewhere)).code, 0);
  assert.equal((await shell.run([...LIST, '--profile', 'prod', '--key', other], elsewhere)).code, 4);
  const file = join(shell.home, '.config/errand/profiles.json');
  await writeFile(file, (await readFile(file, 'utf8')).replace(right, wrong));
  const refused = await shell.run([...LIST, '--profile', 'prod']);
  assert.equal(refused.code, 4);
  assert.match(refused.stderr, /^errand: [^\n]+ \(the key was that of the profile prod\)\n$/);
});

test('exit codes tell what was wrong', async () => {
  await using errand = await startErrand();
  await using shell = await openShell(errand.client);
  const named = ['--url', errand.url];
  const code = async (...args: string[]) => (await shell.run(args)).code;
  assert.equal(await code('--help'), 0);
  assert.equal(await code('runs', 'list', '--limit', 'many'), 2);
  assert.equal(await code('runs', 'lst'), 2);
  assert.equal(await code('runs', 'show', 'nothing', ...named), 3);
  assert.equal(await code('runs', 'list', ...named, '--key', 'a-key-that-no-owner-has-0000'), 4);
  assert.equal(await code('runs', 'list', '--url', `http://127.0.0.1:${await freePort()}`), 5);
  assert.equal(await code('runs', 'list', '--url', 'errand.example.com'), 2);
  assert.equal(await code('runs', 'list', '--since', 'yesterday', ...named), 2);
  const typed = await shell.run(['workflows', 'run', 'nothing', '--event', '{"n": 1}', ...named]);
  assert.equal(typed.code, 2);
  assert.match(
    typed.stderr,
    /^errand: a file is expected, not the JSON itself: write it to a file, or give - and pipe it/,
  );
  assert.deepEqual(Object.keys(EXIT_CODES).map(Number), [0, 1, 2, 3, 4, 5, 130]);
});
