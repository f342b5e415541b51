// Where files of tests lie that need not survive the machine: in memory, where there is enough of it.

import { readFile, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';

const MEMORY = '/dev/shm';

/** The folder for files of up to `bytes` together: in memory, or else the system's for temporary files. */
export async function quickFolder(bytes: number): Promise<string> {
  const { bavail, bsize } = await statfs(MEMORY).catch(() => ({ bavail: 0, bsize: 0 }));
  return bavail * bsize >= bytes && (await runsPrograms()) ? MEMORY : tmpdir();
}

/** Containers often mount it so that nothing in it can be executed. */
async function runsPrograms(): Promise<boolean> {
  const mounts = (await readFile('/proc/self/mounts', 'utf8')).split('\n').map((line) => line.split(' '));
  const options = mounts.findLast(([, folder]) => folder === MEMORY)?.[3] ?? '';
  return !options.split(',').includes('noexec');
}
