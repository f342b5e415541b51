// errand webhooks explain-signature: why a saved request does not verify.

import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { withExamples } from '../shell/examples.ts';
import { CliError, EXIT } from '../shell/exit.ts';
import { createOutput, printJson } from '../shell/output.ts';
import { oneLine } from '../shell/text.ts';
import { explainSignature } from './signature.ts';

interface ExplainOptions {
  readonly headers: string;
  readonly body: string;
  readonly secret: readonly string[];
  readonly at?: string;
  readonly json?: true;
}

export function addExplainSignature(webhooks: Command): void {
  const command = webhooks
    .command('explain-signature')
    .description(
      'tell why a saved request does not verify: stale, re-serialised, or of another secret; exit code 1 when it does not',
    )
    .requiredOption('--headers <file>', 'its headers, one a line, as "curl -D" and logs have them')
    .requiredOption('--body <file>', 'its body, byte for byte as it came')
    .requiredOption('--secret <secret...>', 'secrets of the webhook (whsec_…), or its public key (whpk_…)')
    .option('--at <time>', 'when the request was received, such as 2026-01-31T12:00:00Z; default: now')
    .option('--json', 'print JSON');
  withExamples(command, 'errand webhooks explain-signature --headers headers.txt --body body.json --secret whsec_…');
  command.action(async ({ headers, body, secret, at, json }: ExplainOptions) => {
    const out = createOutput();
    const nowMs = at === undefined ? Date.now() : Date.parse(at);
    if (Number.isNaN(nowMs)) throw new CliError(`--at: "${at}" is no time`, EXIT.usage);
    const lines = (await read(headers)).toString().split(/\r?\n/);
    const received = { headers: headersIn(lines), body: await read(body), secrets: secret, nowMs };
    const explained = explain(received);
    if (explained.verdict !== 'genuine') process.exitCode = EXIT.failed;
    if (json) return printJson(out, explained);
    await out.write(`${explained.verdict}\n${explained.lines.map((line) => `  ${oneLine(line)}\n`).join('')}`);
  });
}

function explain(received: Parameters<typeof explainSignature>[0]) {
  try {
    return explainSignature(received);
  } catch (error) {
    throw new CliError(`--secret: ${(error as Error).message}`, EXIT.usage);
  }
}

function headersIn(lines: readonly string[]): Record<string, string[]> {
  const headers: Record<string, string[]> = {};
  for (const line of lines) {
    const [, name, value = ''] = /^([\w-]+)\s*:\s*(.*?)\s*$/.exec(line) ?? [];
    if (name === undefined) continue;
    const key = name.toLowerCase();
    headers[key] = [...(headers[key] ?? []), value];
  }
  return headers;
}

function read(file: string): Promise<Buffer> {
  return readFile(file).catch((error: Error) => {
    throw new CliError(`${file} cannot be read: ${error.message}`, EXIT.usage);
  });
}
