// The purge of an owner: deletes its rows, some in each step. It walks over all emissions and deployments, which no index finds by
// their owner alone, and then goes through the tables of purged-tables.ts until nothing is left in any. Where it stands is in
// the owner's row, which a step locks: another node skips it, and a step that is lost is made again.
//
// A request that came before the deletion may write until it is over, so a second round begins when none can be left; it walks
// over what has been accepted since the purge began.

import { NUMBERS_PER_MS } from '../../../domain/ids.ts';
import { HOUR_MS } from '../../../domain/limits.ts';
import { DELETION } from '../../../domain/owners/deletion.ts';
import type { Owner } from '../../../domain/resource.ts';
import type { PurgeRecord } from '../../contract/owner-deletions.ts';
import { deleteEmissions } from '../../log/retention/delete-emissions.ts';
import { withinBytes } from '../../rows/byte-limit.ts';
import { flag, json, number, text } from '../../rows/cells.ts';
import { putAudit } from '../audit.ts';
import type { OwnedTable, Writing } from '../config-database.ts';
import { differs, isAmong, type Sql, sql } from '../sql.ts';
import { all, get, type Steps, send } from '../steps.ts';
import { purgedTables, purgeKeys } from './purged-tables.ts';

/** Rows that one step of a walk looks at, and about how many bytes it deletes. */
const WALKED = 2000;
const WALKED_BYTES = 4 * 1024 * 1024;

/** How far a purge is. */
interface Purge {
  readonly begunAtMs: number;
  readonly isSecondRound: boolean;
  /** What is walked over behind which row; null: the walks of this round are over. */
  readonly walk: Walk | null;
}

type Walk =
  | { readonly over: 'emissions'; readonly after: number }
  | { readonly over: 'deployments'; readonly after: string };

const FIRST_WALK: Walk = { over: 'emissions', after: -1 };

/** Returns the state in which a purge begins. */
export function purgeBegins(nowMs: number): string {
  return JSON.stringify({ begunAtMs: nowMs, isSecondRound: false, walk: FIRST_WALK } satisfies Purge);
}

/** Returns when the purge of an owner began, from its row. */
export function purgeBeganMs(row: Readonly<Record<string, unknown>>): number {
  return json<Purge>(row, 'purge').begunAtMs;
}

/** `waits`: nothing is left, and the second round begins at that time. `over`: nothing is left. */
export type PurgeStep =
  | { readonly kind: 'more' }
  | { readonly kind: 'waits'; readonly untilMs: number }
  | { readonly kind: 'over' };

const MORE: PurgeStep = { kind: 'more' };

const SKIP_LOCKED = differs({ sqlite: '', postgres: 'FOR UPDATE SKIP LOCKED' });

export function* purgeStep({ nowMs }: Writing, ownerId: string, moreOwned: readonly OwnedTable[]): Steps<PurgeStep> {
  const row = yield* get(sql`SELECT purge FROM owners WHERE id = ${ownerId} AND purge IS NOT NULL ${SKIP_LOCKED}`);
  // Another node makes this step.
  if (!row) return { kind: 'waits', untilMs: nowMs + DELETION.elsewhereMs };
  const purge = json<Purge>(row, 'purge');
  const keep = (next: Purge): Sql => sql`UPDATE owners SET purge = ${JSON.stringify(next)} WHERE id = ${ownerId}`;
  if (purge.walk !== null) {
    yield* send(keep({ ...purge, walk: yield* walkOn(ownerId, purge.walk) }));
    return MORE;
  }
  for (const table of purgedTables(moreOwned)) if (yield* table(ownerId)) return MORE;
  if (purge.isSecondRound) return { kind: 'over' };
  const untilMs = purge.begunAtMs + DELETION.settledMs;
  if (nowMs < untilMs) return { kind: 'waits', untilMs };
  // Clocks of nodes differ a little.
  const after = (purge.begunAtMs - HOUR_MS) * NUMBERS_PER_MS;
  yield* send(keep({ ...purge, isSecondRound: true, walk: { over: 'emissions', after } }));
  return MORE;
}

/** Deletes what the next step of a walk finds. Returns the walk from there on; null: it is over. */
function* walkOn(ownerId: string, walk: Walk): Steps<Walk | null> {
  return walk.over === 'emissions'
    ? yield* overEmissions(ownerId, walk.after)
    : yield* overDeployments(ownerId, walk.after);
}

function* overEmissions(ownerId: string, after: number): Steps<Walk> {
  const page = yield* all(sql`SELECT entry, emitter_id, owner_id = ${ownerId} AS is_theirs,
      CASE WHEN owner_id = ${ownerId} THEN length(body) ELSE 0 END AS bytes
    FROM emissions WHERE entry > ${after} ORDER BY entry LIMIT ${WALKED}`);
  const seen = withinBytes(page, WALKED_BYTES);
  const theirs = seen.filter((row) => flag(row, 'is_theirs'));
  if (theirs.length > 0) {
    yield* deleteEmissions(theirs.map((row) => number(row, 'entry')));
    yield* purgeKeys(sql`trigger_id ${isAmong([...new Set(theirs.map((row) => text(row, 'emitter_id')))])}`);
  }
  const last = seen.at(-1);
  return last ? { over: 'emissions', after: number(last, 'entry') } : { over: 'deployments', after: '' };
}

function* overDeployments(ownerId: string, after: string): Steps<Walk | null> {
  const page = yield* all(sql`SELECT id, owner_id = ${ownerId} AS is_theirs FROM deployments WHERE id > ${after}
    ORDER BY id LIMIT ${WALKED}`);
  const theirs = page.filter((row) => flag(row, 'is_theirs')).map((row) => text(row, 'id'));
  if (theirs.length > 0) yield* send(sql`DELETE FROM deployments WHERE id ${isAmong(theirs)}`);
  const last = page.at(-1);
  return last ? { over: 'deployments', after: text(last, 'id') } : null;
}

/**
 * Deletes the row of an owner whose purge is over, and the version of its routing. The log of the first owner tells of it. Returns
 * false when another node was first.
 */
export function* removeOwner(w: Writing, owner: Owner, recordOf: PurgeRecord): Steps<boolean> {
  const gone = yield* get(sql`DELETE FROM owners WHERE id = ${owner.id} AND purge IS NOT NULL RETURNING id`);
  w.ownerRemoved(owner.id);
  const first = gone && (yield* get(sql`SELECT id FROM owners ORDER BY id LIMIT 1`));
  if (first) yield* send(putAudit([recordOf(owner, text(first, 'id'))]));
  return gone !== undefined;
}
