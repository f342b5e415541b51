// Rows of runs, for both backends.

import { NUMBERS_PER_MS } from '../../domain/ids.ts';
import type { Via } from '../../domain/resource.ts';
import type { ClaimedRun } from '../../domain/run/run.ts';
import { flag, number, text, textOrNull } from './cells.ts';
import type { Row } from './rows.ts';

/**
 * A condition on runs that are not over: that of the partial index runs_open. SQLite uses such an index only when the query has its
 * condition word for word. Not `IN`: for a list of more than two, SQLite builds a table with each insert and update.
 */
export const OPEN_RUN = "(state = 'queued' OR state = 'running' OR state = 'waiting')";

/** What differs between the databases: SQL of the deployment and the time of the claim, and the function that returns the greatest number. */
interface ClaimSql {
  readonly deployment: string;
  readonly now: string;
  readonly greatest: string;
}

/**
 * Returns the assignments to the row `o` of a run that begins, or goes on. A run with a checkpoint keeps the deployment that
 * wrote it, and the start of its first segment. No run starts before it was created.
 */
export const claimedRun = ({ deployment, now, greatest }: ClaimSql): string =>
  `state = 'running', fence = o.fence + 1,
    deployment_id = CASE WHEN o.carried IS NULL THEN ${deployment} ELSE o.deployment_id END,
    started_at_ms = coalesce(o.started_at_ms, ${greatest}(${now}, o.run / ${NUMBERS_PER_MS}))`;

/** Columns of `toClaimedRun`. */
export const CLAIMED_COLUMNS =
  'run, fence, deployment_id, via, subscription_id, attempt, alone, carried, resumed'.split(', ');

/** Reads a row that was claimed. */
export function toClaimedRun(
  row: Row,
  { runnable, ...of }: Pick<ClaimedRun, 'runnable' | 'emission' | 'isAwaitedElsewhere'>,
): ClaimedRun {
  const deploymentId = text(row, 'deployment_id');
  return {
    ...of,
    run: number(row, 'run'),
    fence: number(row, 'fence'),
    runnable: deploymentId === runnable.deploymentId ? runnable : { ...runnable, deploymentId },
    via: text<Via>(row, 'via'),
    subscriptionId: textOrNull(row, 'subscription_id'),
    attempt: number(row, 'attempt'),
    alone: flag(row, 'alone'),
    checkpoint: textOrNull(row, 'carried'),
    resumed: textOrNull(row, 'resumed'),
  };
}
