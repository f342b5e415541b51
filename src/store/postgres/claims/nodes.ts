// Messages between nodes that share the database: beats, cancellations, and answers for callers at other nodes.

import { ERRORS } from '../../../domain/emission.ts';
import { errorIn } from '../../../domain/failure.ts';
import type { Fault, RunState } from '../../../domain/run/run.ts';
import type { Awaited, Beat, NodeStore } from '../../contract/nodes.ts';
import { answerText, parseAnswer } from '../../rows/answers.ts';
import { bytes, number, numberOrNull, text, textOrNull } from '../../rows/cells.ts';
import { toWait } from '../../rows/log-rows.ts';
import { arrayLiteral, type Row } from '../connection/values.ts';
import { releaseLeases as releaseDeliveryLeases } from '../deliveries/deliveries.ts';
import type { LogCore } from '../log/batch.ts';
import { releaseLeases } from '../log/log.ts';

export function nodeVerbs(core: LogCore): NodeStore {
  return {
    beat: () => beat(core),

    answerRun: async ({ run, fence }, answer) => {
      await core.pool.write(
        `INSERT INTO answers (run, owner_id, answer, at_ms)
          SELECT run, owner_id, $3::text, $4::bigint FROM open_runs WHERE run = $1 AND fence = $2 AND state = 'running'
          ON CONFLICT (run) DO NOTHING`,
        run,
        fence,
        answerText(answer),
        core.clock.nowMs(),
      );
      core.notices.tell('answers');
    },

    awaited: async (runs) => {
      if (runs.length === 0) return [];
      const rows = await core.pool.all(
        `SELECT u.run, a.answer, r.state, r.error_code, e.body, e.original_start, e.original_length, o.wait_kind,
            o.due_at_ms
          FROM unnest($1::bigint[]) AS u (run) LEFT JOIN answers AS a ON a.run = u.run
          LEFT JOIN open_runs AS o ON o.run = u.run AND o.state = 'waiting'
          LEFT JOIN runs AS r ON r.run = u.run LEFT JOIN emissions AS e ON e.entry = r.error_entry AND e.name = '${ERRORS}'
          WHERE a.run IS NOT NULL OR r.run IS NOT NULL OR o.run IS NOT NULL`,
        arrayLiteral(runs),
      );
      return rows.map(toAwaited);
    },

    listen: (wake) => core.notices.listen(wake),
  };
}

async function beat(core: LogCore): Promise<Beat> {
  if (!(await core.node.beat())) await core.node.register();
  const row = await core.pool.get(
    `SELECT (SELECT count(*) FROM nodes WHERE gone_at_ms IS NULL) AS alive,
      EXISTS (SELECT 1 FROM nodes WHERE gone_at_ms IS NULL AND node <> $1 AND beat_at_ms < $2::bigint) AS is_late,
      (SELECT max(gone_at_ms) FROM nodes) AS last_gone_at_ms,
      (SELECT string_agg(run::text, ',') FROM open_runs WHERE cancel_asked AND node = $1) AS cancel`,
    core.node.id,
    core.node.lateBeforeMs(),
  );
  core.notices.isAlone = row?.alive === 1;
  const cancel = ((row && textOrNull(row, 'cancel')) ?? '').split(',').filter(Boolean).map(Number);
  if (core.node.mayHoldUnknown) await releaseUnknown(core);
  return {
    cancel,
    isRescueDue: core.node.isRescueDue(row?.is_late === true, row ? numberOrNull(row, 'last_gone_at_ms') : null),
  };
}

async function releaseUnknown(core: LogCore): Promise<void> {
  const { runs, deliveries } = await core.leased.readUnknown(core);
  if (runs.length > 0) await releaseLeases(core, runs);
  if (deliveries.length > 0) await releaseDeliveryLeases(core, deliveries);
}

function toAwaited(row: Row): Awaited {
  const ended = row.state === null ? null : { state: text<RunState>(row, 'state'), fault: faultOf(row) };
  const answer = row.answer === null ? null : parseAnswer(text(row, 'answer'));
  return { run: number(row, 'run'), answer, ended, waiting: toWait(row) };
}

function faultOf(row: Row): Fault | null {
  if (row.body === null || row.original_start === null) return null;
  const behind = number(row, 'original_start') + number(row, 'original_length') + 1;
  const { code, msg, cellId, ts, namespace = '', stack = '' } = errorIn(bytes(row, 'body').subarray(behind));
  return { code, msg, cellId, namespace, tsMs: Date.parse(ts), stack };
}
