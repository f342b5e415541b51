// What became of the notices to channels that tell of errors. Read by group, since a notice tells of many errors of one: the first
// one that was made after an error and reaches as far as it, with all that went out together with it.

import { NOTICE } from '../../../domain/emission.ts';
import type { Telling } from '../../../domain/errors/told.ts';
import { differs, isAmong, raw, sql } from '../../config/sql.ts';
import { number, text } from '../../rows/cells.ts';
import { ALL_DELIVERIES, type LogReader } from '../log-tables.ts';

interface OfGroup {
  readonly entry: number;
  readonly groupId: string | null;
}

const IS_NOTICE = raw(`notices.name = '${NOTICE}'`);
/** Notices first: SQLite would look through all deliveries instead. */
const THEN = differs({ sqlite: 'CROSS JOIN', postgres: 'JOIN' });

/** Returns, by error, what became of its notices; `counted` where the next notice of its group will tell of it. */
export async function noticedOf(
  { database }: LogReader,
  errors: readonly OfGroup[],
): Promise<(error: OfGroup) => readonly Telling[]> {
  const groups = [...new Set(errors.flatMap(({ groupId }) => groupId ?? []))];
  if (groups.length === 0) return () => [];
  const oldest = Math.min(...errors.map(({ entry }) => entry));
  const [rows, due] = await Promise.all([
    database.all(sql`SELECT notices.digest_key AS group_id, notices.entry, notices.item_id, notices.item_ts, deliveries.state
      FROM emissions AS notices ${THEN} ${ALL_DELIVERIES} AS deliveries ON deliveries.entry = notices.entry
      WHERE ${IS_NOTICE} AND notices.digest_key ${isAmong(groups)} AND notices.entry > ${oldest} ORDER BY notices.entry`),
    database.all(sql`SELECT id FROM error_groups WHERE id ${isAmong(groups)} AND state = 'open' AND notice_due_ms IS NOT NULL
      AND EXISTS (SELECT 1 FROM emissions AS notices WHERE notices.digest_key = error_groups.id AND ${IS_NOTICE})`),
  ]);
  const notices = rows.map((row) => ({
    groupId: text(row, 'group_id'),
    entry: number(row, 'entry'),
    sequence: text(row, 'item_id'),
    lastEntry: number(row, 'item_ts'),
    state: text<Telling['state']>(row, 'state'),
  }));
  const byGroup = Map.groupBy(notices, ({ groupId }) => groupId);
  const isDue = new Set(due.map((row) => text(row, 'id')));
  return ({ entry, groupId }) => {
    if (groupId === null) return [];
    const later = (byGroup.get(groupId) ?? []).filter((notice) => notice.entry > entry);
    const first = later.find(({ lastEntry }) => lastEntry >= entry);
    if (!first) return isDue.has(groupId) ? [{ state: 'counted', run: null, sentBy: null }] : [];
    const together = later.filter(({ sequence }) => sequence === first.sequence);
    return together.map(({ state }) => ({ state, run: null, sentBy: null }));
  };
}
