// The scripts of errand completion, in the shells that they are for.

import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { access, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { BARE_ENV } from '../support/bare-env.ts';
import { startErrand } from '../support/errand.ts';
import { openShell } from './command.ts';

/** Typed words → what they are completed to. */
const CASES: Readonly<Record<string, string>> = {
  'errand err': 'errors',
  'errand errors gr': 'groups',
  'errand errors groups m': 'mute',
  'errand runs list --st': '--state',
  'errand store ver': '',
  'errand --he': '--help',
  'errand deploy --pru': '--prune',
  'errand runs list --state succ': 'succeeded',
};

function without(shell: string): string | false {
  try {
    execFileSync(shell, ['-c', 'true']);
    return false;
  } catch {
    return `needs the shell ${shell}`;
  }
}

/** Writes the script into the home folder of the shell. */
async function scriptOf(name: string) {
  const shell = await openShell(null);
  const { stdout, code } = await shell.run(['completion', name]);
  assert.equal(code, 0);
  const file = join(shell.home, `errand.${name}`);
  await writeFile(file, stdout);
  return { file, home: shell.home, [Symbol.asyncDispose]: () => shell[Symbol.asyncDispose]() };
}

function output(shell: string, args: readonly string[], cwd: string): Promise<string> {
  const env = { PATH: process.env.PATH, HOME: cwd, TERM: 'dumb' };
  return new Promise((resolve, reject) => {
    execFile(shell, [...args], { cwd, env, timeout: 120_000 }, (error, stdout, stderr) => {
      if (error?.killed) reject(new Error(`${shell} waits: ${stdout}${stderr}`));
      else resolve(stdout + stderr);
    });
  });
}

test('bash completes commands and options', async () => {
  await using script = await scriptOf('bash');
  for (const [line, completed] of Object.entries(CASES)) {
    const words = line.split(' ');
    const asked = `source ${script.file}; COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _errand; echo "\${COMPREPLY[*]}"`;
    assert.equal((await output('bash', ['-c', asked], script.home)).trim(), completed, line);
  }
});

test('fish completes commands and options', { skip: without('fish') }, async () => {
  await using script = await scriptOf('fish');
  await writeFile(join(script.home, 'order.ts'), '');
  for (const [line, completed] of Object.entries({ ...CASES, 'errand deploy ord': 'order.ts' })) {
    const asked = `source ${script.file}; complete -C'${line}'`;
    const shown = await output('fish', ['--no-config', '-c', asked], script.home);
    assert.equal(shown.split(/[\t\n]/, 1)[0], completed, `${line}: ${shown}`);
  }
});

test('zsh completes commands and options', { skip: without('zsh') }, async () => {
  await using script = await scriptOf('zsh');
  const cases = Object.entries(CASES).filter(([, completed]) => completed !== '');
  // A shell at a terminal of its own: completion is a part of its line editor.
  const typed = cases.map(([line, completed]) => {
    const whole = [...line.split(' ').slice(0, -1), completed].join(' ');
    return `zpty -w -n z $'${line}\\t'\nzpty -r z out '*${whole} *'\nprint -r -- "${whole}"\nzpty -w -n z $'\\C-u'\n`;
  });
  const driver = `zmodload zsh/zpty
zpty -b z zsh -f -i
zpty -w z "PS1=; unsetopt zle_bracketed_paste; unset zle_bracketed_paste; source ${script.file}; print READY$((1 + 1))"
zpty -r z out '*READY2*'
${typed.join('')}zpty -d z
`;
  await writeFile(join(script.home, 'driver.zsh'), driver);
  const shown = await output('zsh', ['-f', 'driver.zsh'], script.home);
  const expected = cases.map(([line, completed]) => [...line.split(' ').slice(0, -1), completed].join(' '));
  assert.deepEqual(shown.trim().split('\n'), expected);
});

/** Names that a shell must not read. */
const NAMES = ['Charge orders', 'Charge $(touch hacked) `touch hacked`', 'Other'];

test('names of what is on the server are printed, and nothing where none answers', async () => {
  await using errand = await startErrand();
  await using shell = await openShell(errand.client);
  for (const name of [...NAMES, 'a\u001b]0;x\u0007']) await errand.workflow('export default () => 1;', { name });
  const named = await shell.run(['completion', '--names', 'workflow', '--wait', '120000', '--url', errand.url]);
  const lines = named.stdout.trim().split('\n');
  for (const name of NAMES) assert.ok(lines.includes(name), named.stdout);
  assert.ok(!named.stdout.includes('\u001b'), 'an id stands for a name that cannot be typed');
  const away = await shell.run(['completion', '--names', 'workflow']);
  assert.deepEqual([away.code, away.stdout, away.stderr], [0, '', '']);
  await shell.run(['login', '--url', errand.url, '--profile', 'prod'], { input: errand.client.key });
  assert.equal((await shell.run(['completion', '--names', 'profile'])).stdout, 'prod\n');
  assert.equal((await shell.run(['completion'])).code, 2);
});

test('bash and fish complete names as they are', async () => {
  await using errand = await startErrand();
  await using shell = await openShell(null);
  for (const name of NAMES) await errand.workflow('export default () => 1;', { name });
  await shell.run(['login', '--url', errand.url, '--profile', 'prod'], { input: errand.client.key });
  const bin = join(shell.home, 'bin');
  await mkdir(bin);
  const entry = join(import.meta.dirname, '../../src/errand.ts');
  const command = `#!/bin/sh\n[ "$2" != --names ] || set -- "$@" --wait 120000\nexec '${process.execPath}' '${entry}' "$@"\n`;
  await writeFile(join(bin, 'errand'), command, { mode: 0o755 });
  const env = { ...BARE_ENV, HOME: shell.home, PATH: `${bin}:${process.env.PATH}`, TERM: 'dumb' };
  const lines = (program: string, args: readonly string[]): Promise<string[]> =>
    new Promise((resolve) => {
      execFile(program, [...args], { cwd: shell.home, env, timeout: 120_000 }, (_error, stdout) =>
        resolve(stdout.trim().split('\n')),
      );
    });
  const asked = (words: readonly string[]): string =>
    `source <(errand completion bash); COMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}; _errand; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const charges = NAMES.slice(0, 2).sort();
  assert.deepEqual((await lines('bash', ['-c', asked(['errand', 'workflows', 'show', 'Cha'])])).sort(), charges);
  const option = ['errand', 'runs', 'list', '--workflow', `'"Cha'`];
  assert.deepEqual((await lines('bash', ['-c', asked(option)])).sort(), charges);
  assert.deepEqual(await lines('bash', ['-c', asked(['errand', 'profiles', 'use', 'p'])]), ['prod']);
  if (without('fish') === false) {
    const fish = `errand completion fish | source; complete -C'errand workflows show Cha'`;
    const shown = await lines('fish', ['--no-config', '-c', fish]);
    assert.equal(shown.length, 2, shown.join('\n'));
  }
  await assert.rejects(access(join(shell.home, 'hacked')), 'a name was run');
});

test('another shell is refused', async () => {
  await using shell = await openShell(null);
  const { code, stderr } = await shell.run(['completion', 'tcsh']);
  assert.equal(code, 2);
  assert.match(stderr, /It is bash, zsh or fish/);
});
