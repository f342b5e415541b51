// `--wait`: a command that started a run stays until it is over.

import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import type { RunWhole } from '../../client/client.ts';
import { EXIT } from './exit.ts';
import { telling } from './interrupt.ts';
import { outlasting } from './outlast.ts';
import type { Remote } from './remote.ts';

export interface Waiting {
  readonly wait?: true;
}

const OVER: ReadonlySet<string> = new Set(['succeeded', 'failed', 'cancelled']);
const FIRST_MS = 50;
const LONGEST_MS = 1000;

export function waitOption(command: Command): Command {
  return command.option('--wait', 'wait until the run is over, and show it; exit code 1 unless it succeeded');
}

/** Returns the answer with a run once it is over; the exit code is 1 unless it succeeded. A server that restarts meanwhile is waited for. */
export async function runToEnd({ errand, out }: Remote, id: string): Promise<{ readonly data: RunWhole }> {
  const again = outlasting(out);
  const goesOn = (): string =>
    `errand: the run goes on at the server: errand runs show ${id}, or errand runs cancel ${id}`;
  const answer = await telling(out, goesOn, async () => {
    for (let waitMs = FIRST_MS; ; waitMs = Math.min(2 * waitMs, LONGEST_MS)) {
      const answer = await again(() => errand.getRun({ id }));
      const { state } = answer.data;
      if (OVER.has(state)) return answer;
      out.progress(`run ${id}: ${state}`);
      await pause(waitMs);
    }
  });
  out.endProgress();
  if (answer.data.state !== 'succeeded') process.exitCode = EXIT.failed;
  return answer;
}
