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
      const remote = options.local ? null : await orLocal(connect(options));
      if (remote) return { ...(await remote.errand.checkTarget({ url })).data, by: remote.url };
      const { lines, isAllowed } = await explain(url);
      const why = options.local ? 'no server was asked' : 'no server runs on the data dir here';
      return { lines, allowed: isAllowed, by: `this shell's environment: ${why}` };
    }
  });
}
