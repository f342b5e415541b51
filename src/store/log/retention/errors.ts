// Retention of workflows that keep their errors longer than the server keeps everything. The walk over all emissions leaves those
// errors alone; this one reads of each such workflow only what is to go, along the index of its errors.

import { ERRORS } from '../../../domain/emission.ts';
import { keptForDays } from '../../../domain/errors/retention.ts';
import { NUMBERS_PER_MS } from '../../../domain/ids.ts';
import { LIMITS } from '../../../domain/limits.ts';
import type { Runnable } from '../../../domain/resource.ts';
import { joined, raw, type Sql, sql } from '../../config/sql.ts';
import { all, get, type Steps, send } from '../../config/steps.ts';
import type { ErrorsPlace, PrunedErrors } from '../../contract/retention.ts';
import { number, numberOrNull, text } from '../../rows/cells.ts';
import { LISTED } from '../log-tables.ts';
import { inRange, type NumberIndex, ordered } from '../search/number-ranges.ts';
import { deleteDoomed, EMISSIONS_PER_STEP, HAS_NO_WORK } from './delete-emissions.ts';

/** A condition on emissions `p`: their workflow says how long they stay. */
export const HAS_OWN_RETENTION = sql`(p.name = '${raw(ERRORS)}'
  AND EXISTS (SELECT 1 FROM error_retentions AS k WHERE k.emitter_id = p.emitter_id))`;

/** Writes the setting of a workflow. */
export function* putErrorRetention({ id, ownerId, settings: { errorRetention } }: Runnable): Steps<void> {
  if (errorRetention === null) return yield* removeErrorRetention({ id });
  const { days, newest } = errorRetention;
  yield* send(sql`INSERT INTO error_retentions (emitter_id, owner_id, days, newest)
    VALUES (${id}, ${ownerId}, ${days}, ${newest})
    ON CONFLICT (emitter_id) DO UPDATE SET days = excluded.days, newest = excluded.newest`);
}

/** Errors of a workflow that is deleted go as everything does. */
export function* removeErrorRetention({ id }: Pick<Runnable, 'id'>): Steps<void> {
  yield* send(sql`DELETE FROM error_retentions WHERE emitter_id = ${id}`);
}

/** Makes one step of `TimeStore.pruneErrors`. */
export function* pruneErrors(
  of: { readonly beforeMs: number; readonly nowMs: number },
  from: ErrorsPlace,
): Steps<PrunedErrors> {
  const row = yield* get(sql`SELECT emitter_id, owner_id, days, newest FROM error_retentions
    WHERE emitter_id ${raw(from.entry === null ? '>' : '>=')} ${from.emitterId} ORDER BY emitter_id LIMIT 1`);
  if (!row) return { emissions: 0, next: null };
  const emitterId = text(row, 'emitter_id');
  const index = indexOf(emitterId, text(row, 'owner_id'));
  const days = numberOrNull(row, 'days');
  const before = keptForDays({ days }, { before: of.beforeMs * NUMBERS_PER_MS, nowMs: of.nowMs });
  const to = yield* beforeNewest(index, { before, newest: numberOrNull(row, 'newest') });
  const range = { from: emitterId === from.emitterId ? (from.entry ?? 0) : 0, to };
  const page = yield* all(sql`SELECT p.entry, ${HAS_NO_WORK} AS is_doomed
    FROM (SELECT entry FROM emissions WHERE ${joined([...index.where, ...inRange(index, range)], ' AND ')}
      ORDER BY ${ordered(index, false)} LIMIT ${EMISSIONS_PER_STEP}) AS p ORDER BY p.entry`);
  const last = page.length < EMISSIONS_PER_STEP ? undefined : page.at(-1);
  const next = { emitterId, entry: last ? number(last, 'entry') + 1 : null };
  return { emissions: yield* deleteDoomed(page), next };
}

function indexOf(emitterId: string, ownerId: string): NumberIndex {
  const where: Sql[] = [sql`emitter_id = ${emitterId}`, sql`${LISTED}`, sql`owner_id = ${ownerId}`];
  return { column: 'name', value: ERRORS, number: 'entry', where };
}

/** Returns where the newest errors begin, or `before`, which may lie earlier; 0: there are not more than those. */
function* beforeNewest(index: NumberIndex, of: { before: number; newest: number | null }): Steps<number> {
  const kept = of.newest ?? LIMITS.listedPerEmitterAndName;
  const every = { from: 0, to: Number.MAX_SAFE_INTEGER };
  const oldest =
    yield* get(sql`SELECT entry FROM emissions WHERE ${joined([...index.where, ...inRange(index, every)], ' AND ')}
    ORDER BY ${ordered(index, true)} LIMIT 1 OFFSET ${kept - 1}`);
  return oldest ? Math.min(of.before, number(oldest, 'entry')) : 0;
}
