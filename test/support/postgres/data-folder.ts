// Data folders of new servers. Making one with initdb takes 600 ms, copying one that was never used 70 ms; so each version
// is made once on a machine, and copied for every server.

import { chown, mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { quickFolder } from '../folders/memory.ts';
import { type Binaries, madeOnce, runAs } from './binaries.ts';

/**
 * Text is sorted by language unless a column says otherwise, as on most real servers: a column that lacks its
 * COLLATE "C" shows here, whatever the machine's own locale. Segments of 1 MB keep the folder small.
 */
const INITDB = [
  ...['--username=postgres', '--auth=trust', '--encoding=UTF8', '--locale=C', '--wal-segsize=1'],
  ...['--locale-provider=icu', '--icu-locale=en-US', '--no-sync', '--no-instructions'],
];

const ENOUGH_BYTES = 2 ** 30;

/** Copies a fresh data folder into `folder`, which is made when missing. */
export async function fillDataFolder(program: Binaries, folder: string): Promise<void> {
  const { uid, gid } = program.user;
  const template = await madeOnce(join(tmpdir(), `errand-postgres-${program.key}-data`), uid, (building) =>
    runAs(program, program.initdb, [...INITDB, `--pgdata=${building}`]),
  );
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if (uid !== undefined && gid !== undefined) await chown(folder, uid, gid);
  await runAs(program, 'cp', ['-Rp', `${template}/.`, folder]);
}

/**
 * A new folder that only the server's user may enter; its name tells the process whose tests use it. In memory when nothing is to survive the machine and there is
 * room: making a database takes 14 ms there, and 50 to 190 ms on ext4, which is slow to make files after many were removed.
 */
export async function newFolder({ user: { uid, gid } }: Binaries, isDurable: boolean): Promise<string> {
  const folder = await mkdtemp(
    join(isDurable ? tmpdir() : await quickFolder(ENOUGH_BYTES), `errand-postgres-of-${process.pid}-`),
  );
  if (uid !== undefined && gid !== undefined) await chown(folder, uid, gid);
  return folder;
}
