// How user code is confined on this machine, from the settings: its user of the system, and its folders.

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { getCACertificates } from 'node:tls';
import type { Log } from '../ports.ts';
import type { PackageFolders } from '../runner/bundling/outside.ts';
import { type Opened, openCgroups } from '../runner/isolation/cgroups.ts';
import { createCodeUsers } from '../runner/isolation/code-users.ts';
import { hardeningObstacle } from '../runner/isolation/hardening.ts';
import { hidingOption } from '../runner/isolation/hidden-processes.ts';
import type { CodeUser, IsolationSettings } from '../runner/isolation/isolation.ts';
import { findPackageFolders } from '../runner/isolation/package-folders.ts';
import { createRunner, type ProcessRunner, type RunnerOptions } from '../runner/pool/pool.ts';
import { obstacleTo, ownersRange, passableTmp } from './code-user.ts';
import { type Config, ConfigError } from './config.ts';
import { openness } from './folders.ts';

const OTHERS = 0o007;
/** One folder for all servers of the machine. */
const OWNERS_USERS = 'errand-users';

export function isolationOf(config: Config): IsolationSettings {
  const { isolation: level, jailNetwork, processNetwork, codeUser } = config;
  const network = level === 'jail' ? jailNetwork : processNetwork;
  const isOther = codeUser !== null && process.getuid?.() === 0 && (codeUser.isAsked || obstacleTo(codeUser) === null);
  const user = isOther ? { uid: codeUser.uid, gid: codeUser.gid } : null;
  const packageFolders = () => packageFoldersOf(config, user);
  const settings = { level, network, user, packageFolders, ...operatorsAuthorities() };
  const range = user === null || codeUser?.isAsked ? null : ownersRange();
  if (range === null) return settings;
  return { ...settings, userOf: createCodeUsers(join(passableTmp(), OWNERS_USERS), range) };
}

/** Returns the certificates that NODE_EXTRA_CA_CERTS has given this process: code reaches the same services. */
function operatorsAuthorities(): Pick<IsolationSettings, 'authorities'> {
  const extra = getCACertificates('extra');
  return extra.length === 0 ? {} : { authorities: extra.join('\n') };
}

function packageFoldersOf({ packagesDir, componentsDir }: Config, user: CodeUser | null): PackageFolders {
  return findPackageFolders({ packagesDir, componentsDir, user });
}

let opened: Opened | undefined;

/** Opens the cgroups of this process: once per process, even when it has several servers, as in tests. */
export function ownCgroups(): Opened {
  opened ??= openCgroups();
  return opened;
}

/** Throws `ConfigError` when the folders cannot be created as required. */
export function runnerOf(
  config: Config,
  ports: Pick<RunnerOptions, 'log' | 'clock' | 'openEgress' | 'quotasOf' | 'onLate'>,
): ProcessRunner {
  const isolation = isolationOf(config);
  try {
    const { runnerMemoryMb } = config;
    const bound = runnerMemoryMb === null ? {} : { poolMb: runnerMemoryMb };
    const { cgroups, obstacle, ...found } = ownCgroups();
    if (cgroups === null) ports.log.info({ obstacle }, 'processes of code are limited without cgroups');
    else ports.log.info(found, 'processes of code are limited by cgroups');
    return createRunner({ ...ports, ...bound, isolation, cgroups, tmpDir: tmpDirOf(config, isolation) });
  } catch (error) {
    if (isolation.user === null) throw error;
    throw new ConfigError(`ERRAND_CODE_USER: ${(error as Error).message}`);
  }
}

/** Starts a process as a test, where isolation may fail. Rejects with `ConfigError`. */
export async function tryIsolation(config: Config, runner: ProcessRunner): Promise<void> {
  if (config.codeUser?.isAsked && process.getuid?.() !== 0) {
    throw new ConfigError('ERRAND_CODE_USER: only a server that is root can run code as another user: leave it out');
  }
  const { level, user } = isolationOf(config);
  if (level === 'process' && user === null && hardeningObstacle() !== null) return;
  const reason = await runner.selfTest();
  if (reason === null) return;
  const setting = level === 'process' && user !== null ? 'ERRAND_CODE_USER' : `ERRAND_ISOLATION: ${level}`;
  throw new ConfigError(`${setting}: ${reason}`);
}

/** Logs in one line which confinements this machine does not support. */
export function logMissingLimits(config: Config, log: Log): void {
  const { user, userOf, packageFolders } = isolationOf(config);
  const folder = config.packagesDir === null ? null : join(config.packagesDir, 'node_modules');
  if (folder !== null && existsSync(folder) && packageFolders?.().packages === null) {
    log.info({ folder }, 'packages become part of what is deployed: the user of code may not read their folder');
  }
  if (user !== null && userOf === undefined) log.info({ user: user.uid }, 'the code of all owners runs as one user');
  const obstacle = hardeningObstacle();
  if (obstacle !== null)
    log.warn({ obstacle }, 'user code runs without a filter of system calls: see docs/isolation.md');
  const option = hidingOption();
  if (option !== null) {
    log.warn(
      { option },
      'memory and CPU of user code are not limited by the server, since /proc hides its processes: see docs/isolation.md',
    );
  }
}

/** Closes the data dir to the user of code, where that is not the server's user. Returns whether it was open and has been closed. */
export async function closeDataDir(config: Config, log: Log): Promise<boolean> {
  if (isolationOf(config).user === null) {
    const obstacle = config.codeUser && process.getuid?.() === 0 ? obstacleTo(config.codeUser) : null;
    if (obstacle) log.warn({ obstacle }, 'user code runs as root, like the server: see docs/isolation.md');
    return false;
  }
  const { mode } = await stat(config.dataDir);
  if ((mode & OTHERS) === 0) return false;
  await chmod(config.dataDir, mode & 0o7777 & ~OTHERS);
  const open = openness(config.dataDir, mode & ~OTHERS);
  const still = open === null ? '' : '; its group may still enter it';
  const fields = { dir: config.dataDir, ...open };
  log.warn(fields, `the data dir was open to all users and is now closed to them${still}`);
  return true;
}

/**
 * Returns the runner's folder. The runner deletes what dead processes left there, by their ids, which are valid on one
 * machine only: processes that share a database may have one data dir at several machines. A user of code who may not
 * enter the data dir has its folders elsewhere, under a name that is the same at the next start.
 */
function tmpDirOf({ dataDir, databaseUrl }: Config, { user }: IsolationSettings): string {
  if (user !== null) return folderOutside(dataDir);
  const tmp = join(dataDir, 'tmp');
  return databaseUrl === null ? tmp : join(tmp, hostname().replace(/[^A-Za-z0-9.-]/g, '_'));
}

/** Returns the folder for processes of a server that is root. */
export function folderOutside(dataDir: string): string {
  return join(passableTmp(), `errand-${createHash('sha256').update(dataDir).digest('hex').slice(0, 16)}`);
}
