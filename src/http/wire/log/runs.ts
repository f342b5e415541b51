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
import type { ListedRun, Receipt, RunWhole } from '../../../store/contract/records.ts';
import { Verbatim } from '../../body/json.ts';
import { EMIT_ID, EVENT_NAME, id, MILLISECONDS, nullable, oneOf, RECORD_ID, text } from '../../openapi/schema.ts';
import { Type } from '../../schema/type.ts';
import { ERROR } from './emissions.ts';

export const RUN_STATE = oneOf(RUN_STATES);

export const RECEIPT = Type.Object(
  {
    kind: oneOf(['run', 'delivery', 'mail', 'withheld']),
    id: nullable(text({ description: 'The run or delivery; null for what was withheld.', example: 'r_g4w9zl7uo0' })),
    listener_id: text({
      description:
        'Workflow, source, webhook or channel; `mail` for a mail, `http:` and where it goes for a request that code asked for.',
      example: 'p_0Vj3aBc9dEfGhIjK',
    }),
    subscription_id: nullable(id('sub_')),
    via: text({ description: 'trigger, subscription, global or channel.', example: 'subscription' }),
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
  workflow_id: Type.Optional(id('p_')),
  source_id: Type.Optional(id('dc_', 'Instead of `workflow_id` when a source ran.')),
  deployment_id: id('d_'),
  state: RUN_STATE,
  waiting: Type.Optional(
    Type.Object(
      {
        kind: oneOf(WAIT_KINDS, 'What it waits for: `retry` is a failed attempt that is tried again.'),
        until_ms: MILLISECONDS,
      },
      { description: 'While it waits. A suspended run is cancelled then, all others go on.' },
    ),
  ),
  attempt: Type.Integer({ examples: [1] }),
  replay: Type.Boolean({ examples: [false] }),
  emission_id: EMIT_ID,
  emitter_id: text({ example: 'hi_0Vj3aBc9dEfGhIjK' }),
  event_name: EVENT_NAME,
  summary: nullable(text({ description: 'What the run exported as `$summary`.', example: 'Charged order 12345' })),
  created_at_ms: MILLISECONDS,
  started_at_ms: nullable(MILLISECONDS),
  ended_at_ms: nullable(MILLISECONDS),
  error_id: nullable(RECORD_ID),
  retried_by: nullable(id('r_', 'The newest run that is a retry of this one, or a replay of its error.')),
};

export const RUN = Type.Object(
  {
    ...RUN_FIELDS,
    error: Type.Optional(
      Type.Object(
        {
          code: text({ example: 'TypeError' }),
          msg: text({
            description: `At most ${LIMITS.listedMessageChars} characters.`,
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
    namespace: text({ example: 'charge' }),
    state: text({ description: 'succeeded, failed or exited.', example: 'succeeded' }),
    started_at_ms: MILLISECONDS,
    took_ms: Type.Number({ examples: [12] }),
    return_value: Type.Unknown({ examples: [{ charged: true }] }),
    exports: Type.Record(Type.String(), Type.Unknown(), { examples: [{ $summary: 'Charged order 12345' }] }),
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
  ts_ms: MILLISECONDS,
  level: text({ description: 'debug, info, warn or error.', example: 'info' }),
  namespace: text({ example: 'charge' }),
  text: text({ example: 'charging 12345' }),
};

export const RUN_WHOLE = Type.Object(
  {
    ...RUN_FIELDS,
    error: Type.Optional(ERROR),
    event: Type.Unknown({ description: 'The event, byte for byte as it came.', examples: [{ order: 12345 }] }),
    steps: Type.Array(STEP_RESULT),
    logs: Type.Array(Type.Object(LOG_LINE, { title: 'LogLine' })),
    log_bytes_dropped: Type.Optional(
      Type.Integer({
        description: 'How much was printed beyond the log’s limit; absent when nothing.',
        examples: [4096],
      }),
    ),
    exit_reason: Type.Optional(
      text({ description: 'What `$.flow.exit` was given; absent when nothing.', example: 'no order to charge' }),
    ),
    suppressed: Type.Optional(
      Type.Integer({ description: 'Of a source: emissions that dedupe has dropped; absent when none.', examples: [2] }),
    ),
    caused_by: Type.Object({
      emission_id: EMIT_ID,
      run_id: nullable(text({ description: 'The run that emitted the event; null when it came from outside.' })),
      summary: nullable(
        text({
          description: 'What a source said of its event; of a replay, which error it is of, and whether edited.',
          example: 'replay of 1767225600000-0, edited',
        }),
      ),
    }),
    causes: Type.Array(RECEIPT, { description: 'What its own emissions started.' }),
  },
  { title: 'RunWhole' },
);

export const STARTED = Type.Object(
  { run_id: nullable(id('r_')), emit_id: text({ example: 'k3x9qg4w9zl7uo0' }) },
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
