// A running run's row, and the ways in which it leaves that state.

import type { Emission } from '../../../domain/emission.ts';
import type { HttpAnswer, RunLease } from '../../../domain/run/run.ts';
import type { EarlyOrder } from '../../../domain/run/wait.ts';
import { abandonedHook } from '../../config/source-changes.ts';
import type { BegunWait, LeasedRun, RunAgain, RunEnding } from '../../log/port.ts';
import { answerText } from '../../rows/answers.ts';
import { jsonOrNull, number, numberOrNull, text } from '../../rows/cells.ts';
import { OPEN_RUN } from '../../rows/run-rows.ts';
import type { Core } from '../core.ts';
import type { Row } from '../database.ts';
import { readEmission } from '../log/rows.ts';
import { NO_WAIT, STOPPED } from '../partial-index.ts';

const COLUMNS = 'o.run, o.owner_id, o.runnable_id, o.attempt, o.waits, o.early, o.started_at_ms';

// Each text is built once: prepared statements are found by it.
const READ_LEASED = `SELECT ${COLUMNS} FROM runs AS o WHERE run = ? AND fence = ? AND boot = ? AND state = 'running'`;
const END = `UPDATE runs SET state = ?, attempt = ?, ended_at_ms = ?, error_entry = ?, error_code = ?, ${NO_WAIT}`;
const END_WITH_REPORT = `${END}, summary = ?, detail = ? WHERE run = ?`;
const END_WITHOUT_REPORT = `${END} WHERE run = ?`;

export function readLeasedRun(core: Core, { run, fence }: RunLease): LeasedRun | undefined {
  const row = core.writer.get(READ_LEASED, run, fence, core.boot);
  return row && new SqliteLeasedRun(core, row);
}

const READ_EXPIRED = `SELECT ${COLUMNS}, o.rescues, o.entry, ${abandonedHook('c.boot < ?')} AS is_abandoned
  FROM runs AS o LEFT JOIN emissions AS e ON e.entry = o.entry
  WHERE o.state = 'running' AND ${OPEN_RUN} AND o.boot < ?`;

/** Returns runs of processes that are gone. */
export function readExpiredRuns(core: Core): LeasedRun[] {
  return core.writer.all(READ_EXPIRED, core.boot, core.boot).map((row) => new SqliteLeasedRun(core, row));
}

class SqliteLeasedRun implements LeasedRun {
  readonly #core: Core;
  readonly #row: Row;
  readonly run: number;
  readonly ownerId: string;
  readonly runnableId: string;
  readonly attempt: number;
  readonly waits: number;
  readonly startedAtMs: number | null;
  readonly isStopped: boolean;

  constructor(core: Core, row: Row) {
    this.#core = core;
    this.#row = row;
    this.run = number(row, 'run');
    this.ownerId = text(row, 'owner_id');
    this.runnableId = text(row, 'runnable_id');
    this.attempt = number(row, 'attempt');
    this.waits = number(row, 'waits');
    this.startedAtMs = numberOrNull(row, 'started_at_ms');
    this.isStopped = row.early === STOPPED;
  }

  get rescues(): number {
    return number(this.#row, 'rescues');
  }

  get isAbandonedHook(): boolean {
    return this.#row.is_abandoned === 1;
  }

  get early(): EarlyOrder | null {
    return this.isStopped ? null : jsonOrNull<EarlyOrder>(this.#row, 'early');
  }

  readEmission(): Emission {
    return readEmission(this.#core, number(this.#row, 'entry'));
  }

  end({ state, attempt, endedAtMs, error, reported }: RunEnding): void {
    const { writer } = this.#core;
    const entry = error?.entry ?? null;
    const code = error?.code ?? null;
    if (reported === null) writer.run(END_WITHOUT_REPORT, state, attempt, endedAtMs, entry, code, this.run);
    else {
      const { summary, detail } = reported;
      this.#core.rowRoom.ended(this.runnableId, reported);
      writer.run(END_WITH_REPORT, state, attempt, endedAtMs, entry, code, summary, detail, this.run);
    }
  }

  queueAgain({ attempt, startedAtMs, isAlone, isRescued }: RunAgain): void {
    this.#core.writer.run(
      `UPDATE runs SET state = 'queued', attempt = ?, started_at_ms = ?, alone = max(alone, ?), rescues = rescues + ?,
        fence = fence + ? WHERE run = ?`,
      attempt,
      startedAtMs,
      isAlone ? 1 : 0,
      isRescued ? 1 : 0,
      isRescued ? 1 : 0,
      this.run,
    );
  }

  beginWait({ state, attempt, wait, resumed, reported }: BegunWait): void {
    const isWaiting = state === 'waiting';
    this.#core.writer.run(
      `UPDATE runs SET state = ?, attempt = ?, summary = ?, detail = ?, waits = ?, wait_kind = ?, due_at_ms = ?,
        early = NULL, resumed = ?, carried = ?, room = NULL WHERE run = ?`,
      state,
      attempt,
      reported.summary,
      reported.detail,
      wait.waits,
      isWaiting ? wait.kind : null,
      isWaiting ? wait.dueAtMs : null,
      resumed,
      wait.checkpoint,
      this.run,
    );
  }

  keepAnswer(answer: HttpAnswer): void {
    this.#core.writer.run('UPDATE idempotency SET answer = ? WHERE run = ?', answerText(answer), this.run);
  }
}
