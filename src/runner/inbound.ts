// Reads what a child says of a run. User code shares its process and could forge it, so every member is checked, and
// whatever is off throws, which costs the child its process.

import { LIMITS } from '../domain/limits.ts';
import type { PropDefinition, PropDefinitions } from '../domain/props.ts';
import type { Deployment } from '../domain/resource.ts';
import type { Fault, HttpAnswer, LogLine, Outgoing, RunOutcome, StepResult } from '../domain/run.ts';
import { isHeader } from './child/answer.ts';
import { RESERVED_CODES } from './child/errors.ts';
import { LINE_BYTES } from './child/run-log.ts';
import type { Flight } from './flight.ts';
import type { ComponentShape, Question } from './runner.ts';
import { faultAt, haltedEnd } from './verdict.ts';

type Message = Readonly<Record<string, unknown>>;

interface EndContext {
  readonly flight: Flight;
  /** The answer's bytes, when the message has any. */
  readonly body: Uint8Array | null;
  readonly nowMs: number;
}

const STEP_STATES = ['succeeded', 'failed', 'exited'] as const;
const LEVELS: ReadonlySet<unknown> = new Set(['debug', 'info', 'warn', 'error']);
const CHILD_MAY_SAY: ReadonlySet<string> = new Set(['PayloadTooLarge', 'WorkerExit']);
const NONE: readonly never[] = [];

/** The outcome that an `end` message tells of. */
export function readEnd(message: Message, { flight, body, nowMs }: EndContext): RunOutcome {
  const parts = readParts(message, flight, body);
  if (message.kind === 'succeeded') {
    const exit =
      message.exitReason === undefined ? {} : { exitReason: text(message.exitReason, LIMITS.descriptionChars) };
    return { ...parts, end: { kind: 'succeeded', ...exit } };
  }
  if (message.kind === 'failed') {
    return {
      ...parts,
      end: { kind: 'failed', fault: readFault(message.fault, flight.request.deployment, flight.aheadMs) },
    };
  }
  const end = haltedEnd(flight, Math.max(0, parts.steps.length - 1), nowMs);
  if (end === null) throw new TypeError('nobody halted this run');
  if (end.kind === 'failed') return { ...parts, end };
  return { ...parts, end, steps: parts.steps.filter((step) => step.state !== 'failed') };
}

function readParts(message: Message, flight: Flight, body: Uint8Array | null): Omit<RunOutcome, 'end'> {
  const told = list(message.steps, LIMITS.stepsPerWorkflow).map((tuple) => readStep(tuple, flight));
  return {
    steps: flight.steps.length === 0 ? told : [...flight.steps, ...told],
    logs: message.logs === undefined ? NONE : readLogs(message.logs, flight.aheadMs),
    logBytesDropped: message.dropped === undefined ? 0 : integer(message.dropped),
    outgoing: message.outgoing === undefined ? NONE : readOutgoing(message.outgoing),
    answer: message.answer === undefined ? null : readAnswer(message.answer, body),
    summary: message.summary === undefined ? null : text(message.summary, LIMITS.descriptionChars),
    dbWrites: message.dbWrites === undefined ? {} : readDbWrites(message.dbWrites),
  };
}

/** `[index, state, startedAtMs, tookMs, returned, exports]` */
export function readStep(given: unknown, { request, aheadMs }: Flight): StepResult {
  const [index, state, startedAtMs, tookMs, returned, exports] = list(given, 6);
  const step = request.deployment.steps[integer(index)];
  const name = STEP_STATES[integer(state)];
  if (step === undefined || name === undefined) throw new RangeError('no such step');
  return {
    id: step.id,
    namespace: step.namespace,
    state: name,
    startedAtMs: integer(startedAtMs) + aheadMs,
    tookMs: integer(tookMs),
    ...(returned === null ? {} : { returnValue: json(returned, LIMITS.resultBytes) }),
    exports: exports === null ? {} : readExports(exports),
  };
}

/** Why the deployment could not be loaded. */
export function readBroken(given: unknown, deployment: Deployment): Fault {
  return { ...readFault(given, deployment, 0), code: 'StartFailed' };
}

function readFault(given: unknown, deployment: Deployment, aheadMs: number): Fault {
  const { step, code, msg, tsMs, stack } = record(given);
  const said = text(code, LIMITS.codeChars);
  return faultAt(deployment, integer(step), {
    code: RESERVED_CODES.has(said) && !CHILD_MAY_SAY.has(said) ? 'Error' : said,
    msg: text(msg, LIMITS.messageBytes),
    tsMs: integer(tsMs) + aheadMs,
    stack: text(stack, LIMITS.stackFrames * (LIMITS.frameBytes + 1)),
  });
}

export function readAnswer(given: unknown, body: Uint8Array | null): HttpAnswer {
  const { status, headers } = record(given);
  const code = integer(status);
  if (code < 200 || code > 599 || body === null || body.byteLength > LIMITS.resultBytes)
    throw new RangeError('no answer');
  for (const [name, value] of Object.entries(record(headers))) {
    if (!isHeader(name, text(value, LIMITS.resultBytes))) throw new RangeError('no header');
  }
  // A copy: the bytes are a window on everything that arrived with them.
  return { status: code, headers: headers as Record<string, string>, body: new Uint8Array(body) };
}

/** What the code asks. `value`: its bytes. */
export function readAsk(message: Message, value: Uint8Array | null): { id: number; question: Question; bytes: number } {
  const args = json(message.args, LIMITS.askArgsChars);
  const given = value === null || value.byteLength === 0 ? null : Buffer.from(value).toString();
  const question = {
    verb: text(message.verb, LIMITS.nameChars),
    args: record(JSON.parse(args)),
    value: given === null ? null : json(given, LIMITS.openAskBytes),
  };
  return { id: integer(message.id), question, bytes: args.length + (value?.byteLength ?? 0) };
}

export function text(value: unknown, maxChars: number): string {
  if (typeof value !== 'string' || value.length > maxChars || !value.isWellFormed())
    throw new TypeError('no such text');
  return value;
}

/** Null when it is no text. */
function begins(value: unknown, maxChars: number): string | null {
  return typeof value === 'string' ? value.slice(0, maxChars).toWellFormed() : null;
}

function readExports(given: unknown): Record<string, string> {
  const exports = record(given);
  let length = 0;
  for (const value of Object.values(exports)) length += json(value, LIMITS.resultBytes).length;
  if (length > LIMITS.resultBytes) throw new RangeError('exports are too long');
  return exports as Record<string, string>;
}

function readLogs(given: unknown, aheadMs: number): LogLine[] {
  let left: number = LIMITS.logBytes;
  return list(given, LIMITS.logBytes / LINE_BYTES).map((line) => {
    const [tsMs, level, namespace, printed] = list(line, 4);
    if (!LEVELS.has(level)) throw new TypeError('no such level');
    const kept = text(printed, left);
    left -= kept.length;
    return {
      tsMs: integer(tsMs) + aheadMs,
      level: level as LogLine['level'],
      namespace: text(namespace, LIMITS.namespaceChars),
      text: kept,
    };
  });
}

function readOutgoing(given: unknown): Outgoing[] {
  let left: number = LIMITS.resultBytes;
  return list(given, LIMITS.emissionsPerRun).map((item) => {
    const [kind, name, body, summary, itemId, itemTs, deliverAt] = list(item, 7);
    if (kind !== 'emit' && kind !== 'email') throw new TypeError('no such kind');
    const channel = text(name, LIMITS.eventNameChars);
    if (channel.startsWith('$')) throw new RangeError('no such channel');
    const bytes = Buffer.from(json(body, left));
    left -= bytes.byteLength;
    const deliverAtMs = optional(deliverAt, integer);
    return {
      kind,
      name: channel,
      body: bytes,
      summary: optional(summary, (value) => text(value, LIMITS.descriptionChars)),
      itemId: optional(itemId, (value) => text(value, LIMITS.descriptionChars)),
      itemTs: optional(itemTs, integer),
      ...(deliverAtMs === null ? {} : { deliverAtMs }),
    };
  });
}

function readDbWrites(given: unknown): Record<string, string | null> {
  const writes = record(given);
  for (const value of Object.values(writes)) if (value !== null) json(value, LIMITS.resultBytes);
  return writes as Record<string, string | null>;
}

function optional<T>(value: unknown, read: (value: unknown) => T): T | null {
  return value === undefined || value === null ? null : read(value);
}

function list(value: unknown, maxLength: number): unknown[] {
  if (!Array.isArray(value) || value.length > maxLength) throw new TypeError('no such list');
  return value;
}

function record(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new TypeError('no such object');
  return value as Record<string, unknown>;
}

function integer(value: unknown): number {
  if (!Number.isSafeInteger(value)) throw new TypeError('no such number');
  return value as number;
}

/** It goes into the log and into answers as it is, so it must be JSON. Parsing costs 0.3 µs for a small value. */
function json(value: unknown, maxChars: number): string {
  const given = text(value, maxChars);
  JSON.parse(given);
  return given;
}

export function readShape(given: unknown): ComponentShape {
  const { type, key, name, description, version, dedupe, props, hooks, hasRun, hasAdditionalProps, workflow } =
    record(given);
  if (!(type === 'source' || type === 'action' || type === 'app' || type === 'function'))
    throw new TypeError('no such type');
  return {
    type,
    key: begins(key, LIMITS.nameChars),
    name: optional(name, (value) => text(value, LIMITS.descriptionChars)),
    description: begins(description, LIMITS.descriptionChars),
    version: optional(version, (value) => text(value, LIMITS.nameChars)),
    dedupe: optional(dedupe, (value) => text(value, LIMITS.nameChars)),
    props: readDefinitions(props),
    hooks: list(hooks, 100).map((hook) => text(hook, LIMITS.nameChars)),
    hasRun: hasRun === true,
    hasAdditionalProps: hasAdditionalProps === true,
    ...(workflow === undefined ? {} : { workflow }),
  };
}

/** The answer to a question, as JSON text. */
export function readTold(given: unknown): Readonly<Record<string, unknown>> {
  const answer = record(JSON.parse(text(given, LIMITS.resultBytes)));
  return answer.props === undefined ? answer : { ...answer, props: readDefinitions(answer.props) };
}

/** Of what they say beyond their type, nothing is believed: each is checked where it is used. */
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
