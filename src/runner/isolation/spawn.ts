// The level `process`: a child process as Node starts it. The code is confined by Node's permission model, by a filter
// of system calls that the process installs before it loads code (child/confine/harden.ts), and, where the server is
// root, by another user.
//
// The process has the server's network. Errand's own components connect through the server all the same
// (child/confine/egress.ts), and with the network `public` so does all code that does not try to avoid it.

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { EgressSocket } from '../child/confine/confine.ts';
import { inheritedDescriptors } from './descriptors.ts';
import { isHardening, limitsOf, underLimits } from './hardening.ts';
import {
  type CodeUser,
  EGRESS_SOCKET,
  environmentOf,
  goesThroughServer,
  type Inside,
  type Isolation,
  type IsolationSettings,
  nodeArguments,
  type OpenEgress,
  type PrepareOptions,
  prepareEgress,
  STDIO,
  type StartedProcess,
  type StartOptions,
  userFor,
} from './isolation.ts';
import { linkedIn, readablePackages } from './package-folders.ts';

const PIPE = 3;
/** The system's bound on a socket's path. */
const MAX_PATH_BYTES = 100;

export class PlainProcesses implements Isolation {
  readonly #settings: IsolationSettings;
  readonly #openEgress: OpenEgress | undefined;
  readonly #hardens: boolean;
  readonly #close = inheritedDescriptors().filter((descriptor) => descriptor !== PIPE);

  /** Without `openEgress`, no process starts whose connections go through the server. */
  constructor(settings: IsolationSettings, openEgress?: OpenEgress) {
    this.#settings = settings;
    this.#openEgress = openEgress;
    this.#hardens = isHardening(settings);
  }

  inside(dir: string): Inside {
    return { dir, tmp: join(dir, 'tmp') };
  }

  userOf(ownerId: string): CodeUser | null {
    return userFor(this.#settings, ownerId);
  }

  prepare(options: PrepareOptions): Promise<{ close(): void }> {
    return prepareEgress(this.#settings, this.#openEgress, options);
  }

  start(options: StartOptions): StartedProcess {
    const inside = this.inside(options.dir);
    const limits = limitsOf(this.#settings, options.isOurs);
    const confinement = {
      close: this.#close,
      user: options.user,
      egress: goesThroughServer(this.#settings, options.isOurs) ? egressSocketIn(options.dir) : null,
      hasNetwork: true,
      parent: process.pid,
      limits: this.#hardens ? limits : null,
    };
    const { packageFolders } = this.#settings;
    const readable = packageFolders ? readablePackages(linkedIn(options.dir, packageFolders())) : [];
    const node = [process.execPath, ...nodeArguments(inside, { ...options, readable }, confinement)];
    const [command = '', ...args] = this.#hardens ? node : underLimits(node, limits);
    const env = environmentOf(inside, options.sourceId, this.#settings);
    // A process group of its own: Ctrl-C in a terminal goes to the whole group of the server, which then waits for its runs.
    const child = spawn(command, args, { cwd: inside.tmp, env, detached: true, stdio: [...STDIO] });
    return {
      process: child,
      pid: () => child.pid,
      kill: () => void child.kill('SIGKILL'),
      ending: (ending) => ending,
    };
  }
}

function egressSocketIn(dir: string): EgressSocket {
  const path = join(dir, EGRESS_SOCKET);
  return { path: Buffer.byteLength(path) > MAX_PATH_BYTES ? join('..', EGRESS_SOCKET) : path, hasOwnLoopback: false };
}
