// A running run's row, and the ways in which it leaves that state.

import type { Emission } from '../../../domain/emission.ts';
import type { HttpAnswer } from '../../../domain/run/run.ts';
import type { EarlyOrder } from '../../../domain/run/wait.ts';
import type { BegunWait, LeasedRun, RunAgain, RunEnding } from '../../log/port.ts';
import { answerText } from '../../rows/answers.ts';
import { jsonOrNull, number, numberOrNull, text, textOrNull } from '../../rows/cells.ts';
import { toEmission } from '../../rows/log-rows.ts';
import type { Row } from '../connection/values.ts';
import type { BatchPlanner } from '../log/batch-planner.ts';

export class PlannedLeasedRun implements LeasedRun {
  readonly #planner: BatchPlanner;
  readonly #row: Row;
  /** The row was deleted when it was read, since the run ends. */
  readonly #isDeleted: boolean;
  readonly run: number;
  readonly ownerId: string;
  readonly runnableId: string;
  readonly attempt: number;
  readonly startedAtMs: number | null;

  constructor(planner: BatchPlanner, row: Row, isDeleted: boolean) {
    this.#planner = planner;
    this.#row = row;
    this.#isDeleted = isDeleted;
    this.run = number(row, 'run');
    this.ownerId = text(row, 'owner_id');
    this.runnableId = text(row, 'runnable_id');
    this.attempt = number(row, 'attempt');
    this.startedAtMs = numberOrNull(row, 'started_at_ms');
  }

  get waits(): number {
    return number(this.#row, 'waits');
  }

  get rescues(): number {
    return number(this.#row, 'rescues');
  }

  get isStopped(): boolean {
    return this.#row.cancel_asked === true;
  }

  get early(): EarlyOrder | null {
    return jsonOrNull<EarlyOrder>(this.#row, 'early');
  }

  get isAbandonedHook(): boolean {
    return this.#row.is_abandoned === true;
  }

  readEmission(): Emission {
    return toEmission(this.#row, this.#planner.core);
  }

  end({ state, attempt, endedAtMs, error, reported }: RunEnding): void {
    const { changes } = this.#planner;
    if (!this.#isDeleted) changes.closedRuns.push(this.run);
    const row = this.#row;
    changes.runs.push({
      run: this.run,
      owner_id: this.ownerId,
      runnable_id: this.runnableId,
      deployment_id: text(row, 'deployment_id'),
      entry: number(row, 'entry'),
      via: text(row, 'via'),
      subscription_id: textOrNull(row, 'subscription_id'),
      attempt,
      awaited_by: numberOrNull(row, 'awaited_by'),
      state,
      started_at_ms: this.startedAtMs,
      ended_at_ms: endedAtMs,
      summary: reported?.summary ?? null,
      error_entry: error?.entry ?? null,
      error_code: error?.code ?? null,
      detail: reported?.detail ?? null,
    });
    this.#wakeCaller();
  }

  queueAgain({ attempt, startedAtMs, isAlone, isRescued }: RunAgain): void {
    const row = this.#row;
    this.#planner.changes.runsAgain.push({
      run: this.run,
      attempt,
      startedAtMs,
      alone: row.alone === true || isAlone,
      rescues: number(row, 'rescues') + (isRescued ? 1 : 0),
      fence: number(row, 'fence') + (isRescued ? 1 : 0),
    });
  }

  beginWait(begun: BegunWait): void {
    this.#planner.changes.waits.push({ ...begun, run: this.run });
    this.#wakeCaller();
  }

  keepAnswer(given: HttpAnswer): void {
    const { run, ownerId } = this;
    const answer = answerText(given);
    const { changes, nowMs } = this.#planner;
    changes.keyAnswers.push({ run, answer });
    if (this.#isAwaitedElsewhere) changes.answers.push({ run, owner_id: ownerId, answer, at_ms: nowMs });
  }

  get #isAwaitedElsewhere(): boolean {
    const { awaited_by } = this.#row;
    return awaited_by !== null && awaited_by !== this.#planner.core.node.id;
  }

  #wakeCaller(): void {
    if (this.#isAwaitedElsewhere) this.#planner.notified.add('answers');
  }
}
