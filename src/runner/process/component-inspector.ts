// Loads a component in a process of its own to describe it, or to query its props; the process ends with the answer.

import { LIMITS } from '../../domain/limits.ts';
import type { Deployment } from '../../domain/resource.ts';
import type { Log } from '../../ports.ts';
import { QUERY_RUN } from '../child/protocol.ts';
import type { Isolation } from '../isolation/isolation.ts';
import type { Workdirs } from '../isolation/workdir.ts';
import { OwnerTurns } from '../pool/owner-turns.ts';
import type { ComponentQuery, ComponentQueryResult, DescribeResult, QuerySurroundings } from '../runner.ts';
import { afterAnswerTime } from './answer-time.ts';
import { ChildLink, type Death } from './child-link.ts';
import { childRequestsOf } from './child-requests.ts';
import { readBroken, readChildRequest, readQueryResult, readShape } from './inbound.ts';
import { text } from './inbound-values.ts';
import { MessageBudget } from './message-budget.ts';

const LOAD_MS = 10_000;
/** What a process without the CPU gets at most, in times of its limit: a caller waits for it. */
const MOST_LIMITS = 3;
/** Deploying a hundred sources at once waits a little, instead of starting a hundred processes. */
const DESCRIBED_AT_ONCE = 2;
/** Queries may wait for other services, so they have their own bound and delay no deployment. */
const QUERIES_AT_ONCE = 4;

type Message = Readonly<Record<string, unknown>>;
type Take = (bytes: unknown) => Buffer;
type Env = Readonly<Record<string, string>>;
type Refused = { readonly ok: false; readonly message: string; readonly stack: string };

/** Processes of one kind. */
interface Inspections {
  readonly links: Set<ChildLink>;
  readonly turns: OwnerTurns;
}

interface Inspection<T> {
  readonly deployment: Deployment;
  readonly env: Env;
  readonly query?: ComponentQuery;
  readonly onChildRequest?: QuerySurroundings['onChildRequest'];
  readonly withinMs: number;
  /** Returns the answer; null: the message has none. Throws to end the process. */
  readonly read: (message: Message, take: Take) => T | null;
}

interface InspectorOptions {
  readonly log: Log;
  /** How long code may take to load, of the time in which its process can (answer-time.ts). */
  readonly loadMs?: number;
}

export class ComponentInspector {
  readonly #workdirs: Workdirs;
  readonly #isolation: Isolation;
  readonly #log: Log;
  readonly #loadMs: number;
  readonly #describing: Inspections = { links: new Set(), turns: new OwnerTurns(DESCRIBED_AT_ONCE) };
  readonly #querying: Inspections = { links: new Set(), turns: new OwnerTurns(QUERIES_AT_ONCE) };
  #ended: (() => void)[] = [];
  #stopping = false;

  constructor(workdirs: Workdirs, isolation: Isolation, { log, loadMs = LOAD_MS }: InspectorOptions) {
    this.#workdirs = workdirs;
    this.#isolation = isolation;
    this.#log = log;
    this.#loadMs = loadMs;
  }

  async describe(deployment: Deployment, env: Env): Promise<DescribeResult> {
    await this.#describing.turns.begin(deployment.ownerId);
    const read = (message: Message): DescribeResult | null =>
      message.t === 'shape' ? { ok: true, shape: readShape(message.shape) } : null;
    return await this.#inspect(this.#describing, { deployment, env, withinMs: this.#loadMs, read });
  }

  async query(
    deployment: Deployment,
    query: ComponentQuery,
    { env = {}, onChildRequest }: QuerySurroundings,
  ): Promise<ComponentQueryResult> {
    await this.#querying.turns.begin(deployment.ownerId);
    const read = (message: Message, take: Take): ComponentQueryResult | null =>
      message.t === 'query-result'
        ? { ok: true, answer: readQueryResult(take(message.bytes)) }
        : strayException(message);
    const asked = { deployment, env, query, onChildRequest, withinMs: LIMITS.componentQueryMs, read };
    return await this.#inspect(this.#querying, asked);
  }

  sampleMemory(): void {
    for (const link of this.#links()) link.endIfOverMemory();
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    for (const link of this.#links()) link.kill();
    while (this.#links().length > 0) await this.#oneEnded();
  }

  #links(): ChildLink[] {
    return [...this.#describing.links, ...this.#querying.links];
  }

  /** Inspects, when it is the inspection's turn, and ends the turn. */
  #inspect<T extends object>({ links, turns }: Inspections, inspection: Inspection<T>): Promise<T | Refused> {
    const { ownerId } = inspection.deployment;
    if (this.#stopping) {
      turns.end(ownerId);
      return Promise.resolve(refused('The server is shutting down', ''));
    }
    const { env, query, onChildRequest, withinMs, read } = inspection;
    const deployment = { ...inspection.deployment, steps: inspection.deployment.steps.slice(0, 1) };
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
        query,
      } as const;
      const link = new ChildLink(options, {
        onMessage: (message, take) => {
          if (answer !== null) return;
          if (message.t === 'request' && query !== undefined) {
            const { id, request, bytes } = readChildRequest(message, take(message.bytes));
            return requests.add(id, request, bytes);
          }
          answer = message.t === 'broken' ? brokenBy(message, deployment) : read(message, take);
          if (answer === null && message.t !== 'stray') throw new TypeError('no answer');
          if (answer === null) budget.count(message.t, false);
          if (answer === null) return;
          requests.close();
          link.kill();
          // The end of the process, and its folder's, take 20 ms that no deployment waits for.
          resolve(answer);
        },
        onDeath: (death, removed) => {
          stopWaiting();
          requests.close();
          void removed.then(() => {
            links.delete(link);
            turns.end(ownerId);
            for (const next of this.#ended.splice(0)) next();
            resolve(answer ?? refused(whyDead(death, query !== undefined), ''));
          });
        },
      });
      const time = { graceMs: withinMs, pid: () => link.pid, mostGraces: MOST_LIMITS };
      const stopWaiting = afterAnswerTime(time, () => {
        answer ??= refused(
          query ? `No answer after ${withinMs} ms` : `The code had not been loaded after ${withinMs} ms`,
          '',
        );
        link.kill();
      });
      const requests = childRequestsOf({ run: QUERY_RUN, onChildRequest }, link, this.#log);
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

/** Returns the failure that a stray exception means: no code awaits what threw it, so no answer would come. */
function strayException(message: Message): Refused | null {
  return message.t === 'stray' ? refused(text(message.msg, LIMITS.messageBytes), '') : null;
}

function refused(message: string, stack: string): Refused {
  return { ok: false, message, stack };
}

function whyDead({ kind, code, signal, detail }: Death, isQuery: boolean): string {
  const doing = isQuery ? 'while it was asked' : 'while loading the code';
  if (kind === 'start') return `The process could not be started: ${detail}`;
  if (kind === 'memory')
    return `The code used more than ${LIMITS.memoryMb} MB of memory ${isQuery ? doing : 'while it was loaded'}`;
  if (kind === 'garbage' && detail !== '') {
    const what = isQuery ? 'The answer' : 'What the component says of itself';
    return `${what} cannot be taken: ${detail.replace(/^\w*Error: /, '')}`;
  }
  return `The process ended ${doing} (${signal ?? `exit code ${code}`})`;
}
