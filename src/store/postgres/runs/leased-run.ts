// A run's row while it is running, and the ways in which it leaves that state: planned, and sent by log/row-changes.ts.

import type { Emission } from '../../../domain/emission.ts';
import type { HttpAnswer } from '../../../domain/run/run.ts';
import type { EarlyOrder } from '../../../domain/run/wait.ts';
import type { BegunWait, LeasedRun, RunAgain, RunEnding } from '../../log/port.ts';
import { answerText } from '../../rows/answers.ts';
import type { Row } from '../connection/values.ts';
import type { Pass } from '../log/batch-planner.ts';
import type { Cells } from '../log/row-inserts.ts';
import { toEmission } from '../rows.ts';

export class PlannedLeasedRun implements LeasedRun {
  readonly #pass: Pass;
  readonly #row: Row;
  /** Its row was deleted when it was read, since its end was known to be final. */
  readonly #isDeleted: boolean;
  readonly run: number;
  readonly ownerId: string;
  readonly runnableId: string;
  readonly attempt: number;
  readonly startedAtMs: number | null;

  constructor(pass: Pass, row: Row, isDeleted: boolean) {
    this.#pass = pass;
    this.#row = row;
    this.#isDeleted = isDeleted;
    this.run = row.run as number;
    this.ownerId = row.owner_id as string;
    this.runnableId = row.runnable_id as string;
    this.attempt = row.attempt as number;
    this.startedAtMs = row.started_at_ms as number | null;
  }

  get waits(): number {
    return this.#row.waits as number;
  }

  get rescues(): number {
    return this.#row.rescues as number;
  }

  get isStopped(): boolean {
    return this.#row.cancel_asked === true;
  }

  get early(): EarlyOrder | null {
    const early = this.#row.early as string | null;
    return early === null ? null : (JSON.parse(early) as EarlyOrder);
  }

  get isAbandonedHook(): boolean {
    return this.#row.is_abandoned === true;
  }

  readEmission(): Emission {
    return toEmission(this.#row, this.#pass.core);
  }

  end({ state, attempt, startedAtMs, endedAtMs, error, told }: RunEnding): void {
    const { plan } = this.#pass;
    if (!this.#isDeleted) plan.closedRuns.push(this.run);
    const { deployment_id, entry, via, subscription_id, awaited_by } = this.#row as Cells;
    plan.runs.push({
      run: this.run,
      owner_id: this.ownerId,
      runnable_id: this.runnableId,
      deployment_id: deployment_id as string,
      entry: entry as number,
      via: via as string,
      subscription_id: subscription_id as string | null,
      attempt,
      awaited_by: awaited_by as number | null,
      state,
      started_at_ms: startedAtMs,
      ended_at_ms: endedAtMs,
      summary: told?.summary ?? null,
      error_entry: error?.entry ?? null,
      error_code: error?.code ?? null,
      detail: told?.detail ?? null,
    });
    this.#wakeCaller();
  }

  queueAgain({ attempt, startedAtMs, isAlone, isRescued }: RunAgain): void {
    const row = this.#row;
    this.#pass.plan.runsAgain.push({
      run: this.run,
      attempt,
      startedAtMs,
      alone: row.alone === true || isAlone,
      rescues: (row.rescues as number) + (isRescued ? 1 : 0),
      fence: (row.fence as number) + (isRescued ? 1 : 0),
    });
  }

  beginWait(begun: BegunWait): void {
    this.#pass.plan.waits.push({ ...begun, run: this.run });
    this.#wakeCaller();
  }

  keepAnswer(given: HttpAnswer): void {
    const { run, ownerId } = this;
    const answer = answerText(given);
    const { plan, nowMs } = this.#pass;
    plan.keyAnswers.push({ run, answer });
    if (this.#isAwaitedElsewhere) plan.answers.push({ run, owner_id: ownerId, answer, at_ms: nowMs });
  }

  get #isAwaitedElsewhere(): boolean {
    const { awaited_by } = this.#row;
    return awaited_by !== null && awaited_by !== this.#pass.core.node.id;
  }

  #wakeCaller(): void {
    if (this.#isAwaitedElsewhere) this.#pass.told.add('answers');
  }
}
