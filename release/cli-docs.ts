// Writes the commands of the command line into docs/cli.md, below its last heading; with `--check` it compares, and exits 1
// when the file is another.

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { createProgram, type ProgramDeps } from '../src/cli/program.ts';
import { examplesOf } from '../src/cli/shell/examples.ts';
import { EXIT_CODES } from '../src/cli/shell/exit.ts';
import { ROOT } from './shipped.ts';

const FILE = join(ROOT, 'docs/cli.md');
const MARK = '<!-- Below: made by `npm run generate` -->\n';

/** Nothing is executed: the commands only say what they take. */
export function commandLine(): Command {
  return createProgram({} as ProgramDeps);
}

/** Returns the commands that do something, with all of their words. */
export function commandsIn(command: Command, words = ''): { readonly words: string; readonly command: Command }[] {
  const own = command.commands.flatMap((sub) => commandsIn(sub, `${words} ${sub.name()}`.trim()));
  return command.commands.length > 0 ? own : [{ words, command }];
}

/** Options that many commands have are described once. */
const SHARED: ReadonlySet<string> = new Set(['--url', '--key', '--profile', '--json']);

function textOf(program: Command): string {
  const codes = Object.entries(EXIT_CODES).map(([code, meaning]) => `| ${code} | ${meaning} |\n`);
  const sections = program.commands.map((group) => {
    const all = commandsIn(group, group.name());
    return `\n## errand ${group.name()}\n\n${sentence(group.description())}\n${all.map(commandText).join('')}`;
  });
  return `${MARK}\n## Exit codes\n\n| Code | Meaning |\n|---|---|\n${codes.join('')}${sections.join('')}`;
}

function commandText({ words, command }: { words: string; command: Command }): string {
  const usage = `errand ${words}${argumentsOf(command)}`;
  const has = (name: string) => command.options.some(({ long }) => long === name);
  const isRemote = has('--profile') && has('--url');
  const options = command.options.filter(({ long }) => !isRemote || !SHARED.has(long ?? ''));
  const isGroup = words.includes(' ');
  const lines = options.map(({ flags, description, defaultValue, argChoices = [] }) => {
    const words = argChoices.length === 0 ? '' : `: ${argChoices.map((word) => `\`${word}\``).join(', ')}`;
    const fallback = defaultValue === undefined ? '' : ` (default: ${String(defaultValue)})`;
    return `| \`${flags.replaceAll('|', '\\|')}\` | ${description.replaceAll('|', '\\|')}${words}${fallback} |\n`;
  });
  const examples = examplesOf(command).map((line) => `${line}\n`);
  return [
    `\n\`${usage}\`\n`,
    isGroup ? `\n${sentence(command.description())}\n` : '',
    isRemote ? `\nTakes the [options for a server](#which-server)${has('--json') ? ', and `--json`' : ''}.\n` : '',
    lines.length === 0 ? '' : `\n| Option | |\n|---|---|\n${lines.join('')}`,
    examples.length === 0 ? '' : `\n<!-- text -->\n\`\`\`text\n${examples.join('')}\`\`\`\n`,
  ].join('');
}

function argumentsOf(command: Command): string {
  return command.registeredArguments
    .map((argument) => {
      const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
      return argument.required ? ` <${name}>` : ` [${name}]`;
    })
    .join('');
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

async function main(): Promise<void> {
  const text = await readFile(FILE, 'utf8');
  const [head] = text.split(MARK);
  const made = `${head}${textOf(commandLine())}`;
  if (!process.argv.includes('--check')) return writeFile(FILE, made);
  if (made === text) return;
  console.error('docs/cli.md is not what the commands say; run `npm run generate`');
  process.exitCode = 1;
}

if (import.meta.main) await main();
