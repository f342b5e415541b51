// Decisions about watches, with what they tell, for both databases.

import { ERRORS } from '../../../domain/emission.ts';
import { keyOf, ruleFor } from '../../../domain/errors/fingerprint.ts';
import { holdsWhateverIsHeard } from '../../../domain/watch/watch.ts';
import { FURTHER_ERRORS } from '../../check/checks.ts';
import { isAmong, sql, tableOf } from '../../config/sql.ts';
import { all, type Steps, send } from '../../config/steps.ts';
import type { Claims } from '../../contract/store.ts';
import type { WatchDecision } from '../../contract/watches.ts';
import { text } from '../../rows/cells.ts';
import type { Row } from '../../rows/rows.ts';
import { CELLS_OF_WATCH, watchCells } from '../../rows/watch-rows.ts';
import { groupId } from '../groups/error-groups.ts';
import type { LogWriter } from '../port.ts';
import { writeEmission } from '../write-emission.ts';

/** Returns the key of a decision: its watch, and the version that it is made of. */
export function decisionKey({ next }: WatchDecision): string {
  return `${next.id} ${next.kind} ${next.version}`;
}

/** Implements WatchStore.decideWatch. */
export function decideWatch(log: LogWriter, decision: WatchDecision): Claims | null {
  if (!log.takeDecision(decision)) return null;
  const { next, emissions, over } = decision;
  for (const made of emissions) {
    // Neither a run nor a delivery has failed.
    if (made.name === ERRORS) log.count(made.ownerId, FURTHER_ERRORS, 1);
    writeEmission(log, made);
  }
  const { ownerId, id } = next;
  const rules = id.startsWith('p_') ? (log.runnable(ownerId, id)?.settings.grouping ?? []) : [];
  for (const fault of over) {
    // A rule's group may have other errors, which are not over.
    if (ruleFor(fault, rules) === null) log.resolveGroup(groupId({ ownerId, emitterId: id }, keyOf(fault, null)));
  }
  return log.claims;
}

const CELLS_OF_DECISION = { ...CELLS_OF_WATCH, heard_due_at_ms: 'bigint', holds: 'bigint' } as const;

const decisionCells = ({ next, heardDueAtMs }: WatchDecision) => ({
  ...watchCells(next),
  heard_due_at_ms: heardDueAtMs,
  holds: holdsWhateverIsHeard(next) ? 1 : 0,
});

/** Returns the condition for the watches of decisions that count, if nothing changes them meanwhile. */
const counting = (decisions: readonly WatchDecision[]) => sql`watches.id = given.id AND watches.kind = given.kind
  AND watches.version = given.version AND (watches.heard = given.heard OR given.holds = 1)
  AND watches.id ${isAmong(decisions.map(({ next }) => next.id))}`;

/**
 * Returns the keys of decisions, each of another watch, that are likely to count. Locks nothing: a transaction on Postgres locks
 * watches last, behind the queues of listeners, whether it decides or notes the ends of runs, so that none waits for another one
 * in a circle.
 */
export function* readDecidable(decisions: readonly WatchDecision[]): Steps<string[]> {
  const rows = yield* all(sql`SELECT watches.id AS id, watches.kind AS kind
    FROM watches, ${tableOf(CELLS_OF_DECISION, decisions.map(decisionCells))} WHERE ${counting(decisions)}`);
  return amongThem(decisions, rows).map(decisionKey);
}

/**
 * Writes decisions, each of another watch, and returns the keys of those that counted. What was heard since the watch was read
 * stays.
 */
export function* takeDecisions(decisions: readonly WatchDecision[]): Steps<string[]> {
  const taken = yield* all(sql`UPDATE watches SET version = watches.version + 1,
      last_at_ms = CASE WHEN watches.heard = given.heard THEN given.last_at_ms ELSE watches.last_at_ms END,
      excused_ms = CASE WHEN watches.heard = given.heard THEN given.excused_ms ELSE watches.excused_ms END,
      due_at_ms = CASE WHEN watches.heard = given.heard THEN given.due_at_ms ELSE given.heard_due_at_ms END,
      expected_at_ms = given.expected_at_ms, open = given.open, counts = given.counts
    FROM ${tableOf(CELLS_OF_DECISION, decisions.map(decisionCells))} WHERE ${counting(decisions)}
    RETURNING watches.id AS id, watches.kind AS kind`);
  const won = amongThem(decisions, taken);
  for (const { next, forgetBefore } of won) {
    if (forgetBefore === null) continue;
    yield* send(sql`DELETE FROM watch_counts WHERE id = ${next.id} AND part < ${forgetBefore}`);
  }
  return won.map(decisionKey);
}

function amongThem(decisions: readonly WatchDecision[], rows: readonly Row[]): WatchDecision[] {
  const found = new Set(rows.map((row) => `${text(row, 'id')} ${text(row, 'kind')}`));
  return decisions.filter(({ next }) => found.has(`${next.id} ${next.kind}`));
}
