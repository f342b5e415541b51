// What became of each error of a replay, as shown.

import type { Static } from 'typebox';
import type { Emission } from '../../../domain/emission.ts';
import { detailOf } from '../../../domain/failure.ts';
import { numberedId, PREFIX, recordId } from '../../../domain/ids.ts';
import { LIMITS } from '../../../domain/limits.ts';
import type { ReplayResult } from '../../../store/contract/operations.ts';
import { id, nullable, RECORD_ID, text } from '../../openapi/schema.ts';
import { Type } from '../../schema/type.ts';
import { OUTCOME } from './replays.ts';
import { listedMessage } from './runs.ts';

export const REPLAY_RESULT = Type.Object(
  {
    id: RECORD_ID,
    emitter_id: nullable(id('p_', 'The workflow or source that failed; null: there is no such error.')),
    outcome: OUTCOME,
    run_id: nullable(id('r_', 'The replay, also when the operation did not make it: see `reason`.')),
    reason: nullable(
      text({
        description:
          'Why it was not replayed, or what else replays it: an operation follows a replay that is under way already.',
        example: 'there is no p_0Vj3aBc9dEfGhIjK any more',
      }),
    ),
    error_id: nullable(text({ description: 'The error that the replay ended in.', example: '1782000000456-0' })),
    error: Type.Optional(
      nullable(
        Type.Object(
          {
            code: text({ description: 'The code of that error.', example: 'TypeError' }),
            msg: text({
              description: `At most ${LIMITS.listedMessageChars} characters of its message.`,
              example: 'no card',
            }),
          },
          { description: 'What that error says; null: there is none, or it is no longer kept. In lists alone.' },
        ),
      ),
    ),
  },
  { title: 'ReplayResult', description: '`id`: of the error.' },
);

export function replayResultToWire(result: ReplayResult): Static<typeof REPLAY_RESULT> {
  const { entry, emitterId, run, outcome, reason, errorEntry } = result;
  return {
    id: recordId(entry),
    emitter_id: emitterId,
    outcome,
    run_id: run === null ? null : numberedId(PREFIX.run, run),
    reason,
    error_id: errorEntry === null ? null : recordId(errorEntry),
  };
}

/** Returns the result with what the error says that its replay ended in. */
export function withError(result: ReplayResult, error: SaidError | null): Static<typeof REPLAY_RESULT> {
  return { ...replayResultToWire(result), error };
}

export interface SaidError {
  readonly code: string;
  readonly msg: string;
}

/** Returns what an error says, shortened as in lists. */
export function saidBy(error: Emission): SaidError {
  const { code, msg } = detailOf(error.body).error;
  return { code, msg: listedMessage(msg) };
}
