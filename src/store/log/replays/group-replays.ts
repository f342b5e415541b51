// How many errors of a group came through since: what a notice of its recovery says. Read step by step, since a group may have
// many errors, and before the notice is sent, so that no write waits for it. (Rejected: counting in the transaction that takes the
// notice. It was bounded by the newest 1,000 errors, and the notice of a larger group had wrong numbers.)

import { EVERY } from '../../../domain/errors/replaying.ts';
import { NOTICE_LIMITS } from '../../../domain/notices/limits.ts';
import type { Sql } from '../../config/sql.ts';
import type { Steps } from '../../config/steps.ts';
import type { OperationStore } from '../../contract/operations.ts';
import { number, numberOrNull } from '../../rows/cells.ts';
import type { Row } from '../../rows/rows.ts';
import type { LogReader } from '../log-tables.ts';
import { followFailures, selectLastReplays, toLastReplays } from './last-replays.ts';
import { selectedErrors } from './replay-records.ts';

/** A step reads fewer errors than one of an operation does: on SQLite it has the server's thread. */
const STEP = 200;

const OF_GROUP = { ...EVERY, emitterId: null, entries: null };

export function groupReplayReads({ database }: LogReader): Pick<OperationStore, 'countReplayed'> {
  return {
    countReplayed: async ({ id, ownerId, lastEntry }) => {
      const selection = { ...OF_GROUP, groupId: id };
      let [after, of, succeeded, looked] = [-1, 0, 0, 0];
      for (let isMore = true; isMore; ) {
        if (looked >= NOTICE_LIMITS.replaysCounted) return null;
        const rows = await database.planned(selectedErrors({ ownerId, selection, after, lastEntry, limit: STEP }));
        const errors = rows.flatMap((row) => {
          const causeRun = numberOrNull(row, 'cause_run');
          return causeRun === null ? [] : [{ entry: number(row, 'entry'), causeRun }];
        });
        if (errors.length > 0) {
          const latest = toLastReplays(await database.all(selectLastReplays(ownerId, errors)), errors);
          const followed = [...(await read(database, followFailures(ownerId, latest))).values()];
          succeeded += followed.filter(({ state, isFixedSince }) => state === 'succeeded' || isFixedSince).length;
        }
        of += errors.length;
        looked += rows.length;
        const last = rows.at(-1);
        after = last ? number(last, 'entry') : after;
        isMore = rows.length === STEP;
        await new Promise((resolve) => setImmediate(resolve));
      }
      return { succeeded, of };
    },
  };
}

/** Runs steps that only read, each statement for itself. */
async function read<T>(database: { all(statement: Sql): Promise<readonly Row[]> }, steps: Steps<T>): Promise<T> {
  let step = steps.next();
  while (!step.done) {
    if (step.value.kind !== 'rows') throw new Error(`a read has a step of the kind ${step.value.kind}`);
    const rows = await Promise.all(step.value.statements.map((statement) => database.all(statement)));
    step = steps.next(rows);
  }
  return step.value;
}
