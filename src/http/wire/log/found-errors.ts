// Errors as the search of all errors shows them: with what became of each.

import type { Static } from 'typebox';
import { ENDED_OUTCOMES } from '../../../domain/errors/replaying.ts';
import { TOLD } from '../../../domain/errors/told.ts';
import { msOf, numberedId, PREFIX, recordId } from '../../../domain/ids.ts';
import { LIMITS } from '../../../domain/limits.ts';
import { RUN_STATES } from '../../../domain/run/run.ts';
import type { ErrorReplay, FoundError } from '../../../store/contract/search.ts';
import { CREATED_AT_MS, id, mostlyNull, nullable, oneOf, text } from '../../openapi/schema.ts';
import { Type } from '../../schema/type.ts';
import { type EmissionWire, ERROR_RECORD, GROUPED_METADATA, groupedToWire } from './emissions.ts';
import { listedMessage, runIdOf } from './runs.ts';

export const TOLD_STATE = oneOf(
  TOLD,
  '`told`: a listener’s run succeeded, or a mail, webhook, request or notice to a channel went out. `under_way`: one of them is not over. `counted`: its mail was withheld, or the next notice of its group is due later, and a digest counts it. `failed`: all failed or were given up. `withheld`: every listener was left out. `no_listener`: there was none.',
);

export const REPLAY = Type.Object(
  {
    kind: oneOf(['replay', 'retry'], 'Of the error, or of the run that failed.'),
    run_id: id('r_'),
    state: oneOf(RUN_STATES, 'State of that run.'),
    edited: Type.Boolean({ description: 'With another event than the original one.', examples: [false] }),
    operation_id: Type.Union([Type.String(), Type.Null()], {
      description: 'The operation that made it (`op_…`), one of many replays; null: it was made by itself.',
      examples: [null],
    }),
    outcome: nullable(
      oneOf(
        ['under_way', ...ENDED_OUTCOMES],
        '`under_way`: the run is not over. `fixed`: it succeeded. `failed_same`: it failed with an error of the same group. `failed_differently`: with another one. `cancelled`: the run was cancelled. Null with another event.',
      ),
    ),
    created_at_ms: CREATED_AT_MS,
    ended_at_ms: mostlyNull('When it ended, in milliseconds since the Unix epoch; null: it has not ended.'),
    error_id: nullable(
      text({ description: 'The error that it ended in; null: it ended in none.', example: '1782000000123-0' }),
    ),
  },
  {
    title: 'Replay',
    description: 'Another run for the same event, and what it came to: `error_id` is the error that it ended in.',
  },
);

export const FAILED = {
  run_id: nullable(id('r_', 'The run that failed; null: none did, as for a delivery.')),
  run_retained: nullable(
    Type.Boolean({
      description:
        'False: the record of that run went with the retention of the server, and its address answers 404; the error is kept longer. Null: no run failed.',
      examples: [true],
    }),
  ),
  delivery_id: Type.Union([Type.String(), Type.Null()], {
    description: 'The delivery that was given up (`dl_…`); null for a run.',
    examples: [null],
  }),
};

export const FOUND_ERROR = Type.Object(
  {
    ...ERROR_RECORD.properties,
    metadata: GROUPED_METADATA,
    error: Type.Object(
      {
        code: nullable(text({ description: 'Code of the error.', example: 'TypeError' })),
        msg: text({
          description: `At most ${LIMITS.listedMessageChars} characters.`,
          example: "Cannot read properties of undefined (reading 'total')",
        }),
        cellId: text({ description: 'Id of the step that threw it.', example: 'c_0Vj3aBc9dEfGhIjK' }),
        ts: text({ description: 'When it was thrown: ISO 8601, in UTC.', example: '2026-06-21T00:00:00.141Z' }),
        namespace: text({ description: 'The name of that step.', example: 'charge' }),
      },
      { title: 'ErrorSummary', description: 'The error.' },
    ),
    workflow_name: nullable(text({ description: 'The name of what failed, at that time.', example: 'Orders' })),
    deployment_id: nullable(id('d_', 'The deployment that failed; null: none ran.')),
    ...FAILED,
    told: TOLD_STATE,
    replay: Type.Union([REPLAY, Type.Null()], {
      description: 'The newest replay of it, or retry of its run; null when there is none.',
    }),
  },
  { title: 'FoundError' },
);

export function replayToWire(replay: ErrorReplay): Static<typeof REPLAY> {
  const { kind, run, state, isEdited, operationId, outcome, endedAtMs, errorEntry } = replay;
  return {
    kind,
    run_id: numberedId(PREFIX.run, run),
    state,
    edited: isEdited,
    operation_id: operationId,
    outcome,
    created_at_ms: msOf(run),
    ended_at_ms: endedAtMs,
    error_id: errorEntry === null ? null : recordId(errorEntry),
  };
}

/** Shows which run failed, and whether its record is there; or which delivery was given up. */
export function failedToWire(of: Pick<FoundError, 'causeRun' | 'causeDelivery' | 'isRunRetained'>) {
  return {
    run_id: runIdOf(of.causeRun),
    run_retained: of.causeRun === null ? null : of.isRunRetained,
    delivery_id: of.causeDelivery === null ? null : numberedId(PREFIX.delivery, of.causeDelivery),
  };
}

export function foundErrorToWire(found: FoundError, withEvent: boolean): EmissionWire {
  const { emission, error, replay } = found;
  const { cellId, ts, namespace } = error;
  const shown = {
    error: { code: emission.code, msg: listedMessage(error.msg), cellId, ts, namespace },
    workflow_name: found.workflowName,
    deployment_id: found.deploymentId,
    ...failedToWire(found),
    told: found.told,
    replay: replay && replayToWire(replay),
  };
  return { ...groupedToWire(emission, withEvent), ...shown };
}
