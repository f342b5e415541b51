// The level `process`: a child process as Node starts it. What keeps the code in is Node's permission model and, where
// the server is root, another user.

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { inheritedDescriptors } from './descriptors.ts';
import {
  type CodeUser,
  environmentOf,
  type Inside,
  type Isolation,
  nodeArguments,
  STDIO,
  type Started,
  type StartOptions,
} from './isolation.ts';

const PIPE = 3;

export class PlainProcesses implements Isolation {
  readonly #user: CodeUser | null;
  readonly #close = inheritedDescriptors().filter((descriptor) => descriptor !== PIPE);

  constructor(user: CodeUser | null) {
    this.#user = user;
  }

  inside(dir: string): Inside {
    return { dir, tmp: join(dir, 'tmp') };
  }

  async prepare(): Promise<{ close(): void }> {
    return { close: () => {} };
  }

  start({ dir, memoryMb, sourceId }: StartOptions): Started {
    const inside = this.inside(dir);
    const args = nodeArguments(inside, memoryMb, { close: this.#close, user: this.#user, outlet: null });
    const env = environmentOf(inside, sourceId);
    const child = spawn(process.execPath, args, { cwd: inside.tmp, env, stdio: [...STDIO] });
    return {
      process: child,
      pid: () => child.pid,
      kill: () => void child.kill('SIGKILL'),
      ending: (ending) => ending,
    };
  }
}
