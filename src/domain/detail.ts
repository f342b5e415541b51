// What is kept of a run's course for whoever looks at it: its steps and what they printed.

import type { LogLine, StepResult } from './run.ts';
import type { Carried } from './waiting.ts';

export interface Course {
  readonly steps: readonly StepResult[];
  readonly logs: readonly LogLine[];
  readonly logBytesDropped: number;
  readonly exitReason?: string | undefined;
}

/** JSON text of `{steps, logs, log_bytes_dropped, exit_reason}`; null when there is nothing to tell. */
export function detailOf({ steps, logs, logBytesDropped, exitReason }: Course): string | null {
  if (steps.length === 0 && logs.length === 0) return null;
  const parts = [`"steps":[${steps.map(stepJson).join(',')}]`];
  if (logs.length > 0) {
    const lines = logs.map((l) => ({ ts_ms: l.tsMs, level: l.level, namespace: l.namespace, text: l.text }));
    parts.push(`"logs":${JSON.stringify(lines)}`);
  }
  if (logBytesDropped > 0) parts.push(`"log_bytes_dropped":${logBytesDropped}`);
  if (exitReason !== undefined) parts.push(`"exit_reason":${JSON.stringify(exitReason)}`);
  return `{${parts.join(',')}}`;
}

/** Of a run that begins where another one failed, from its JSON text of Carried. */
export function detailOfCarried(carried: string): string | null {
  return detailOf(JSON.parse(carried) as Carried);
}

/** JSON text of Carried knows how many waits the run has had. */
export function waitsOfCarried(carried: string): number {
  return (JSON.parse(carried) as Carried).waits;
}

// Return values, exports and resume data are JSON text already: they are copied in, not parsed and written again.
function stepJson(step: StepResult): string {
  const exports = Object.entries(step.exports).map(([name, value]) => `${JSON.stringify(name)}:${value}`);
  const resumed = step.resumeData === undefined ? '' : `,"resume_data":${step.resumeData}`;
  return `{"id":"${step.id}","namespace":"${step.namespace}","state":"${step.state}","started_at_ms":${step.startedAtMs},"took_ms":${step.tookMs},"return_value":${step.returnValue ?? 'null'},"exports":{${exports.join(',')}}${resumed}}`;
}
