// The first thing that the program does: it gives up what it was started with and must not keep.

import { closeSync } from 'node:fs';
import type { ResourceLimits } from './harden.ts';

export interface EgressSocket {
  /** Of the server's socket. */
  readonly path: string;
  /** The loopback interface is this process's own, as in a network namespace; else it is the machine's. */
  readonly hasOwnLoopback: boolean;
}

/** The program's only argument, as JSON. */
export interface Confinement {
  /** Descriptors that the server itself was started with, and that Node hands on to every process. */
  readonly close: readonly number[];
  /** The user to become, where the server is root; null: none. */
  readonly user: { readonly uid: number; readonly gid: number } | null;
  /** The process with which this one ends; null: the jail sees to that. */
  readonly parent: number | null;
  /** What `harden` is to set; null: it cannot here, and what started the process has set limits. */
  readonly limits: ResourceLimits | null;
  /** The way out through the server; null: there is none, or connections go their own way. */
  readonly egress: EgressSocket | null;
}

/**
 * Returns what it was told. Throws when it cannot become the user, and then nothing runs. (Rejected: having the process started as that user. It
 * could not run a Node that lies in root's home. And one that changes its user itself is closed to other processes of
 * that user: the system lets them neither trace it nor read its memory.)
 */
export function confine(): Confinement {
  const confinement = JSON.parse(process.argv[2] ?? '') as Confinement;
  const { close, user } = confinement;
  process.argv.length = 2;
  for (const name of ['PWD', 'OLDPWD', 'SHLVL', '_']) delete process.env[name]; // of the jail's or a shell's making
  for (const descriptor of close) {
    try {
      closeSync(descriptor);
    } catch {
      // not there any more
    }
  }
  if (user === null) return confinement;
  process.setgroups?.([]);
  process.setgid?.(user.gid);
  process.setuid?.(user.uid);
  if (process.getuid?.() !== user.uid || process.geteuid?.() !== user.uid) throw new Error('still the old user');
  return confinement;
}
