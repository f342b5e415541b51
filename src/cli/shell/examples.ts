// Examples of commands, for `--help` and docs/cli.md.

import type { Command } from 'commander';

const EXAMPLES = new WeakMap<Command, readonly string[]>();

/** Replaces the examples that the command had. */
export function withExamples(command: Command, ...lines: readonly string[]): Command {
  const isFirst = !EXAMPLES.has(command);
  EXAMPLES.set(command, lines);
  if (!isFirst) return command;
  const text = (): string =>
    `\nExamples:\n${examplesOf(command)
      .map((line) => `  $ ${line}\n`)
      .join('')}`;
  return command.addHelpText('after', text);
}

export function examplesOf(command: Command): readonly string[] {
  return EXAMPLES.get(command) ?? [];
}

/** Returns all words of a command, from `errand` on. */
export function wordsOfCommand(command: Command): string {
  const before = command.parent === null ? '' : `${wordsOfCommand(command.parent)} `;
  return before + command.name();
}
