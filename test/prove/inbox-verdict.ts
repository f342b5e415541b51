// The verdict over groups of errors and replays, from the rows alone: each group counts the errors whose fingerprint is its own,
// and each operation has one result for each error that it is about.

import { captured, keyOf } from '../../src/domain/errors/fingerprint.ts';
import { detailOf } from '../../src/domain/failure.ts';
import { msOf, recordId } from '../../src/domain/ids.ts';
import { groupId, hourOf } from '../../src/store/log/groups/error-groups.ts';
import { Findings } from './findings.ts';
import {
  type EmissionRow,
  type GroupRow,
  grouped,
  type OperationRow,
  type ResultRow,
  type Rows,
  type RunRow,
} from './rows.ts';

export interface InboxVerdict {
  readonly lost: Findings;
  readonly wrong: Findings;
  readonly counts: Readonly<Record<string, number>>;
}

export interface InboxEvidence {
  readonly rows: Rows;
  /** Groups that a caller has resolved. */
  readonly resolved: ReadonlySet<string>;
  /** Groups of which a caller was not told whether it has. */
  readonly unanswered?: ReadonlySet<string>;
  /** The store's clock was set: what came later may have an earlier time. */
  readonly wasClockSet?: boolean;
}

export function judgeInbox(evidence: InboxEvidence): InboxVerdict {
  return new InboxJudge(evidence).verdict();
}

const OUTCOMES = [
  'under_way',
  'fixed',
  'failed_same',
  'failed_differently',
  'cancelled',
  'unknown',
  'not_replayed',
  'replayed_before',
] as const;
const LEFT = new Set(['not_replayed', 'replayed_before']);

interface Selection {
  readonly groupId: string | null;
}

class InboxJudge {
  readonly #rows: Rows;
  readonly #resolved: ReadonlySet<string>;
  readonly #unanswered: ReadonlySet<string>;
  readonly #wasClockSet: boolean;
  #replayedTwice = 0;
  readonly #lost = new Findings();
  readonly #wrong = new Findings();
  readonly #errors: ReadonlyMap<number, EmissionRow>;
  readonly #byGroup: ReadonlyMap<string, EmissionRow[]>;
  readonly #runs: ReadonlyMap<number, RunRow>;
  readonly #emissions: ReadonlyMap<number, EmissionRow>;
  readonly #resultsOf: ReadonlyMap<string, ResultRow[]>;

  constructor({ rows, resolved, unanswered = new Set(), wasClockSet = false }: InboxEvidence) {
    this.#rows = rows;
    this.#resolved = resolved;
    this.#unanswered = unanswered;
    this.#wasClockSet = wasClockSet;
    const errors = rows.emissions.filter(({ name }) => name === '$errors');
    this.#errors = new Map(errors.map((error) => [error.entry, error]));
    this.#byGroup = grouped(errors, (error) => this.#groupOf(error));
    this.#runs = new Map(rows.runs.map((run) => [run.run, run]));
    this.#emissions = new Map(rows.emissions.map((emission) => [emission.entry, emission]));
    this.#resultsOf = grouped(rows.results, (result) => result.operation_id);
  }

  verdict(): InboxVerdict {
    for (const group of this.#rows.groups) this.#group(group);
    const known = new Set(this.#rows.groups.map(({ id }) => id));
    for (const id of this.#byGroup.keys()) if (!known.has(id)) this.#lost.add('errors whose group is not there', id);
    for (const operation of this.#rows.operations) this.#operation(operation);
    const replays = this.#replays();
    const { groups, operations, results } = this.#rows;
    const counts = {
      groups: groups.length,
      groups_reopened: groups.filter(({ reopened }) => reopened !== null).length,
      replay_operations: operations.length,
      errors_looked_at: results.length,
      replays,
      errors_replayed_twice: this.#replayedTwice,
    };
    return { lost: this.#lost, wrong: this.#wrong, counts };
  }

  /** Recomputed from what the error says; what a delivery has failed with says less than was known. */
  #groupOf({
    entry,
    owner_id: ownerId,
    emitter_id: emitterId,
    group_id: written,
    body,
    cause_run: run,
  }: EmissionRow): string {
    if (run === null) return written ?? '';
    const { error, context } = detailOf(body);
    const id = groupId({ ownerId, emitterId }, keyOf(captured(error, context.deployment_id), null));
    if (id !== written) this.#wrong.add('error in another group than its own', `${entry}: ${written}, not ${id}`);
    return id;
  }

  #group(group: GroupRow): void {
    const { id, n, first_entry: first, last_entry: last, state } = group;
    const errors = this.#byGroup.get(id) ?? [];
    const entries = errors.map(({ entry }) => entry);
    this.#wrong.equal(`count of group ${id}`, n, errors.length);
    this.#wrong.equal(`first error of group ${id}`, first, Math.min(...entries));
    this.#wrong.equal(`last error of group ${id}`, last, Math.max(...entries));
    this.#parts(group, 'hours', (error) => String(hourOf(error.entry)));
    this.#parts(group, 'deployments', (error) => detailOf(error.body).context.deployment_id);
    const reopened =
      group.reopened === null ? null : (JSON.parse(group.reopened) as { entry: number; deploymentId: string });
    if (reopened !== null) {
      const error = this.#errors.get(reopened.entry);
      this.#wrong.equal(`group of the error that opened ${id} again`, error?.group_id, id);
      const deploymentId = error && detailOf(error.body).context.deployment_id;
      this.#wrong.equal(`deployment that opened ${id} again`, reopened.deploymentId, deploymentId);
    }
    if (state === 'open' && reopened === null && this.#resolved.has(id)) {
      this.#wrong.add('group that was resolved, is open, and does not say why', id);
    }
    if (state === 'resolved') this.#resolvedGroup(group);
  }

  /** By its owner, or by an operation for which all of its errors were fixed. None has come since. */
  #resolvedGroup({ id, last_entry: last, updated_at_ms: updatedMs }: GroupRow): void {
    const by = this.#rows.operations.filter((operation) => this.#fixes(operation, id, last));
    const mayBeByCaller = this.#resolved.has(id) || this.#unanswered.has(id);
    if (by.length === 0 && !mayBeByCaller) this.#wrong.add('group that nothing has resolved', id);
    if (!this.#wasClockSet && updatedMs < msOf(last)) this.#wrong.add('resolved group with an error since', id);
  }

  #fixes(operation: OperationRow, id: string, last: number): boolean {
    const { groupId: of } = selectionOf(operation);
    const { state, total, fixed, replayed_before: before } = operation;
    // Another operation may have fixed all of them before.
    return of === id && state === 'done' && total > 0 && fixed + before === total && last <= operation.last_entry;
  }

  #parts({ id, n }: GroupRow, kind: 'hours' | 'deployments', partOf: (error: EmissionRow) => string | null): void {
    const counted = this.#rows[kind].filter(({ group_id: of }) => of === id);
    const expected = Map.groupBy(this.#byGroup.get(id) ?? [], partOf);
    expected.delete(null);
    this.#wrong.equal(`number of ${kind} of group ${id} with ${n} errors`, counted.length, expected.size);
    for (const { part, n: found } of counted) {
      this.#wrong.equal(`errors of group ${id} in ${kind} ${part}`, found, expected.get(part)?.length ?? 0);
    }
  }

  #operation(operation: OperationRow): void {
    const { id, state, total, last_entry: last } = operation;
    const results = this.#resultsOf.get(id) ?? [];
    const by = Map.groupBy(results, ({ outcome }) => outcome);
    for (const outcome of OUTCOMES) {
      this.#wrong.equal(`${outcome} of ${id}`, operation[outcome], by.get(outcome)?.length ?? 0);
    }
    for (const result of results) this.#result(operation, result);
    if (state === 'running') this.#lost.add('operation that did not end', id);
    if (state !== 'done') return;
    this.#wrong.equal(`errors that ${id} has looked at`, results.length, total);
    const { groupId: of } = selectionOf(operation);
    const looked = new Set(results.map(({ entry }) => entry));
    const meant = (this.#byGroup.get(of ?? '') ?? []).filter(({ entry }) => entry <= last);
    for (const { entry } of meant) if (!looked.has(entry)) this.#lost.add('error that was skipped', `${id}: ${entry}`);
    this.#wrong.equal(`errors that ${id} is about`, looked.size, meant.length);
  }

  #result({ id }: OperationRow, result: ResultRow): void {
    const { entry, run: number, outcome, reason, group_id: of } = result;
    const error = this.#errors.get(entry);
    if (!error) this.#wrong.add('result of an error that is not there', `${id}: ${entry}`);
    if (outcome === 'under_way') this.#lost.add('replay that did not end', `${id}: ${entry}`);
    if (!error || number === null || outcome === 'under_way' || LEFT.has(outcome)) return;
    const run = this.#runs.get(number);
    const failure = this.#errors.get(run?.error_entry ?? -1);
    const same = failure?.group_id === of ? 'failed_same' : 'failed_differently';
    const expected = run?.state === 'succeeded' ? 'fixed' : run?.state === 'failed' ? same : run?.state;
    this.#wrong.equal(`outcome of ${entry} in ${id}`, outcome, expected);
    this.#wrong.equal(`error of the replay of ${entry} in ${id}`, result.error_entry, run?.error_entry ?? null);
    if (reason !== null) return;
    const replay = this.#emissions.get(run?.entry ?? -1);
    this.#wrong.equal(`summary of the replay of ${entry}`, replay?.summary, `replay of ${recordId(entry)}`);
    this.#wrong.equal(`cause of the replay of ${entry}`, replay?.cause_run, error.cause_run);
  }

  /** Nothing was replayed twice: nobody has asked for it. Returns how many replays there are. */
  #replays(): number {
    const madeBy = grouped(
      this.#rows.results.filter(({ reason, run }) => reason === null && run !== null),
      ({ run }) => run,
    );
    const replays = this.#rows.emissions.filter(({ name }) => name === '$replay');
    const runsOf = grouped(this.#rows.runs, ({ entry }) => entry);
    const madeFor = new Map<string, string[]>();
    for (const { entry, summary } of replays) {
      const runs = runsOf.get(entry) ?? [];
      this.#wrong.equal(`runs of the replay ${entry}`, runs.length, 1);
      for (const { run, state } of runs) {
        const made = madeBy.get(run) ?? [];
        this.#wrong.equal(`operations that made the replay ${run}`, made.length, 1);
        if (state === 'cancelled') continue;
        const by = `${state} run of ${made[0]?.operation_id} at ${msOf(entry)}`;
        madeFor.set(summary ?? '', [...(madeFor.get(summary ?? '') ?? []), by]);
      }
    }
    for (const [summary, runs] of madeFor) {
      if (runs.length === 1) continue;
      this.#replayedTwice++;
      this.#wrong.add('error that was replayed twice', `${summary}: ${runs.join(', ')}`);
    }
    return replays.length;
  }
}

function selectionOf({ replay }: OperationRow): Selection {
  return (JSON.parse(replay) as { selection: Selection }).selection;
}
