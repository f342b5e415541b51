// errand init, test, verify and doctor.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import type { Json } from '../support/client.ts';
import { startErrand } from '../support/errand.ts';
import { freePort } from '../support/port.ts';
import { mailServer } from '../unit/mail/servers.ts';
import { openShell } from './command.ts';

test('a project is made where nothing of it is yet', async () => {
  await using shell = await openShell(null);
  const made = await shell.run(['init', 'My Flows']);
  assert.equal(made.code, 0, made.stderr);
  const manifest = JSON.parse(await readFile(join(shell.home, 'My Flows/package.json'), 'utf8'));
  assert.equal(manifest.name, 'my-flows');
  const packed = join(import.meta.dirname, '../../errand-0.1.0.tgz');
  const named = manifest.dependencies.errand;
  assert.equal(
    resolve(shell.home, 'My Flows', named.replace(/^file:/, '')),
    packed,
    'as npm pack makes it in a checkout',
  );
  assert.match(made.stderr, /^Next: \(cd \S+ && npm pack\) && cd 'My Flows' && npm install && npm run dev$/m);
  const umask = process.umask();
  for (const path of made.stdout.trim().split('\n')) {
    assert.ok((await readFile(join(shell.home, path), 'utf8')).length > 10, path);
    assert.equal(
      (await stat(join(shell.home, path))).mode & 0o777,
      0o666 & ~umask,
      `${path}: as every file of its user`,
    );
  }
  await writeFile(join(shell.home, 'My Flows/workflows/charge-orders.ts'), 'mine');
  const again = await shell.run(['init', 'My Flows']);
  assert.equal(again.code, 1);
  assert.match(again.stderr, /is there already: nothing was written/);
  assert.equal(await readFile(join(shell.home, 'My Flows/workflows/charge-orders.ts'), 'utf8'), 'mine');
});

test('a repository keeps its README, and ignores what is secret', async () => {
  await using shell = await openShell(null);
  const file = (name: string): string => join(shell.home, name);
  await writeFile(file('README.md'), 'mine');
  await writeFile(file('.gitignore'), '*.log\n/node_modules');
  const { code, stdout, stderr } = await shell.run(['init', '.']);
  assert.equal(code, 0, stderr);
  assert.match(stderr, /^\.gitignore has data\/, \.env now$/m);
  assert.doesNotMatch(stdout, /README|gitignore/);
  assert.equal(await readFile(file('README.md'), 'utf8'), 'mine');
  assert.equal(await readFile(file('.gitignore'), 'utf8'), '*.log\n/node_modules\ndata/\n.env\n');
  assert.ok((await readFile(file('workflows/charge-orders.ts'), 'utf8')).length > 10);
});

test('a project is made beside a manifest, which keeps what it has', async () => {
  await using shell = await openShell(null);
  const file = join(shell.home, 'package.json');
  const before = {
    name: 'mine',
    type: 'commonjs',
    scripts: { test: 'mine' },
    dependencies: { errand: 'file:errand.tgz' },
  };
  await writeFile(file, JSON.stringify(before));
  const made = await shell.run(['init', '.']);
  assert.equal(made.code, 0, made.stderr);
  assert.match(made.stderr, /package\.json has type, scripts\.check, .*\nNext: npm install && npm run dev\n$/);
  const { name, type, scripts, dependencies } = JSON.parse(await readFile(file, 'utf8'));
  assert.deepEqual([name, type, scripts.test, dependencies], ['mine', 'module', 'mine', before.dependencies]);
  assert.equal(scripts.dev, 'errand dev workflows');
  await using fresh = await openShell(null);
  const none = 'echo "Error: no test specified" && exit 1';
  await writeFile(join(fresh.home, 'package.json'), JSON.stringify({ scripts: { test: none } }));
  assert.match((await fresh.run(['init', '.'])).stderr, /scripts\.test/, 'npm init says that there is no test');
  assert.match(await readFile(join(fresh.home, 'package.json'), 'utf8'), /"test": "node --test/);
  // As an install of the package leaves it: each project has a name, by which a server tells it from others.
  await using nameless = await openShell(null);
  const folder = join(nameless.home, 'My Shop');
  await mkdir(folder);
  await writeFile(join(folder, 'package.json'), JSON.stringify({ dependencies: { errand: 'file:errand.tgz' } }));
  assert.match((await nameless.run(['init', 'My Shop'])).stderr, /package\.json has name, /);
  const filled = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  assert.deepEqual([filled.name, filled.private], ['my-shop', undefined]);
  await using other = await openShell(null);
  await writeFile(join(other.home, 'package.json'), '{');
  const broken = await other.run(['init', '.']);
  assert.deepEqual([broken.code, broken.stdout], [1, '']);
  assert.match(broken.stderr, /package\.json is not a JSON object: nothing was written/);
});

test('a project that cannot be written leaves nothing behind', { timeout: 120_000 }, async () => {
  await using shell = await openShell(null);
  // Node's own recursive mkdir never ends there.
  const nowhere = await shell.run(['init', '/proc/x/y']);
  assert.equal(nowhere.code, 1);
  assert.match(nowhere.stderr, /^errand: the project cannot be written, and nothing of it was: .*\/proc\/x/);
  // Its tests cannot be written: their folder is a file.
  await writeFile(join(shell.home, 'test'), 'a file');
  const blocked = await shell.run(['init', '.']);
  assert.deepEqual([blocked.code, blocked.stdout], [1, '']);
  assert.deepEqual(await readdir(shell.home), ['test']);
  await rm(join(shell.home, 'test'));
  assert.equal((await shell.run(['init', '.'])).code, 0);
});

const SMALL_DISK = { skip: process.getuid?.() === 0 ? false : 'mounting a small disk takes root' };

test('a full disk is told with the file that was to be written', SMALL_DISK, async () => {
  await using errand = await startErrand();
  await using shell = await openShell(errand.client);
  const workflow = await errand.workflow('export default () => { throw new Error("no total"); }');
  for (let n = 0; n < 20; n++) await errand.send(workflow, { n });
  await errand.errors(workflow.id, 20);
  const disk = join(shell.home, 'disk');
  await mkdir(disk);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk]);
  try {
    await writeFile(join(disk, 'fill'), Buffer.alloc(1020 * 1024));
    const exported = await shell.run(['errors', 'export', '--out', 'disk/errors.ndjson', '--url', errand.url]);
    assert.equal(exported.code, 1);
    assert.match(exported.stderr, /disk\/errors\.ndjson\.\d+\.partial has a part, (\d+) errors?; the others: --after /);
    assert.match(exported.stderr, /ENOSPC: no space left on device, write 'disk\/errors\.ndjson\.\d+\.partial'/);
    const [name = ''] = (await readdir(disk)).filter((one) => one.endsWith('.partial'));
    const lines = (await readFile(join(disk, name), 'utf8')).split('\n');
    assert.equal(lines.pop(), '', 'no line is cut off');
    assert.equal(String(lines.map((line) => JSON.parse(line)).length), /part, (\d+)/.exec(exported.stderr)?.[1]);
    await writeFile(join(disk, 'fill'), Buffer.alloc(1024 * 1024)).catch(() => undefined);
    const made = await shell.run(['init', 'disk/project']);
    assert.equal(made.code, 1);
    assert.match(made.stderr, /nothing of it was: ENOSPC: .*disk\/project\/package\.json'/);
    const env = { XDG_CONFIG_HOME: disk };
    const login = await shell.run(['login', '--url', errand.url], { input: `${errand.client.key}\n`, env });
    assert.equal(login.code, 1);
    assert.match(login.stderr, /ENOSPC: .*disk\/errand\/profiles\.json'/);
    assert.deepEqual(await readdir(join(disk, 'errand')), []);
  } finally {
    execFileSync('umount', [disk]);
  }
});

test('code is tested with the fixture of an error', async () => {
  await using errand = await startErrand();
  await using shell = await openShell(errand.client);
  const throws = (limit: number) =>
    `export default ({ event }) => { if (event.body.n > ${limit}) throw new RangeError('too many'); return 1; };`;
  const workflow = await errand.workflow(throws(1).replace('({ event })', '({ steps: { trigger: { event } } })'));
  await errand.send(workflow, { n: 2 });
  await errand.errors(workflow.id, 1);
  const { stdout } = await shell.run(['errors', 'show', 'last', '--fixture', '--url', errand.url]);
  await writeFile(join(shell.home, 'many.json'), stdout);
  await writeFile(join(shell.home, 'broken.mjs'), throws(1));
  await writeFile(join(shell.home, 'corrected.mjs'), throws(2));
  const broken = await shell.run(['test', 'broken.mjs', 'many.json']);
  assert.equal(broken.code, 1);
  assert.match(broken.stdout, /^many\.json +failed +\S+ +RangeError: too many$/m);
  const corrected = await shell.run(['test', 'corrected.mjs', 'many.json', '--json']);
  assert.deepEqual([corrected.code, JSON.parse(corrected.stdout)[0].state], [0, 'succeeded']);
  await writeFile(join(shell.home, 'other.json'), '{}');
  assert.equal((await shell.run(['test', 'corrected.mjs', 'other.json'])).code, 2);
  assert.equal((await shell.run(['test', 'missing.mjs', 'many.json'])).code, 1);
});

test('a server that is well is told as such', async () => {
  await using errand = await startErrand();
  await using shell = await openShell(errand.client);
  const findings = await shell.json('doctor');
  assert.deepEqual(
    findings.map(({ what, is }: Json) => [what, is]),
    [
      ['server', 'well'],
      ['clock', 'well'],
      ['key', 'well'],
      ['queues', 'well'],
      ['isolation', 'look'],
    ],
    'several owners without a jail',
  );
  const elsewhere = await shell.run(['doctor', '--url', errand.url], { env: { ERRAND_ISOLATION: 'jail' } });
  assert.match(elsewhere.stdout, /^isolation +look +process: /m, 'as the server has it, not this shell');
  const { api_key: reads } = await errand.client.post('/v1/keys', { label: 'reads', scopes: ['read'] });
  const few = JSON.parse((await shell.run(['doctor', '--json', '--url', errand.url, '--key', reads])).stdout);
  assert.deepEqual(
    few.map(({ what }: Json) => what),
    ['server', 'clock', 'key'],
    'settings take the scope admin',
  );
  const wrongKey = await shell.run(['doctor', '--url', errand.url, '--key', 'a-key-that-no-owner-has-0000']);
  assert.equal(wrongKey.code, 1);
  const away = await shell.run(['doctor', '--url', `http://127.0.0.1:${await freePort()}`]);
  assert.equal(away.code, 1);
  assert.match(away.stdout, /^server +wrong +.*cannot be reached/m);
  const settings = await shell.run(['doctor'], { env: { ERRAND_PORT: 'many' } });
  assert.equal(settings.code, 1);
  assert.match(settings.stdout, /^settings +wrong +.*ERRAND_PORT/m);
});

test('the mail server is tried, and gets a mail when asked', async () => {
  await using shell = await openShell(null);
  await using server = await mailServer();
  const env = { ERRAND_SMTP_URL: server.url, ERRAND_MAIL_TO: 'ada@example.org', ERRAND_PORT: String(await freePort()) };
  const doctor = async (...more: string[]): Promise<Json> => {
    const { stdout } = await shell.run(['doctor', '--json', ...more], { env });
    return JSON.parse(stdout).find(({ what }: Json) => what === 'mail');
  };
  const at = `127.0.0.1:${server.port} answers`;
  assert.deepEqual(await doctor(), {
    what: 'mail',
    is: 'well',
    says: `${at}; mails go to ada@example.org (--send-mail sends one)`,
  });
  assert.equal(server.arrived.length, 0);
  const sent = await doctor('--send-mail');
  assert.deepEqual([sent.is, sent.says.startsWith(`${at}; a mail to ada@example.org was sent: `)], ['well', true]);
  assert.deepEqual(
    server.arrived.map(({ email }) => email.subject),
    ['Mails of Errand arrive'],
  );
  const away = await shell.run(['doctor'], {
    env: { ...env, ERRAND_SMTP_URL: `smtp://127.0.0.1:${await freePort()}` },
  });
  assert.match(away.stdout, /^mail +wrong +127\.0\.0\.1:\d+: .*nothing listens there/m);
});

test('the database is tried, and told without its password', async () => {
  await using shell = await openShell(null);
  const url = `postgres://errand:a-secret-word@127.0.0.1:${await freePort()}/errand`;
  const { code, stdout } = await shell.run(['doctor'], { env: { ERRAND_DATABASE_URL: url } });
  assert.equal(code, 1);
  assert.match(stdout, /^database +wrong +127\.0\.0\.1:\d+\/errand: .*ECONNREFUSED/m);
  assert.ok(!stdout.includes('a-secret-word'));
  const { stdout: onSqlite } = await shell.run(['doctor']);
  assert.doesNotMatch(onSqlite, /^database/m);
});

test('the ledger is counted again from the rows', async () => {
  await using errand = await startErrand();
  await using shell = await openShell(null);
  const env = { ...errand.settings };
  const { code, stdout, stderr } = await shell.run(['verify', '--json'], { env });
  assert.equal(code, 0, stderr);
  assert.equal(JSON.parse(stdout).ok, true);
});
