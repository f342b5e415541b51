// Where the round of all faults takes place: one server with a file, or three nodes that share a Postgres.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { folderOutside } from '../../../src/server/code-isolation.ts';
import { type Cutter, startCutter } from '../../support/postgres/cut.ts';
import { Disk } from '../disk.ts';
import { ShiftedClock } from '../hooks/shifted-clock.ts';
import { type Rows, readRows } from '../rows.ts';
import { Server } from '../server.ts';
import type { Ground } from './faults.ts';
import { type FaultKind, ON_DATABASE, ON_PROCESSES, ON_SEVERAL } from './plan.ts';
import type { Allowances } from './witness.ts';

type Kinds = ReadonlyMap<FaultKind, number>;

export interface Place extends Pick<Ground, 'servers' | 'cutters' | 'database' | 'clocks' | 'disk'> {
  readonly weights: Partial<Record<FaultKind, number>>;
  readonly judgedBy: (kinds: Kinds) => Allowances;
  /** What the store says of itself when all servers have ended. */
  readonly check: () => Promise<readonly { check: string; detail: string; count: number }[]>;
  /** What is in it then. */
  readonly readRows: () => Promise<Rows>;
}

interface Wanted {
  readonly hasDisk?: boolean;
}

const NODES = 3;
const PROGRAM = join(import.meta.dirname, '../../..');
const DISK_MB = 1024;
/** Of the database's disk. */
const SPARE_MB = 512;

async function newFolder(parts: AsyncDisposableStack): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'errand-prove-'));
  parts.defer(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

function withoutDisk(weights: Place['weights']): Place['weights'] {
  const { 'disk full': _, ...others } = weights;
  return others;
}

/** `parts`: what is to be given back at the end. */
export async function placeOnFile(parts: AsyncDisposableStack, { hasDisk = false }: Wanted): Promise<Place> {
  const { checkSqlite } = await import('../../../src/store/sqlite/maintenance/check.ts');
  const folder = await newFolder(parts);
  const disk = hasDisk ? await Disk.make(folder, DISK_MB) : null;
  await disk?.mount();
  parts.defer(() => disk?.unmount());
  const dataDir = join(disk?.path ?? folder, 'data');
  parts.defer(() => rm(folderOutside(dataDir), { recursive: true, force: true }));
  const clock = new ShiftedClock(join(folder, 'clock'));
  const server = await Server.on({ name: 'server', dataDir, env: clock.env, preload: clock.preload });
  return {
    servers: [server],
    cutters: [],
    database: null,
    clocks: [clock],
    disk,
    weights: disk ? ON_PROCESSES : withoutDisk(ON_PROCESSES),
    judgedBy: (kinds) => ({
      mayFailToStart: kinds.has('disk full'),
      // The server's clock is the store's: one that is set forward ends what waits.
      mayWakeEarly: kinds.has('clock forward') || kinds.has('clock back'),
    }),
    check: async () => (await checkSqlite(join(dataDir, 'errand.db'))).findings,
    readRows: async () => readRows(dataDir),
  };
}

/** Each node has a network of its own to the database, and a clock. Of the database, the log lies on another disk. */
export async function placeOnPostgres(parts: AsyncDisposableStack, { hasDisk = false }: Wanted): Promise<Place> {
  const { checkPostgres } = await import('../../../src/store/postgres/maintenance/check.ts');
  const { readPostgresRows } = await import('../postgres/rows.ts');
  const { disk, database, url } = hasDisk ? await databaseOnDisk(parts) : await databaseAnywhere(parts);
  const folder = await newFolder(parts);
  const cutters: Cutter[] = [];
  const clocks: ShiftedClock[] = [];
  const servers: Server[] = [];
  for (let n = 1; n <= NODES; n++) {
    const cutter = parts.use(await startCutter(database.port));
    const clock = new ShiftedClock(join(folder, `clock-${n}`));
    const env = { ...clock.env, ERRAND_DATABASE_URL: cutter.url(new URL(url).pathname.slice(1)) };
    const dataDir = join(folder, `node-${n}`);
    servers.push(await Server.on({ name: `node ${n}`, dataDir, env, preload: clock.preload }));
    cutters.push(cutter);
    clocks.push(clock);
  }
  const weights = { ...ON_PROCESSES, ...ON_SEVERAL, ...ON_DATABASE };
  return {
    servers,
    cutters,
    database,
    clocks,
    disk,
    weights: disk ? weights : withoutDisk(weights),
    // The database's clock alone counts, and it is right.
    judgedBy: () => ({ mayFailToStart: false, mayWakeEarly: false }),
    check: async () => (await checkPostgres(url)).findings,
    readRows: () => readPostgresRows({ url, program: PROGRAM, rescues: 0 }),
  };
}

async function databaseAnywhere(parts: AsyncDisposableStack) {
  const { startDatabase } = await import('../postgres/database.ts');
  const { server, directUrl } = await startDatabase();
  parts.defer(() => server.dispose());
  return { disk: null, database: server, url: directUrl() };
}

async function databaseOnDisk(parts: AsyncDisposableStack) {
  const { startOnSmallDisk } = await import('../../support/postgres/tmpfs.ts');
  const disk = await startOnSmallDisk({ isLogElsewhere: true, spareMb: SPARE_MB });
  parts.defer(() => disk.dispose());
  const fill = async (): Promise<void> => {
    // The database takes what room there is at the same time.
    await disk.fill().catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOSPC') throw error;
    });
  };
  return { disk: { fill, relieve: () => disk.relieve() }, database: disk.server, url: disk.url };
}
