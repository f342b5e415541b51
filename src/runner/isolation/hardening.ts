// Decides which limits a process of code gets, and who sets them: the process itself where it can
// (child/confine/harden.ts), otherwise a shell that executes it. Measured beside Node's own start of 30 ms: by itself
// 0.9 ms, and 1 to 2 ms for the filter; through a shell 1.0 ms; through `setpriv` and `prlimit` 1.2 ms. A shell cannot
// filter system calls, so it is used only where Node has no node:ffi (24), or the machine's system calls are not known.

import { existsSync, readFileSync } from 'node:fs';
import { LIMITS } from '../../domain/limits.ts';
import type { ResourceLimits } from '../child/confine/harden.ts';
import { isMachine } from '../seccomp/syscalls.ts';
import { goesThroughServer, type IsolationSettings } from './isolation.ts';

const SECCOMP_ACTIONS = '/proc/sys/kernel/seccomp/actions_avail';
const SHELL = '/bin/sh';
const SETPRIV = ['/usr/bin/setpriv', '/bin/setpriv'];
/** The shell's unit of file sizes. */
const BLOCK_BYTES = 512;

/**
 * Returns why processes cannot get a filter of system calls here; null: they can, and a process whose filter fails does
 * not start.
 */
export function hardeningObstacle(): string | null {
  if (process.platform !== 'linux') return `filters of system calls are Linux's, and this is ${process.platform}`;
  if (!isMachine(process.arch)) return `the system calls of ${process.arch} are not known`;
  if (!process.allowedNodeEnvironmentFlags.has('--experimental-ffi')) return `Node ${process.version} has no node:ffi`;
  if (!/\berrno\b/.test(read(SECCOMP_ACTIONS))) return 'the system has no seccomp';
  return null;
}

export function isHardening({ hardens }: IsolationSettings): boolean {
  return hardens ?? hardeningObstacle() === null;
}

/** Returns the limits of a process. Connections through the server take three descriptors each. */
export function limitsOf(settings: IsolationSettings, isOurs: boolean): ResourceLimits {
  const { level, user } = settings;
  const isThroughServer = goesThroughServer(settings, isOurs);
  return {
    descriptors: isThroughServer ? LIMITS.codeDescriptorsThroughServer : LIMITS.codeDescriptors,
    fileBytes: LIMITS.codeFileBytes,
    // All threads of the user count; the number of the server's own is not known.
    threads: level === 'jail' || user !== null ? LIMITS.codeThreads : null,
  };
}

/** Returns the command wrapped in a shell that sets the limits; without a shell, the command itself. */
export function underLimits(command: readonly string[], { descriptors, fileBytes }: ResourceLimits): readonly string[] {
  if (!existsSync(SHELL)) return command;
  const setpriv = SETPRIV.find((path) => existsSync(path));
  // Separate commands: a limit that is lower already stays.
  const limits = `ulimit -c 0; ulimit -n ${descriptors}; ulimit -f ${fileBytes / BLOCK_BYTES}`;
  const unprivileged = setpriv === undefined ? [] : [setpriv, '--no-new-privs', '--'];
  return [SHELL, '-c', `{ ${limits}; } 2>/dev/null; exec "$@"`, 'sh', ...unprivileged, ...command];
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
