// Reads a child's messages about a run. User code shares the process and could forge them, so every member is checked,
// and an invalid one throws, which ends the process.

import { numberedId, PREFIX } from '../../domain/ids.ts';
import { LIMITS } from '../../domain/limits.ts';
import type { PropDefinition, PropDefinitions } from '../../domain/props.ts';
import type { Deployment } from '../../domain/resource.ts';
import type { Fault, HttpAnswer, RunOutcome } from '../../domain/run/run.ts';
import type { LogLine, StepResult } from '../../domain/run/step-result.ts';
import type { WaitAsked } from '../../domain/run/wait.ts';
import { isHeader } from '../child/api/answer.ts';
import { isReserved } from '../child/errors.ts';
import { LATE_CALLS, LOST_CALLS } from '../child/protocol.ts';
import type { ChildRequest, ComponentShape, LateFailure } from '../runner.ts';
import { faultAt, haltedEnd } from './crash-outcome.ts';
import { readOutgoing } from './inbound-outgoing.ts';
import { integer, json, list, optional, record, shallowJson, text, time } from './inbound-values.ts';
import { checkJson } from './json-check.ts';
import type { OutputBudget, RunInFlight } from './run-in-flight.ts';

type Message = Readonly<Record<string, unknown>>;

interface EndContext {
  readonly run: RunInFlight;
  /** The answer's bytes, when the message has any. */
  readonly body: Uint8Array | null;
  readonly nowMs: number;
}

const STEP_STATES = ['succeeded', 'failed', 'exited'] as const;
const WAITS: ReadonlySet<unknown> = new Set<WaitAsked['kind']>(['delay', 'suspend', 'rerun']);
const LEVELS: ReadonlySet<unknown> = new Set(['debug', 'info', 'warn', 'error']);
const LATE: ReadonlySet<string> = new Set(LATE_CALLS);
const CHILD_MAY_SAY: ReadonlySet<string> = new Set(['PayloadTooLarge', 'WorkerExit']);

/** Returns the outcome that an `end` message describes, together with what the run has reported before. */
export function readEnd(message: Message, { run, body, nowMs }: EndContext): RunOutcome {
  const ofDone = run.outgoing.length;
  const parts = readParts(message, run, body);
  if (message.kind === 'succeeded') {
    const exit =
      message.exitReason === undefined ? {} : { exitReason: text(message.exitReason, LIMITS.descriptionChars) };
    return { ...parts, end: { kind: 'succeeded', ...exit } };
  }
  if (message.kind === 'waiting') return { ...parts, end: { kind: 'waiting', wait: readWait(message.wait, run) } };
  if (message.kind === 'failed') {
    const fault = readFault(message.fault, run.request.deployment, run.aheadMs);
    return { ...parts, outgoingOfDone: ofDone, end: { kind: 'failed', fault } };
  }
  const end = haltedEnd(run, run.firstIndex + Math.max(0, parts.steps.length - 1), nowMs);
  if (end === null) throw new TypeError('this run was not halted');
  if (end.kind === 'failed') return { ...parts, outgoingOfDone: ofDone, end };
  return { ...parts, end, steps: parts.steps.filter((step) => step.state !== 'failed') };
}

/** Reads the report of a step that has ended, in a run that goes on. */
export function readStepMessage(message: Message, run: RunInFlight): void {
  run.steps.push(readStep(message.step, run));
  readProgress(message, run);
}

/** Reads what a step has printed so far. */
export function readLogMessage({ logs, dropped }: Message, run: RunInFlight): void {
  // The bound on a run's lines is one on such messages: each has a line.
  if (!Array.isArray(logs) || logs.length === 0) throw new TypeError('no lines');
  readProgress({ logs, dropped }, run);
}

function readParts(message: Message, run: RunInFlight, body: Uint8Array | null): Omit<RunOutcome, 'end'> {
  if (message.step !== undefined) run.steps.push(readStep(message.step, run));
  readProgress(message, run);
  const { steps, logs, logBytesDropped, outgoing, summary, dbWrites } = run;
  return {
    steps,
    logs,
    logBytesDropped,
    outgoing,
    outgoingOfDone: outgoing.length,
    answer: message.answer === undefined ? null : readAnswer(message.answer, body),
    summary,
    dbWrites,
  };
}

function readProgress({ logs, dropped, outgoing, summary, dbWrites }: Message, run: RunInFlight): void {
  if (logs !== undefined) run.logs.push(...readLogs(logs, run));
  if (dropped !== undefined) run.logBytesDropped = integer(dropped);
  if (outgoing !== undefined) run.outgoing.push(...readOutgoing(outgoing, run));
  if (summary !== undefined) run.summary = text(summary, LIMITS.descriptionChars);
  if (dbWrites !== undefined) run.dbWrites = { ...run.dbWrites, ...readDbWrites(dbWrites, run.budget) };
}

/** Reads `[kind, ms, context]`, requested by the last of the steps. */
function readWait(given: unknown, { request, steps, budget }: RunInFlight): WaitAsked {
  const [kind, ms, context] = list(given, 3);
  if (request.source !== null || steps.at(-1)?.state !== 'succeeded') throw new TypeError('this run cannot wait');
  if (!WAITS.has(kind)) throw new TypeError('no such wait');
  const afterMs = integer(ms);
  if (afterMs < 0 || afterMs > LIMITS.maxWaitMs) throw new RangeError('no such time');
  const isPassedOn = kind === 'rerun' && context !== null;
  return {
    kind: kind as WaitAsked['kind'],
    ms: afterMs,
    context: isPassedOn ? shallowJson(context, budget.results) : null,
  };
}

/** Reads `[index, state, startedAtMs, tookMs, returned, exports]` of the next step. */
function readStep(given: unknown, run: RunInFlight): StepResult {
  const { request, aheadMs, budget } = run;
  const [index, state, startedAtMs, tookMs, returned, exports] = list(given, 6);
  const step = request.deployment.steps[integer(index)];
  const name = STEP_STATES[integer(state)];
  const isNext = index === run.firstIndex + run.steps.length;
  if (step === undefined || name === undefined || !isNext) throw new RangeError('no such step');
  const returnValue = returned === null ? undefined : shallowJson(returned, budget.results);
  budget.results -= returnValue?.length ?? 0;
  return {
    id: step.id,
    namespace: step.namespace,
    state: name,
    startedAtMs: time(startedAtMs) + aheadMs,
    tookMs: integer(tookMs),
    ...(returnValue === undefined ? {} : { returnValue }),
    exports: exports === null ? {} : readExports(exports, budget),
  };
}

/** Reads which run has ended and what its code has called since, how often. */
export function readLateCalls({ run, calls }: Message): { run: string; calls: Record<string, number> } {
  const id = integer(run);
  if (id < 1) throw new RangeError('no such run');
  const counted = Object.entries(record(calls)).map(([call, count]): [string, number] => {
    if (!LATE.has(call)) throw new TypeError('no such call');
    return [call, integer(count)];
  });
  return { run: numberedId(PREFIX.run, id), calls: Object.fromEntries(counted) };
}

/** Reads what the code of a run did that has ended: which run that was, the index of its step, and what it lost. */
export function readLateFailure({ run, fault, calls }: Message, deployment: Deployment): ReadLateFailure {
  const id = integer(run);
  if (id < 1) throw new RangeError('no such run');
  const lost = calls === undefined ? null : LOST_CALLS.filter((call) => Object.hasOwn(record(calls), call));
  if (lost?.length === 0) throw new TypeError('nothing was lost');
  return { run: id, step: Math.max(0, integer(record(fault).step)), fault: readFault(fault, deployment, 0), lost };
}

export type ReadLateFailure = Pick<LateFailure, 'run' | 'step' | 'fault' | 'lost'>;

/** Reads the index of the step that is loaded next. */
export function readLoading({ step }: Message): number {
  return Math.max(0, integer(step));
}

/** Reads why the deployment could not be loaded. */
export function readBroken(given: unknown, deployment: Deployment): Fault {
  return { ...readFault(given, deployment, 0), code: 'StartFailed' };
}

function readFault(given: unknown, deployment: Deployment, aheadMs: number): Fault {
  const { step, code, msg, tsMs, stack } = record(given);
  const said = text(code, LIMITS.codeChars);
  return faultAt(deployment, integer(step), {
    code: isReserved(said) && !CHILD_MAY_SAY.has(said) ? 'Error' : said,
    msg: text(msg, LIMITS.messageBytes),
    tsMs: time(tsMs) + aheadMs,
    stack: text(stack, LIMITS.stackFrames * (LIMITS.frameBytes + 1)),
  });
}

export function readAnswer(given: unknown, body: Uint8Array | null): HttpAnswer {
  const { status, headers } = record(given);
  const code = integer(status);
  if (code < 200 || code > 599 || body === null || body.byteLength > LIMITS.resultBytes)
    throw new RangeError('no answer');
  for (const [name, given] of Object.entries(record(headers))) {
    for (const value of Array.isArray(given) ? given : [given]) {
      if (!isHeader(name, text(value, LIMITS.resultBytes))) throw new RangeError('no header');
    }
  }
  // A copy: the bytes are a view of everything that arrived with them.
  return { status: code, headers: headers as HttpAnswer['headers'], body: new Uint8Array(body) };
}

/** Reads a request of the code. `value`: the bytes of its value. */
export function readChildRequest(
  message: Message,
  value: Uint8Array | null,
): { id: number; request: ChildRequest; bytes: number } {
  const args = json(message.args, LIMITS.childRequestArgsChars);
  const given = value === null || value.byteLength === 0 ? null : Buffer.from(value).toString();
  const request = {
    verb: text(message.verb, LIMITS.nameChars),
    args: record(JSON.parse(args)),
    value: given === null ? null : json(given, LIMITS.openChildRequestBytes),
  };
  return { id: integer(message.id), request, bytes: args.length + (value?.byteLength ?? 0) };
}

/** Returns the begin of a text; null when the value is no text. */
function begins(value: unknown, maxChars: number): string | null {
  return typeof value === 'string' ? value.slice(0, maxChars).toWellFormed() : null;
}

function readExports(given: unknown, budget: OutputBudget): Record<string, string> {
  const exports = record(given);
  budget.exports -= Object.keys(exports).length;
  if (budget.exports < 0) throw new RangeError('too many exports');
  for (const [name, value] of Object.entries(exports)) {
    budget.results -= name.length + shallowJson(value, budget.results).length;
  }
  if (budget.results < 0) throw new RangeError('exports are too long');
  return exports as Record<string, string>;
}

function readLogs(given: unknown, { budget, aheadMs }: RunInFlight): LogLine[] {
  return list(given, budget.logs / LIMITS.logLineBytes).map((line) => {
    const [tsMs, level, namespace, printed] = list(line, 4);
    if (!LEVELS.has(level)) throw new TypeError('no such level');
    budget.logs -= LIMITS.logLineBytes;
    const kept = text(printed, budget.logs);
    budget.logs -= kept.length;
    return {
      tsMs: time(tsMs) + aheadMs,
      level: level as LogLine['level'],
      namespace: text(namespace, LIMITS.namespaceChars),
      text: kept,
    };
  });
}

function readDbWrites(given: unknown, budget: OutputBudget): Record<string, string | null> {
  const writes = record(given);
  const values = list(Object.values(writes), budget.dbNames);
  budget.dbNames -= values.length;
  for (const name of Object.keys(writes)) text(name, budget.dbBytes);
  for (const value of values) if (value !== null) budget.dbBytes -= json(value, budget.dbBytes).length;
  return writes as Record<string, string | null>;
}

export function readShape(given: unknown): ComponentShape {
  const shape = record(given);
  const { type, isTyped, key, name, description, version, dedupe, props, hooks, members } = shape;
  const { hasRun, hasAdditionalProps, workflow } = shape;
  if (!(type === 'source' || type === 'action' || type === 'app' || type === 'function'))
    throw new TypeError('no such type');
  return {
    type,
    isTyped: isTyped === true,
    key: begins(key, LIMITS.nameChars),
    name: optional(name, (value) => text(value, LIMITS.descriptionChars)),
    description: begins(description, LIMITS.descriptionChars),
    version: optional(version, (value) => text(value, LIMITS.nameChars)),
    dedupe: optional(dedupe, (value) => text(value, LIMITS.nameChars)),
    props: readDefinitions(props),
    hooks: list(hooks, 100).map((hook) => text(hook, LIMITS.nameChars)),
    members: list(members, 100).map((member) => text(member, LIMITS.nameChars)),
    hasRun: hasRun === true,
    hasAdditionalProps: hasAdditionalProps === true,
    ...(workflow === undefined ? {} : { workflow }),
    ...(shape.hasSteps === true ? { hasSteps: true } : {}),
  };
}

/** Reads the answer to a query from its JSON text. */
export function readQueryResult(given: Uint8Array): Readonly<Record<string, unknown>> {
  const answerText = text(Buffer.from(given).toString(), LIMITS.resultBytes);
  checkJson(answerText, { values: LIMITS.componentQueryValues });
  const answer = record(JSON.parse(answerText));
  return answer.props === undefined ? answer : { ...answer, props: readDefinitions(answer.props) };
}

/** Reads definitions. Only their type is checked; every other member is checked where it is used. */
function readDefinitions(given: unknown): PropDefinitions {
  const definitions = Object.entries(record(given));
  if (definitions.length > LIMITS.propsPerComponent) throw new RangeError('too many props');
  if (JSON.stringify(given).length > LIMITS.shapeBytes) throw new RangeError('too much is said of the props');
  return Object.fromEntries(definitions.map(([name, definition]) => [name, readDefinition(definition)]));
}

function readDefinition(given: unknown): PropDefinition {
  const { type, ...rest } = record(given);
  return typeof type === 'string' ? { type, ...rest } : rest;
}
