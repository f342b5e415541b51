// The spans of a run and of its steps.

import { msOf, numberedId, PREFIX } from '../../domain/ids.ts';
import type { ClaimedRun, Fault, RunOutcome } from '../../domain/run/run.ts';
import type { Span } from '../../ports.ts';
import { emissionAttributes } from './attributes.ts';
import { parentOf, spanIdsOf, traceIdOf } from './span-ids.ts';

interface RunEnding {
  readonly state: string;
  readonly fault: Fault | null;
  readonly endMs: number;
}

/** Returns a span from when the run was queued to its end, with all its attempts and waits. */
export function runSpan(run: ClaimedRun, { state, fault, endMs }: RunEnding): Span {
  const { emission } = run;
  const startMs = msOf(run.run);
  return {
    name: `run ${run.runnable.name}`,
    kind: 'consumer',
    traceId: traceIdOf(emission),
    spanId: spanIdsOf(emission).run(run.run),
    parentSpanId: parentOf(emission),
    startMs,
    endMs: Math.max(startMs, endMs),
    attributes: { ...ofRun(run), 'errand.run.state': state, ...(fault === null ? {} : { 'error.type': fault.code }) },
    exception: fault === null ? null : exceptionOf(fault),
    link: null,
  };
}

/** Returns the spans of the steps that this segment executed. */
export function stepSpans(run: ClaimedRun, { steps, end }: RunOutcome): Span[] {
  const { emission, fence } = run;
  const ids = spanIdsOf(emission);
  return steps.map((step, index) => {
    const fault = step.state === 'failed' && end.kind === 'failed' ? end.fault : null;
    return {
      name: `step ${step.namespace}`,
      kind: 'internal',
      traceId: traceIdOf(emission),
      spanId: ids.step(run.run, fence, index),
      parentSpanId: ids.run(run.run),
      startMs: step.startedAtMs,
      endMs: step.startedAtMs + step.tookMs,
      attributes: {
        ...ofRun(run),
        'errand.step.id': step.id,
        'errand.step.namespace': step.namespace,
        'errand.step.state': step.state,
        ...(fault === null ? {} : { 'error.type': fault.code }),
      },
      exception: fault === null ? null : exceptionOf(fault),
      link: null,
    };
  });
}

function ofRun({ run, runnable, emission, attempt }: ClaimedRun): Span['attributes'] {
  const kind = runnable.id.startsWith('dc_') ? 'source' : 'workflow';
  return {
    ...emissionAttributes(emission),
    'errand.run.id': numberedId(PREFIX.run, run),
    [`errand.${kind}.id`]: runnable.id,
    [`errand.${kind}.name`]: runnable.name,
    'errand.deployment.id': runnable.deploymentId,
    'errand.attempt': attempt,
  };
}

function exceptionOf({ code, msg, stack }: Fault): Span['exception'] {
  return { type: code, message: msg, stack };
}
