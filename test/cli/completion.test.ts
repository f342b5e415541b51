// The scripts of errand completion, in the shells that they are for.

import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
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

test('another shell is refused', async () => {
  await using shell = await openShell(null);
  const { code, stderr } = await shell.run(['completion', 'tcsh']);
  assert.equal(code, 2);
  assert.match(stderr, /It is bash, zsh or fish/);
});
