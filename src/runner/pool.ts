// The runner: which process a run goes to, and how many there are.
//
// One warm process per deployment, or for sources of the same code (sharing.ts), started on first use or when it is
// deployed (warm-ups.ts); a process to itself for a run that is `alone`. At most `maxProcesses`: beyond that the one that has
// been idle longest makes room, and when all are busy, the one that has lived longest takes no more runs and makes room when
// its last has ended. A run that still waits when its time is up goes back untried. (Rejected: going beyond the bound when
// all are busy. Each process may grow to its memory limit.)

import type { Deployment } from '../domain/resource.ts';
import type { RunOutcome } from '../domain/run.ts';
import type { Clock, Log } from '../ports.ts';
import { Backlog } from './backlog.ts';
import { CPU_LOOK_MS } from './cpu.ts';
import { DescribedBefore } from './described.ts';
import { Describer } from './describer.ts';
import { CANCELLED, Flight, RETURNED } from './flight.ts';
import type { Isolation, IsolationSettings, OpenOutlet } from './isolation.ts';
import { Jails } from './jail.ts';
import { defaultPoolMb, MEMORY_LOOK_MS } from './memory.ts';
import { RunProcess } from './run-process.ts';
import type { Ask, Described, Runner, RunnerStats, RunRequest, Told } from './runner.ts';
import { type Placed, Sharing } from './sharing.ts';
import { PlainProcesses } from './spawn.ts';
import { tryOut } from './trial.ts';
import { Waiting } from './waiting.ts';
import { WarmUps } from './warm-ups.ts';
import { Workdirs } from './workdir.ts';

export interface RunnerOptions {
  readonly log: Log;
  readonly clock: Clock;
  /** A folder of the runner's own; what a killed server left there is cleared away. */
  readonly tmpDir: string;
  readonly isolation: IsolationSettings;
  /** Needed for jails that reach public addresses. */
  readonly openOutlet?: OpenOutlet | undefined;
  readonly maxProcesses?: number;
  /** What all processes may use together: beyond it, those leave that run nothing. */
  readonly poolMb?: number;
  /** A process that has had no run for so long is ended. */
  readonly idleMs?: number;
  /** How long a process may take to answer before it is killed; at most 900, or runs settle later than promised. */
  readonly graceMs?: number;
  /** Code that could not be loaded fails its runs for so long from the same process: loading anew costs 60 ms of CPU. */
  readonly brokenMs?: number;
}

const MAX_PROCESSES = 16;
const IDLE_MS = 5 * 60_000;
const GRACE_MS = 300;
const BROKEN_MS = 10_000;
/** Of all places, those that may be taken ahead of a first run; at least one. The others are free for runs that come. */
const UNUSED_SHARE = 1 / 2;
/** What a process takes at least that has loaded its code (docs/isolation.md). */
const LOADED_MB = 13;
/** A busy process keeps its place for at least so long; less, and starting processes is all that happens. */
const TURN_MS = 1000;

export interface ProcessRunner extends Runner {
  /** Starts a process that does nothing. Null when that works here, else why not and what to do about it. */
  trial(): Promise<string | null>;
}

/** Throws when its folder is not the server's own, or not within reach of who the code runs as. */
export function createRunner(options: RunnerOptions): ProcessRunner {
  return new Pool(options);
}

type Env = Readonly<Record<string, string>>;

class Pool implements ProcessRunner {
  readonly #options: Required<Omit<RunnerOptions, 'openOutlet'>>;
  readonly #workdirs: Workdirs;
  readonly #isolation: Isolation;
  readonly #describer: Describer;
  readonly #described = new DescribedBefore();
  readonly #sweep: NodeJS.Timeout;
  readonly #memoryLook: NodeJS.Timeout;
  readonly #cpuLook: NodeJS.Timeout;
  readonly #flights = new Map<number, Flight>();
  /** In which process a flight is; none: it waits. */
  readonly #places = new Map<Flight, RunProcess>();
  readonly #waiting = new Waiting();
  readonly #backlog = new Backlog();
  /** All that exist, also those that are ending. */
  readonly #processes = new Set<RunProcess>();
  readonly #sharing = new Sharing();
  /** By key: the one that takes the runs that have it. */
  readonly #open = new Map<string, RunProcess>();
  readonly #warmUps = new WarmUps({
    start: (key, placed) => (this.#hasRoomFor(key) ? this.#openFor(key, placed) : null),
  });
  #turn: NodeJS.Timeout | undefined;
  #stopping = false;
  #onEmpty: (() => void)[] = [];

  constructor(options: RunnerOptions) {
    this.#options = {
      maxProcesses: MAX_PROCESSES,
      poolMb: defaultPoolMb(),
      idleMs: IDLE_MS,
      graceMs: GRACE_MS,
      brokenMs: BROKEN_MS,
      ...options,
    };
    const { isolation, tmpDir, openOutlet } = options;
    this.#workdirs = new Workdirs(tmpDir, isolation.user);
    this.#isolation =
      isolation.level === 'jail' ? new Jails(isolation, openOutlet) : new PlainProcesses(isolation.user);
    this.#describer = new Describer(this.#workdirs, this.#isolation);
    this.#sweep = setInterval(() => this.#endIdle(), this.#options.idleMs / 2).unref();
    this.#memoryLook = setInterval(() => this.#lookAtMemory(), MEMORY_LOOK_MS).unref();
    this.#cpuLook = setInterval(() => {
      for (const process of this.#processes) process.lookAtCpu();
    }, CPU_LOOK_MS).unref();
    this.#workdirs.sweep().catch((error: unknown) => {
      options.log.warn({ dir: options.tmpDir, error: String(error) }, 'runner.sweep_failed');
    });
  }

  run(request: RunRequest): Promise<RunOutcome> {
    if (this.#stopping) return Promise.resolve(RETURNED);
    return new Promise((resolve) => {
      const flight = new Flight(request, this.#options.clock.nowMs(), (outcome) => {
        this.#flights.delete(request.run);
        this.#places.delete(flight);
        this.#sharing.ended(flight, outcome);
        resolve(outcome);
        this.#startNext(flight.key);
      });
      flight.key = this.#sharing.keyOf(request);
      flight.aheadMs = aheadOfMachine(this.#options.clock);
      this.#flights.set(request.run, flight);
      flight.setTimer(request.timeoutMs, () => this.#stopFlight(flight, 'timeout'));
      this.#placeOrWait(flight);
    });
  }

  describe(deployment: Deployment, env: Env = {}): Promise<Described> {
    return this.#described.get(deployment, env, () => this.#describer.describe(deployment, env));
  }

  ask(deployment: Deployment, ask: Ask, env: Env = {}): Promise<Told> {
    return this.#describer.ask(deployment, ask, env);
  }

  warm(deployment: Deployment, memoryMb: number, env: Env): void {
    const placed = { deployment, memoryMb, env };
    const key = this.#sharing.keyOf(placed);
    if (this.#hasRoomFor(key)) this.#warmUps.add(key, placed);
  }

  cancel(run: number): boolean {
    const flight = this.#flights.get(run);
    if (flight !== undefined) this.#stopFlight(flight, 'cancelled');
    return flight !== undefined;
  }

  retire(deploymentId: string): boolean {
    this.#warmUps.drop(deploymentId);
    const before = this.#open.size;
    for (const [key, process] of this.#open) if (process.retire(deploymentId)) this.#open.delete(key);
    return this.#open.size < before;
  }

  async stop(graceMs: number): Promise<void> {
    this.#stopping = true;
    this.#warmUps.dropAll();
    clearInterval(this.#sweep);
    clearTimeout(this.#turn);
    while (this.#waiting.processes > 0) for (const flight of this.#waiting.take()) flight.end(RETURNED);
    for (const flight of this.#backlog.takeAll()) flight.end(RETURNED);
    for (const process of this.#processes) process.drain();
    const cut = setTimeout(() => {
      for (const process of this.#processes) process.abandon();
    }, graceMs);
    await Promise.all([this.#describer.stop(), this.#empty()]);
    clearTimeout(cut);
    clearInterval(this.#memoryLook);
    clearInterval(this.#cpuLook);
    this.#workdirs.close();
  }

  trial(): Promise<string | null> {
    return tryOut({ workdirs: this.#workdirs, isolation: this.#isolation, settings: this.#options.isolation });
  }

  stats(): RunnerStats {
    return { processes: this.#processes.size, inFlight: this.#flights.size };
  }

  #placeOrWait(flight: Flight): void {
    if (this.#place(flight)) return;
    this.#waiting.add(flight);
    this.#makeRoom();
  }

  /** A run has ended, maybe in a process that others wait for. */
  #startNext(key: string): void {
    if (this.#stopping || this.#open.get(key)?.isFull) return;
    const next = this.#backlog.take(key);
    if (next !== undefined) this.#placeOrWait(next);
  }

  /** False when it must wait for a process. */
  #place(flight: Flight): boolean {
    const { alone } = flight.request;
    const open = alone ? undefined : this.#open.get(flight.key);
    if (open?.takesRuns && open.fits(flight.request)) {
      if (open.isFull) this.#backlog.add(flight);
      else this.#startIn(open, flight);
      return true;
    }
    open?.drain();
    if (this.#processes.size >= this.#options.maxProcesses) return false;
    const process = alone ? this.#startProcess(flight.key, flight.request) : this.#openFor(flight.key, flight.request);
    this.#startIn(process, flight);
    if (alone) process.drain();
    return true;
  }

  #startIn(process: RunProcess, flight: Flight): void {
    this.#places.set(flight, process);
    process.start(flight);
  }

  /** For a process that nobody waits for: it takes no place, and no memory, for which another one would have to leave. */
  #hasRoomFor(key: string): boolean {
    const { maxProcesses, poolMb } = this.#options;
    if (this.#stopping || this.#open.has(key)) return false;
    const all = [...this.#processes];
    const unused = all.filter(({ isUnused }) => isUnused).length + this.#warmUps.waiting;
    if (unused >= Math.max(1, Math.floor(maxProcesses * UNUSED_SHARE))) return false;
    const usedMb = all.reduce((sum, process) => sum + Math.max(process.usedMb, LOADED_MB), 0);
    return all.length + this.#warmUps.waiting < maxProcesses && usedMb + LOADED_MB <= poolMb;
  }

  #openFor(key: string, placed: Placed): RunProcess {
    const process = this.#startProcess(key, placed);
    this.#open.set(key, process);
    return process;
  }

  #startProcess(key: string, { deployment, memoryMb, env }: Placed): RunProcess {
    const { clock, log, graceMs, brokenMs } = this.#options;
    const process = new RunProcess({
      deployment,
      key,
      memoryMb,
      env,
      workdirs: this.#workdirs,
      isolation: this.#isolation,
      clock,
      log,
      graceMs,
      brokenMs,
      onIdle: () => {
        if (this.#waiting.processes > 0) process.drain();
      },
      onGone: () => this.#onGone(process),
    });
    this.#processes.add(process);
    return process;
  }

  #onGone(process: RunProcess): void {
    this.#processes.delete(process);
    const { key } = process.options;
    if (this.#open.get(key) === process) this.#open.delete(key);
    while (this.#waiting.processes > 0 && this.#processes.size < this.#options.maxProcesses) {
      for (const flight of this.#waiting.take()) if (!this.#place(flight)) this.#waiting.add(flight);
    }
    if (this.#processes.size > 0) return;
    for (const done of this.#onEmpty.splice(0)) done();
  }

  #stopFlight(flight: Flight, why: 'timeout' | 'cancelled'): void {
    const process = this.#places.get(flight);
    if (process !== undefined) process.halt(flight, why);
    else if (this.#waiting.remove(flight) || this.#backlog.remove(flight))
      flight.end(why === 'timeout' ? RETURNED : CANCELLED);
  }

  /** As many processes leave as are waited for: idle ones at once, then busy ones that have had their turn. */
  #makeRoom(): void {
    const all = [...this.#processes];
    const staying = all.filter(({ takesRuns }) => takesRuns);
    const gone = all.filter(({ takesRuns, inFlight }) => !takesRuns && inFlight === 0).length;
    let missing = this.#waiting.processes - gone;
    for (const process of this.#idle()) if (missing-- > 0) process.drain();
    missing -= all.length - staying.length - gone;
    const had = performance.now() - TURN_MS;
    const busy = staying.filter(({ inFlight, bornAt }) => inFlight > 0 && bornAt < had);
    for (const process of busy.sort((a, b) => a.bornAt - b.bornAt)) if (missing-- > 0) process.drain();
    if (missing <= 0 || this.#turn !== undefined) return;
    this.#turn = setTimeout(() => {
      this.#turn = undefined;
      this.#makeRoom();
    }, TURN_MS);
  }

  #lookAtMemory(): void {
    for (const process of this.#processes) process.lookAtMemory();
    this.#describer.lookAtMemory();
    let overMb = -this.#options.poolMb;
    // Without those that are ending and about to give theirs back.
    for (const { usedMb, takesRuns, inFlight } of this.#processes) if (takesRuns || inFlight > 0) overMb += usedMb;
    if (overMb <= 0) return;
    for (const process of this.#idle()) {
      process.drain();
      overMb -= process.usedMb;
      if (overMb <= 0) return;
    }
  }

  /** Those that run nothing and could: the unused before the others, and then the one that has been idle longest. */
  #idle(): RunProcess[] {
    const idle = [...this.#processes].filter(({ takesRuns, inFlight }) => takesRuns && inFlight === 0);
    return idle.sort((a, b) => Number(b.isUnused) - Number(a.isUnused) || a.lastUsedAt - b.lastUsedAt);
  }

  #endIdle(): void {
    const since = performance.now() - this.#options.idleMs;
    for (const process of this.#processes) if (process.inFlight === 0 && process.lastUsedAt < since) process.drain();
  }

  #empty(): Promise<void> {
    if (this.#processes.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#onEmpty.push(resolve));
  }
}

/** Less than this is the time that it takes to ask, and not another time. */
const SAME_MS = 1000;

function aheadOfMachine(clock: Clock): number {
  const aheadMs = clock.nowMs() - Date.now();
  return Math.abs(aheadMs) < SAME_MS ? 0 : aheadMs;
}
