// The processes that run user code, and the runs that wait for one. fair-slots.ts decides which run is next. Decisions
// are made whenever a process has no more runs, is gone, is found asleep, or has had its turn; owners with the fewest
// working processes come first.

import { SECOND_MS } from '../../domain/limits.ts';
import type { Quotas } from '../../domain/quota.ts';
import type { MessageThrottle } from '../process/message-throttle.ts';
import type { RunInFlight } from '../process/run-in-flight.ts';
import type { RunRequest } from '../runner.ts';
import { Backlog } from './backlog.ts';
import { BUSY_CPU_SAMPLE_MS, CPU_SAMPLE_MS, START_CPU_MS } from './cpu.ts';
import type { CpuUse } from './cpu-use.ts';
import {
  type Admission,
  admit,
  type Bounds,
  countByOwner,
  isAwake,
  LOADED_MB,
  type ProcessState,
} from './fair-slots.ts';
import { greedy } from './priority.ts';
import type { ProcessSettings } from './process-keys.ts';
import { RestartBackoff } from './restart-backoff.ts';
import { type WaitingGroup, WaitingRuns } from './waiting-runs.ts';

/** What bounds an owner's runs. */
export interface RunQuotas extends Pick<Quotas, 'processes' | 'cpuSecondsPerMinute'> {
  /** The owner's storage is full: no run begins. */
  readonly isFull: boolean;
}

/** What is needed of a process; see RunProcess. */
export interface SlotProcess extends ProcessState {
  isYielding: boolean;
  readonly isFull: boolean;
  readonly options: { readonly key: string };
  fits(request: Pick<RunRequest, 'deployment' | 'memoryMb' | 'env'>): boolean;
  start(run: RunInFlight): void;
  drain(): void;
  retire(deploymentId: string): boolean;
  sampleCpu(): number;
  /** Lets the process have only the CPU that no other process wants, or ends that. */
  setLowPriority(isLowPriority: boolean): void;
}

interface ProcessSlotsDeps<P> {
  readonly bounds: Bounds;
  readonly quotasOf: (ownerId: string) => RunQuotas;
  readonly cpuUse: CpuUse;
  readonly throttle: Pick<MessageThrottle, 'isBehind' | 'hasOtherOwners'>;
  readonly create: (key: string, settings: ProcessSettings) => P;
  /** Of a monotonic clock. */
  readonly nowMs: () => number;
}

/** An owner gets a low priority as soon as it is found to overuse the CPU, and for the rest of this interval. */
const PRIORITIZED_MS = CPU_SAMPLE_MS * (9 / 10);
/** The part of `maxAwake` that may be processes started ahead of a first run; at least one. */
const UNUSED_SHARE = 1 / 2;

export class ProcessSlots<P extends SlotProcess> {
  /** All processes that exist, ending ones included. */
  readonly all = new Set<P>();
  readonly #deps: ProcessSlotsDeps<P>;
  /** The process of each run; none: the run waits. */
  readonly #processOf = new Map<RunInFlight, P>();
  readonly #waiting = new WaitingRuns();
  readonly #backlog = new Backlog();
  readonly #restartBackoff = new RestartBackoff();
  /** By key: the process that takes runs with this key. */
  readonly #open = new Map<string, P>();
  /** What each owner has used since priorities were set last. */
  readonly #lately = new Map<string, number>();
  /** The owners whose processes have a low priority. */
  #greedy: ReadonlySet<string> = new Set();
  #prioritizedAt = 0;
  #soon: NodeJS.Timeout | undefined;
  #isServing = false;
  #isClosed = false;

  constructor(deps: ProcessSlotsDeps<P>) {
    this.#deps = deps;
  }

  processOf(run: RunInFlight): P | undefined {
    return this.#processOf.get(run);
  }

  /** Starts the run, or lets it wait. */
  start(run: RunInFlight): void {
    const open = run.request.alone ? undefined : this.#open.get(run.key);
    if (open !== undefined && !open.isDraining) {
      if (!open.fits(run.request)) open.drain();
      else if (this.#takesAtOnce(open)) {
        if (open.isFull) this.#backlog.add(run);
        else this.#startIn(open, run);
        return;
      }
    }
    this.#waiting.add(run);
    this.serve();
  }

  /** Returns how many runs the process has that takes a run with this key at once; null: there is none. */
  runsBeside(key: string, request: RunRequest): number | null {
    const open = this.#open.get(key);
    const takes = open && !open.isDraining && open.fits(request) && this.#takesAtOnce(open);
    return takes ? open.inFlight : null;
  }

  /** Handles the end of a run, for whose process others with its key may wait. */
  ended(run: RunInFlight): void {
    this.#processOf.delete(run);
    if (this.#isClosed || this.#open.get(run.key)?.isFull) return;
    const next = this.#backlog.take(run.key);
    if (next !== undefined) this.start(next);
  }

  /** Removes a waiting run. Returns false when it does not wait. */
  remove(run: RunInFlight): boolean {
    return this.#waiting.remove(run) || this.#backlog.remove(run);
  }

  /** Handles a process that its own code ended before any of its runs was over. */
  endedEarly(process: P): void {
    this.#restartBackoff.endedEarly(process.options.key, this.#deps.nowMs());
  }

  gone(process: P): void {
    this.all.delete(process);
    const { key } = process.options;
    if (this.#open.get(key) === process) this.#open.delete(key);
    this.serve();
  }

  /** Starts every waiting run that may begin now. */
  serve(): void {
    if (this.#isServing || this.#isClosed) return;
    this.#isServing = true;
    while (this.#waiting.processes > 0 && this.#serveOne());
    this.#isServing = false;
    if (this.#waiting.processes === 0 || this.#soon !== undefined) return;
    this.#soon = setTimeout(() => {
      this.#soon = undefined;
      this.sampleCpu();
      this.serve();
    }, BUSY_CPU_SAMPLE_MS);
  }

  /**
   * Samples the processes. `which`: only the busy ones, which is enough to find an owner that has begun to overuse the
   * CPU.
   */
  sampleCpu(which: 'all' | 'busy' = 'all'): void {
    const nowMs = this.#deps.nowMs();
    for (const process of this.all) {
      const isLookedAt = which === 'all' || process.inFlight > 0;
      this.#charge(process.ownerId, isLookedAt ? process.sampleCpu() : 0, nowMs);
    }
    const isOver = nowMs - this.#prioritizedAt >= PRIORITIZED_MS;
    const found = greedy(this.#lately, this.#greedy);
    this.#greedy = isOver ? found : new Set([...this.#greedy, ...found]);
    for (const process of this.all) process.setLowPriority(this.#greedy.has(process.ownerId));
    if (!isOver) return;
    this.#prioritizedAt = nowMs;
    this.#lately.clear();
  }

  /**
   * Returns whether there is room for a process that no run waits for: such a process takes no slot and no memory from
   * another one.
   */
  hasRoomFor(key: string, { deployment: { ownerId } }: ProcessSettings, alsoComing: number): boolean {
    const { maxAwake, maxProcesses, poolMb } = this.#deps.bounds;
    if (this.#isClosed || this.#open.has(key)) return false;
    const all = [...this.all];
    const unused = all.filter(({ isUnused }) => isUnused).length + alsoComing;
    if (unused >= Math.max(1, Math.floor(maxAwake * UNUSED_SHARE))) return false;
    const most = this.#deps.quotasOf(ownerId).processes ?? Number.POSITIVE_INFINITY;
    if ((countByOwner(all).get(ownerId) ?? 0) >= most) return false;
    const usedMb = all.reduce((sum, process) => sum + Math.max(process.usedMb, LOADED_MB), 0);
    return all.length + alsoComing < maxProcesses && usedMb + LOADED_MB <= poolMb;
  }

  openFor(key: string, settings: ProcessSettings): P {
    const process = this.#create(key, settings);
    this.#open.set(key, process);
    return process;
  }

  /** Retires a deployment's processes. Returns false when it has none. */
  retire(deploymentId: string): boolean {
    const before = this.#open.size;
    for (const [key, process] of this.#open) if (process.retire(deploymentId)) this.#open.delete(key);
    return this.#open.size < before;
  }

  /** Starts nothing any more. Returns the runs that waited. */
  close(): readonly RunInFlight[] {
    this.#isClosed = true;
    clearTimeout(this.#soon);
    return [...this.#waiting.takeAll(), ...this.#backlog.takeAll()];
  }

  /**
   * Returns whether the process may take a run without an admission: it works already, or all existing processes may
   * work.
   */
  #takesAtOnce(open: P): boolean {
    if (this.#isOver(open.ownerId)) return false;
    if (open.inFlight > 0) return !open.isYielding;
    return this.#waiting.processes === 0 && this.all.size <= this.#deps.bounds.maxAwake;
  }

  #serveOne(): boolean {
    const all = [...this.all];
    const awake = countByOwner(all.filter(isAwake));
    const owners = this.#waiting.owners.toSorted((a, b) => (awake.get(a) ?? 0) - (awake.get(b) ?? 0));
    let promised = 0;
    for (const ownerId of owners) {
      if (this.#isOver(ownerId)) continue;
      for (const group of this.#nextOf(ownerId)) {
        const admission = this.#admit(all, group, promised);
        if (admission === null) continue;
        if (admission.waitsFor === null) {
          this.#begin(group);
          return true;
        }
        if (admission.waitsFor === 'slot') promised++;
      }
    }
    return false;
  }

  /** Returns the owner's first group, and its first group that needs no new process. */
  #nextOf(ownerId: string): WaitingGroup[] {
    const groups = [...this.#waiting.groupsOf(ownerId)].filter((group) => !this.#isPausing(group));
    const [first] = groups;
    const warm = groups.find((group) => this.#openOf(group) !== undefined);
    return [first, warm === first ? undefined : warm].filter((group) => group !== undefined);
  }

  /** Returns whether a group of runs pauses. A pause protects other owners, so there is none without them. */
  #isPausing({ key, ownerId }: WaitingGroup): boolean {
    const { throttle, nowMs } = this.#deps;
    return key !== null && this.#restartBackoff.isPausing(key, nowMs()) && throttle.hasOtherOwners(ownerId);
  }

  /**
   * Decides on a group, and carries out what the decision asks of other processes. Null when the group must wait for
   * its own process.
   */
  #admit(all: readonly P[], group: WaitingGroup, promised: number): Admission<P> | null {
    const { bounds, quotasOf } = this.#deps;
    const { ownerId } = group;
    const open = this.#openOf(group);
    if (open !== undefined && open.inFlight > 0) {
      // The process was asked to yield, and no request is left for which it should.
      if (open.isYielding && (this.#waiting.processes > 1 || all.filter(isAwake).length > bounds.maxAwake)) return null;
      open.isYielding = false;
      return { waitsFor: null, ends: null, yields: null, leaves: null };
    }
    const [warm, maxOwn, nowMs] = [open ?? null, quotasOf(ownerId).processes, this.#deps.nowMs()];
    const waiting = this.#waiting.countOf(ownerId);
    const admission = admit(all, bounds, { ownerId, warm, maxOwn, waiting, promised, nowMs });
    admission.ends?.drain();
    admission.leaves?.drain();
    if (admission.yields !== null) admission.yields.isYielding = true;
    return admission;
  }

  #openOf({ key, runs: [first] }: WaitingGroup): P | undefined {
    const open = key === null ? undefined : this.#open.get(key);
    return open && first && !open.isDraining && open.fits(first.request) ? open : undefined;
  }

  #begin(group: WaitingGroup): void {
    const open = this.#openOf(group);
    const [first, ...others] = this.#waiting.take(group);
    if (first === undefined) return;
    const { request, key } = first;
    if (group.key === null) {
      const process = this.#create(key, request);
      this.#startIn(process, first);
      process.drain();
    } else {
      this.#startIn(open ?? this.openFor(key, request), first);
      for (const run of others) this.start(run);
    }
  }

  /** Creates a process, with a low priority when its owner's processes have one. */
  #create(key: string, settings: ProcessSettings): P {
    const process = this.#deps.create(key, settings);
    this.all.add(process);
    this.#charge(process.ownerId, START_CPU_MS, this.#deps.nowMs());
    if (this.#greedy.has(process.ownerId)) process.setLowPriority(true);
    return process;
  }

  #charge(ownerId: string, usedMs: number, nowMs: number): void {
    this.#deps.cpuUse.add(ownerId, usedMs, nowMs);
    this.#lately.set(ownerId, (this.#lately.get(ownerId) ?? 0) + usedMs);
  }

  #startIn(process: P, run: RunInFlight): void {
    this.#processOf.set(run, process);
    process.start(run);
  }

  #isOver(ownerId: string): boolean {
    const { cpuSecondsPerMinute, isFull } = this.#deps.quotasOf(ownerId);
    if (isFull || this.#deps.throttle.isBehind(ownerId)) return true;
    if (cpuSecondsPerMinute === null) return false;
    return this.#deps.cpuUse.usedMs(ownerId, this.#deps.nowMs()) >= cpuSecondsPerMinute * SECOND_MS;
  }
}
