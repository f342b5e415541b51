// The command line of a child process: what it may reach, and what it is given.

import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { CHILD_FILE } from './workdir.ts';

/** Node 24 has no permission for the network, and refuses to start with a flag it does not know. */
const NET_FLAGS = process.allowedNodeEnvironmentFlags.has('--allow-net') ? ['--allow-net'] : [];

interface SpawnOptions {
  /** The process's folder (workdir.ts). */
  readonly dir: string;
  readonly memoryMb: number;
  /** Null for a workflow. */
  readonly sourceId: string | null;
}

/** The owner's variables are not among its environment: `NODE_OPTIONS` or `LD_PRELOAD` would undo the permissions. */
export function spawnChild({ dir, memoryMb, sourceId }: SpawnOptions): ChildProcess {
  const tmp = join(dir, 'tmp');
  const flags = [
    '--permission',
    // The permission model does not cover node:sqlite, which would open any file, the store's too.
    '--no-experimental-sqlite',
    ...NET_FLAGS,
    `--allow-fs-read=${join(dir, '*')}`,
    `--allow-fs-write=${join(tmp, '*')}`,
    `--max-old-space-size=${memoryMb}`,
    '--no-warnings',
  ];
  const env = { TMPDIR: tmp, TZ: 'UTC', ...(sourceId === null ? {} : { PD_COMPONENT: sourceId }) };
  return spawn(process.execPath, [...flags, join(dir, CHILD_FILE)], {
    cwd: tmp,
    env,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
}
