// How a child process is kept in. One seam, two levels: spawn.ts (`process`) and jail.ts (`jail`).
//
// Both run the same program with Node's permission model, with no environment but what it needs, and with no descriptors
// but 0 to 3. Where the server is root, both run it as another user, and its folders are that user's to read. What each stops
// is a corpus of attempts in the tests, with which the table in SECURITY.md is compared.

import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import type { Confinement } from '../child/confine/confine.ts';

/** A user of the system by its numbers. */
export interface CodeUser {
  readonly uid: number;
  readonly gid: number;
}

export interface IsolationSettings {
  readonly level: 'process' | 'jail';
  /**
   * What code reaches: nothing, what the server opens for it (`OpenEgress`), or what the server reaches. At the level
   * `process` nothing but the child's own program keeps code to what the server opens, and `none` there is none.
   */
  readonly network: 'none' | 'public' | 'full';
  /** Who the code runs as; null: the server's own user. */
  readonly user: CodeUser | null;
  /** Who the code of an owner runs as, where each has a user of its own. Left out: `user`. */
  readonly userOf?: (ownerId: string) => CodeUser;
  /** Whether processes limit themselves (child/harden.ts), or a shell does. Left out: by themselves, where they can. */
  readonly hardens?: boolean;
}

/** What the process is told about itself; paths as it sees them. */
export interface Inside {
  readonly dir: string;
  readonly tmp: string;
}

export interface StartOptions {
  /** The process's folder (workdir.ts). */
  readonly dir: string;
  readonly memoryMb: number;
  /** Null for a workflow. */
  readonly sourceId: string | null;
  /** As `userOf` says; the folder is this user's to read. */
  readonly user: CodeUser | null;
  /**
   * The program, a file in the process's folder: `child.mjs` when it is not said. It begins as child/main.ts does, with
   * `confine` and `harden`, before it looks at anything that is not the server's.
   */
  readonly program?: string;
  /** The code is a component of our own: wherever it has a network, its connections go through the server. */
  readonly isOurs: boolean;
}

export interface Started {
  readonly process: ChildProcess;
  /** Of the process that runs the code; undefined as long as it is not known. */
  pid(): number | undefined;
  /** At once and for good, with everything that it started. */
  kill(): void;
  /** How the process that runs the code ended, given how `process` did. */
  ending(given: Ending): Ending;
  /** Where the system takes that of a group of processes: gives way to all that is not in it; or no longer. False: it refuses. */
  setLowPriority?(isLowPriority: boolean): boolean;
}

export interface Ending {
  readonly code: number | null;
  readonly signal: string | null;
  /** The system ended it, since it took too much memory. */
  readonly isOutOfMemory?: boolean;
}

/** Opens a way out at a path, for a user of the system (null: the server's own): a socket that only one process is shown. */
export type OpenEgress = (path: string, user: CodeUser | null) => Promise<{ close(): void }>;

export type ToPrepare = Pick<StartOptions, 'dir' | 'isOurs' | 'user'>;

export interface Isolation {
  inside(dir: string): Inside;
  /** Who the code of an owner runs as; null: the server's own user. Throws when there is no user left. */
  userOf(ownerId: string): CodeUser | null;
  /** What the process needs outside of it, before it is started; what ends that again. */
  prepare(options: ToPrepare): Promise<{ close(): void }>;
  start(options: StartOptions): Started;
}

/** Whether connections go through the server, which judges them. */
export function goesThroughServer({ network }: IsolationSettings, isOurs: boolean): boolean {
  return network === 'public' || (network === 'full' && isOurs);
}

/** The server's socket, in the process's folder. */
export const EGRESS_SOCKET = 'egress.sock';

/** Opens the way out of a process whose connections go through the server. Rejects when there is none to be opened. */
export async function prepareEgress(
  settings: IsolationSettings,
  open: OpenEgress | null | undefined,
  { dir, isOurs, user }: ToPrepare,
): Promise<{ close(): void }> {
  if (!goesThroughServer(settings, isOurs)) return { close: () => {} };
  if (!open) throw new Error(NO_EGRESS);
  return await open(join(dir, EGRESS_SOCKET), user);
}

export const NO_EGRESS = 'no egress was given to code whose connections go through the server';
export const CHILD_FILE = 'child.mjs';
export const STDIO = ['ignore', 'ignore', 'pipe', 'pipe'] as const;

const isKnown = (flag: string): boolean => process.allowedNodeEnvironmentFlags.has(flag);
/** Node refuses to start with a flag that it does not know: 24 has no permission for the network, and no node:ffi. */
const VERSION_FLAGS = ['--allow-net', '--disable-sigusr1'].filter(isKnown);

export function userFor({ user, userOf }: IsolationSettings, ownerId: string): CodeUser | null {
  return user === null || userOf === undefined ? user : userOf(ownerId);
}

type Given = Pick<StartOptions, 'memoryMb' | 'program'>;

const NO_FFI = isKnown('--experimental-ffi') ? ['--no-experimental-ffi'] : [];

/** The arguments of Node that run the program of a child process. */
export function nodeArguments({ dir, tmp }: Inside, given: Given, confinement: Confinement): string[] {
  return [
    '--permission',
    // The permission model does not cover node:sqlite, which would open any file, the store's too.
    '--no-experimental-sqlite',
    '--no-addons',
    // A flag that is set later ends the process, instead of opening V8's memory or a file to the code.
    // It costs 12 ms of a start: V8 refuses the compiled code that Node brings along for its own modules, made with other flags.
    '--freeze-flags-after-init',
    ...VERSION_FLAGS,
    // For child/harden.ts, which gives it up.
    ...(confinement.limits === null ? NO_FFI : ['--experimental-ffi', '--allow-ffi']),
    `--allow-fs-read=${join(dir, '*')}`,
    `--allow-fs-read=${join(tmp, '*')}`,
    `--allow-fs-write=${join(tmp, '*')}`,
    `--max-old-space-size=${given.memoryMb}`,
    '--no-warnings',
    join(dir, given.program ?? CHILD_FILE),
    JSON.stringify(confinement),
  ];
}

/**
 * The whole environment of the process. The owner's variables are not in it: `NODE_OPTIONS` or `LD_PRELOAD` would undo
 * the permissions.
 */
export function environmentOf({ tmp }: Inside, sourceId: string | null): Record<string, string> {
  return { TMPDIR: tmp, TZ: 'UTC', ...(sourceId === null ? {} : { PD_COMPONENT: sourceId }) };
}
