// Errors that other programs report: their parameters, over the API and at the address of a trigger.

import type { Static } from 'typebox';
import { cut, type Report } from '../../../domain/errors/report.ts';
import { recordId } from '../../../domain/ids.ts';
import { LIMITS } from '../../../domain/limits.ts';
import type { Appended } from '../../../store/contract/store.ts';
import { EMIT_ID, id, RECORD_ID } from '../../openapi/schema.ts';
import { eventOf, jsonOf } from '../../params.ts';
import { Type } from '../../schema/type.ts';
import { TIME_WANTED, timeOf, wrong } from '../times.ts';

/** Texts are cut where they are too long: an error with a long message is better than none. */
export const REPORT = {
  message: Type.String({
    description: `What went wrong. Cut at ${LIMITS.messageBytes} bytes.`,
    examples: ['order 12345 has no total'],
  }),
  code: Type.Optional(
    Type.String({
      description: 'The error’s code, or the name of its class; `Error` when not given.',
      examples: ['TypeError'],
    }),
  ),
  stack: Type.Optional(
    Type.String({
      description: `The stack as the program has it, one frame a line. At most ${LIMITS.stackFrames} lines are kept.`,
      examples: ['TypeError: order 12345 has no total\n    at charge (/srv/shop/charge.js:41:13)'],
    }),
  ),
  step: Type.Optional(
    Type.String({ description: 'The part of the program: shown as the step, and grouped by.', examples: ['charge'] }),
  ),
  ts: Type.Optional(
    Type.Union([Type.Number(), Type.String()], {
      description: 'When it happened; now when not given.',
      'x-expected': TIME_WANTED,
      examples: ['2026-06-21T00:00:00.141Z'],
    }),
  ),
  context: Type.Optional(
    Type.Unknown({
      description: `A JSON object with whatever helps: release, host, user. At most ${LIMITS.reportContextBytes} bytes.`,
      examples: [{ release: '4.1.0', host: 'shop-2' }],
    }),
  ),
  original_event: Type.Optional(
    Type.Unknown({
      description: 'Any JSON: what the program was working on. Kept byte for byte.',
      examples: [{ order: 12345 }],
    }),
  ),
};

const REPORT_OBJECT = Type.Object(REPORT);

export const REPORTED = Type.Object(
  { id: RECORD_ID, emit_id: EMIT_ID, workflow_id: id('p_', 'The workflow whose error it is.') },
  { title: 'ReportedError' },
);

export interface ReportRequest {
  readonly query: unknown;
  readonly rawBody: Buffer | null;
}

/**
 * Returns what a report says. `body`: checked against the schema. `request`: what it was read from, for the parts that stay as
 * they came.
 */
export function reportOf(body: Static<typeof REPORT_OBJECT>, request: ReportRequest, maxEventBytes: number): Report {
  const { message, code = '', stack = '', step = '', ts } = body;
  return {
    message,
    code: cut(code, LIMITS.messageBytes),
    stack,
    step: cut(step, LIMITS.messageBytes),
    tsMs: ts === undefined ? null : timeOf('ts', ts),
    context: contextOf(body.context, request),
    originalEvent: eventOf(request, maxEventBytes, 'original_event') ?? null,
  };
}

function contextOf(given: unknown, request: ReportRequest): Uint8Array | null {
  if (given === undefined || given === null) return null;
  const bytes = jsonOf(request, { name: 'context', maxBytes: LIMITS.reportContextBytes }) ?? null;
  const isObject = bytes?.[0] === OPEN_BRACE;
  if (!isObject) throw wrong('context', 'must be a JSON object such as {"release": "4.1.0"}', given);
  return bytes;
}

const OPEN_BRACE = 0x7b;

export function reportedToWire({
  entry,
  emitId,
  workflowId,
}: Appended & { workflowId: string }): Static<typeof REPORTED> {
  return { id: recordId(entry), emit_id: emitId, workflow_id: workflowId };
}
