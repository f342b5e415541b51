// One warm child process of one deployment, or of sources that share it, and its runs in flight.
//
//   takes runs ──drain()──▶ draining ──last run ends──▶ killed ──▶ gone (onGone)
//
// The process drains when it is retired, idle for long, needed for another deployment, or tainted: code of an ended run
// is still active in it (a timeout, a cancelled run, process.exit). It is killed at once when it does not answer.

import { type Fault, NO_OUTCOME, type RunOutcome } from '../../domain/run/run.ts';
import { CpuSampler } from '../pool/cpu.ts';
import type { ProcessState } from '../pool/fair-slots.ts';
import { isSource, SOURCES_AT_ONCE, sameEnv, sourcesPerProcess } from '../pool/process-keys.ts';
import type { RunRequest } from '../runner.ts';
import { AnswerTime } from './answer-time.ts';
import { ChildLink, type Death } from './child-link.ts';
import { isBegun, outcomeAfterDeath, outcomeAfterSilence } from './crash-outcome.ts';
import { readBroken } from './inbound.ts';
import { withBulk } from './inbound-bulk.ts';
import { MessageBudget } from './message-budget.ts';
import { ProcessStart } from './process-start.ts';
import { RETURNED, type RunInFlight } from './run-in-flight.ts';
import { applyHeldMessage, applyRunMessage, type Message } from './run-messages.ts';
import type { RunProcessOptions } from './run-process-options.ts';
import { StrayExceptions } from './stray-exceptions.ts';

/**
 * In a process that sources share, what a retired source left behind ends at the latest so long after the process's
 * start.
 */
const RETIRED_MS = 10_000;
/** A process that lives for less has ended early. */
const EARLY_MS = 5000;

export class RunProcess implements ProcessState {
  readonly options: RunProcessOptions;
  readonly bornAt = performance.now();
  /** When the process last began or ended a run. */
  lastUsedAt = performance.now();
  /** Since when the process has had runs without a pause; without runs, the begin of its last busy period. */
  busySince = performance.now();
  /** No new runs until those in flight have ended; set by the pool. */
  isYielding = false;
  readonly ownerId: string;
  readonly #cpu = new CpuSampler();
  readonly #link: ChildLink;
  readonly #runs = new Map<number, RunInFlight>();
  /** The ids of the deployments whose code the process may have loaded. */
  readonly #deployments = new Set<string>();
  readonly #maxDeployments: number;
  #retiring: NodeJS.Timeout | undefined;
  #givingUp: NodeJS.Timeout | undefined;
  #draining = false;
  #killed = false;
  #broken: Fault | null = null; // why it could not load its code
  #startedRuns = 0;
  #endedAt = Number.NEGATIVE_INFINITY;
  readonly #strayExceptions: StrayExceptions;
  readonly #start = new ProcessStart();
  readonly #budget = new MessageBudget();

  constructor(options: RunProcessOptions) {
    this.options = options;
    this.ownerId = options.deployment.ownerId;
    const { deployment, memoryMb } = options;
    const mode = isSource(deployment) ? 'source' : 'workflow';
    this.#strayExceptions = new StrayExceptions({
      warn: (what, fields) => options.log.warn({ ...this.#about(), ...fields }, what),
      onLate: (late) => options.onLate?.({ ...late, ownerId: this.ownerId, deploymentIds: [...this.#deployments] }),
    });
    this.#deployments.add(deployment.id);
    this.#maxDeployments = isSource(deployment) ? sourcesPerProcess(deployment, memoryMb) : 1;
    this.#link = new ChildLink(
      { ...options, mode },
      {
        onMessage: (message, take) => this.#receive(message, take),
        onDeath: (death, removed) => this.#onDeath(death, removed),
      },
    );
  }

  get inFlight(): number {
    return this.#runs.size;
  }

  get #inFlight(): RunInFlight[] {
    return [...this.#runs.values()];
  }

  /** Settles when the process has loaded its code; false: it failed to, or is gone. */
  get loaded(): Promise<boolean> {
    return this.#start.loaded;
  }

  /** Returns whether the process was started ahead of its first run, which has not come yet. */
  get isUnused(): boolean {
    return this.#startedRuns === 0;
  }

  get usedMb(): number {
    return this.#link.usedMb;
  }

  get isDraining(): boolean {
    return this.#draining;
  }

  get isLoading(): boolean {
    return this.#start.isLoading;
  }

  get isAsleep(): boolean {
    return this.#cpu.isAsleep;
  }

  /** Returns whether the process has as many runs as it takes at a time. */
  get isFull(): boolean {
    return this.#runs.size >= SOURCES_AT_ONCE && isSource(this.options.deployment);
  }

  /**
   * Returns whether the run can use this process: settings may change without a new deployment, and the number of
   * sources is bounded.
   */
  fits({ deployment, memoryMb, env }: Pick<RunRequest, 'deployment' | 'memoryMb' | 'env'>): boolean {
    if (!this.#deployments.has(deployment.id) && this.#deployments.size >= this.#maxDeployments) return false;
    return memoryMb === this.options.memoryMb && sameEnv(env, this.options.env);
  }

  start(run: RunInFlight): void {
    const { run: id, event, context, attempt, timeoutMs, source, earlier, resumeKey } = run.request;
    const { stepProps: props, stepDb: db, atOnce } = run.request;
    this.lastUsedAt = performance.now();
    if (this.#runs.size === 0) this.busySince = this.lastUsedAt;
    this.#cpu.runBegins();
    this.#runs.set(id, run);
    this.#deployments.add(run.request.deployment.id);
    this.#startedRuns++;
    this.#strayExceptions.log();
    const starts = this.#start.awaitedBy(run, this.lastUsedAt);
    if (this.#broken !== null) {
      this.#end(run, this.#failed(this.#broken));
      return;
    }
    const deadlineMs = run.stepStartedAtMs + timeoutMs - run.aheadMs;
    // A source cannot wait; and its key must stay unknown to other sources in the process.
    const key = source === null ? resumeKey : '';
    const given = { context, attempt, deadlineMs, source, earlier: earlier ?? undefined, resumeKey: key };
    const rarely = { ...(props && { props }), ...(db && { db }), ...(atOnce && { atOnce }), ...starts };
    this.#link.postRun({ t: 'run', run: id, bytes: event.byteLength, ...given, ...rarely }, event);
  }

  /** Asks the run to end. Its code may stay active, so the process takes no more runs. */
  halt(run: RunInFlight, why: 'timeout' | 'cancelled'): void {
    if (run.halted !== null) return;
    run.halted = why;
    if (!run.isHeld) this.#draining = true;
    this.#link.post({ t: run.isHeld ? 'drop' : 'halt', run: run.request.run });
    this.#link.unthrottle(); // it may have ended in time, with its messages unread
    this.#awaitAnswer(run, new AnswerTime(this.options.graceMs, this.#link.pid));
  }

  #awaitAnswer(run: RunInFlight, time: AnswerTime): void {
    run.setTimer(time.intervalMs, () => {
      // Others may keep the CPU for as long as their own timeouts let them.
      const mayWait = run.isHeld && this.#inFlight.some(isBegun);
      if (time.isOver(this.#link.pid) && !mayWait) this.#onSilence();
      else this.#awaitAnswer(run, time);
    });
  }

  /**
   * Takes no more runs of this deployment. Returns whether the process ends now, and with it what the code left behind.
   * A process with other deployments lives on for a while: deleting a thousand sources would restart it after each.
   */
  retire(deploymentId: string): boolean {
    if (!this.#deployments.has(deploymentId)) return false;
    const leftMs = this.#deployments.size === 1 ? 0 : this.bornAt + RETIRED_MS - performance.now();
    if (leftMs <= 0) this.drain();
    else this.#retiring ??= setTimeout(() => this.drain(), leftMs).unref();
    return leftMs <= 0;
  }

  /** Takes no new runs; the process ends when its last run in flight has. */
  drain(): void {
    this.#draining = true;
    if (this.#runs.size === 0) this.#kill();
  }

  drainUnused(): void {
    if (this.isUnused) this.drain();
  }

  /** Kills the process when it uses more memory than its bound; its runs are judged by its death. */
  sampleMemory(): void {
    if (this.#link.endIfOverMemory()) this.#draining = true;
  }

  /**
   * Samples the CPU and returns what was used. Ends the process when its code keeps the CPU without a run; loading may
   * take its time.
   */
  sampleCpu(): number {
    const { pid } = this.#link;
    if (pid === undefined || this.#killed) return 0;
    const { usedMs, isRunaway } = this.#cpu.sample(pid, this.#runs.size > 0 || this.isLoading);
    if (isRunaway) this.drain();
    return usedMs;
  }

  /** Sets the priority. Where a priority cannot be raised again, the process ends when it is idle. */
  setLowPriority(isLowPriority: boolean): void {
    if (!this.#killed && !this.#link.setLowPriority(isLowPriority) && this.#runs.size === 0) this.drain();
  }

  /** Ends the process at shutdown: runs in flight are returned without an attempt. */
  abandon(): void {
    this.#draining = true;
    for (const run of this.#inFlight) this.#end(run, RETURNED);
    this.#kill();
  }

  #receive(message: Message, take: (bytes: unknown) => Buffer): void {
    const body = message.bytes === undefined ? null : take(message.bytes);
    const whole = withBulk(message, take);
    const run = this.#runs.get(message.run as number);
    this.#start.heard(this.#runs, this.options.onUp);
    this.#budget.count(message.t, run !== undefined);
    if (message.t === 'loaded') this.#onLoaded(true);
    else if (message.t === 'loading' && this.isLoading) this.#start.next(message);
    else if (message.t === 'broken') this.#onBroken(message);
    else if (message.t === 'stray') this.#strayExceptions.receive(message, this.options.deployment, this.isUnused);
    else if (message.t === 'late') this.#strayExceptions.receiveCalls(message, this.options.deployment);
    // Otherwise the run was settled before these messages arrived.
    else if (run?.isHeld) this.#receiveForHeld(run, message);
    else if (run !== undefined) this.#receiveFor(run, whole, body);
  }

  #receiveFor(run: RunInFlight, message: Message, body: Buffer | null): void {
    const { clock, log } = this.options;
    const outcome = applyRunMessage(run, { message, body }, { link: this.#link, clock, log });
    if (outcome === null) return;
    if (message.isTainted === true) this.#taint();
    this.#end(run, outcome);
  }

  #receiveForHeld(run: RunInFlight, message: Message): void {
    const outcome = applyHeldMessage(run, message);
    if (outcome !== null) {
      this.#end(run, outcome);
      return;
    }
    const why = run.halted;
    run.isHeld = false;
    run.halted = null;
    run.stepStartedAtMs = this.options.clock.nowMs();
    this.options.onBegun(run);
    if (why === 'cancelled') this.halt(run, why);
  }

  #taint(): void {
    this.#draining = true;
    const isEarly = this.#startedRuns === this.#runs.size && performance.now() - this.bornAt < EARLY_MS;
    if (isEarly) this.options.onEndedEarly();
  }

  #onLoaded(isWell: boolean): void {
    this.#start.end(isWell);
    this.options.onFree();
  }

  #onBroken(message: Message): void {
    const { deployment } = this.options;
    if (message.run !== undefined) {
      const run = this.#runs.get(message.run as number);
      if (run) this.#end(run, this.#failed(readBroken(message.fault, run.request.deployment)));
      return;
    }
    const fault = readBroken(message.fault, deployment);
    this.#broken = fault;
    // The process ends by itself: without runs it would keep its slot from others.
    this.#givingUp ??= setTimeout(() => this.drain(), this.options.brokenMs).unref();
    for (const run of this.#inFlight) this.#end(run, this.#failed(fault));
    this.#onLoaded(false);
  }

  #failed(fault: Fault): RunOutcome {
    return { ...NO_OUTCOME, end: { kind: 'failed', fault: { ...fault, tsMs: this.options.clock.nowMs() } } };
  }

  #end(run: RunInFlight, outcome: RunOutcome): void {
    this.#runs.delete(run.request.run);
    this.lastUsedAt = this.#endedAt = performance.now();
    run.end(outcome);
    if (this.#runs.size > 0) return;
    this.isYielding = false;
    if (this.#draining) this.#kill();
    else this.options.onFree();
  }

  /** Kills a process that does not answer. Its runs are judged now, not when the operating system has ended it. */
  #onSilence(): void {
    const all = this.#inFlight;
    const nowMs = this.options.clock.nowMs();
    this.#kill();
    for (const run of all) {
      run.isSilent = run.halted === 'timeout' && !run.isHeld;
      this.#end(run, outcomeAfterSilence(run, all, nowMs));
    }
  }

  #kill(): void {
    this.#close();
    this.#link.kill();
  }

  /** Closes the process for further runs, and stops its timers. */
  #close(): void {
    clearTimeout(this.#retiring);
    clearTimeout(this.#givingUp);
    this.#draining = true;
    this.#killed = true;
  }

  #onDeath(death: Death, removed: Promise<void>): void {
    const expected = this.#killed || this.isUnused;
    this.#close();
    this.#start.cutOff();
    if (!expected) this.#taint();
    const all = this.#inFlight;
    const sinceOtherMs = performance.now() - this.#endedAt;
    const judged = { nowMs: this.options.clock.nowMs(), inFlight: all.filter(isBegun).length, sinceOtherMs };
    for (const run of all) this.#end(run, outcomeAfterDeath(run, death, judged));
    const { kind, code, signal } = death;
    const counts = { runs: this.#startedRuns, strays: this.#strayExceptions.count, lost: all.length };
    const line = { ...this.#about(), ...counts, kind, code, signal };
    if (expected) this.options.log.debug(line, 'runner.process_ended');
    else this.options.log.warn({ ...line, detail: death.detail.slice(-300) }, 'runner.process_died');
    void removed.then(() => this.options.onGone());
  }

  #about(): object {
    const [{ id, runnableId }, { size }] = [this.options.deployment, this.#deployments];
    return {
      owner: this.ownerId,
      deployment_id: id,
      runnable_id: runnableId,
      ...(size > 1 && { sources: size }),
      pid: this.#link.pid,
    };
  }
}
