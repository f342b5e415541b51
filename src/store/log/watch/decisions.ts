// Decisions about watches, with what they tell, for both databases.

import { ERRORS } from '../../../domain/emission.ts';
import { keyOf, ruleFor } from '../../../domain/errors/fingerprint.ts';
import { FURTHER_ERRORS } from '../../check/checks.ts';
import { isAmong, sql, tableOf } from '../../config/sql.ts';
import { all, type Steps, send } from '../../config/steps.ts';
import type { Claims } from '../../contract/store.ts';
import type { WatchDecision } from '../../contract/watches.ts';
import { text } from '../../rows/cells.ts';
import { CELLS_OF_WATCH, watchCells } from '../../rows/watch-rows.ts';
import { groupId } from '../error-groups.ts';
import type { LogWriter } from '../port.ts';
import { writeEmission } from '../write-emission.ts';

/** A decision by the watch and the version that it is made of. */
export function decisionKey({ next }: WatchDecision): string {
  return `${next.id} ${next.kind} ${next.version}`;
}

/** See WatchStore. */
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

/**
 * Writes decisions, each of another watch, and returns the keys of those that counted. On Postgres this is among the first
 * statements of a transaction, since what it tells depends on it, while ends of runs note theirs last: two nodes that meet in
 * both wait for each other until Postgres ends one of the transactions, which is tried again. It takes a decision about the
 * very workflow whose run ends.
 */
export function* takeDecisions(decisions: readonly WatchDecision[]): Steps<string[]> {
  const rows = decisions.map(({ next }) => watchCells(next));
  const taken = yield* all(sql`UPDATE watches SET version = watches.version + 1, last_at_ms = given.last_at_ms,
      excused_ms = given.excused_ms, expected_at_ms = given.expected_at_ms, due_at_ms = given.due_at_ms,
      open = given.open, counts = given.counts
    FROM ${tableOf(CELLS_OF_WATCH, rows)}
    WHERE watches.id = given.id AND watches.kind = given.kind AND watches.version = given.version
      AND watches.id ${isAmong(decisions.map(({ next }) => next.id))}
    RETURNING watches.id AS id, watches.kind AS kind`);
  const counted = new Set(taken.map((row) => `${text(row, 'id')} ${text(row, 'kind')}`));
  const won = decisions.filter(({ next }) => counted.has(`${next.id} ${next.kind}`));
  for (const { next, forgetBefore } of won) {
    if (forgetBefore === null) continue;
    yield* send(sql`DELETE FROM watch_counts WHERE id = ${next.id} AND part < ${forgetBefore}`);
  }
  return won.map(decisionKey);
}
