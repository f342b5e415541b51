// The level `jail`: the same process inside bubblewrap, in user, mount, pid, ipc, uts and network namespaces of its
// own.
//
// The process sees Node's binary, the libraries that the server's process has loaded, its own folder, and a /tmp of its
// own, in memory and no larger than `memory_mb`; everything but /tmp is read-only. It is process 1 of its pid
// namespace, so that everything it starts dies with it. bwrap's report, on a separate pipe, says which process of the
// machine it is.
//
//   server ──spawns──▶ bwrap, which waits ──▶ node (process 1 inside)
//
// To end the jail, the inner process is killed: bwrap then ends by itself and reports how that process ended.
// (Rejected: killing bwrap, which ends the inner process as well. That hides how it ended, and leaves it behind while
// bwrap still builds the jail.)

import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { seccompFilter } from '../seccomp/filter.ts';
import { isMachine } from '../seccomp/syscalls.ts';
import { inheritedDescriptors } from './descriptors.ts';
import { isHardening, limitsOf, underLimits } from './hardening.ts';
import {
  type CodeUser,
  EGRESS_SOCKET,
  type Ending,
  environmentOf,
  goesThroughServer,
  type Inside,
  type Isolation,
  type IsolationSettings,
  NO_EGRESS,
  nodeArguments,
  type OpenEgress,
  type PrepareOptions,
  prepareEgress,
  STDIO,
  type StartedProcess,
  type StartOptions,
  userFor,
} from './isolation.ts';
import { linkedIn, packageMounts } from './package-folders.ts';

const INSIDE: Inside = { dir: '/errand', tmp: '/tmp' };
const NODE = '/usr/bin/node';
/** The user and group id that the process sees as its own. */
const UNPRIVILEGED_ID = '65534';
/** The path for finding bwrap, independent of the server's environment. */
const PATH = '/usr/local/bin:/usr/bin:/bin:/run/wrappers/bin:/run/current-system/sw/bin';
/** The descriptors of the report and of the filter of system calls; bwrap closes both before it starts Node. */
export const REPORT = 4;
export const FILTER = 5;
/** The id of the process in its namespace. */
const PID = 1;
const BYTES_PER_MB = 1024 * 1024;

/** The files for resolving names and checking certificates. */
const NETWORK_FILES = [
  '/etc/resolv.conf',
  '/etc/hosts',
  '/etc/nsswitch.conf',
  '/etc/gai.conf',
  '/etc/ssl/certs',
  '/etc/pki/tls/certs',
  '/etc/pki/ca-trust/extracted',
  '/usr/share/ca-certificates',
  '/usr/local/share/ca-certificates',
];

export class Jails implements Isolation {
  readonly #settings: IsolationSettings;
  readonly #system: readonly string[];
  readonly #close = inheritedDescriptors().filter((descriptor) => descriptor > FILTER);

  readonly #hardens: boolean;
  readonly #filter = jailFilter();
  readonly #openEgress: OpenEgress | undefined;

  /** `openEgress` is required for the network `public`, and for Errand's own components. */
  constructor(settings: IsolationSettings, openEgress?: OpenEgress) {
    if (settings.network === 'public' && openEgress === undefined) throw new Error(NO_EGRESS);
    this.#settings = settings;
    this.#openEgress = openEgress;
    this.#system = systemArguments(settings.network);
    this.#hardens = isHardening(settings);
  }

  inside(): Inside {
    return INSIDE;
  }

  userOf(ownerId: string): CodeUser | null {
    return userFor(this.#settings, ownerId);
  }

  prepare(options: PrepareOptions): Promise<{ close(): void }> {
    return prepareEgress(this.#settings, this.#openEgress, options);
  }

  start(options: StartOptions): StartedProcess {
    const { dir, memoryMb, sourceId, isOurs, user } = options;
    const { network } = this.#settings;
    const place = { path: join(INSIDE.dir, EGRESS_SOCKET), hasOwnLoopback: network !== 'full' };
    const egress = goesThroughServer(this.#settings, isOurs) ? place : null;
    const limits = limitsOf(this.#settings, isOurs);
    const node = nodeArguments(INSIDE, options, {
      close: this.#close,
      user: null,
      egress,
      hasNetwork: network !== 'none',
      parent: null,
      limits: this.#hardens ? limits : null,
    });
    const variables = Object.entries(environmentOf(INSIDE, sourceId, this.#settings));
    const env = variables.flatMap(([name, value]) => ['--setenv', name, value]);
    const { packageFolders } = this.#settings;
    const packages = packageFolders ? packageMounts(INSIDE.dir, linkedIn(dir, packageFolders())) : [];
    const folders = folderArguments(dir, memoryMb, packages);
    const jail = [...this.#system, ...folders, ...env, ...filterArguments(this.#filter)];
    const bwrap = ['bwrap', ...jail, '--', NODE, ...node];
    const [command = '', ...args] = this.#hardens ? bwrap : underLimits(bwrap, limits);
    const child = spawn(command, args, {
      cwd: '/',
      env: { PATH },
      detached: true, // as in spawn.ts
      stdio: [...STDIO, 'pipe', this.#filter === null ? 'ignore' : 'pipe'],
      ...(user === null ? {} : user),
    });
    if (this.#filter !== null) sendFilter(child, this.#filter);
    return jailed(child);
  }
}

/** Sends the filter: bwrap reads it to its end, and installs it right before it starts Node. */
export function sendFilter(child: ChildProcess, filter: Uint8Array): void {
  const pipe = (child.stdio as readonly unknown[])[FILTER] as Writable | null;
  pipe?.on('error', () => {}); // bwrap ended before it read the filter, and reports why
  pipe?.end(filter);
}

/** Returns bwrap's arguments for the filter. */
export function filterArguments(filter: Uint8Array | null): string[] {
  return filter === null ? [] : ['--seccomp', String(FILTER)];
}

/** Returns the filter for a process in a jail; null on a machine whose system calls are not known. */
export function jailFilter(stage: 'start' | 'bundling' = 'start'): Uint8Array | null {
  return isMachine(process.arch) ? seccompFilter(process.arch, { stage, pid: PID }) : null;
}

/** Returns those of bwrap's arguments that are the same for all processes. */
export function systemArguments(network: IsolationSettings['network']): string[] {
  return [...namespaces(network), ...systemFiles(network)];
}

function namespaces(network: IsolationSettings['network']): string[] {
  return [
    ...['--unshare-user', '--uid', UNPRIVILEGED_ID, '--gid', UNPRIVILEGED_ID, '--disable-userns'],
    ...[
      '--unshare-pid',
      '--as-pid-1',
      '--unshare-ipc',
      '--unshare-uts',
      '--hostname',
      'errand',
      '--unshare-cgroup-try',
    ],
    ...(network === 'full' ? [] : ['--unshare-net']),
    ...['--die-with-parent', '--new-session', '--cap-drop', 'ALL', '--clearenv', '--info-fd', String(REPORT)],
  ];
}

function systemFiles(network: IsolationSettings['network']): string[] {
  const bound = (flag: string, paths: readonly string[]): string[] => paths.flatMap((path) => [flag, path, path]);
  return [
    ...['--ro-bind', process.execPath, NODE],
    ...bound('--ro-bind', loadedLibraries()),
    ...(network === 'full' ? bound('--ro-bind-try', NETWORK_FILES) : []),
    ...['--proc', '/proc', '--dev', '/dev', '--remount-ro', '/dev'],
  ];
}

/** Returns the libraries that this process has loaded: the inner Node needs the same. */
function loadedLibraries(): string[] {
  const report = process.report as typeof process.report & { excludeNetwork: boolean };
  const { excludeNetwork } = report;
  report.excludeNetwork = true; // otherwise the report looks names up
  const { sharedObjects } = report.getReport() as unknown as { sharedObjects: string[] };
  report.excludeNetwork = excludeNetwork;
  return sharedObjects.filter((path) => path.startsWith('/') && !path.endsWith('.node'));
}

/** Returns bwrap's arguments for the process's folder, read-only, what is mounted in it, and a /tmp in memory of so many MB. */
export function folderArguments(dir: string, memoryMb: number, within: readonly string[] = []): string[] {
  return [
    ...['--ro-bind', dir, INSIDE.dir],
    ...within,
    ...['--size', String(memoryMb * BYTES_PER_MB), '--tmpfs', INSIDE.tmp],
    ...['--remount-ro', '/', '--chdir', INSIDE.tmp],
  ];
}

function jailed(child: ChildProcess): StartedProcess {
  let inner: number | undefined;
  let isReported = false;
  let isKilled = false;
  let said = '';
  const killInner = (): void => {
    if (child.exitCode !== null || child.signalCode !== null) return; // the id may be another process's by now
    if (inner === undefined) child.kill('SIGKILL');
    else sendKill(inner);
  };
  const report = child.stdio[REPORT] as Readable | null;
  const onReport = (): void => {
    isReported = true;
    inner = innerOf(said);
    if (isKilled) killInner();
  };
  report?.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  report?.on('end', onReport).on('error', onReport);
  return {
    process: child,
    pid: () => inner,
    // Before the report, the process to kill is not known.
    kill: () => {
      isKilled = true;
      if (isReported || child.pid === undefined) killInner();
    },
    ending: endInside,
  };
}

/** Converts bwrap's exit code, which is 128 plus the signal's number, into the signal. */
function endInside({ code, signal }: Ending): Ending {
  const number = (code ?? 0) - 128;
  const name = Object.entries(constants.signals).find(([, value]) => value === number)?.[0];
  return name === undefined ? { code, signal } : { code: null, signal: name };
}

/** Returns the inner process's id from the report, which bwrap writes before the code runs. */
export function innerOf(report: string): number | undefined {
  const found = /"child-pid":\s*(\d+)/.exec(report)?.[1];
  return found === undefined ? undefined : Number(found);
}

function sendKill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // it ended by itself
  }
}
