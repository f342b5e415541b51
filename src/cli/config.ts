// errand config: every setting, its value and its default.

import type { Command } from 'commander';
import { readConfig, SETTINGS } from '../server/config.ts';

export function addConfig(program: Command, env: Readonly<Record<string, string | undefined>>): void {
  program
    .command('config')
    .description('print the settings (environment variables) with their defaults')
    .action(() => {
      readConfig(env);
      for (const { name, fallback, about, isSecret } of SETTINGS) {
        const given = env[name];
        const shown = given === undefined || given === '' ? fallback || '(none)' : isSecret ? '(set)' : given;
        process.stdout.write(`${name}=${shown}\n    ${about}. Default: ${fallback || 'none'}.\n`);
      }
    });
}
