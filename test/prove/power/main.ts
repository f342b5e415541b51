// npm run prove -- --power [--cuts N] [--seed N]: needs root, loop devices and a mount namespace of its own, so that the
// mounts of this machine stay as they are. Says why where it cannot be tried.

import { reasonAgainstDisks, runInside } from '../own-mounts.ts';
import { cutPowerUnderLoad } from './power.ts';

/** Returns the exit code. */
export async function provePower({ seed, cuts }: { seed: number; cuts: number }): Promise<number> {
  const reason = reasonAgainstDisks();
  if (reason !== null) {
    process.stdout.write(`power\n  skipped, ${reason}\n`);
    return 0;
  }
  const code = runInside();
  if (code !== null) return code;
  process.stdout.write(`power, seed ${seed}, ${cuts} cuts\n`);
  const tell = (line: string): void => void process.stdout.write(`  ${line}\n`);
  const { early, inFlight, longestMs, lost, late, ...counts } = await cutPowerUnderLoad({ seed, cuts, tell });
  tell(
    `${counts.cuts} cuts, ${early} before the first start was over, ${inFlight} with requests in flight; ` +
      `${counts.accepted} events accepted and ${counts.told} told of before their cut began, lost ${lost.length}`,
  );
  const gone = late.goneAfterMs.length;
  const first = gone === 0 ? '' : `, the first after ${Math.min(...late.goneAfterMs).toFixed(2)} ms`;
  tell(
    `a cut took ${longestMs.toFixed(1)} ms at most; answered meanwhile: ${late.answered}, of which ${gone} are gone${first}`,
  );
  for (const one of lost.slice(0, 50)) tell(`LOST ${one}`);
  return lost.length === 0 && counts.accepted > 0 ? 0 : 1;
}
