// The level `process`: a child process as Node starts it. What keeps the code in is Node's permission model, a filter of
// system calls that the process sets up by itself before it loads code (child/harden.ts), and, where the server is root,
// another user.

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { ResourceLimits } from './child/harden.ts';
import { inheritedDescriptors } from './descriptors.ts';
import { isHardening, limitsOf, underLimits } from './hardening.ts';
import {
  type CodeUser,
  environmentOf,
  type Inside,
  type Isolation,
  type IsolationSettings,
  nodeArguments,
  STDIO,
  type Started,
  type StartOptions,
} from './isolation.ts';

const PIPE = 3;

export class PlainProcesses implements Isolation {
  readonly #user: CodeUser | null;
  readonly #limits: ResourceLimits;
  readonly #hardens: boolean;
  readonly #close = inheritedDescriptors().filter((descriptor) => descriptor !== PIPE);

  constructor(settings: IsolationSettings) {
    this.#user = settings.user;
    this.#limits = limitsOf(settings);
    this.#hardens = isHardening(settings);
  }

  inside(dir: string): Inside {
    return { dir, tmp: join(dir, 'tmp') };
  }

  async prepare(): Promise<{ close(): void }> {
    return { close: () => {} };
  }

  start(options: StartOptions): Started {
    const inside = this.inside(options.dir);
    const confinement = {
      close: this.#close,
      user: this.#user,
      outlet: null,
      limits: this.#hardens ? this.#limits : null,
    };
    const node = [process.execPath, ...nodeArguments(inside, options, confinement)];
    const [command = '', ...args] = this.#hardens ? node : underLimits(node, this.#limits);
    const env = environmentOf(inside, options.sourceId);
    const child = spawn(command, args, { cwd: inside.tmp, env, stdio: [...STDIO] });
    return {
      process: child,
      pid: () => child.pid,
      kill: () => void child.kill('SIGKILL'),
      ending: (ending) => ending,
    };
  }
}
