// errand explain-url URL: whether a webhook may reach a URL, and why not.

import type { Command } from 'commander';

export type ExplainDeps = (url: string) => Promise<{ readonly lines: readonly string[]; readonly isAllowed: boolean }>;

export function addExplainUrl(program: Command, explain: ExplainDeps): void {
  program
    .command('explain-url <url>')
    .description('say step by step whether a webhook may be sent to this URL; exit code 1 when it may not')
    .action(async (given: string) => {
      const { lines, isAllowed } = await explain(given);
      for (const line of lines) process.stdout.write(`${line}\n`);
      process.exitCode = isAllowed ? 0 : 1;
    });
}
