// The first thing that the program does: it gives up everything that it inherited and must not keep.

import { closeSync } from 'node:fs';
import type { ResourceLimits } from './harden.ts';

export interface EgressSocket {
  /** The path of the server's socket. */
  readonly path: string;
  /** Whether the loopback interface is this process's own, as in a network namespace; otherwise it is the machine's. */
  readonly hasOwnLoopback: boolean;
}

/** The program's only argument, as JSON. */
export interface Confinement {
  /** Descriptors that the server itself inherited, and that Node passes on to every process. */
  readonly close: readonly number[];
  /** The user to switch to, where the server is root; null: none. */
  readonly user: { readonly uid: number; readonly gid: number } | null;
  /** The process whose end ends this one; null: the jail does that. */
  readonly parent: number | null;
  /** The limits for `harden`; null: `harden` cannot run here, and what started the process has set limits. */
  readonly limits: ResourceLimits | null;
  /** The egress tunnel through the server; null: there is none, or connections are made directly. */
  readonly egress: EgressSocket | null;
  /** False: the process is in a jail from which no connection leads out. */
  readonly hasNetwork: boolean;
}

/**
 * Returns the confinement. Throws when the process cannot switch to the user, and then nothing runs. (Rejected:
 * starting the process as that user. That user could not execute a Node in root's home. And the system closes a process
 * that changes its own user to others of that user: they can neither trace it nor read its memory.)
 */
export function confine(): Confinement {
  const confinement = JSON.parse(process.argv[2] ?? '') as Confinement;
  const { close, user } = confinement;
  process.argv.length = 2;
  for (const name of ['PWD', 'OLDPWD', 'SHLVL', '_']) delete process.env[name]; // of the jail's or a shell's making
  closeAll(close);
  if (user !== null) switchTo(user);
  return confinement;
}

/** Closes descriptors that were inherited; one that is closed already is skipped. */
export function closeAll(descriptors: readonly number[]): void {
  for (const descriptor of descriptors) {
    try {
      closeSync(descriptor);
    } catch {
      // it is closed already
    }
  }
}

/** Switches to a user for good. Throws where that fails. */
export function switchTo({ uid, gid }: { readonly uid: number; readonly gid: number }): void {
  process.setgroups?.([]);
  process.setgid?.(gid);
  process.setuid?.(uid);
  if (process.getuid?.() !== uid || process.geteuid?.() !== uid) throw new Error('still the old user');
}
