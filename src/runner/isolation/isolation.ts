// The interface for isolating a child process, with two levels: spawn.ts (`process`) and jail.ts (`jail`).
//
// Both run the same program with Node's permission model, a minimal environment, and only the descriptors 0 to 3. Where
// the server is root, both run it as another user that may read its folders. A corpus of attempts in the tests shows
// what each level stops; the table in SECURITY.md is compared with it.

import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import type { PackageFolders } from '../bundling/outside.ts';
import type { Confinement } from '../child/confine/confine.ts';

/** A user of the system, by its ids. */
export interface CodeUser {
  readonly uid: number;
  readonly gid: number;
}

export interface IsolationSettings {
  readonly level: 'process' | 'jail';
  /**
   * What code can reach: nothing, what the server opens for it (`OpenEgress`), or what the server can reach. At the
   * level `process`, `public` is enforced only by the child's own program, and `none` does not exist.
   */
  readonly network: 'none' | 'public' | 'full';
  /** The user that code runs as; null: the server's own. */
  readonly user: CodeUser | null;
  /** The user that an owner's code runs as, where each owner has its own. Left out: `user`. */
  readonly userOf?: (ownerId: string) => CodeUser;
  /** Returns the folders of packages that code is shown, as they are now. Left out: none. */
  readonly packageFolders?: () => PackageFolders;
  /** Certificates of authorities (PEM) that code trusts besides Node's own. Left out: none. */
  readonly authorities?: string;
  /** Whether processes limit themselves (child/confine/harden.ts) instead of a shell. Left out: where they can. */
  readonly hardens?: boolean;
}

/** The process's folders, by the paths that the process sees. */
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
  /** The user from `userOf`, which may read the folder. */
  readonly user: CodeUser | null;
  /**
   * The program's file in the process's folder; left out: `child.mjs`. Like child/main.ts, it must begin with `confine`
   * and `harden`, before it reads anything that is not the server's.
   */
  readonly program?: string;
  /** Whether the code is one of Errand's own components: if it has a network, its connections go through the server. */
  readonly isOurs: boolean;
}

export interface StartedProcess {
  readonly process: ChildProcess;
  /** Returns the id of the process that runs the code; undefined while it is not known. */
  pid(): number | undefined;
  /** Kills the process and everything that it started, at once and for good. */
  kill(): void;
  /** Returns how the process that runs the code ended, given how `process` did. */
  ending(given: Ending): Ending;
  /**
   * Sets the priority of a group of processes, where the system supports that. Returns false when the system refuses.
   */
  setLowPriority?(isLowPriority: boolean): boolean;
}

export interface Ending {
  readonly code: number | null;
  readonly signal: string | null;
  /** The system killed it for taking too much memory. */
  readonly isOutOfMemory?: boolean;
}

/**
 * Opens an egress socket at a path, for a process of an owner and a user of the system (null: the server's own). Only one
 * process can see the path.
 */
export type OpenEgress = (
  path: string,
  of: { readonly user: CodeUser | null; readonly ownerId: string },
) => Promise<{ close(): void }>;

export type PrepareOptions = Pick<StartOptions, 'dir' | 'isOurs' | 'user'> & { readonly ownerId: string };

export interface Isolation {
  inside(dir: string): Inside;
  /** Returns the user that an owner's code runs as; null: the server's own. Throws when no user is left. */
  userOf(ownerId: string): CodeUser | null;
  /** Sets up what the process needs outside, before its start; `close` undoes that. */
  prepare(options: PrepareOptions): Promise<{ close(): void }>;
  start(options: StartOptions): StartedProcess;
}

/** Returns whether connections go through the server, which judges them. */
export function goesThroughServer({ network }: IsolationSettings, isOurs: boolean): boolean {
  return network === 'public' || (network === 'full' && isOurs);
}

/** The name of the egress socket in the process's folder. */
export const EGRESS_SOCKET = 'egress.sock';

/** Opens the egress socket of a process whose connections go through the server. Rejects when there is no egress. */
export async function prepareEgress(
  settings: IsolationSettings,
  open: OpenEgress | null | undefined,
  { dir, isOurs, user, ownerId }: PrepareOptions,
): Promise<{ close(): void }> {
  if (!goesThroughServer(settings, isOurs)) return { close: () => {} };
  if (!open) throw new Error(NO_EGRESS);
  return await open(join(dir, EGRESS_SOCKET), { user, ownerId });
}

export const NO_EGRESS = 'no egress was given to code whose connections go through the server';
export const CHILD_FILE = 'child.mjs';
/** Its name in the process's folder. */
export const AUTHORITIES_FILE = 'authorities.pem';
export const STDIO = ['ignore', 'ignore', 'pipe', 'pipe'] as const;

const isKnown = (flag: string): boolean => process.allowedNodeEnvironmentFlags.has(flag);
/** Node refuses to start with an unknown flag: 24 has no permission for the network, and no node:ffi. */
const VERSION_FLAGS = ['--allow-net', '--disable-sigusr1'].filter(isKnown);

export function userFor({ user, userOf }: IsolationSettings, ownerId: string): CodeUser | null {
  return user === null || userOf === undefined ? user : userOf(ownerId);
}

type NodeOptions = Pick<StartOptions, 'memoryMb' | 'program'> & {
  /** Besides the process's folder; as Node's permission model takes them. */
  readonly readable?: readonly string[];
};

const NO_FFI = isKnown('--experimental-ffi') ? ['--no-experimental-ffi'] : [];

/** Returns Node's arguments for the program of a child process. */
export function nodeArguments({ dir, tmp }: Inside, given: NodeOptions, confinement: Confinement): string[] {
  return [
    '--permission',
    // The permission model does not cover node:sqlite, which could open any file, the store's included.
    '--no-experimental-sqlite',
    '--no-addons',
    // Setting a flag later then ends the process, instead of opening V8's memory or a file to the code. It costs 12 ms
    // of a start: V8 refuses the compiled code of Node's own modules, which was made with other flags.
    '--freeze-flags-after-init',
    ...VERSION_FLAGS,
    // For child/confine/harden.ts, which gives the right up.
    ...(confinement.limits === null ? NO_FFI : ['--experimental-ffi', '--allow-ffi']),
    `--allow-fs-read=${join(dir, '*')}`,
    `--allow-fs-read=${join(tmp, '*')}`,
    ...(given.readable ?? []).map((path) => `--allow-fs-read=${path}`),
    `--allow-fs-write=${join(tmp, '*')}`,
    `--max-old-space-size=${given.memoryMb}`,
    '--no-warnings',
    join(dir, given.program ?? CHILD_FILE),
    JSON.stringify(confinement),
  ];
}

/**
 * Returns the whole environment of the process. The owner's variables are not in it: `NODE_OPTIONS` or `LD_PRELOAD`
 * would undo the permissions. Without HOME, `os.homedir()` throws for a user of whom the system has no entry, and packages
 * look there for their settings.
 */
export function environmentOf(
  { dir, tmp }: Inside,
  sourceId: string | null,
  { authorities }: Pick<IsolationSettings, 'authorities'>,
): Record<string, string> {
  return {
    ...{ HOME: tmp, TMPDIR: tmp, TZ: 'UTC' },
    // Node reads the file with the first TLS connection.
    ...(authorities === undefined ? {} : { NODE_EXTRA_CA_CERTS: join(dir, AUTHORITIES_FILE) }),
    ...(sourceId === null ? {} : { PD_COMPONENT: sourceId }),
  };
}
