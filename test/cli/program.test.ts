// The command line as a whole: every command says what it does, and the documents and completions have them all.

import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Command } from 'commander';
import { commandLine, commandsIn } from '../../release/cli-docs.ts';
import { createProgram, type ProgramDeps } from '../../src/cli/program.ts';
import { examplesOf } from '../../src/cli/shell/examples.ts';
import { EXIT_CODES } from '../../src/cli/shell/exit.ts';
import { SETTINGS } from '../../src/server/config.ts';
import { startErrand } from '../support/errand.ts';
import { openShell } from './command.ts';

const ROOT = join(import.meta.dirname, '../..');

test('every command and option says what it is', () => {
  const all = commandsIn(commandLine());
  assert.ok(all.length > 60, `${all.length} commands`);
  for (const { words, command } of all) {
    assert.ok(command.description().length > 5, words);
    for (const { flags, description } of command.options) assert.ok(description.length > 3, `${words} ${flags}`);
  }
});

test('help fits a terminal of 80 columns', () => {
  const groupsAndCommands = (command: Command): Command[] => [command, ...command.commands.flatMap(groupsAndCommands)];
  for (const command of groupsAndCommands(commandLine())) {
    // What is no terminal has 80 columns, too. Examples stand below, and are whole; so is a long word.
    const wide = command
      .helpInformation()
      .split('\n')
      .filter((line) => line.length > 80 && line.trim().includes(' '));
    assert.deepEqual(wide, [], command.name());
  }
});

/** What prints no data. */
const WITHOUT_JSON: Readonly<Record<string, readonly string[]>> = {
  'no data': ['start', 'dev', 'completion', 'init', 'login', 'logout', 'profiles use', 'mcp'],
};

test('every command has an example that it would take', () => {
  const all = commandsIn(commandLine());
  for (const { words, command } of all) {
    const examples = examplesOf(command);
    assert.ok(examples.length > 0, `errand ${words} has no example`);
    // An example may be of a command before or behind this one in a pipe, such as a client's.
    assert.ok(
      examples.some((line) => line.includes(`errand ${words}`)),
      `${words}: ${examples}`,
    );
    const known = new Set([...command.options.flatMap(({ long, short }) => [long, short]), '--help']);
    for (const line of examples.filter((one) => one.startsWith(`errand ${words}`)))
      for (const option of (line.split(/[|>]/)[0] ?? '').match(/(?<= )--[a-z-]+/g) ?? [])
        assert.ok(known.has(option), `${line}: ${option}`);
    assert.match(helpOf(command), /\nExamples:\n {2}\$ /, words);
  }
});

test('every command that prints data prints JSON, too', () => {
  const without = commandsIn(commandLine())
    .filter(({ command }) => !command.options.some(({ long }) => long === '--json'))
    .map(({ words }) => words);
  assert.deepEqual(without.sort(), Object.values(WITHOUT_JSON).flat().sort());
});

test('the document has the exit codes', async () => {
  const document = await readFile(join(ROOT, 'docs/cli.md'), 'utf8');
  for (const [code, meaning] of Object.entries(EXIT_CODES))
    assert.ok(document.includes(`| ${code} | ${meaning} |`), code);
});

function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({
    writeOut: (part) => {
      text += part;
    },
  });
  command.outputHelp();
  return text;
}

test('the document has every command', async () => {
  const document = await readFile(join(ROOT, 'docs/cli.md'), 'utf8');
  for (const { words } of commandsIn(commandLine()))
    assert.match(document, new RegExp(`^\`errand ${words}[ \`]`, 'm'), words);
});

test('every setting is an option of the start', () => {
  const start = commandLine().commands.find((command) => command.name() === 'start');
  const options = new Set(start?.options.map(({ long }) => long));
  for (const { name } of SETTINGS)
    assert.ok(options.has(`--${name.slice(7).toLowerCase().replaceAll('_', '-')}`), name);
});

test('an option of the start is its setting', async () => {
  const env: Record<string, string> = { ERRAND_PORT: '1', OTHER: 'stays' };
  let isStarted = false;
  const start = async (): Promise<void> => {
    isStarted = true;
  };
  const given = SETTINGS.flatMap(({ name }) => [`--${name.slice(7).toLowerCase().replaceAll('_', '-')}`, `of ${name}`]);
  await createProgram({ env, start } as unknown as ProgramDeps).parseAsync(['start', ...given], { from: 'user' });
  assert.ok(isStarted);
  const expected = SETTINGS.map(({ name }) => [name, `of ${name}`]);
  assert.deepEqual(env, { OTHER: 'stays', ...Object.fromEntries(expected) });
});

test('nothing to deploy is told as such', async () => {
  await using errand = await startErrand();
  await using shell = await openShell(errand.client);
  const named = ['--url', errand.url];
  const empty = join(shell.home, 'empty');
  await mkdir(empty);
  const none = await shell.run(['deploy', empty, ...named]);
  assert.deepEqual(
    [none.code, none.stderr],
    [1, `errand: nothing to deploy: no file in ${empty} exports a workflow\n`],
  );
  const file = join(empty, 'helper.ts');
  await writeFile(file, 'export const half = (n: number) => n / 2;');
  const module = await shell.run(['deploy', file, ...named]);
  assert.equal(module.code, 1);
  assert.match(module.stderr, /nothing to deploy: .*helper\.ts exports no workflow/);
});
