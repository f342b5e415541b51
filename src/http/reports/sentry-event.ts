// From an event of a client of Sentry to a report. The event itself is the original event, byte for byte; what helps most is
// told again beside the error, cut short, so that notices and listeners need not know the format.
//
// Every member may be missing, or be anything: clients exist in many languages and versions.

import { isUtf8 } from 'node:buffer';
import { utf8 } from '../../domain/bytes.ts';
import { cut, type Report } from '../../domain/errors/report.ts';
import { LIMITS, SECOND_MS } from '../../domain/limits.ts';
import { Refusal } from '../../domain/refusal.ts';
import { isRecord } from '../body/json.ts';
import { hasMoreValues } from '../body/json-count.ts';
import { checkDepth, depthOf } from '../body/nesting.ts';
import { type Members, textIn, valuesOf } from './sentry-members.ts';
import { messageOf, thrownText } from './sentry-message.ts';
import { causesIn, stackOf } from './sentry-stack.ts';

export interface SentryEvent {
  /** 32 hex digits; null: the event has none. */
  readonly eventId: string | null;
  readonly report: Report;
}

/** Throws `Refusal` for what is no JSON object, is nested too deep, or holds too many values. */
export function readSentryEvent(payload: Buffer): SentryEvent {
  const event = parsed(payload);
  const exceptions = valuesOf(event.exception).filter(isRecord);
  // Causes come first.
  const thrown = exceptions.at(-1);
  const told = toldOf(event, exceptions.slice(0, -1));
  const said = messageOf(event);
  const isMessage = thrown === undefined || isStackOfMessage(thrown, said.template);
  return {
    eventId: eventIdOf(event.event_id),
    report: {
      message: (isMessage ? said.text : thrownText(thrown) || textIn(thrown, 'type')) || NO_MESSAGE,
      template: thrown === undefined ? said.template : textIn(thrown, 'value') || textIn(thrown, 'type'),
      code: (thrown && textIn(thrown, 'type')) || (isMessage ? 'Message' : 'Error'),
      ...stackOf(thrown?.stacktrace ?? threadsTrace(event), causesIn(exceptions)),
      step: '',
      tsMs: timeOf(event.timestamp),
      context: told,
      originalEvent: payload,
    },
  };
}

const NO_MESSAGE = '(no message)';

/** Returns whether it only carries the stack of a message, as with `attachStacktrace`. */
function isStackOfMessage(thrown: Members, said: string): boolean {
  return said !== '' && textIn(thrown, 'value') === said;
}

function parsed(payload: Buffer): Members {
  if (!isUtf8(payload)) throw new Refusal('malformed', 'The event is not valid UTF-8');
  if (hasMoreValues(payload, LIMITS.envelopeEventValues)) {
    throw new Refusal(
      'too_large',
      `The event holds more than ${LIMITS.envelopeEventValues} values (envelopeEventValues)`,
    );
  }
  const depth = depthOf(payload);
  if (depth === null) throw new Refusal('malformed', 'The event is not valid JSON');
  checkDepth(depth);
  const event: unknown = JSON.parse(payload.toString());
  if (isRecord(event)) return event;
  throw new Refusal('malformed', 'The event is not a JSON object');
}

/** Returns the id as 32 hex digits: some clients write dashes. */
export function eventIdOf(given: unknown): string | null {
  const id = typeof given === 'string' ? given.replaceAll('-', '').toLowerCase() : '';
  return /^[0-9a-f]{32}$/.test(id) ? id : null;
}

/** Reads a time: epoch seconds with a fraction, or ISO 8601. */
function timeOf(timestamp: unknown): number | null {
  const ms = typeof timestamp === 'number' ? timestamp * SECOND_MS : Date.parse(String(timestamp));
  return Number.isFinite(ms) ? ms : null;
}

/** Returns the stack of the first thread that has one. A message may have the stack of the thread that said it. */
function threadsTrace(event: Members): unknown {
  const thread = valuesOf(event.threads)
    .filter(isRecord)
    .find(({ stacktrace }) => isRecord(stacktrace));
  return thread?.stacktrace ?? event.stacktrace;
}

const TOLD = [
  'event_id',
  'level',
  'platform',
  'environment',
  'release',
  'server_name',
  'transaction',
  'logger',
  'fingerprint',
  'tags',
  'user',
] as const;
/** Without its integrations and packages. */
const SDK = ['name', 'version'] as const;

const TOLD_CHARS = 500;
const TOLD_MEMBERS = 50;
const TOLD_LEVELS = 3;
/** The latest. */
const BREADCRUMBS = 10;
const BREADCRUMB = ['timestamp', 'type', 'category', 'level', 'message'] as const;

function toldOf(event: Members, causes: readonly Members[]): Uint8Array {
  const told: Record<string, unknown> = {};
  for (const name of TOLD) {
    if (event[name] !== undefined && event[name] !== null) told[name] = shortened(event[name], TOLD_LEVELS);
  }
  if (isRecord(event.sdk)) told.sdk = shortened(only(event.sdk, SDK), 1);
  if (causes.length > 0) {
    told.causes = causes.slice(-BREADCRUMBS).map((cause) => {
      return cut(`${textIn(cause, 'type')}: ${textIn(cause, 'value')}`, TOLD_CHARS);
    });
  }
  const crumbs = valuesOf(event.breadcrumbs).filter(isRecord).slice(-BREADCRUMBS);
  if (crumbs.length > 0) told.breadcrumbs = crumbs.map((crumb) => shortened(only(crumb, BREADCRUMB), 1));
  const json = utf8(JSON.stringify(told));
  if (json.byteLength <= LIMITS.reportContextBytes) return json;
  // The event has it all.
  return utf8(JSON.stringify({ event_id: told.event_id, level: told.level, release: told.release }));
}

function only(members: Members, names: readonly string[]): Members {
  return Object.fromEntries(names.flatMap((name) => (members[name] === undefined ? [] : [[name, members[name]]])));
}

/** Returns the value with its texts, lists and objects cut short. */
function shortened(value: unknown, levels: number): unknown {
  if (typeof value === 'string') return cut(value, TOLD_CHARS);
  if (typeof value !== 'object' || value === null) return value;
  if (levels === 0) return '…';
  if (Array.isArray(value)) return value.slice(0, TOLD_MEMBERS).map((item) => shortened(item, levels - 1));
  const members = Object.entries(value).slice(0, TOLD_MEMBERS);
  return Object.fromEntries(members.map(([name, one]) => [cut(name, TOLD_CHARS), shortened(one, levels - 1)]));
}
