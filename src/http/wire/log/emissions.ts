// Emissions as the event listings show them. The body goes out as the bytes in the store.

import { hiddenBody } from '../../../domain/delivery/http-request.ts';
import { HTTP, WAITING } from '../../../domain/emission.ts';
import { msOf, recordId } from '../../../domain/ids.ts';
import type { EmissionRecord } from '../../../store/contract/records.ts';
import type { LaterRecord } from '../../../store/contract/resources.ts';
import { Verbatim } from '../../body/json.ts';
import { EMIT_ID, EVENT_NAME, id, MILLISECONDS, nullable, RECORD_ID, text } from '../../openapi/schema.ts';
import { Type } from '../../schema/type.ts';

export const ORIGINAL_CONTEXT = Type.Object(
  {
    id: text({ description: 'The original event: its emit id.', example: 'k3x9qg4w9zl7uo0' }),
    ts: text({ example: '2026-06-21T00:00:00.123Z' }),
    workflow_id: nullable(id('p_')),
    deployment_id: nullable(id('d_')),
    source_type: text({ description: 'HTTP, TIMER, SOURCE, WORKFLOW, ERROR, WEBHOOK or API.', example: 'HTTP' }),
    verified: Type.Boolean({
      description: 'The trigger checked a token, or the source a signature.',
      examples: [false],
    }),
    owner_id: id('u_'),
    platform_version: text({ example: '0.1.0' }),
    workflow_name: nullable(text({ example: 'Orders' })),
    emitter_id: text({ description: 'Who emitted the original event.', example: 'hi_0Vj3aBc9dEfGhIjK' }),
    trace_id: text({
      description: 'One per original event, kept across retries and replays.',
      example: 'k3x9qg4w9zl7uo0',
    }),
    replay: Type.Boolean({ examples: [false] }),
    attempt: Type.Integer({ examples: [1] }),
    test: Type.Boolean({ examples: [false] }),
    reported: Type.Optional(
      Type.Boolean({
        description: 'True: another program reported the error; no run of the workflow failed.',
        examples: [true],
      }),
    ),
    source_id: Type.Optional(text({ description: 'Of a run of a source.', example: 'dc_0Vj3aBc9dEfGhIjK' })),
    webhook_id: Type.Optional(text({ description: 'Of a delivery to a webhook.', example: 'wh_0Vj3aBc9dEfGhIjK' })),
    heartbeat_id: Type.Optional(text({ description: 'Of a heartbeat.', example: 'hb_0Vj3aBc9dEfGhIjK' })),
    heartbeat_name: Type.Optional(text({ description: 'Of a heartbeat.', example: 'Nightly backup' })),
    event_name: Type.Optional(text({ description: 'Of such a delivery: the channel of its event.', example: 'paid' })),
  },
  { title: 'OriginalContext' },
);

export const ERROR = Type.Object(
  {
    code: text({
      description: 'A code of the platform, or the thrown error’s own `code` or `name`.',
      example: 'TypeError',
    }),
    msg: text({ example: "Cannot read properties of undefined (reading 'total')" }),
    cellId: text({ description: 'The step in which it arose.', example: 'c_0Vj3aBc9dEfGhIjK' }),
    ts: text({ example: '2026-06-21T00:00:00.141Z' }),
    stack: text({
      description: 'Frame lines, source-mapped; empty when there was none.',
      example: 'at run (charge.ts:4:18)',
    }),
    namespace: text({ description: 'The name of that step.', example: 'charge' }),
    context: Type.Optional(
      Type.Unknown({ description: 'Of a reported error: what its program told.', examples: [{ release: '4.1.0' }] }),
    ),
  },
  { title: 'Error' },
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
  { title: 'ErrorEvent', description: 'Only with `expand=event`.' },
);

const METADATA = {
  emitter_id: text({ example: 'p_0Vj3aBc9dEfGhIjK' }),
  emit_id: EMIT_ID,
  name: EVENT_NAME,
};

const RECORD = { id: RECORD_ID, indexed_at_ms: MILLISECONDS };

export const ERROR_RECORD = Type.Object(
  {
    ...RECORD,
    event: Type.Optional(ERROR_EVENT),
    metadata: Type.Object(METADATA),
  },
  { title: 'ErrorRecord' },
);

/** Of an error wherever it is shown but in the list of a workflow's newest, whose members the interface fixes. */
export const GROUPED_METADATA = Type.Object({
  ...METADATA,
  group_id: Type.Optional(text({ description: 'The group of errors.', example: 'eg_0Vj3aBc9dEfGhIjK' })),
});

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
    metadata: Type.Object({
      ...METADATA,
      id: Type.Optional(text({ description: 'Given by the source: what dedupe judges.', example: '7' })),
      event_name: Type.Optional(
        text({ description: 'Of one that waits in `$in`: the channel on which it will be emitted.', example: 'paid' }),
      ),
      delivery_ts: Type.Optional(
        Type.Integer({
          description: 'Of one that waits in `$in`: when, in milliseconds.',
          examples: [1_782_000_060_000],
        }),
      ),
      summary: Type.Optional(text({ description: 'Given by the source.', example: 'Order 7' })),
      ts: Type.Optional(
        Type.Integer({ description: 'Given by the source, in milliseconds.', examples: [1_782_000_000_000] }),
      ),
    }),
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

/**
 * Shows an emission. `withEvent`: show the record's body, which is set; `withSecrets`: also possible credentials in requests.
 */
export function emissionToWire(record: EmissionRecord, withEvent: boolean, withSecrets = false): EmissionWire {
  return {
    id: recordId(record.entry),
    indexed_at_ms: msOf(record.entry),
    ...(withEvent && record.body ? { event: new Verbatim(shownBody(record.name, record.body, withSecrets)) } : {}),
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
export function groupedToWire(record: EmissionRecord, withEvent: boolean): EmissionWire {
  const wire = emissionToWire(record, withEvent);
  return record.groupId === null ? wire : { ...wire, metadata: { ...wire.metadata, group_id: record.groupId } };
}

function shownBody(name: string, body: Uint8Array, withSecrets: boolean): Uint8Array {
  return name === HTTP && !withSecrets ? hiddenBody(body) : body;
}

/** Returns an emission that waits, with the channel and time that it will have. */
export function laterToWire(record: LaterRecord, withEvent: boolean): EmissionWire {
  const wire = emissionToWire({ ...record, name: WAITING }, withEvent);
  return { ...wire, metadata: { ...wire.metadata, event_name: record.name, delivery_ts: record.dueAtMs } };
}
