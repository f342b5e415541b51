// A server whose disk is small, and can be filled up: a tmpfs of its own.

import { execFile } from 'node:child_process';
import { chown, mkdir, mkdtemp, open, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Binaries, binaries, type Version } from './binaries.ts';
import { type PostgresServer, startPostgres } from './server.ts';

export interface SmallDisk extends AsyncDisposable {
  readonly server: PostgresServer;
  /** Of a blank database on the small disk. */
  readonly url: string;
  freeBytes(): Promise<number>;
  /** Takes all space but that much away. */
  fill(leaveBytes?: number): Promise<void>;
  /** Gives it back. */
  relieve(): Promise<void>;
  dispose(): Promise<void>;
}

export interface DiskOptions {
  readonly version?: Version;
  /** Free when the server has started; 96 unless told otherwise. */
  readonly spareMb?: number;
  /**
   * The write-ahead log lies on another disk: what writes fails with 53100, and the server goes on. Without, the whole
   * data folder is on the small disk: when the log is what finds no room, the server goes down (PANIC), and after
   * `relieve` it must be started again.
   */
  readonly isLogElsewhere?: boolean;
}

const MB = 2 ** 20;
const ROOMY = '1g';
const DATABASE = 'small';

const run = promisify(execFile);

/** Needs root, for mounting; rejects with a message that says so. */
export async function startOnSmallDisk(options: DiskOptions = {}): Promise<SmallDisk> {
  const { version = 18, spareMb = 96, isLogElsewhere = false } = options;
  // What is not installed shows before anything is mounted.
  const program = await binaries(version);
  const mount = await mountTmpfs();
  const data = join(mount, 'data');
  const server = await startPostgres({
    version,
    mount,
    durable: true,
    // The log stays small, so that what fills the disk is data.
    settings: { min_wal_size: '4MB', max_wal_size: '16MB' },
    ...(isLogElsewhere ? {} : { dir: data }),
  });
  if (isLogElsewhere) await createOn(server, program, data);
  else await server.createDatabase(DATABASE);
  const { blocks, bavail, bsize } = await statfs(mount);
  await run('mount', ['-o', `remount,size=${(blocks - bavail) * bsize + spareMb * MB}`, mount]);
  const ballast = join(mount, 'ballast');
  const freeBytes = async (): Promise<number> => {
    const now = await statfs(mount);
    return now.bavail * now.bsize;
  };
  return {
    server,
    url: server.url(DATABASE),
    freeBytes,
    fill: async (leaveBytes = 0) => {
      await using file = await open(ballast, 'a');
      const chunk = new Uint8Array(MB);
      for (let left = (await freeBytes()) - leaveBytes; left > 0; left -= chunk.length) {
        await file.write(chunk, 0, Math.min(left, chunk.length));
      }
    },
    relieve: () => rm(ballast, { force: true }),
    dispose: () => server.dispose(),
    [Symbol.asyncDispose]: () => server.dispose(),
  };
}

async function mountTmpfs(): Promise<string> {
  const mount = await mkdtemp(join(tmpdir(), 'errand-disk-'));
  await run('mount', ['-t', 'tmpfs', '-o', `size=${ROOMY},mode=0755`, 'tmpfs', mount]).catch(async (error) => {
    await rm(mount, { recursive: true });
    throw new Error(`a small disk is a tmpfs, and mounting one takes root: ${error.message}`);
  });
  return mount;
}

/** Makes the database in a tablespace at that folder. */
async function createOn({ databases }: PostgresServer, { user }: Binaries, folder: string): Promise<void> {
  await mkdir(folder);
  if (user.uid !== undefined && user.gid !== undefined) await chown(folder, user.uid, user.gid);
  await databases.query(`CREATE TABLESPACE ${DATABASE} LOCATION '${folder}'`);
  await databases.query(`CREATE DATABASE ${DATABASE} TABLESPACE ${DATABASE}`);
}
