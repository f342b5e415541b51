// errand store and errand verify, for people and for programs: what they print, how far they are, and how they end.

import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { BARE_ENV } from '../support/bare-env.ts';
import { startErrand } from '../support/errand.ts';
import { openShell, type Shell } from './command.ts';

const IS_SHARED = process.env.TEST_STORE === 'postgres';
const ONE_FILE = { skip: IS_SHARED && 'of a file' };

/** Without how far a command is: it says so when it takes long, as on a busy machine. */
const withoutProgress = (stderr: string): string => stderr.replace(/^\d+ % .*\n/gm, '');

/** Runs a server that has handled an event, and stops it. Returns the settings of its store. */
async function used(t: TestContext): Promise<Record<string, string>> {
  const errand = await startErrand();
  t.after(() => errand[Symbol.asyncDispose]());
  const workflow = await errand.workflow(`export default () => { throw new RangeError('no total'); };`);
  await errand.send(workflow, { n: 1 });
  await errand.errors(workflow.id, 1);
  await errand.settled();
  const { settings } = errand;
  await errand.stop();
  return { ...settings };
}

test('a check is tables for people and JSON for programs', async (t) => {
  const env = await used(t);
  await using shell = await openShell(null);
  for (const command of [['store', 'check'], ['verify']]) {
    const { code, stdout, stderr } = await shell.run(command, { env });
    assert.deepEqual([code, withoutProgress(stderr)], [0, '']);
    assert.match(stdout, IS_SHARED ? /^store +Postgres, 127/ : /^store +SQLite in \//);
    assert.match(stdout, /^result +everything adds up$/m);
    assert.match(stdout, /^FACT +LEDGER +ROWS$/m);
    assert.match(stdout, /^runs\.failed +1 +1$/m);
    const json = JSON.parse((await shell.run([...command, '--json'], { env })).stdout);
    assert.deepEqual([json.ok, json.figures.kept['runs.failed'], json.findings], [true, 1, []]);
  }
});

test('a backup is lines for people and JSON for programs', ONE_FILE, async (t) => {
  const env = await used(t);
  await using shell = await openShell(null);
  const { code, stdout, stderr } = await shell.run(['store', 'backup', 'one.db'], { env });
  assert.deepEqual([code, withoutProgress(stderr)], [0, '']);
  assert.match(
    stdout,
    /^file +\S+one\.db\nbytes +\d+\nschema +\d+\nintegrity +ok\nopens with +.+\nevents +\d+\nerrors +1\n$/,
  );
  const second = await shell.run(['store', 'backup', 'two.db', '--json'], { env });
  assert.deepEqual(JSON.parse(second.stdout).integrity, 'ok');
  const again = await shell.run(['store', 'backup', 'two.db', '--json'], { env });
  assert.deepEqual([again.code, again.stdout], [1, '']);
  const key = 'k'.repeat(40);
  const rekeyed = await shell.run(['store', 'rekey'], { env, input: key });
  assert.deepEqual([rekeyed.code, rekeyed.stderr], [0, '']);
  assert.match(rekeyed.stdout, /^store +SQLite in \S+\nrekeyed +true\nopens with +the new key\n$/);
  const salvaged = await shell.run(['store', 'salvage', '--to', 'new'], { env: { ...env, ERRAND_SECRET_KEY: key } });
  assert.equal(salvaged.code, 0, salvaged.stderr);
  assert.match(salvaged.stdout, /^check +everything adds up$/m);
  assert.match(salvaged.stdout, /^emissions +\d+ +0$/m);
});

test('exit codes tell damage from a store that is not there', async (t) => {
  const env = await used(t);
  await using shell = await openShell(null);
  const codeOf = async (args: readonly string[], more: Record<string, string>, input = '') =>
    (await shell.run(args, { env: { ...more }, input })).code;
  const nowhere = { ERRAND_DATA_DIR: join(shell.home, 'nowhere') };
  for (const args of [
    ['check'],
    ['backup', 'x.db'],
    ['move', '--to', 'postgres://a@127.0.0.1:9/a'],
    ['move', '--undo'],
  ])
    assert.equal(await codeOf(['store', ...args], nowhere), 3, args.join(' '));
  assert.equal(await codeOf(['store', 'salvage', '--to', 'y'], nowhere), 3);
  assert.equal(await codeOf(['store', 'rekey'], nowhere, 'k'.repeat(40)), 3);
  assert.equal(await codeOf(['verify'], { ERRAND_DATABASE_URL: 'postgres://a@127.0.0.1:9/a' }), 5);
  assert.equal(await codeOf(['store', 'rekey'], env, 'short'), 2);
  assert.equal(await codeOf(['store', 'rekey', '--to-file', 'none'], env), 3);
  assert.equal(await codeOf(['store', 'move'], { ...nowhere }), 2);
  assert.equal(await codeOf(['store', 'salvage'], env), 2);
});

test('what does not add up is a table, and 1', ONE_FILE, async (t) => {
  const env = await used(t);
  await using shell = await openShell(null);
  const db = new DatabaseSync(join(env.ERRAND_DATA_DIR ?? '', 'errand.db'));
  db.exec("UPDATE ledger SET n = n - 1 WHERE fact = 'runs.failed'");
  db.close();
  const { code, stdout } = await shell.run(['verify'], { env });
  assert.equal(code, 1);
  assert.match(stdout, /^result +2 checks failed$/m);
  assert.match(stdout, /^CHECK +COUNT +DETAIL\nledger_below_rows +1 +runs\.failed of u_\w+: 0 in the ledger, 1 rows$/m);
});

const script = (() => {
  try {
    execFileSync('script', ['--version']);
    return null;
  } catch {
    return 'needs a terminal (script of util-linux)';
  }
})();

/** Runs a command in a terminal, and returns all that appears there. */
function inTerminal(shell: Shell, args: readonly string[], env: Record<string, string>): Promise<string> {
  const entry = join(import.meta.dirname, '../../src/errand.ts');
  const command = [process.execPath, entry, ...args].map((word) => `'${word}'`).join(' ');
  const all = { ...BARE_ENV, HOME: shell.home, ...env };
  return new Promise((resolve) => {
    execFile('script', ['-qec', command, '/dev/null'], { env: all, cwd: shell.home }, (_error, stdout) =>
      resolve(stdout),
    );
  });
}

test('a terminal has a bar, and colours unless NO_COLOR', { skip: script ?? false }, async (t) => {
  const env = await used(t);
  await using shell = await openShell(null);
  const shown = await inTerminal(shell, ['store', 'check'], { ...env, TERM: 'xterm' });
  assert.match(shown, /\[█+·*\] +\d+ % checking \w+/);
  assert.ok(shown.includes('\u001b['), 'colours');
  assert.ok(
    !(await inTerminal(shell, ['store', 'check'], { ...env, TERM: 'xterm', NO_COLOR: '1' })).includes('\u001b['),
  );
  if (IS_SHARED) return;
  const copied = await inTerminal(shell, ['store', 'backup', 'copy.db'], env);
  assert.match(copied, /\[[█·]+\] +\d+ % copied \d+ of \d+ MiB/);
  await rm(join(shell.home, 'copy.db'));
});
