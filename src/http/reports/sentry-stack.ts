// The stack of what was thrown, as lines of our own stacks: its frames, and behind them the causes, each under a line that names
// the cause, as in errors of runs (runner/child/capture.ts). So causes tell groups apart and are found, whatever reported them.

import { cut } from '../../domain/errors/report.ts';
import { LIMITS } from '../../domain/limits.ts';
import { isRecord } from '../body/json.ts';
import { type Members, textIn } from './sentry-members.ts';

export interface ReportedStack {
  readonly stack: string;
  /** The frames of the program itself, as the client says, and the lines that name causes. Undefined: there are no such frames. */
  readonly ownFrames?: string;
}

/** The bounds on causes and their frames: the frames of what was thrown have the rest. */
const CAUSES = 4;
const CAUSE_FRAMES = 8;

/** Returns the stack. `trace`: of what was thrown. `causes`: the nearest first. */
export function stackOf(trace: unknown, causes: readonly Members[]): ReportedStack {
  const frames = framesOf(trace);
  const own = frames.filter(({ isOwn }) => isOwn);
  const shown = causes
    .slice(0, CAUSES)
    .map((cause) => ({ line: causeLine(cause), frames: framesOf(cause.stacktrace) }));
  const behind = shown.flatMap((cause) => [cause.line, ...linesOf(cause.frames.slice(0, CAUSE_FRAMES))]);
  const first = linesOf(frames.slice(0, LIMITS.stackFrames - behind.length));
  const stack = [...first, ...behind].join('\n');
  if (own.length === 0) return { stack };
  return { stack, ownFrames: [...linesOf(own), ...shown.map(({ line }) => line)].join('\n') };
}

/**
 * Returns the causes among exceptions, the nearest first. The last exception is what was thrown, and each of the others the cause
 * of the one behind it, unless the client says whose it is: then the errors in a group, such as an AggregateError, are no causes.
 */
export function causesIn(exceptions: readonly Members[]): readonly Members[] {
  const others = exceptions.slice(0, -1).reverse();
  const thrown = exceptions.at(-1);
  let { id } = placeOf(thrown ?? {});
  if (id === null || !others.some((other) => placeOf(other).parent !== null)) return others;
  const causes: Members[] = [];
  while (id !== null && causes.length < CAUSES) {
    const of: number = id;
    const cause: Members | undefined = others.find((other) => {
      const { parent, isInGroup } = placeOf(other);
      return parent === of && !isInGroup && !causes.includes(other);
    });
    if (cause !== undefined) causes.push(cause);
    id = cause === undefined ? null : placeOf(cause).id;
  }
  return causes;
}

const IN_GROUP = /\[\d+\]$/;

function placeOf({ mechanism }: Members) {
  const { exception_id: id, parent_id: parent, source }: Members = isRecord(mechanism) ? mechanism : {};
  const number = (value: unknown): number | null => (typeof value === 'number' ? value : null);
  return { id: number(id), parent: number(parent), isInGroup: typeof source === 'string' && IN_GROUP.test(source) };
}

/** The code of a system error, which clients tell in its message alone: `connect ECONNREFUSED 127.0.0.1:5432`. */
const SYSTEM_CODE = /^(?:\w+ )?(E[A-Z][A-Z0-9_]+)(?=[ :]|$)/;
const UNNAMED = 'Error';

function causeLine(cause: Members): string {
  const [type, said] = [textIn(cause, 'type') || UNNAMED, textIn(cause, 'value')];
  const code = (type === UNNAMED && SYSTEM_CODE.exec(said)?.[1]) || type;
  const title = `${code}: ${said}`.slice(0, LIMITS.frameBytes).replace(/\s+/g, ' ');
  return `    at [cause: ${cut(title, LIMITS.frameBytes - '    at [cause: ]'.length)}]`;
}

interface Frame {
  readonly line: string;
  /** Of the program itself, as the client says. */
  readonly isOwn: boolean;
}

/** Returns the frames in the order of our stacks: the newest call first. */
function framesOf(stacktrace: unknown): Frame[] {
  const frames = isRecord(stacktrace) && Array.isArray(stacktrace.frames) ? stacktrace.frames : [];
  return frames
    .slice(-LIMITS.stackFrames)
    .reverse()
    .filter(isRecord)
    .map((frame) => ({ line: lineOf(frame), isOwn: frame.in_app === true }));
}

/** Returns a frame as a line of a stack: ` at charge (/srv/shop/charge.js:41:13)`. */
function lineOf(frame: Members): string {
  const [given, module] = [textIn(frame, 'function'), textIn(frame, 'module')];
  // What clients write for a function without a name.
  const fn = given === '?' || given === '<anonymous>' ? '' : given;
  const file = textIn(frame, 'filename') || textIn(frame, 'abs_path') || module;
  const place = [file, textIn(frame, 'lineno'), textIn(frame, 'colno')].filter((part) => part !== '').join(':');
  const shown = fn === '' ? place : place === '' ? fn : `${fn} (${place})`;
  return `    at ${shown.replace(/\s+/g, ' ') || '?'}`;
}

function linesOf(frames: readonly Frame[]): string[] {
  return frames.map(({ line }) => line);
}
