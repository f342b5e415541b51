// Handles the server's messages, from the first one (`init`) on.

import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout } from 'node:timers';
import { ActiveRun, type Program } from './active-run.ts';
import { PendingRequests } from './api/pending-requests.ts';
import { Capture } from './capture.ts';
import { shapeOf } from './component/describe.ts';
import { Instances } from './component/instances.ts';
import { answerQuery } from './component/query.ts';
import { watchLanguage } from './confine/intact.ts';
import { current } from './current.ts';
import { execute } from './execute.ts';
import type { FrameWriter } from './frames.ts';
import { HeldRuns } from './held-runs.ts';
import { jsonOf } from './json-text.ts';
import { LateCalls } from './late-calls.ts';
import { LoadError, loadSteps } from './load.ts';
import { LogReports } from './log-reports.ts';
import {
  type ChildFault,
  type EndMessage,
  type InitMessage,
  type LoadedMessage,
  type LoadingMessage,
  QUERY_RUN,
  type RunMessage,
  type ToChild,
} from './protocol.ts';
import { StackMapper } from './stack.ts';
import type { StepRun } from './step-run.ts';

/** As it was before code could change it. */
const dateMs = Date.now;

/** Code that throws in an endless timer must not flood the server with messages: of runs that have ended the first of each, and others. */
const MAX_STRAYS = 50;

const performanceMs = performance.now.bind(performance);

export class Worker {
  readonly #writer: FrameWriter;
  readonly #hasNetwork: boolean;
  readonly #runs = new Map<number, ActiveRun>();
  #program: Program | undefined;
  #loaded = false;
  /** Null: there is one instance of the code, for all runs. */
  #instances: Instances | null = null;
  /** Of a query; a process that answers one has no runs. */
  #queryRequests: PendingRequests | null = null;
  #strays = 0;
  /** Ended runs of which an exception was reported. */
  readonly #strayRuns = new Set<number>();
  /** The ends of failed runs that are not written yet. */
  #failed: EndMessage[] = [];
  /** No run should follow in this process. */
  #isTainted = false;
  readonly #held = new HeldRuns();
  /** They were held, and begin once that is written. */
  #beginning: ActiveRun[] = [];
  /**
   * Calls a function in the context of no run. Otherwise a run would find contexts (AsyncLocalStorage) of the code of others:
   * those that begin together are called by one function, and those that were held by a turn of an earlier run.
   */
  readonly #outside = AsyncLocalStorage.snapshot();

  constructor(writer: FrameWriter, hasNetwork: boolean) {
    this.#writer = writer;
    this.#hasNetwork = hasNetwork;
  }

  receive(messages: readonly ToChild[], blobs: Buffer): void {
    let at = 0;
    for (const message of messages) {
      if (message.t === 'run') {
        this.#begin(message, blobs.subarray(at, at + message.bytes));
        at += message.bytes;
      } else if (message.t === 'reply') {
        const json = blobs.toString('utf8', at, at + message.bytes);
        at += message.bytes;
        const requests = this.#queryRequests ?? this.#runs.get(message.run)?.requests;
        requests?.settle(message.id, message.ok, json);
      } else if (message.t === 'halt') {
        this.#runs.get(message.run)?.halt();
        // The code of the halted run may still be active.
        this.#held.giveBack();
      } else if (message.t === 'drop') this.#held.giveBack(message.run);
      else void this.#init(message);
    }
  }

  /**
   * Adds to the ends of failed runs whether no other run should follow them. One check is for all that are written
   * together: it takes 40 µs, more than all else that the process does for a run that throws.
   */
  completeFailed(): void {
    const failed = this.#failed;
    if (failed.length === 0) return;
    this.#failed = [];
    if (this.#program?.isIntact() !== false) return;
    this.#isTainted = true;
    // By index: code may have changed iterators.
    for (let i = 0; i < failed.length; i++) (failed[i] as EndMessage).isTainted = true;
  }

  /** Writes the messages of a turn of the event loop, and begins the runs that were held until others ended in it. */
  endTurn(flush: () => void): void {
    this.#takeHeld();
    flush();
    const beginning = this.#beginning;
    this.#beginning = [];
    for (let i = 0; i < beginning.length; i++) this.#execute(beginning[i] as ActiveRun);
  }

  /** Reports an exception that belongs to no run in flight. `step`: of the run that has ended, and has left it behind. */
  stray(thrown: unknown, step?: StepRun): void {
    const run = step?.run.message.run;
    const isOfNewRun = run !== undefined && !this.#strayRuns.has(run);
    if ((isOfNewRun ? this.#strayRuns.size : this.#strays) === MAX_STRAYS || this.#program === undefined) return;
    const fault = this.#program.capture.fault({ value: thrown, step: step?.index ?? 0 });
    if (isOfNewRun) this.#strayRuns.add(run);
    else this.#strays++;
    this.#writer.push({ t: 'stray', msg: fault.msg, ...(isOfNewRun && { run, fault }) });
  }

  async #init({ steps, env, limits, mode, query }: InitMessage): Promise<void> {
    // Not in the environment of the spawn: Node and the dynamic linker would obey some of the names before any of
    // Errand's code.
    Object.assign(process.env, env);
    Error.stackTraceLimit = limits.stackFrames;
    const capture = new Capture(limits, new StackMapper(steps, limits), this.#hasNetwork);
    const program: Program = {
      steps: [],
      limits,
      capture,
      isIntact: () => true,
      post: (message, blobs, weight) => this.#writer.push(message, blobs, weight),
      replace: (message, other) => this.#writer.replace(message, other),
      flush: () => this.#writer.flush(),
      logReports: new LogReports({ flush: () => this.#writer.flush(), nowMs: performanceMs, later: setTimeout }),
      lateCalls: new LateCalls({
        here: () => capture.fault({ value: new Error('late'), step: current.getStore()?.index ?? 0 }),
        post: (message) => this.#writer.push(message),
        later: setTimeout,
      }),
      ended: (run) => this.#runs.delete(run.message.run),
      failed: (message) => {
        this.#failed[this.#failed.length] = message; // `push` may be the code's own
        this.#isTainted ||= message.isTainted === true;
      },
    };
    this.#program = program;
    try {
      // Each source's instance is loaded with its first run.
      if (mode === 'source') this.#instances = new Instances(steps);
      else {
        program.steps = await loadSteps(
          steps,
          mode,
          mode === 'workflow' ? { onNext: (step) => this.#report({ t: 'loading', step }) } : {},
        );
        program.isIntact = watchLanguage();
      }
      if (query !== undefined) {
        const { post } = program;
        const requests = new PendingRequests({ run: QUERY_RUN, limits, post, isOver: () => false });
        this.#queryRequests = requests;
        const answer = await answerQuery(program.steps[0]?.component, query, { limits, requests });
        const json = Buffer.from(jsonOf(answer, { what: 'The answer', levels: null }));
        return this.#writer.push({ t: 'query-result', bytes: json.byteLength }, json);
      }
      if (mode === 'describe') return this.#writer.push({ t: 'shape', shape: shapeOf(program.steps[0]?.component) });
      this.#loaded = true;
      this.#report({ t: 'loaded' });
      for (const run of [...this.#runs.values()]) if (run.message.atOnce === undefined) this.#execute(run);
      this.#takeHeld();
    } catch (error) {
      this.#writer.push({ t: 'broken', fault: faultOf(capture, error, query === undefined) });
    }
  }

  /** Writes a message at once: the code that comes next may keep the CPU for good. */
  #report(message: LoadingMessage | LoadedMessage): void {
    this.#writer.push(message);
    this.#writer.flush();
  }

  #begin(message: RunMessage, event: Uint8Array): void {
    if (message.timeoutMs !== undefined) message.deadlineMs = dateMs() + message.timeoutMs;
    const run = new ActiveRun(this.#program as Program, message, event);
    this.#runs.set(message.run, run);
    if (message.atOnce !== undefined) {
      this.#held.add(run);
      this.#takeHeld();
    } else if (this.#loaded) this.#execute(run);
  }

  /** Reports the begin of the runs that are held no longer; or gives all back, where no run should follow. */
  #takeHeld(): void {
    if (!this.#loaded || this.#held.count === 0) return;
    this.completeFailed();
    if (this.#isTainted) this.#held.giveBack();
    const taken = this.#held.take(this.#runs.size - this.#held.count);
    for (let i = 0; i < taken.length; i++) {
      const run = taken[i] as ActiveRun;
      this.#writer.push({ t: 'begun', run: run.message.run });
      this.#beginning[this.#beginning.length] = run;
    }
  }

  #execute(run: ActiveRun): void {
    void this.#outside(executeWith, run, this.#instances);
  }
}

/** Executes a run. Never rejects. */
async function executeWith(run: ActiveRun, instances: Instances | null): Promise<void> {
  const { source } = run.message;
  if (instances === null || source === null) return await execute(run);
  try {
    await instances.run(source.sourceId, (steps) => {
      run.ownSteps = steps;
      return run.ended ? Promise.resolve() : execute(run);
    });
  } catch (error) {
    run.cannotBegin(faultOf(run.program.capture, error, true));
  }
}

function faultOf(capture: Capture, error: unknown, loading: boolean): ChildFault {
  const { step, thrown } = error instanceof LoadError ? error : { step: 0, thrown: error };
  return capture.fault({ value: thrown, step, loading });
}
