// errand explain-url URL: whether a webhook may reach a URL, and why not.

import type { Command } from 'commander';
import { withExamples } from './shell/examples.ts';
import { EXIT } from './shell/exit.ts';
import { createOutput, printJson } from './shell/output.ts';
import { type Connect, localOption, orLocal, type ServerOptions, serverCommand } from './shell/remote.ts';
import { oneLine } from './shell/text.ts';

/** Judges by the environment of this process. */
export type ExplainDeps = (url: string) => Promise<{ readonly lines: readonly string[]; readonly isAllowed: boolean }>;

interface ExplainOptions extends ServerOptions {
  readonly local?: true;
}

export function addExplainUrl(program: Command, connect: Connect, explain: ExplainDeps): void {
  const command = localOption(
    serverCommand(
      program,
      'explain-url <target>',
      'explain step by step whether the server may send webhooks to a URL; exit code 1 when it may not',
    ),
  );
  withExamples(
    command,
    'errand explain-url https://example.com/hooks',
    'errand explain-url http://10.0.0.7/hook --profile prod',
    'errand explain-url http://10.0.0.7/hook --local',
  );
  command.action(async (target: string, options: ExplainOptions) => {
    const out = createOutput();
    const { allowed, lines, by } = await judged(target);
    if (!allowed) process.exitCode = EXIT.failed;
    if (options.json) return printJson(out, { allowed, lines });
    out.note(`judged by ${by}`);
    await out.write(lines.map((line) => `${oneLine(line)}\n`).join(''));

    async function judged(url: string) {
      if (options.local) {
        const { lines, isAllowed } = await explain(url);
        return { lines, allowed: isAllowed, by: "this shell's environment: no server was asked" };
      }
      const { errand, url: server } = await orLocal(connect(options));
      return { ...(await errand.checkTarget({ url })).data, by: server };
    }
  });
}
