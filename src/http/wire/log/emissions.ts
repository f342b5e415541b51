// Emissions as the event listings show them. The body goes out as the bytes in the store.

import { bodyWithoutSecrets } from '../../../domain/delivery/without-secrets.ts';
import { ERRORS, WAITING } from '../../../domain/emission.ts';
import { msOf, recordId } from '../../../domain/ids.ts';
import type { EmissionRecord } from '../../../store/contract/records.ts';
import type { LaterRecord } from '../../../store/contract/resources.ts';
import { Verbatim } from '../../body/json.ts';
import { EMIT_ID, EMITTER, EVENT_NAME, id, msAt, nullable, RECORD_ID, text } from '../../openapi/schema.ts';
import { Type } from '../../schema/type.ts';

export const ORIGINAL_CONTEXT = Type.Object(
  {
    id: text({ description: 'The original event: its emit id.', example: 'k3x9qg4w9zl7uo0' }),
    ts: text({
      description: 'When the original event was accepted: ISO 8601, in UTC.',
      example: '2026-06-21T00:00:00.123Z',
    }),
    workflow_id: nullable(id('p_', 'The workflow that ran; null: it was none.')),
    deployment_id: nullable(id('d_', 'The deployment that ran; null: none did.')),
    source_type: text({
      description: 'Kind of the trigger: HTTP, TIMER, SOURCE, WORKFLOW, ERROR, WEBHOOK or API.',
      example: 'HTTP',
    }),
    verified: Type.Boolean({
      description: 'True: the trigger checked a token, or the source a signature.',
      examples: [false],
    }),
    owner_id: id('u_'),
    platform_version: text({ description: 'Version of Errand that ran it.', example: '0.1.0' }),
    workflow_name: nullable(text({ description: 'Name of the workflow; null: it was none.', example: 'Orders' })),
    emitter_id: text({ description: 'Who emitted the original event.', example: 'hi_0Vj3aBc9dEfGhIjK' }),
    trace_id: text({
      description: 'One per original event, kept across retries and replays.',
      example: 'k3x9qg4w9zl7uo0',
    }),
    replay: Type.Boolean({ description: 'True: the run was a replay.', examples: [false] }),
    attempt: Type.Integer({ description: 'Number of the attempt, counted from 1.', examples: [1] }),
    test: Type.Boolean({ description: 'True: the event was a test.', examples: [false] }),
    reported: Type.Optional(
      Type.Boolean({
        description: 'True: another program reported the error; no run of the workflow failed.',
        examples: [true],
      }),
    ),
    source_id: Type.Optional(
      text({ description: 'The source, when the run was of one.', example: 'dc_0Vj3aBc9dEfGhIjK' }),
    ),
    webhook_id: Type.Optional(
      text({ description: 'The webhook, when a delivery failed.', example: 'wh_0Vj3aBc9dEfGhIjK' }),
    ),
    heartbeat_id: Type.Optional(
      text({ description: 'The heartbeat, when the error is of one.', example: 'hb_0Vj3aBc9dEfGhIjK' }),
    ),
    heartbeat_name: Type.Optional(text({ description: 'Name of that heartbeat.', example: 'Nightly backup' })),
    owner_name: Type.Optional(
      text({
        description: 'Of a notice or mail that the service itself sent, and gave up: your name.',
        example: 'Owner',
      }),
    ),
    event_name: Type.Optional(text({ description: 'Name of the event, when a delivery failed.', example: 'paid' })),
  },
  { title: 'OriginalContext', description: 'Where the original event came from, and what ran for it.' },
);

export const ERROR = Type.Object(
  {
    code: text({
      description: 'A code of the platform, or the thrown error’s own `code` or `name`.',
      example: 'TypeError',
    }),
    msg: text({
      description: 'The message of the error.',
      example: "Cannot read properties of undefined (reading 'total')",
    }),
    cellId: text({ description: 'Id of the step that threw it.', example: 'c_0Vj3aBc9dEfGhIjK' }),
    ts: text({ description: 'When it was thrown: ISO 8601, in UTC.', example: '2026-06-21T00:00:00.141Z' }),
    stack: text({
      description: 'Lines of the stack, source-mapped; empty when the thrown value had none.',
      example: 'at run (charge.ts:4:18)',
    }),
    namespace: text({ description: 'The name of that step.', example: 'charge' }),
    context: Type.Optional(
      Type.Unknown({ description: 'Of a reported error: what its program told.', examples: [{ release: '4.1.0' }] }),
    ),
  },
  { title: 'Error', description: 'The error.' },
);

const ERROR_EVENT = Type.Object(
  {
    original_event: Type.Unknown({
      description: 'The event that started the run, byte for byte as it arrived.',
      examples: [{ method: 'POST', path: '/', query: {}, headers: {}, body: { order: 12345 } }],
    }),
    original_context: ORIGINAL_CONTEXT,
    error: ERROR,
  },
  { title: 'ErrorEvent', description: 'The error, with the event that caused it. Only with `expand=event`.' },
);

const METADATA = {
  emitter_id: EMITTER,
  emit_id: EMIT_ID,
  name: EVENT_NAME,
};

const ABOUT = { description: 'Which emission it is.' };

export const INDEXED_AT_MS = msAt('When it was written to the log');

const RECORD = { id: RECORD_ID, indexed_at_ms: INDEXED_AT_MS };

export const ERROR_RECORD = Type.Object(
  {
    ...RECORD,
    event: Type.Optional(ERROR_EVENT),
    metadata: Type.Object(METADATA, ABOUT),
  },
  { title: 'ErrorRecord' },
);

/** Of an error wherever it is shown but in the list of a workflow's newest, whose members the interface fixes. */
export const GROUPED_METADATA = Type.Object(
  {
    ...METADATA,
    group_id: Type.Optional(text({ description: 'The group of errors.', example: 'eg_0Vj3aBc9dEfGhIjK' })),
  },
  ABOUT,
);

/** What a stream of errors sends. */
export const STREAMED_ERROR = Type.Object(
  { ...RECORD, event: ERROR_EVENT, metadata: GROUPED_METADATA },
  { title: 'StreamedError' },
);

/** A line of an export of errors. */
export const EXPORTED_ERROR = Type.Object(
  {
    ...RECORD,
    metadata: GROUPED_METADATA,
    error: ERROR,
    original_context: ORIGINAL_CONTEXT,
    original_event_text: Type.Optional(
      text({ description: 'The event that started the run, exactly as it arrived.', example: '{"order":12345}' }),
    ),
    original_event_base64: Type.Optional(text({ description: 'Instead, where its bytes are no UTF-8.' })),
  },
  { title: 'ExportedError' },
);

export const EVENT_RECORD = Type.Object(
  {
    ...RECORD,
    event: Type.Optional(
      Type.Unknown({ description: 'Only with `expand=event`, as it was emitted.', examples: [{ id: 7 }] }),
    ),
    metadata: Type.Object(
      {
        ...METADATA,
        id: Type.Optional(
          text({ description: 'Id that the source gave to the event, by which duplicates are dropped.', example: '7' }),
        ),
        event_name: Type.Optional(
          text({
            description: 'Of an event that waits in `$in`: the name under which it will be emitted.',
            example: 'paid',
          }),
        ),
        delivery_ts: Type.Optional(
          Type.Integer({
            description:
              'Of an event that waits in `$in`: when it will be emitted, in milliseconds since the Unix epoch.',
            examples: [1_782_000_060_000],
          }),
        ),
        summary: Type.Optional(text({ description: 'Summary that the source gave.', example: 'Order 7' })),
        ts: Type.Optional(
          Type.Integer({
            description: 'Time that the source gave, in milliseconds since the Unix epoch.',
            examples: [1_782_000_000_000],
          }),
        ),
      },
      ABOUT,
    ),
  },
  { title: 'EventRecord' },
);

export interface EmissionWire {
  readonly id: string;
  readonly indexed_at_ms: number;
  readonly event?: Verbatim;
  readonly metadata: {
    readonly emitter_id: string;
    readonly emit_id: string;
    readonly name: string;
    readonly group_id?: string;
    readonly event_name?: string;
    readonly delivery_ts?: number;
  };
}

/** What is shown of an emission. */
export type ListedEmission = Omit<EmissionRecord, 'ledBy'>;

/**
 * Shows an emission. `withEvent`: show the record's body, which is set; `withSecrets`: also possible credentials in requests, and
 * what mails and notices say.
 */
export function emissionToWire(record: ListedEmission, withEvent: boolean, withSecrets = false): EmissionWire {
  return {
    id: recordId(record.entry),
    indexed_at_ms: msOf(record.entry),
    ...(withEvent && record.body
      ? { event: new Verbatim(withSecrets ? record.body : bodyWithoutSecrets(record.name, record.body)) }
      : {}),
    metadata: {
      emitter_id: record.emitterId,
      emit_id: record.emitId,
      name: record.name,
      ...(record.itemId === null ? {} : { id: record.itemId }),
      ...(record.summary === null ? {} : { summary: record.summary }),
      ...(record.itemTs === null ? {} : { ts: record.itemTs }),
    },
  };
}

/** Shows an emission with the group of an error. */
export function groupedToWire(record: ListedEmission, withEvent: boolean): EmissionWire {
  const wire = emissionToWire(record, withEvent);
  return record.groupId === null || record.name !== ERRORS
    ? wire
    : { ...wire, metadata: { ...wire.metadata, group_id: record.groupId } };
}

/** Returns an emission that waits, with the name and time that it will have. */
export function laterToWire(record: LaterRecord, withEvent: boolean): EmissionWire {
  const wire = emissionToWire({ ...record, name: WAITING }, withEvent);
  return { ...wire, metadata: { ...wire.metadata, event_name: record.name, delivery_ts: record.dueAtMs } };
}
