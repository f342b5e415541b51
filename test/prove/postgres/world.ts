// Several nodes on one Postgres, and what must be true of them beyond the rows: no process and no connection is left over.

import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createDice } from '../random.ts';
import { Server, sumOf } from '../server.ts';
import { type Act, type Result, type Setting, type World, within } from '../setting.ts';
import { connectionsTo, type Database, stateOf } from './database.ts';
import { readPostgresRows } from './rows.ts';

export interface NodesOptions {
  readonly seed: number;
  readonly database: Database;
  /** Of each node: its roles, or nothing for all of them. Three with all of them unless told otherwise. */
  readonly roles?: readonly string[];
  readonly isKilledAtEnd?: boolean;
}

/** Six for reading, four for transactions, one that listens. */
const CONNECTIONS_PER_NODE = 11;
const GONE_DEADLINE_MS = 30_000;

/** Disposes of the database, whatever happens. */
export async function onNodes(
  { seed, database, roles = ['', '', ''], isKilledAtEnd = false }: NodesOptions,
  act: Act,
): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'errand-prove-'));
  let result: Result;
  try {
    const servers = await Promise.all(roles.map((role, index) => nodeOn(database, { folder, index, role })));
    const world: World = {
      servers,
      entrances: servers.filter((_, index) => roles[index] === '' || roles[index]?.includes('api')),
      dice: createDice(seed),
      lookAtRest: (setting) => countConnections(database, setting),
      tellState: () => stateOf(database),
      readRows: () =>
        readPostgresRows({
          url: database.directUrl(),
          program: (servers[0] as Server).program,
          rescues: servers.reduce((sum, { rescues }) => sum + sumOf(rescues).runs, 0),
        }),
      isRemote: true,
      isKilledAtEnd: isKilledAtEnd,
    };
    result = await within(world, act);
  } finally {
    await database.dispose();
    await rm(folder, { recursive: true, force: true });
  }
  for (const left of await leftOver([folder, ...database.folders])) result.wrong.add('process that is left over', left);
  return { ...result, counts: { ...result.counts, wrong: result.wrong.count } };
}

function nodeOn(database: Database, of: { folder: string; index: number; role: string }): Promise<Server> {
  const name = of.role === '' ? `node ${of.index + 1}` : `node ${of.index + 1} (${of.role})`;
  const env = { ERRAND_DATABASE_URL: database.url, ...(of.role === '' ? {} : { ERRAND_ROLES: of.role }) };
  return Server.on({ name, dataDir: join(of.folder, `node-${of.index + 1}`), env });
}

async function countConnections(database: Database, { servers, notes, wrong }: Setting): Promise<void> {
  const most = servers.filter(({ isRunning }) => isRunning).length * CONNECTIONS_PER_NODE;
  const { nodes, comparisons } = await connectionsTo(database);
  notes.push(`${nodes} connections at rest, of at most ${most}`);
  if (nodes > most) wrong.add('connection that is left over', `${nodes}, not at most ${most}`);
  if (comparisons > 1) wrong.add('connection that compares counters, beside another', `${comparisons} at a time`);
}

/** Command lines of processes that name one of these folders: nodes' children, database servers. */
async function leftOver(folders: readonly string[]): Promise<string[]> {
  const deadline = Date.now() + GONE_DEADLINE_MS;
  for (;;) {
    const found = commandLines().filter((line) => folders.some((folder) => line.includes(folder)));
    if (found.length === 0 || Date.now() > deadline) return found;
    await pause(50);
  }
}

/** Empty where there is no /proc. */
function commandLines(): string[] {
  return namesIn('/proc').flatMap((pid) => {
    try {
      return /^\d+$/.test(pid) ? [readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ')] : [];
    } catch {
      return [];
    }
  });
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
