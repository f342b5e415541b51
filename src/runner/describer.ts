// Asks a component what it is: loads it in a process of its own, which ends with the answer.

import { LIMITS } from '../domain/limits.ts';
import type { Deployment } from '../domain/resource.ts';
import { ChildLink, type Death } from './child-link.ts';
import { readBroken, readShape } from './inbound.ts';
import type { Isolation } from './isolation.ts';
import type { Described } from './runner.ts';
import type { Workdirs } from './workdir.ts';

const LOAD_MS = 10_000;
/** Whoever deploys a hundred sources at once waits a little, instead of having a hundred processes started. */
const AT_ONCE = 2;

export class Describer {
  readonly #workdirs: Workdirs;
  readonly #isolation: Isolation;
  readonly #links = new Set<ChildLink>();
  #ended: (() => void)[] = [];
  #stopping = false;

  constructor(workdirs: Workdirs, isolation: Isolation) {
    this.#workdirs = workdirs;
    this.#isolation = isolation;
  }

  async describe(deployment: Deployment, env: Readonly<Record<string, string>>): Promise<Described> {
    while (this.#links.size >= AT_ONCE) await this.#oneEnded();
    if (this.#stopping) return refused('The server is shutting down', '');
    return await this.#ask({ ...deployment, steps: deployment.steps.slice(0, 1) }, env);
  }

  lookAtMemory(): void {
    for (const link of this.#links) link.endIfOverMemory();
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    for (const link of this.#links) link.kill();
    while (this.#links.size > 0) await this.#oneEnded();
  }

  #ask(deployment: Deployment, env: Readonly<Record<string, string>>): Promise<Described> {
    return new Promise((resolve) => {
      let described: Described | null = null;
      const options = {
        deployment,
        memoryMb: LIMITS.memoryMb,
        env,
        workdirs: this.#workdirs,
        isolation: this.#isolation,
        mode: 'describe',
      } as const;
      const late = setTimeout(() => {
        described ??= refused(`The code had not been loaded after ${LOAD_MS} ms`, '');
        link.kill();
      }, LOAD_MS);
      const link = new ChildLink(options, {
        onMessage: (message) => {
          described ??= describedBy(message, deployment);
          if (described !== null) link.kill();
        },
        onDeath: (death, removed) => {
          clearTimeout(late);
          void removed.then(() => {
            this.#links.delete(link);
            for (const next of this.#ended.splice(0)) next();
            resolve(described ?? refused(whyDead(death), ''));
          });
        },
      });
      this.#links.add(link);
    });
  }

  #oneEnded(): Promise<void> {
    return new Promise((resolve) => this.#ended.push(resolve));
  }
}

function describedBy(message: Readonly<Record<string, unknown>>, deployment: Deployment): Described | null {
  if (message.t === 'shape') return { ok: true, shape: readShape(message.shape) };
  if (message.t !== 'broken') return null;
  const { msg, stack } = readBroken(message.fault, deployment);
  return refused(msg, stack);
}

function refused(message: string, stack: string): Described {
  return { ok: false, message, stack };
}

function whyDead({ kind, code, signal, detail }: Death): string {
  if (kind === 'start') return `The process could not be started: ${detail}`;
  if (kind === 'memory') return `The code used more than ${LIMITS.memoryMb} MB of memory while it was loaded`;
  return `The process ended while loading the code (${signal ?? `exit code ${code}`})`;
}
