// The runner. One warm process per deployment, or for sources of the same code (process-keys.ts), started on first use
// or at the deployment (warm-ups.ts); a process of its own for a run that is `alone`. process-slots.ts bounds how many
// there are, and shares them among owners. A run that still waits at its timeout is returned without an attempt.

import { availableParallelism } from 'node:os';
import type { Deployment } from '../../domain/resource.ts';
import type { RunOutcome } from '../../domain/run/run.ts';
import type { Clock, Log } from '../../ports.ts';
import type { Cgroups } from '../isolation/cgroups.ts';
import type { Isolation, IsolationSettings, OpenEgress } from '../isolation/isolation.ts';
import { Jails } from '../isolation/jail.ts';
import { LimitedByCgroups } from '../isolation/limited.ts';
import { testIsolation } from '../isolation/self-test.ts';
import { PlainProcesses } from '../isolation/spawn.ts';
import { Workdirs } from '../isolation/workdir.ts';
import { ComponentInspector } from '../process/component-inspector.ts';
import { DescriptionCache } from '../process/description-cache.ts';
import { MessageThrottle } from '../process/message-throttle.ts';
import { CANCELLED, RETURNED, RunInFlight } from '../process/run-in-flight.ts';
import { RunProcess } from '../process/run-process.ts';
import type {
  ComponentQuery,
  ComponentQueryResult,
  DescribeResult,
  LateFailure,
  QuerySurroundings,
  Runner,
  RunnerStats,
  RunnerUse,
  RunRequest,
} from '../runner.ts';
import { CpuUse } from './cpu-use.ts';
import { defaultPoolMb } from './memory.ts';
import { Priorities } from './priority.ts';
import { ProcessKeys, type ProcessSettings } from './process-keys.ts';
import { ProcessMonitor } from './process-monitor.ts';
import { ProcessSlots, type RunQuotas } from './process-slots.ts';
import { Standstill, type StandstillMeter } from './standstill.ts';
import { WarmUps } from './warm-ups.ts';

export interface RunnerOptions {
  readonly log: Log;
  readonly clock: Clock;
  /** A folder of the runner's own; what a killed server left there is deleted. */
  readonly tmpDir: string;
  readonly isolation: IsolationSettings;
  /** Limits of the system, where the server may set them. */
  readonly cgroups?: Cgroups | null;
  /** Required for Errand's own components, and where code reaches only public addresses. */
  readonly openEgress?: OpenEgress | undefined;
  /** All processes, idle ones included. */
  readonly maxProcesses?: number;
  /** Processes that work at a time. */
  readonly maxAwake?: number;
  /** What one owner may use; null: no bound. */
  readonly quotasOf?: (ownerId: string) => RunQuotas;
  /** What all processes may use together: beyond it, idle ones end. */
  readonly poolMb?: number;
  /** How long a process may be idle before it ends. */
  readonly idleMs?: number;
  /** How long a process may take to answer before it is killed, of the time in which it can (answer-time.ts). */
  readonly graceMs?: number;
  /** How long the code of a component may take to load before it is refused, of the same time. */
  readonly loadMs?: number;
  /** How long a process fails the runs of code that could not be loaded: loading the code again costs 60 ms of CPU. */
  readonly brokenMs?: number;
  /** For large messages of one owner, while other owners are active. */
  readonly largeBytesPerSecond?: number;
  /** Called with the first exception of a run that has ended. */
  readonly onLate?: (late: LateFailure) => void;
  /** Time that counts for no run's timeout. */
  readonly standstill?: StandstillMeter;
}

/** At most; memory bounds the actual number. Each process takes three descriptors of the server. */
const MAX_PROCESSES = 256;
/** On any machine: most code waits for other services most of its time. */
const LEAST_AWAKE = 16;
const AWAKE_PER_CORE = 4;
const IDLE_MS = 5 * 60_000;
const GRACE_MS = 300;
const BROKEN_MS = 10_000;
/** A busy process keeps its slot at least so long; with less, the machine would mainly start processes. */
const TURN_MS = 1000;
/** How often a run past its time is looked at whose process is starting. */
const STARTING_MS = 100;
const NO_QUOTAS: RunQuotas = { processes: null, cpuSecondsPerMinute: null, isFull: false };

export interface ProcessRunner extends Runner {
  /**
   * Starts a process that does nothing. Returns null when that works here, otherwise the reason and what to do about
   * it.
   */
  selfTest(): Promise<string | null>;
}

/** Creates the runner. Throws when its folder is not the server's own, or is out of reach for the user of the code. */
export function createRunner(options: RunnerOptions): ProcessRunner {
  return new Pool(options);
}

type Env = Readonly<Record<string, string>>;

class Pool implements ProcessRunner {
  readonly #options: RunnerOptions & { readonly graceMs: number; readonly brokenMs: number };
  readonly #workdirs: Workdirs;
  readonly #isolation: Isolation;
  readonly #inspector: ComponentInspector;
  readonly #described = new DescriptionCache();
  readonly #runs = new Map<number, RunInFlight>();
  readonly #processKeys = new ProcessKeys();
  readonly #cpuUse = new CpuUse();
  readonly #priorities = new Priorities();
  readonly #standstill: StandstillMeter;
  readonly #throttle: MessageThrottle;
  readonly #slots: ProcessSlots<RunProcess>;
  readonly #monitor: ProcessMonitor;
  readonly #warmUps = new WarmUps({
    start: (key, settings) =>
      this.#slots.hasRoomFor(key, settings, this.#warmUps.waiting) ? this.#slots.openFor(key, settings) : null,
  });
  #stopping = false;
  #onEmpty: (() => void)[] = [];

  constructor(options: RunnerOptions) {
    this.#options = { graceMs: GRACE_MS, brokenMs: BROKEN_MS, ...options };
    this.#standstill = options.standstill ?? new Standstill();
    this.#throttle = new MessageThrottle({
      nowMs: () => performance.now(),
      bytesPerSecond: options.largeBytesPerSecond,
    });
    const {
      isolation,
      tmpDir,
      openEgress,
      maxProcesses = MAX_PROCESSES,
      quotasOf = () => NO_QUOTAS,
      cgroups,
    } = options;
    this.#workdirs = new Workdirs(tmpDir, isolation.user, isolation);
    const kept =
      isolation.level === 'jail' ? new Jails(isolation, openEgress) : new PlainProcesses(isolation, openEgress);
    this.#isolation = cgroups ? new LimitedByCgroups(kept, cgroups, isolation) : kept;
    this.#inspector = new ComponentInspector(this.#workdirs, this.#isolation, options);
    const bounds = {
      maxProcesses,
      maxAwake: Math.min(
        maxProcesses,
        options.maxAwake ?? Math.max(LEAST_AWAKE, AWAKE_PER_CORE * availableParallelism()),
      ),
      poolMb: options.poolMb ?? defaultPoolMb(),
      maxLoading: availableParallelism(),
      turnMs: TURN_MS,
    };
    const cpuUse = this.#cpuUse;
    const create = (key: string, settings: ProcessSettings): RunProcess => this.#createProcess(key, settings);
    const throttle = this.#throttle;
    this.#slots = new ProcessSlots({ bounds, quotasOf, cpuUse, throttle, create, nowMs: () => performance.now() });
    this.#monitor = new ProcessMonitor(this.#slots, {
      ...bounds,
      idleMs: options.idleMs ?? IDLE_MS,
      inspector: this.#inspector,
    });
    this.#workdirs.sweep().catch((error: unknown) => {
      options.log.warn({ dir: options.tmpDir, error: String(error) }, 'runner.sweep_failed');
    });
  }

  run(request: RunRequest): Promise<RunOutcome> {
    if (this.#stopping) return Promise.resolve(RETURNED);
    const { ownerId } = request.deployment;
    return new Promise((resolve) => {
      const run = new RunInFlight(request, this.#options.clock.nowMs(), (outcome) => {
        this.#runs.delete(request.run);
        if (this.#runs.size === 0) this.#standstill.rest();
        this.#processKeys.ended(run, outcome);
        resolve(outcome);
        this.#slots.ended(run);
        this.#throttle.active(ownerId);
      });
      this.#throttle.active(ownerId);
      run.key = this.#processKeys.keyOf(request);
      run.aheadMs = aheadOfMachine(this.#options.clock);
      this.#runs.set(request.run, run);
      this.#standstill.watch();
      this.#awaitTimeout(run, request.timeoutMs);
      this.#slots.start(run);
    });
  }

  runsBeside(request: RunRequest): number | null {
    return this.#slots.runsBeside(this.#processKeys.keyOf(request), request);
  }

  describe(deployment: Deployment, env: Env = {}): Promise<DescribeResult> {
    return this.#described.get(deployment, env, () => this.#inspector.describe(deployment, env));
  }

  queryComponent(
    deployment: Deployment,
    query: ComponentQuery,
    surroundings: QuerySurroundings = {},
  ): Promise<ComponentQueryResult> {
    return this.#inspector.query(deployment, query, surroundings);
  }

  warm(deployment: Deployment, memoryMb: number, env: Env): void {
    const settings = { deployment, memoryMb, env };
    const key = this.#processKeys.keyOf(settings);
    if (this.#slots.hasRoomFor(key, settings, this.#warmUps.waiting)) this.#warmUps.add(key, settings);
  }

  cancel(id: number): boolean {
    const run = this.#runs.get(id);
    if (run !== undefined) this.#stopRun(run, 'cancelled');
    return run !== undefined;
  }

  retire(deploymentId: string): boolean {
    this.#warmUps.drop(deploymentId);
    return this.#slots.retire(deploymentId);
  }

  async stop(graceMs: number): Promise<void> {
    this.#stopping = true;
    this.#warmUps.dropAll();
    const { all } = this.#slots;
    for (const run of this.#slots.close()) run.end(RETURNED);
    for (const process of all) process.drain();
    this.#throttle.close();
    const cut = setTimeout(() => {
      for (const process of all) process.abandon();
    }, graceMs);
    await Promise.all([this.#inspector.stop(), this.#empty()]);
    clearTimeout(cut);
    this.#monitor.stop();
    this.#workdirs.close();
  }

  selfTest(): Promise<string | null> {
    return testIsolation({ workdirs: this.#workdirs, isolation: this.#isolation, settings: this.#options.isolation });
  }

  stats(): RunnerStats {
    return { processes: this.#slots.all.size, inFlight: this.#runs.size };
  }

  useOf(owner: string): RunnerUse {
    const processes = [...this.#slots.all].filter(({ ownerId }) => ownerId === owner).length;
    return { processes, cpuMs: this.#cpuUse.usedMs(owner, performance.now()) };
  }

  #createProcess(key: string, { deployment, memoryMb, env }: ProcessSettings): RunProcess {
    const { clock, log, graceMs, brokenMs, onLate } = this.#options;
    const process: RunProcess = new RunProcess({
      deployment,
      key,
      memoryMb,
      env,
      workdirs: this.#workdirs,
      isolation: this.#isolation,
      priorities: this.#priorities,
      throttle: this.#throttle,
      clock,
      log,
      graceMs,
      brokenMs,
      onLate,
      onBegun: (run) => this.#onBegun(run),
      onUp: (run) => this.#awaitTimeout(run, run.request.timeoutMs),
      onFree: () => this.#slots.serve(),
      onEndedEarly: () => this.#slots.endedEarly(process),
      onGone: () => this.#onGone(process),
    });
    return process;
  }

  #onBegun(run: RunInFlight): void {
    this.#awaitTimeout(run, run.request.timeoutMs);
    run.request.onBegun?.();
  }

  #onGone(process: RunProcess): void {
    this.#slots.gone(process);
    if (this.#slots.all.size > 0) return;
    for (const done of this.#onEmpty.splice(0)) done();
  }

  /** Stops the run after so many ms in which this process ran, and its own one was up. */
  #awaitTimeout(run: RunInFlight, afterMs: number): void {
    const beforeMs = this.#standstill.totalMs();
    run.setTimer(afterMs, () => {
      const stoodMs = this.#standstill.totalMs() - beforeMs;
      if (stoodMs > 0) this.#awaitTimeout(run, stoodMs);
      else if (run.isStarting) this.#awaitTimeout(run, STARTING_MS);
      else this.#stopRun(run, 'timeout');
    });
  }

  #stopRun(run: RunInFlight, why: 'timeout' | 'cancelled'): void {
    const process = this.#slots.processOf(run);
    if (process !== undefined) process.halt(run, why);
    else if (this.#slots.remove(run)) run.end(why === 'timeout' ? RETURNED : CANCELLED);
  }

  #empty(): Promise<void> {
    if (this.#slots.all.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#onEmpty.push(resolve));
  }
}

/** A smaller difference is the time between the two readings. */
const SAME_MS = 1000;

function aheadOfMachine(clock: Clock): number {
  const aheadMs = clock.nowMs() - Date.now();
  return Math.abs(aheadMs) < SAME_MS ? 0 : aheadMs;
}
