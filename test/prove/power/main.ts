// npm run prove -- --power [--cuts N] [--seed N]: needs root, loop devices and a mount namespace of its own, so that the
// mounts of this machine stay as they are. Says why where it cannot be tried.

import { spawnSync } from 'node:child_process';
import { cutPowerUnderLoad } from './power.ts';

const INSIDE = 'PROVE_POWER_INSIDE';
const TOOLS = ['unshare', 'losetup', 'mkfs.ext4', 'mount', 'umount', 'perl', 'cp'];

/** Null: it can be tried. */
function reasonAgainst(): string | null {
  if (process.platform !== 'linux') return 'this is not Linux';
  if (process.getuid?.() !== 0) return 'it needs root';
  const missing = TOOLS.filter((tool) => spawnSync('sh', ['-c', `command -v ${tool}`]).status !== 0);
  if (missing.length > 0) return `there is no ${missing.join(', ')}`;
  return spawnSync('losetup', ['-f']).status === 0 ? null : 'there are no loop devices';
}

/** Returns the exit code. */
export async function provePower({ seed, cuts }: { seed: number; cuts: number }): Promise<number> {
  const reason = reasonAgainst();
  if (reason !== null) {
    process.stdout.write(`power\n  skipped, ${reason}\n`);
    return 0;
  }
  if (process.env[INSIDE] === undefined) {
    const args = ['-m', '--propagation', 'private', process.execPath, ...process.argv.slice(1)];
    const inside = spawnSync('unshare', args, { stdio: 'inherit', env: { ...process.env, [INSIDE]: '1' } });
    return inside.status ?? 1;
  }
  process.stdout.write(`power, seed ${seed}, ${cuts} cuts\n`);
  const tell = (line: string): void => void process.stdout.write(`  ${line}\n`);
  const { early, lost, late, ...counts } = await cutPowerUnderLoad({ seed, cuts, tell });
  tell(
    `${counts.cuts} cuts, ${early} before the first start was over, ${counts.accepted} events accepted, lost ${lost.length}`,
  );
  tell(
    `answered while the power was being cut, which promises nothing: ${late.answered}, of which ${late.gone} are gone`,
  );
  for (const one of lost.slice(0, 50)) tell(`LOST ${one}`);
  return lost.length === 0 && counts.accepted > 0 ? 0 : 1;
}
