// errand explain-url URL: whether a webhook may reach an address, and why not.

import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { Command } from 'commander';
import { createAddresses } from '../webhook/address.ts';

export function addExplainUrl(program: Command, allowTargets: () => readonly string[]): void {
  program
    .command('explain-url <url>')
    .description('say step by step whether a webhook may be sent to this URL')
    .action(async (given: string) => {
      const steps = await explain(given, allowTargets());
      for (const step of steps.lines) process.stdout.write(`${step}\n`);
      process.exitCode = steps.isAllowed ? 0 : 1;
    });
}

async function explain(
  given: string,
  allowTargets: readonly string[],
): Promise<{ lines: string[]; isAllowed: boolean }> {
  const addresses = createAddresses({ allowTargets });
  const lines = [`opened by ERRAND_ALLOW_TARGETS: ${allowTargets.join(', ') || 'nothing'}`];
  const judged = addresses.judgeUrl(given);
  if (!judged.ok) return { lines: [...lines, `url: refused: ${judged.reason}`, 'verdict: refused'], isAllowed: false };
  const host = judged.url.hostname.replace(/^\[|\]$/g, '');
  lines.push(`url: ok: ${judged.url.protocol}//${judged.url.host}`);
  const found = isIP(host) ? [{ address: host }] : await lookup(host, { all: true }).catch(() => []);
  if (found.length === 0)
    return { lines: [...lines, `name: ${host} has no address`, 'verdict: refused'], isAllowed: false };
  let isAllowed = true;
  for (const { address } of found) {
    const verdict = addresses.judgeAddress(address);
    isAllowed &&= verdict.ok;
    lines.push(`address ${address}: ${verdict.ok ? 'ok' : `refused: ${verdict.reason}`}`);
  }
  lines.push(`verdict: ${isAllowed ? 'may be reached' : 'refused (one forbidden address is enough)'}`);
  return { lines, isAllowed };
}
