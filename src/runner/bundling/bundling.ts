// Bundles in a separate process, which is started on first use, ended when it is idle, and started again after a crash.
//
//   waiting ──free──▶ under way ──answered──▶ done
//      ▲                  │ the process died
//      └──once more, alone┴──again──▶ refused
//
// The next bundle is one of the owner that has the fewest under way: a thousand of one owner hold up no other for longer than
// one bundle takes.
//
// A crash ends every bundle that is under way, and does not tell which one caused it. So each of them is retried once
// with no other beside it. A bundle that ends the process alone is refused, with the limit that it met. A bundle that
// took too long is known, and is not retried.

import { stat } from 'node:fs/promises';
import { LIMITS, SECOND_MS } from '../../domain/limits.ts';
import { countOf, nextInTurn } from '../../domain/owners/turns.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { Log } from '../../ports.ts';
import type { Cgroups } from '../isolation/cgroups.ts';
import { KERNEL_MB } from '../isolation/limited.ts';
import type { Bundled, StepSource } from './bundle.ts';
import type { BundledFile, ServerPackages, WorkflowFile } from './bundle-file.ts';
import { NONE_OUTSIDE, type PackageFolders } from './outside.ts';
import { type BundlerDeath, type BundlerLimits, BundlerProcess } from './process.ts';
import type { BundleRequest, BundleResponse } from './protocol.ts';
import { type BundlerIsolation, startBundler } from './start.ts';

const BYTES_PER_MB = 1024 * 1024;
const IDLE_MS = 30 * SECOND_MS;
const WAITING_PER_OWNER = LIMITS.bundlesWaiting / 4;
/** How often the process is started again while it cannot be started, even when no bundle waits. */
const PROBE_MS = 10 * SECOND_MS;

export interface BundlingOptions extends BundlerIsolation {
  readonly log: Log;
  readonly limits?: BundlerLimits;
  /** Limits of the system, where the server may set them. */
  readonly cgroups?: Cgroups | null;
  readonly start?: typeof startBundler;
  /** How long the process may be idle before it ends. */
  readonly idleMs?: number | undefined;
}

/** What a step is bundled for. */
export interface BundledFor {
  readonly outside?: PackageFolders;
  /** Left out: the server itself. */
  readonly ownerId?: string;
}

interface PendingBundle {
  readonly id: number;
  readonly ownerId: string;
  readonly request: BundleRequest;
  readonly settle: (answer: BundleResponse) => void;
  readonly fail: (refusal: Refusal) => void;
  isRetriedAlone: boolean;
}

export class Bundling {
  readonly #options: BundlingOptions;
  readonly #waiting: PendingBundle[] = [];
  readonly #underWay = new Map<number, PendingBundle>();
  #isolation: BundlerIsolation;
  #process: BundlerProcess | null = null;
  #isReady = false;
  #stamp = '';
  #lastId = 0;
  #idle: NodeJS.Timeout | undefined;
  #probing: NodeJS.Timeout | undefined;
  #problem: string | null = null;
  #isStopped = false;

  constructor(options: BundlingOptions) {
    this.#options = options;
    this.#isolation = options;
  }

  /** Returns the reason why nothing can be bundled; null: no problem is known. */
  get problem(): string | null {
    return this.#problem;
  }

  /** Returns the process's id, for tests. */
  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** Bundles one step. Rejects with `Refusal` (unavailable) when nothing can be bundled now. */
  async bundleStep(source: StepSource, packagesDir: string | null, of: BundledFor = {}): Promise<Bundled> {
    const { outside = NONE_OUTSIDE, ownerId = SERVER } = of;
    const file = 'path' in source ? source.path : `${source.namespace}.ts`;
    return (await this.#enqueue({ kind: 'step', source, packagesDir, outside }, { file, ownerId })) as Bundled;
  }

  /** Bundles a workflow file. Rejects with `Refusal` (unavailable) when nothing can be bundled now. */
  async bundleFile(
    file: WorkflowFile,
    packages: ServerPackages = { dir: null, outside: NONE_OUTSIDE },
  ): Promise<BundledFile> {
    const of = { file: file.path, ownerId: SERVER };
    const answer = (await this.#enqueue({ kind: 'file', file, packages }, of)) as
      | BundledFile
      | Extract<Bundled, { ok: false }>;
    return 'kind' in answer ? answer : { kind: 'broken', problems: answer.problems };
  }

  /** Starts the process ahead of a first bundle; it ends when it stays idle. */
  async prepare(): Promise<void> {
    const stamp = await this.#stampOfRoots();
    if (this.#isStopped || this.#process !== null) return;
    this.#stamp = stamp;
    this.#process = this.#start();
    this.#fill();
  }

  /** Refuses what is under way and ends the process. May be called twice. */
  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#idle);
    clearTimeout(this.#probing);
    this.#process?.kill();
    for (const pending of [...this.#underWay.values(), ...this.#waiting.splice(0)]) pending.fail(STOPPING);
    this.#underWay.clear();
  }

  async #enqueue(
    request: BundleRequest,
    { file, ownerId }: { readonly file: string; readonly ownerId: string },
  ): Promise<BundleResponse> {
    const stamp = await this.#stampOfRoots();
    if (this.#isStopped) throw STOPPING;
    if (this.#waiting.length >= LIMITS.bundlesWaiting) {
      throw new Refusal('unavailable', `${LIMITS.bundlesWaiting} bundles wait already, and there may be no more`);
    }
    if (countOf(this.#waiting, ownerId) >= WAITING_PER_OWNER) {
      throw new Refusal('unavailable', `${WAITING_PER_OWNER} bundles of yours wait already`);
    }
    // A folder that replaced another one at the same path is not the folder that the process was given.
    if (stamp !== this.#stamp && this.#underWay.size === 0) this.#release();
    if (this.#process === null) this.#stamp = stamp;
    return await new Promise((resolve, reject) => {
      const settle = (answer: BundleResponse): void =>
        resolve(isLimit(answer) ? problemIn(file, answer.limit) : answer);
      this.#waiting.push({ id: ++this.#lastId, ownerId, request, settle, fail: reject, isRetriedAlone: false });
      this.#fill();
    });
  }

  async #stampOfRoots(): Promise<string> {
    const found = (this.#options.roots ?? []).map((root) => stat(root).catch(() => null));
    return (await Promise.all(found)).map((one) => (one === null ? '' : `${one.dev}:${one.ino}`)).join();
  }

  #fill(): void {
    clearTimeout(this.#idle);
    if (this.#waiting.length > 0) this.#process ??= this.#start();
    for (let next = this.#next(); this.#isReady && next !== undefined; next = this.#next()) {
      const [other] = this.#underWay.values();
      if (this.#underWay.size >= LIMITS.bundlesAtOnce || other?.isRetriedAlone || (next.isRetriedAlone && other))
        return;
      this.#waiting.splice(this.#waiting.indexOf(next), 1);
      this.#underWay.set(next.id, next);
      this.#process?.send(next.id, next.request);
    }
    if (this.#underWay.size + this.#waiting.length === 0)
      this.#idle = setTimeout(() => this.#release(), this.#options.idleMs ?? IDLE_MS).unref();
  }

  /** Returns the first bundle that is made once more, else the first one of the owner that has the fewest under way. */
  #next(): PendingBundle | undefined {
    const [first] = this.#waiting;
    if (first?.isRetriedAlone) return first;
    return nextInTurn(this.#waiting, (ownerId) => countOf(this.#underWay.values(), ownerId));
  }

  #start(): BundlerProcess {
    const { start = startBundler, limits = LIMITS, cgroups } = this.#options;
    this.#isReady = false;
    const memoryBytes = (limits.bundlerMemoryMb + KERNEL_MB) * BYTES_PER_MB;
    const group = cgroups?.make({ memoryBytes }) ?? null;
    const started: BundlerProcess = new BundlerProcess(
      start(this.#isolation),
      { ...limits, group },
      {
        onReady: () => {
          if (this.#process !== started) return;
          this.#isReady = true;
          this.#setProblem(null);
          this.#fill();
        },
        onAnswer: (id, answer) => {
          const pending = this.#underWay.get(id);
          this.#underWay.delete(id);
          pending?.settle(answer);
          this.#fill();
        },
        onDeath: (death) => {
          if (this.#process === started) this.#onDeath(death);
        },
      },
    );
    return started;
  }

  /** Ends the idle process; its end is not logged. */
  #release(): void {
    const process = this.#process;
    this.#process = null;
    process?.kill();
  }

  #onDeath(death: BundlerDeath): void {
    const wasReady = this.#isReady;
    const interrupted = [...this.#underWay.values()];
    this.#process = null;
    this.#isReady = false;
    this.#underWay.clear();
    if (this.#isStopped) return;
    const { kind, code, signal, detail } = death;
    if (kind === 'closed' && this.#isolation.user !== null) {
      this.#isolation = { ...this.#isolation, user: null };
      this.#options.log.warn({ detail }, 'bundler.other_user_cannot_read');
      this.#fill();
      return;
    }
    this.#options.log.warn(
      { kind, code, signal, lost: interrupted.length, detail: firstLine(detail) },
      'bundler.process_died',
    );
    if (!wasReady) {
      this.#onFailedStart(death);
      return;
    }
    for (const pending of interrupted.reverse()) this.#afterDeath(pending, death);
    this.#fill();
  }

  #afterDeath(pending: PendingBundle, { kind, lateId }: BundlerDeath): void {
    if (pending.id === lateId) pending.settle({ limit: this.#limitMet('late') });
    else if (!pending.isRetriedAlone) {
      pending.isRetriedAlone = true;
      this.#waiting.unshift(pending);
    } else if (kind === 'memory') pending.settle({ limit: this.#limitMet('memory') });
    else
      pending.fail(
        new Refusal('unavailable', 'The process that bundles ended twice with this code; the log says more'),
      );
  }

  #limitMet(kind: 'late' | 'memory'): string {
    const { bundleMs, bundlerMemoryMb } = this.#options.limits ?? LIMITS;
    const limit = kind === 'late' ? `${bundleMs / SECOND_MS} seconds` : `${bundlerMemoryMb} MB of memory`;
    return `bundling took more than the ${limit} that it may take: import less, or use "errand deploy", which bundles where it is called`;
  }

  #onFailedStart({ detail, code, signal }: BundlerDeath): void {
    this.#setProblem(firstLine(detail) || `it ended with ${signal ?? `code ${code}`}`);
    for (const pending of this.#waiting.splice(0)) {
      pending.fail(new Refusal('unavailable', 'The process that bundles cannot be started; the log says why'));
    }
  }

  /** Sets or clears the problem. While the process cannot be started, it is started again from time to time. */
  #setProblem(problem: string | null): void {
    this.#problem = problem;
    clearTimeout(this.#probing);
    if (problem === null || this.#isStopped) return;
    this.#probing = setTimeout(() => {
      this.#process ??= this.#start();
    }, PROBE_MS).unref();
  }
}

/** Stands for the owner of what is not bundled for one. */
const SERVER = '';

const STOPPING = new Refusal('unavailable', 'This process is stopping');

interface LimitMet {
  readonly limit: string;
}

function isLimit(answer: BundleResponse): answer is LimitMet {
  return 'limit' in answer;
}

function problemIn(file: string, text: string): Bundled {
  return { ok: false, problems: [{ file, line: 1, column: 1, text }] };
}

/** Returns the line that names the error, else the first one: a process that runs out of memory writes a hundred lines. */
function firstLine(text: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return (lines.find((line) => /^(Uncaught )?\w*Error\b/.test(line)) ?? lines[0] ?? '').slice(0, 300);
}
