// errand start: the server, with its settings as options besides the environment.

import type { Command } from 'commander';
import { SETTINGS } from '../../server/config.ts';
import { withExamples } from '../shell/examples.ts';

const PREFIX = 'ERRAND_';

/** Returns `--data-dir` of ERRAND_DATA_DIR. */
function optionOf(setting: string): string {
  return `--${setting.slice(PREFIX.length).toLowerCase().replaceAll('_', '-')}`;
}

/** Adds the command `start`. `start`: reads the environment. */
export function addStart(program: Command, env: NodeJS.ProcessEnv, start: () => Promise<void>): void {
  const command = program.command('start').description('start the server in this terminal');
  for (const { name, about, fallback, isSecret } of SETTINGS) {
    // Other users of the machine see what a command was given.
    const hint = isSecret ? `; better in ${name}, which other users do not see` : '';
    command.option(`${optionOf(name)} <value>`, `${about}${fallback === '' ? '' : ` (${fallback})`}${hint}`);
  }
  withExamples(command, 'errand start', 'errand start --port 8080 --data-dir /var/lib/errand');
  command.action(async (options: Readonly<Record<string, string>>) => {
    for (const { name } of SETTINGS) {
      const given = options[camel(optionOf(name))];
      if (given !== undefined) env[name] = given;
    }
    await start();
  });
}

/** Returns the name under which commander has an option's value. */
function camel(option: string): string {
  return option.slice(2).replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}
