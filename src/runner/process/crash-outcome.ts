// Decides the outcome of runs whose process died or stopped answering. Pure, one function per case.

import type { Deployment } from '../../domain/resource.ts';
import { type Fault, NO_OUTCOME, type RunOutcome } from '../../domain/run/run.ts';
import type { StepResult } from '../../domain/run/step-result.ts';
import { CONNECTION_LOST } from '../child/protocol.ts';
import type { Death } from './child-link.ts';
import { CANCELLED, RETURNED, type RunInFlight } from './run-in-flight.ts';

interface Cause {
  readonly code: string;
  readonly msg: string;
}

const SAYS_OUT_OF_MEMORY = /out of memory/i;
/** How Node aborts. In a jail Node is process 1, to which SIGABRT does nothing; abort() then raises the others. */
const CRASHES: ReadonlySet<string | null> = new Set(['SIGABRT', 'SIGTRAP', 'SIGSEGV', 'SIGILL']);
/** What a run has left in memory may end its process so much later, in which the next one has begun. */
const LEFT_BEHIND_MS = 1000;
const UNATTRIBUTED: RunOutcome = { ...NO_OUTCOME, end: { kind: 'unattributed' } };

interface DeathContext {
  readonly nowMs: number;
  /** Runs whose code was called. */
  readonly inFlight: number;
  /** Since another run of the process ended; Infinity: none has. */
  readonly sinceOtherMs: number;
}

/**
 * Returns the outcome after the process died. Only a run alone in its process can be blamed, or one that was past its
 * timeout already; and none whose code was not called; and of memory none that may lack it since an earlier run took it.
 */
export function outcomeAfterDeath(run: RunInFlight, death: Death, context: DeathContext): RunOutcome {
  if (run.halted === 'cancelled') return CANCELLED;
  if (run.isHeld) return RETURNED;
  if (run.halted === 'timeout' && context.inFlight === 1) return failed(run, timeoutOf(run), context.nowMs);
  if (death.kind === 'start') {
    return failed(
      run,
      { code: 'StartFailed', msg: `The process could not be started: ${death.detail}` },
      context.nowMs,
    );
  }
  if (context.inFlight > 1) return UNATTRIBUTED;
  const cause = causeOf(run, death);
  const isOfOther = cause.code === 'OutOfMemory' && context.sinceOtherMs < LEFT_BEHIND_MS;
  return isOfOther ? UNATTRIBUTED : failed(run, cause, context.nowMs);
}

/**
 * Returns the outcome of a run whose process does not answer, because something in it keeps the CPU. A run alone in its
 * process is at fault. Of several, any may be, even when only one is past its timeout: that one may have waited for the
 * CPU ever since. So each runs again in a process of its own rather than be blamed for another's loop.
 */
export function outcomeAfterSilence(run: RunInFlight, all: readonly RunInFlight[], nowMs: number): RunOutcome {
  if (run.halted === 'cancelled') return CANCELLED;
  if (run.isHeld) return RETURNED;
  if (run.halted === null || all.filter(isBegun).length > 1) return UNATTRIBUTED;
  return failed(run, timeoutOf(run), nowMs);
}

export function isBegun({ isHeld }: RunInFlight): boolean {
  return !isHeld;
}

/** Returns how a halted run has ended, in the step at `index`; null when the run was not halted. */
export function haltedEnd(run: RunInFlight, index: number, nowMs: number): RunOutcome['end'] | null {
  if (run.halted === null) return null;
  if (run.halted === 'cancelled') return CANCELLED.end;
  return {
    kind: 'failed',
    fault: faultAt(run.request.deployment, run.loading.step ?? index, { ...timeoutOf(run), tsMs: nowMs, stack: '' }),
  };
}

/** Returns the fault of the step at `index`, or of the last step when `index` is behind all of them. */
export function faultAt({ steps }: Deployment, index: number, fault: Omit<Fault, 'cellId' | 'namespace'>): Fault {
  const step = steps[index] ?? steps.at(index < 0 ? 0 : -1);
  return { ...fault, cellId: step?.id ?? '', namespace: step?.namespace ?? '' };
}

function failed(run: RunInFlight, { code, msg }: Cause, nowMs: number): RunOutcome {
  const { deployment } = run.request;
  const index = run.loading.step ?? run.firstIndex + run.steps.length;
  const fault = faultAt(deployment, index, { code, msg, tsMs: nowMs, stack: '' });
  const cut: StepResult = {
    id: fault.cellId,
    namespace: fault.namespace,
    state: 'failed',
    startedAtMs: run.stepStartedAtMs,
    tookMs: Math.max(0, nowMs - run.stepStartedAtMs),
    exports: {},
  };
  // No step has begun where code is being loaded or the process could not start; and a process may die when the last step is done.
  const begun = run.loading.step === null && code !== 'StartFailed' && index < deployment.steps.length;
  const { logs, logBytesDropped, outgoing, summary, dbWrites } = run;
  const made = { logs, logBytesDropped, outgoing, outgoingOfDone: outgoing.length, summary, dbWrites };
  return {
    ...NO_OUTCOME,
    ...made,
    end: { kind: 'failed', fault },
    steps: begun ? [...run.steps, cut] : run.steps,
  };
}

function causeOf(run: RunInFlight, { kind, code, signal, detail }: Death): Cause {
  if (kind === 'garbage' || code === CONNECTION_LOST)
    return { code: 'WorkerLost', msg: 'The code broke the connection between its process and the server' };
  const saysSo = SAYS_OUT_OF_MEMORY.test(detail) && (CRASHES.has(signal) || (code ?? 0) > 128);
  if (kind === 'memory' || saysSo) {
    return { code: 'OutOfMemory', msg: `The code used more than its ${run.request.memoryMb} MB of memory` };
  }
  if (signal !== null && CRASHES.has(signal)) return { code: 'WorkerLost', msg: `The process crashed, by ${signal}` };
  if (signal !== null) return { code: 'WorkerLost', msg: `The process was ended from outside, by ${signal}` };
  return { code: 'WorkerExit', msg: `The code ended its process with exit code ${code}` };
}

function timeoutOf({ request, loading }: RunInFlight): Cause {
  const behind = loading.step === null ? '' : ': the code outside of its functions had not ended';
  return { code: 'Timeout', msg: `The run took longer than its limit of ${request.timeoutMs} ms${behind}` };
}
