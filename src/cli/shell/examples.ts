// Examples of commands, for `--help` and docs/cli.md.

import type { Command } from 'commander';

const EXAMPLES = new WeakMap<Command, readonly string[]>();

export function withExamples(command: Command, ...lines: readonly string[]): Command {
  EXAMPLES.set(command, lines);
  return command.addHelpText('after', `\nExamples:\n${lines.map((line) => `  $ ${line}\n`).join('')}`);
}

export function examplesOf(command: Command): readonly string[] {
  return EXAMPLES.get(command) ?? [];
}
