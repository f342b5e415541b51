// Asks a component what it is, or what its props may be: loads it in a process of its own, which ends with the answer.

import { LIMITS } from '../../domain/limits.ts';
import type { Deployment } from '../../domain/resource.ts';
import type { Isolation } from '../isolation/isolation.ts';
import type { Workdirs } from '../isolation/workdir.ts';
import type { Ask, Described, Told } from '../runner.ts';
import { ChildLink, type Death } from './child-link.ts';
import { readBroken, readShape, readTold } from './inbound.ts';
import { text } from './inbound-values.ts';
import { MessageBudget } from './message-budget.ts';

const LOAD_MS = 10_000;
/** Whoever deploys a hundred sources at once waits a little, instead of having a hundred processes started. */
const AT_ONCE = 2;
/** What is asked may wait for other services: that must hold up no deployment. */
const ASKED_AT_ONCE = 4;

type Message = Readonly<Record<string, unknown>>;
type Take = (bytes: unknown) => Buffer;
type Env = Readonly<Record<string, string>>;
type Refused = { readonly ok: false; readonly message: string; readonly stack: string };

interface Question<T> {
  readonly deployment: Deployment;
  readonly env: Env;
  readonly ask?: Ask;
  readonly withinMs: number;
  /** Null: this message is no answer. Throws to end the process. */
  readonly read: (message: Message, take: Take) => T | null;
}

export class Describer {
  readonly #workdirs: Workdirs;
  readonly #isolation: Isolation;
  readonly #describing = new Set<ChildLink>();
  readonly #asking = new Set<ChildLink>();
  #ended: (() => void)[] = [];
  #stopping = false;

  constructor(workdirs: Workdirs, isolation: Isolation) {
    this.#workdirs = workdirs;
    this.#isolation = isolation;
  }

  async describe(deployment: Deployment, env: Env): Promise<Described> {
    while (this.#describing.size >= AT_ONCE) await this.#oneEnded();
    const read = (message: Message): Described | null =>
      message.t === 'shape' ? { ok: true, shape: readShape(message.shape) } : null;
    return await this.#question(this.#describing, { deployment, env, withinMs: LOAD_MS, read });
  }

  async ask(deployment: Deployment, ask: Ask, env: Env): Promise<Told> {
    while (this.#asking.size >= ASKED_AT_ONCE) await this.#oneEnded();
    const read = (message: Message, take: Take): Told | null =>
      message.t === 'told' ? { ok: true, answer: readTold(take(message.bytes)) } : strayIn(message);
    return await this.#question(this.#asking, { deployment, env, ask, withinMs: LIMITS.askMs, read });
  }

  lookAtMemory(): void {
    for (const link of this.#links()) link.endIfOverMemory();
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    for (const link of this.#links()) link.kill();
    while (this.#links().length > 0) await this.#oneEnded();
  }

  #links(): ChildLink[] {
    return [...this.#describing, ...this.#asking];
  }

  #question<T extends object>(links: Set<ChildLink>, question: Question<T>): Promise<T | Refused> {
    if (this.#stopping) return Promise.resolve(refused('The server is shutting down', ''));
    const { env, ask, withinMs, read } = question;
    const deployment = { ...question.deployment, steps: question.deployment.steps.slice(0, 1) };
    return new Promise((resolve) => {
      let answer: T | Refused | null = null;
      const budget = new MessageBudget();
      const options = {
        deployment,
        memoryMb: LIMITS.memoryMb,
        env,
        workdirs: this.#workdirs,
        isolation: this.#isolation,
        mode: 'describe',
        ask,
      } as const;
      const late = setTimeout(() => {
        answer ??= refused(
          ask ? `No answer after ${withinMs} ms` : `The code had not been loaded after ${withinMs} ms`,
          '',
        );
        link.kill();
      }, withinMs);
      const link = new ChildLink(options, {
        onMessage: (message, take) => {
          if (answer !== null) return;
          answer = message.t === 'broken' ? brokenBy(message, deployment) : read(message, take);
          if (answer === null && message.t !== 'stray') throw new TypeError('no answer');
          if (answer === null) budget.count(message.t, false);
          if (answer !== null) link.kill();
        },
        onDeath: (death, removed) => {
          clearTimeout(late);
          void removed.then(() => {
            links.delete(link);
            for (const next of this.#ended.splice(0)) next();
            resolve(answer ?? refused(whyDead(death, ask !== undefined), ''));
          });
        },
      });
      links.add(link);
    });
  }

  #oneEnded(): Promise<void> {
    return new Promise((resolve) => this.#ended.push(resolve));
  }
}

function brokenBy(message: Message, deployment: Deployment): Refused {
  const { msg, stack } = readBroken(message.fault, deployment);
  return refused(msg, stack);
}

/** Nobody awaits what threw it, and so nobody would answer. */
function strayIn(message: Message): Refused | null {
  return message.t === 'stray' ? refused(text(message.msg, LIMITS.messageBytes), '') : null;
}

function refused(message: string, stack: string): Refused {
  return { ok: false, message, stack };
}

function whyDead({ kind, code, signal, detail }: Death, isAsked: boolean): string {
  const doing = isAsked ? 'while it was asked' : 'while loading the code';
  if (kind === 'start') return `The process could not be started: ${detail}`;
  if (kind === 'memory')
    return `The code used more than ${LIMITS.memoryMb} MB of memory ${isAsked ? doing : 'while it was loaded'}`;
  if (kind === 'garbage' && isAsked) return `The answer cannot be taken: ${detail}`;
  return `The process ended ${doing} (${signal ?? `exit code ${code}`})`;
}
