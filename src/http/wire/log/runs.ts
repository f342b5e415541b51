// Runs and receipts as shown. Return values and exports are JSON text already and go in unchanged.

import type { Static } from 'typebox';
import { utf8 } from '../../../domain/bytes.ts';
import { originOfListener } from '../../../domain/delivery/http-request.ts';
import { msOf, numberedId, PREFIX, prefixOf, recordId } from '../../../domain/ids.ts';
import { memberOf } from '../../../domain/json-member.ts';
import { LIMITS } from '../../../domain/limits.ts';
import { channelOfListener } from '../../../domain/notices/listener.ts';
import { RUN_STATES } from '../../../domain/run/run.ts';
import { WAIT_KINDS } from '../../../domain/run/wait.ts';
import { type ListedRun, RECEIPT_KINDS, type Receipt, type RunWhole } from '../../../store/contract/records.ts';
import { Verbatim } from '../../body/json.ts';
import { CREATED_AT_MS, EMIT_ID, EMITTER, EVENT_NAME, id, msAt, nullable, oneOf, text } from '../../openapi/schema.ts';
import { Type } from '../../schema/type.ts';
import { ERROR } from './emissions.ts';

export const RUN_STATE = oneOf(
  RUN_STATES,
  '`queued`: it waits to begin. `running`: its code runs. `waiting`: it waits for a time, a person or its next attempt. `succeeded`, `failed` and `cancelled` are final.',
);

export const RECEIPT = Type.Object(
  {
    kind: oneOf(RECEIPT_KINDS, 'What came of it; `withheld`: nothing was run or sent.'),
    id: nullable(text({ description: 'The run or delivery; null for what was withheld.', example: 'r_g4w9zl7uo0' })),
    listener_id: text({
      description:
        'Workflow, source, webhook or channel; `mail` for a mail, `http:` and where it goes for a request that code asked for.',
      example: 'p_0Vj3aBc9dEfGhIjK',
    }),
    subscription_id: nullable(id('sub_', 'The subscription that it came by; null: it came in another way.')),
    via: text({
      description: 'How it came: by `trigger`, `subscription`, `global` (the global error workflow) or `channel`.',
      example: 'subscription',
    }),
    state: text({ description: 'State of the run or delivery, or `withheld`.', example: 'succeeded' }),
    reason: Type.Optional(
      text({
        description:
          'Why it was withheld; of a delivery that failed, what its last attempt came to; of a failed run, its code.',
        example: 'notify is false on the workflow',
      }),
    ),
  },
  { title: 'Receipt', description: 'A listener of an emission, and what became of its run, delivery or mail.' },
);

function listenerToWire(listenerId: string): string {
  const channelId = channelOfListener(listenerId);
  if (channelId !== null) return channelId;
  const origin = originOfListener(listenerId);
  return origin === null ? listenerId : `http:${origin}`;
}

export function receiptToWire(receipt: Receipt): Static<typeof RECEIPT> {
  const { kind, number } = receipt;
  const prefix = kind === 'run' ? PREFIX.run : PREFIX.delivery;
  return {
    kind,
    id: number === null ? null : numberedId(prefix, number),
    listener_id: listenerToWire(receipt.listenerId),
    subscription_id: receipt.subscriptionId,
    // A run started by hand has a trigger, too.
    via: receipt.via === 'direct' ? 'trigger' : receipt.via,
    state: receipt.state,
    ...(receipt.reason === null ? {} : { reason: receipt.reason }),
  };
}

const RUN_FIELDS = {
  id: id('r_'),
  workflow_id: Type.Optional(id('p_', 'The workflow that runs.')),
  source_id: Type.Optional(id('dc_', 'Instead of `workflow_id` when a source ran.')),
  deployment_id: id('d_'),
  state: RUN_STATE,
  waiting: Type.Optional(
    Type.Object(
      {
        kind: oneOf(WAIT_KINDS, 'What it waits for: `retry` is a failed attempt that is tried again.'),
        until_ms: msAt('When it goes on by itself, or is cancelled'),
      },
      { description: 'While it waits. A suspended run is cancelled then, all others go on.' },
    ),
  ),
  attempt: Type.Integer({ description: 'Number of the attempt, counted from 1.', examples: [1] }),
  replay: Type.Boolean({ description: 'True: it replays the event of an error.', examples: [false] }),
  emission_id: EMIT_ID,
  emitter_id: EMITTER,
  event_name: EVENT_NAME,
  summary: nullable(text({ description: 'What the run exported as `$summary`.', example: 'Charged order 12345' })),
  created_at_ms: CREATED_AT_MS,
  started_at_ms: nullable(
    Type.Integer({
      description: 'When its code began, in milliseconds since the Unix epoch; null: it has not begun.',
      examples: [1_782_000_000_123],
    }),
  ),
  ended_at_ms: nullable(
    Type.Integer({
      description: 'When it ended, in milliseconds since the Unix epoch; null: it has not ended.',
      examples: [1_782_000_000_164],
    }),
  ),
  error_id: nullable(text({ description: 'The error that it ended in; null: in none.', example: '1782000000123-0' })),
  retried_by: nullable(id('r_', 'The newest run that is a retry of this one, or a replay of its error.')),
};

export const RUN = Type.Object(
  {
    ...RUN_FIELDS,
    error: Type.Optional(
      Type.Object(
        {
          code: text({ description: 'Code of the error.', example: 'TypeError' }),
          msg: text({
            description: `Message of the error, at most ${LIMITS.listedMessageChars} characters of it.`,
            example: "Cannot read properties of undefined (reading 'total')",
          }),
        },
        { description: 'Of a failed run.' },
      ),
    ),
  },
  { title: 'Run' },
);

const STEP_RESULT = Type.Object(
  {
    id: id('c_'),
    namespace: text({ description: 'Name of the step.', example: 'charge' }),
    state: text({ description: '`succeeded`, `failed` or `exited`.', example: 'succeeded' }),
    started_at_ms: msAt('When the step began'),
    took_ms: Type.Number({ description: 'How long it took, in milliseconds.', examples: [12] }),
    return_value: Type.Unknown({ description: 'What it returned.', examples: [{ charged: true }] }),
    exports: Type.Record(Type.String(), Type.Unknown(), {
      description: 'What it exported with `$.export`, by name.',
      examples: [{ $summary: 'Charged order 12345' }],
    }),
    again: Type.Optional(Type.Boolean({ description: 'True: it waits to be executed again.', examples: [true] })),
    resume_data: Type.Optional(
      Type.Unknown({
        description: 'Body of the request that ended the wait after this step.',
        examples: [{ approved: true }],
      }),
    ),
  },
  { title: 'StepResult' },
);

export const LOG_LINE = {
  ts_ms: msAt('When it was printed'),
  level: text({ description: '`debug`, `info`, `warn` or `error`.', example: 'info' }),
  namespace: text({ description: 'The step that printed it.', example: 'charge' }),
  text: text({ description: 'The line.', example: 'charging 12345' }),
};

export const RUN_WHOLE = Type.Object(
  {
    ...RUN_FIELDS,
    error: Type.Optional(ERROR),
    event: Type.Unknown({ description: 'The event, byte for byte as it came.', examples: [{ order: 12345 }] }),
    steps: Type.Array(STEP_RESULT, { description: 'The steps that ran, in order.' }),
    logs: Type.Array(Type.Object(LOG_LINE, { title: 'LogLine' }), { description: 'What the code printed.' }),
    log_bytes_dropped: Type.Optional(
      Type.Integer({
        description: 'How many bytes were printed beyond the limit of the log, and are not kept; absent when none.',
        examples: [4096],
      }),
    ),
    exit_reason: Type.Optional(
      text({ description: 'What `$.flow.exit` was given; absent when nothing.', example: 'no order to charge' }),
    ),
    suppressed: Type.Optional(
      Type.Integer({ description: 'Of a source: emissions that dedupe has dropped; absent when none.', examples: [2] }),
    ),
    caused_by: Type.Object(
      {
        emission_id: EMIT_ID,
        run_id: nullable(text({ description: 'The run that emitted the event; null when it came from outside.' })),
        summary: nullable(
          text({
            description: 'What a source said of its event; of a replay, which error it is of, and whether edited.',
            example: 'replay of 1767225600000-0, edited',
          }),
        ),
      },
      { description: 'The event that it ran for, and where that came from.' },
    ),
    causes: Type.Array(RECEIPT, { description: 'What its first 100 emissions started.' }),
  },
  { title: 'RunWhole' },
);

export const STARTED = Type.Object(
  { run_id: nullable(id('r_', 'The run that began; null: none did.')), emit_id: EMIT_ID },
  { title: 'Started' },
);

export function startedToWire(appended: { firstRun: number | null; emitId: string }): Static<typeof STARTED> {
  return { run_id: runIdOf(appended.firstRun), emit_id: appended.emitId };
}

export function runIdOf(run: number | null): string | null {
  return run === null ? null : numberedId(PREFIX.run, run);
}

/** Returns a message as lists show it. */
export function listedMessage(message: string): string {
  if (message.length <= LIMITS.listedMessageChars) return message;
  return `${message.slice(0, LIMITS.listedMessageChars - 1).toWellFormed()}…`;
}

export function runToWire(run: ListedRun): Static<typeof RUN> {
  const isSource = prefixOf(run.runnableId) === PREFIX.source;
  return {
    id: numberedId(PREFIX.run, run.run),
    ...(isSource ? { source_id: run.runnableId } : { workflow_id: run.runnableId }),
    deployment_id: run.deploymentId,
    state: run.state,
    ...(run.waiting ? { waiting: { kind: run.waiting.kind, until_ms: run.waiting.dueAtMs } } : {}),
    attempt: run.attempt,
    replay: run.replay,
    emission_id: run.emitId,
    emitter_id: run.emitterId,
    event_name: run.eventName,
    summary: run.summary,
    created_at_ms: msOf(run.run),
    started_at_ms: run.startedAtMs,
    ended_at_ms: run.endedAtMs,
    error_id: run.errorEntry === null ? null : recordId(run.errorEntry),
    retried_by: runIdOf(run.retriedBy),
    ...(run.errorCode === null ? {} : { error: { code: run.errorCode, msg: listedMessage(run.errorMessage ?? '') } }),
  };
}

const NO_ITEMS = new Verbatim(utf8('[]'));

export function runWholeToWire(run: RunWhole): object {
  const detail = run.detail === null ? null : utf8(run.detail);
  const listIn = (name: string): Verbatim => {
    const list = detail && memberOf(detail, name);
    return list ? new Verbatim(list) : NO_ITEMS;
  };
  const known = (name: string): object => {
    const value = detail && memberOf(detail, name);
    return value ? { [name]: new Verbatim(value) } : {};
  };
  return {
    ...runToWire(run),
    ...(run.errorBody ? { error: new Verbatim(run.errorBody) } : {}),
    event: new Verbatim(run.event),
    steps: listIn('steps'),
    logs: listIn('logs'),
    ...known('log_bytes_dropped'),
    ...known('exit_reason'),
    ...known('suppressed'),
    caused_by: { emission_id: run.emitId, run_id: runIdOf(run.causedByRun), summary: run.causeSummary },
    causes: run.causes.map(receiptToWire),
  };
}
