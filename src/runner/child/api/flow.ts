// Implements `$.flow`: what follows a step. It takes effect when the step has ended. The last call counts, but an exit
// always does.

import { ConfigurationError } from '../errors.ts';
import { jsonOf } from '../json-text.ts';
import type { WaitTuple } from '../protocol.ts';
import type { StepRun } from '../step-run.ts';
import { cutChars, textOf } from '../text.ts';
import type { WaitAddresses } from './resume-address.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const REASON_CHARS = 1024;

/** Returns the `$.flow` of one step in one run. Its functions may be destructured and called alone. */
export function flowApi(step: StepRun): Record<string, unknown> {
  const { run } = step;
  const { limits } = run.program;
  return {
    exit: (reason?: unknown) => {
      if (step.isTooLate('$.flow.exit')) return;
      step.next = 'exit';
      const isGiven = reason !== undefined && reason !== null;
      run.exitReason = isGiven ? cutChars(run.program.capture.printed(textOf(reason)), REASON_CHARS) : undefined;
    },
    delay: (ms: unknown) => ask(step, ['delay', msOf('delay', ms, limits.maxWaitMs), null]),
    suspend: (ms: unknown) => ask(step, ['suspend', msOf('suspend', ms ?? limits.suspendMs, limits.maxWaitMs), null]),
    rerun: (ms: unknown, context?: unknown, max?: unknown) => {
      const afterMs = msOf('rerun', ms, limits.maxWaitMs);
      const times = timesOf(max ?? limits.reruns, limits.maxReruns);
      const wait: WaitTuple = ['rerun', afterMs, contextOf(context, step)];
      return step.runs > times ? goOn(step, times) : ask(step, wait);
    },
    trigger: (workflowId: unknown, event?: unknown) => {
      if (!run.isTooLate('$.flow.trigger')) run.outgoing.trigger(workflowId, event);
    },
  };
}

function ask(step: StepRun, wait: WaitTuple): WaitAddresses {
  if (!step.isTooLate(`$.flow.${wait[0]}`) && step.next !== 'exit') step.next = wait;
  return { ...step.run.addresses() };
}

function msOf(name: string, given: unknown, maxMs: number): number {
  const ms = numberOf(given);
  if (ms >= 0 && ms <= maxMs) return Math.ceil(ms);
  throw new ConfigurationError(
    `$.flow.${name} takes milliseconds, from 0 to ${maxMs} (${maxMs / DAY_MS} days), not ${shown(given)}`,
  );
}

function timesOf(given: unknown, bound: number): number {
  const times = numberOf(given);
  if (Number.isInteger(times) && times >= 0 && times <= bound) return times;
  throw new ConfigurationError(
    `$.flow.rerun takes as its maximum a whole number from 0 to ${bound}, not ${shown(given)}`,
  );
}

/** Lets the next step follow, since this one was executed as often as it may be: code of the hosted original relies on it. */
function goOn(step: StepRun, times: number): WaitAddresses {
  if (!step.isTooLate('$.flow.rerun')) {
    const text = `$.flow.rerun: the step was executed again ${times === 1 ? 'once' : `${times} times`}, its maximum: the run goes on`;
    step.run.print('warn', step.step.namespace, text);
  }
  return { ...step.run.addresses() };
}

function contextOf(context: unknown, { run }: StepRun): string | null {
  if (context === undefined || context === null) return null;
  const { nestingDepth } = run.program.limits;
  return run.checkResult(jsonOf(context, { what: 'The context of $.flow.rerun', levels: nestingDepth }));
}

/** Returns NaN for anything that is no number. */
function numberOf(given: unknown): number {
  if (typeof given === 'string' && given.trim() !== '') return Number(given);
  return typeof given === 'number' ? given : Number.NaN;
}

function shown(given: unknown): string {
  return typeof given === 'string' ? JSON.stringify(given.slice(0, 40)) : textOf(given).slice(0, 40);
}
