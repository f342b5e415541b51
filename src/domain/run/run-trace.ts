// The stored course of a run: its steps and their logs.

import { text, utf8 } from '../bytes.ts';
import { elementsOf, memberOf, membersOf } from '../json-member.ts';
import type { LogLine, StepResult } from './step-result.ts';
import type { Checkpoint } from './wait.ts';

export interface Course {
  readonly steps: readonly StepResult[];
  readonly logs: readonly LogLine[];
  readonly logBytesDropped: number;
  readonly exitReason?: string | undefined;
}

/** Returns JSON text of `{steps, logs, log_bytes_dropped, exit_reason}`; null when all are empty. */
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

/** What a run that continues a failed one has from the start. `checkpoint`: JSON text of Checkpoint. */
export interface Continued extends Pick<Checkpoint, 'waits' | 'summary'> {
  readonly checkpoint: string;
  readonly detail: string | null;
}

export function continuedFrom(checkpoint: string): Continued {
  const { waits, summary, ...course } = JSON.parse(checkpoint) as Checkpoint;
  return { checkpoint, waits, summary, detail: detailOf(course) };
}

// Return values, exports and resume data are JSON text already: copied, not parsed and written again.
function stepJson(step: StepResult): string {
  const exports = Object.entries(step.exports).map(([name, value]) => `${JSON.stringify(name)}:${value}`);
  const resumed = step.resumeData === undefined ? '' : `,"resume_data":${step.resumeData}`;
  const again = step.isAgain ? ',"again":true' : '';
  return `{"id":"${step.id}","namespace":"${step.namespace}","state":"${step.state}","started_at_ms":${step.startedAtMs},"took_ms":${step.tookMs},"return_value":${step.returnValue ?? 'null'},"exports":{${exports.join(',')}}${resumed}${again}}`;
}

/** Returns the steps of a detail, byte for byte. A step that returned null equals one that returned nothing. */
export function stepsIn(detail: string): StepResult[] {
  const list = memberOf(utf8(detail), 'steps');
  return list ? elementsOf(list).map(readStep) : [];
}

function readStep(json: Uint8Array): StepResult {
  const parts = new Map(membersOf(json));
  const textOf = (name: string): string => text(parts.get(name) ?? utf8('null'));
  const returnValue = textOf('return_value');
  const resumeData = parts.get('resume_data');
  return {
    id: JSON.parse(textOf('id')) as string,
    namespace: JSON.parse(textOf('namespace')) as string,
    state: JSON.parse(textOf('state')) as StepResult['state'],
    startedAtMs: Number(textOf('started_at_ms')),
    tookMs: Number(textOf('took_ms')),
    ...(returnValue === 'null' ? {} : { returnValue }),
    exports: Object.fromEntries(membersOf(utf8(textOf('exports'))).map(([name, value]) => [name, text(value)])),
    ...(resumeData === undefined ? {} : { resumeData: text(resumeData) }),
    ...(parts.has('again') ? { isAgain: true } : {}),
  };
}
