// Every command of the command line, with settings that cannot be and with ones that can be read and not be used: whatever it
// says, it is no stack. The settings are those of the table, the commands those that the help names.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { commandLine, commandsIn } from '../../../release/cli-docs.ts';
import { SETTINGS } from '../../../src/server/config.ts';
import { BARE_ENV } from '../../support/bare-env.ts';
import { timesOf } from '../../support/data/thorough.ts';
import { createFolder } from '../../support/folders/folder.ts';

const ERRAND = join(import.meta.dirname, '../../../src/errand.ts');
const STACK = /\n\s+at .*[(:]|node:internal|\bTypeError\b|\bRangeError\b|\bSyntaxError\b|unhandled/i;
const LONG = 'x'.repeat(1000);

/** Values that are wrong, or are read and cannot be used. None of them leads beyond this machine or out of a test's folder. */
const HOSTILE: Record<string, readonly string[]> = {
  ERRAND_HOST: ['203.0.113.9', 'no host!'],
  ERRAND_PORT: ['-1', '65536'],
  ERRAND_PUBLIC_URL: ['http://user:pass@[::1]:1/%00', 'http://'],
  ERRAND_ENDPOINT_URL: ['https://*', `https://*.${LONG}`, 'https://*.1.2.3.4', 'http://*.a\n    at x (y.ts:1:1)'],
  ERRAND_DATA_DIR: ['file', '/dev/null', LONG],
  ERRAND_API_KEY: ['"'.repeat(5000), 'short'],
  ERRAND_SECRET_KEY: ['%'.repeat(5000), 'short'],
  ERRAND_SMTP_URL: ['smtp://', 'smtp:x', 'smtps://%'],
  ERRAND_MAIL_FROM: [`${LONG} <a@b>`, 'a\nb'],
  ERRAND_MAIL_TO: [`${LONG}@b`, '@'],
  ERRAND_ALLOW_TARGETS: ['10.1.2.3/8', '0.0.0.0/0,::/0', 'fe80::1%lo/64'],
  ERRAND_CODE_USER: ['999999999:999999999', '0:0'],
  ERRAND_ROLES: ['api', ',,'],
  ERRAND_WORKFLOWS_DIR: ['file', 'missing', LONG],
  ERRAND_PACKAGES_DIR: ['file', 'missing', LONG],
  ERRAND_COMPONENTS_DIR: ['file', 'missing', LONG],
  ERRAND_DATABASE_URL: ['postgres://127.0.0.1:1/x', 'postgres://%zz@h/x'],
};
const ANY = ['\u001b[31m\n    at here (a.ts:1:1)'];

interface Said {
  readonly code: number | null;
  readonly said: string;
}

/** A server that comes up is told to stop. */
async function errand(args: readonly string[], env: Record<string, string>): Promise<Said> {
  await using folder = await createFolder();
  await writeFile(join(folder.path, 'file'), 'a file');
  const child = spawn(process.execPath, [ERRAND, ...args], {
    cwd: folder.path,
    env: { ...BARE_ENV, ERRAND_PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  const hear = (part: Buffer): void => {
    said += part;
    if (/listens on /.test(said)) child.kill('SIGTERM');
  };
  child.stdout.on('data', hear);
  child.stderr.on('data', hear);
  const [code] = await once(child, 'close');
  return { code, said };
}

/** All that can be called, each with a file where it takes something. */
const commands: readonly string[][] = commandsIn(commandLine()).map(({ words, command }) => [
  ...words.split(' '),
  ...command.registeredArguments.filter(({ required }) => required).map(() => 'file'),
]);

test('the help names the commands that are tried', () => {
  const names = commands.map(([first]) => first);
  for (const name of ['start', 'config', 'explain-url', 'owners', 'keys', 'store', 'deploy']) {
    assert.ok(names.includes(name), `${name} of ${names}`);
  }
  assert.ok(commands.length >= 12);
});

for (const [number, { name }] of SETTINGS.entries()) {
  test(`no command shows a stack for ${name}`, async () => {
    const values = HOSTILE[name] ?? ANY;
    // Each command meets several settings, and each setting a start.
    const other = { args: commands[number % commands.length] ?? [], value: values.at(-1) ?? '' };
    const started = values.slice(0, timesOf(values.length, 1));
    for (const { args, value } of [...started.map((value) => ({ args: ['start'], value })), other]) {
      const { code, said } = await errand(args, { [name]: value });
      const shown = `${args.join(' ')} with ${name}=${JSON.stringify(value.slice(0, 50))} said (${code}): ${said}`;
      assert.doesNotMatch(said, STACK, shown);
      assert.notEqual(code, null, shown);
    }
  });
}
