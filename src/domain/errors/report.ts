// An error that another program reports. It is an error of one of the owner's workflows, which stands for the program: a
// workflow that a person made, or that of a service, made with the first error that names the service. So everything that is
// possible with a workflow's errors is possible with these: lists, groups, search, subscriptions, notices.

import { concat, text, utf8 } from '../bytes.ts';
import { DAY_MS, LIMITS } from '../limits.ts';
import { shortened } from './template.ts';

/** As a program tells it: any text, of any length. */
export interface Report {
  readonly message: string;
  readonly code: string;
  readonly stack: string;
  /** The part of the program, as a step is of a workflow; empty: none. */
  readonly step: string;
  /** When it happened, in epoch milliseconds; null: when it came. */
  readonly tsMs: number | null;
  /** A JSON object, as it came; null: nothing. */
  readonly context: Uint8Array | null;
  /** JSON text, as it came; null: there was no event. */
  readonly originalEvent: Uint8Array | null;
  /** The message by which it is grouped, when it is not the one that is shown. */
  readonly template?: string;
  /** The frames by which it is grouped, when they are not those of the stack. */
  readonly ownFrames?: string;
}

/** What is kept of a report. */
export interface ReportedFault {
  readonly code: string;
  readonly msg: string;
  readonly cellId: string;
  readonly namespace: string;
  readonly tsMs: number;
  readonly stack: string;
}

/** The latest time that a date can be. */
const MAX_MS = 8.64e15;

/** Returns the error within the bounds of every other one; nothing is too long to be reported. */
export function faultOf(report: Report, nowMs: number): ReportedFault {
  const { code, message, stack, step, tsMs } = report;
  const isTime = tsMs !== null && tsMs >= -MAX_MS && tsMs <= nowMs + DAY_MS;
  return {
    code: shortened(code, LIMITS.codeChars) || 'Error',
    msg: cut(message, LIMITS.messageBytes),
    cellId: '',
    namespace: shortened(step, LIMITS.namespaceChars),
    tsMs: isTime ? Math.trunc(tsMs) : nowMs,
    stack: framesIn(stack).join('\n'),
  };
}

const V8_FRAME = /^\s*at /;

/** Returns the lines of a stack. One as V8 writes it begins with the message, which is left out. */
export function framesIn(stack: string): string[] {
  // Ten lines of a message for each frame: longer ones are no message.
  const lines = stack.slice(0, 10 * LIMITS.stackFrames * LIMITS.frameBytes).split(/\r?\n/);
  const first = lines.findIndex((line) => V8_FRAME.test(line));
  return lines
    .slice(Math.max(first, 0))
    .filter((line) => line.trim() !== '')
    .slice(0, LIMITS.stackFrames)
    .map((line) => cut(line, LIMITS.frameBytes));
}

/** Returns at most so many bytes of UTF-8: valid Unicode, never half a character. */
export function cut(given: string, maxBytes: number): string {
  const head = given.slice(0, maxBytes).toWellFormed();
  const bytes = utf8(head);
  if (bytes.byteLength <= maxBytes) return head;
  let end = maxBytes;
  while (end > 0 && ((bytes[end] as number) & 0xc0) === 0x80) end--;
  return text(bytes.subarray(0, end));
}

/** Returns the JSON text of an object with one more member, whose bytes stay as they are. */
export function withMember(json: string, name: string, value: Uint8Array): Uint8Array {
  return concat([utf8(`${json.slice(0, -1)},${JSON.stringify(name)}:`), value, utf8('}')]);
}
