// What is mounted for a test is seen by the test alone: it runs in a mount namespace of its own, so that the mounts of this
// machine stay as they are, and are gone with it whatever happens.

import { spawnSync } from 'node:child_process';

const INSIDE = 'PROVE_INSIDE';
const OWN_MOUNTS = ['-m', '--propagation', 'private'];
const TOOLS = ['unshare', 'losetup', 'mkfs.ext4', 'mount', 'umount', 'perl', 'cp', 'fallocate'];

/** Null: disks can be made and mounted here. */
export function reasonAgainstDisks(): string | null {
  if (process.platform !== 'linux') return 'this is not Linux';
  if (process.getuid?.() !== 0) return 'it needs root';
  const missing = TOOLS.filter((tool) => spawnSync('sh', ['-c', `command -v ${tool}`]).status !== 0);
  if (missing.length > 0) return `there is no ${missing.join(', ')}`;
  if (spawnSync('losetup', ['-f']).status !== 0) return 'there are no loop devices';
  return spawnSync('unshare', [...OWN_MOUNTS, 'true']).status === 0 ? null : 'nothing may be mounted here';
}

/** Runs this program once more, inside. Returns its exit code; null: this is inside. */
export function runInside(): number | null {
  if (process.env[INSIDE] !== undefined) return null;
  const args = [...OWN_MOUNTS, process.execPath, ...process.argv.slice(1)];
  const inside = spawnSync('unshare', args, { stdio: 'inherit', env: { ...process.env, [INSIDE]: '1' } });
  return inside.status ?? 1;
}
