// What became of the notices to channels that tell of errors. A notice tells of many errors: of a group, or a summary of many groups of
// one emitter. The first one that was made after an error and reaches as far as it tells of it, with all that went out together
// with it.

import { ERRORS, NOTICE } from '../../../domain/emission.ts';
import type { Telling } from '../../../domain/errors/told.ts';
import { channelListener } from '../../../domain/notices/listener.ts';
import { summaryKey } from '../../../domain/notices/notice.ts';
import { differs, isAmong, NO_KEY, raw, type Sql, sql } from '../../config/sql.ts';
import type { Receipt } from '../../contract/records.ts';
import { flag, number, numberOrNull, text, textOrNull } from '../../rows/cells.ts';
import type { Row } from '../../rows/rows.ts';
import { ALL_DELIVERIES, type LogReader } from '../log-tables.ts';
import { chosenChannels } from './chosen-channels.ts';

interface OfGroup {
  readonly entry: number;
  readonly groupId: string | null;
}

/** Written out: partial indexes apply to words, not to parameters. */
const IS_NOTICE = raw(`notices.name = '${NOTICE}'`);
const IS_ERROR = raw(`errors.name = '${ERRORS}'`);
/** Notices first: SQLite would look through all deliveries instead. */
const THEN = differs({ sqlite: 'CROSS JOIN', postgres: 'JOIN' });
const SUMMARY_KEY = raw(`'${summaryKey('')}'`);
const HAS_GROUP = differs({
  sqlite: 'instr(notices.summary, failed.group_id) > 0',
  postgres: 'strpos(notices.summary, failed.group_id) > 0',
});

/** Selects the first notice that tells of the error `emissions AS failed`. */
export const FIRST_NOTICE: Sql = sql`SELECT notices.entry FROM emissions AS notices
  WHERE notices.digest_key IN (failed.group_id, failed.emitter_id || ${SUMMARY_KEY}) AND ${IS_NOTICE}
    AND notices.owner_id = failed.owner_id AND notices.entry > failed.entry AND notices.item_ts >= failed.entry
    AND (notices.digest_key = failed.group_id OR ${HAS_GROUP}) ORDER BY notices.entry LIMIT 1`;

/** Returns, by error of one owner, what became of its notices; `counted` where the next notice of its group will tell of it. */
export async function noticedOf(
  log: LogReader,
  ownerId: string,
  errors: readonly OfGroup[],
): Promise<(error: OfGroup) => readonly Telling[]> {
  const { database } = log;
  const ids = [...new Set(errors.flatMap(({ groupId }) => groupId ?? []))];
  if (ids.length === 0) return () => [];
  const oldest = Math.min(...errors.map(({ entry }) => entry));
  const groups = await database.all(sql`SELECT id, emitter_id, state, notice_due_ms, notice_after_ms, notice_folded
    FROM error_groups WHERE id ${isAmong(ids)} AND ${NO_KEY}owner_id = ${ownerId}`);
  const keys = new Set(groups.flatMap((row) => [text(row, 'id'), summaryKey(text(row, 'emitter_id'))]));
  const rows = await database.all(sql`SELECT notices.digest_key, notices.summary, notices.entry, notices.item_id,
      notices.item_ts, CASE deliveries.state WHEN 'cancelled' THEN 'resolved' ELSE deliveries.state END AS state
    FROM emissions AS notices ${THEN} ${ALL_DELIVERIES} AS deliveries ON deliveries.entry = notices.entry
    WHERE ${IS_NOTICE} AND notices.digest_key ${isAmong([...keys])} AND notices.entry > ${oldest}
      AND notices.owner_id = ${ownerId} ORDER BY notices.entry`);
  const notices = rows.map((row) => ({
    key: text(row, 'digest_key'),
    groups: textOrNull(row, 'summary') ?? '',
    entry: number(row, 'entry'),
    sequence: text(row, 'item_id'),
    lastEntry: number(row, 'item_ts'),
    state: text<Telling['state']>(row, 'state'),
  }));
  const byKey = Map.groupBy(notices, ({ key }) => key);
  const known = new Map(groups.map((row) => [text(row, 'id'), row]));
  const counting = new Set(groups.filter(isCounted).map((row) => text(row, 'emitter_id')));
  const chosen = await chosenChannels(log, ownerId, [...counting]);
  return ({ entry, groupId }) => {
    const group = known.get(groupId ?? '');
    if (!group || groupId === null) return [];
    const own = byKey.get(groupId) ?? [];
    const summaries = byKey.get(summaryKey(text(group, 'emitter_id'))) ?? [];
    const telling = [...own, ...summaries.filter(({ groups: named }) => named.includes(groupId))];
    const later = telling.filter((notice) => notice.entry > entry).sort((one, other) => one.entry - other.entry);
    const first = later.find(({ lastEntry }) => lastEntry >= entry);
    if (!first) {
      const isTold = isCounted(group) && chosen(text(group, 'emitter_id')).some(({ whyNot }) => whyNot === null);
      return isTold ? [{ state: 'counted', run: null, sentBy: null }] : [];
    }
    const together = later.filter(({ key, sequence }) => key === first.key && sequence === first.sequence);
    return together.map(({ state }) => ({ state, run: null, sentBy: null }));
  };
}

const isDue = (group: Row): boolean => text(group, 'state') === 'open' && group.notice_due_ms !== null;

/** Returns whether the next notice of a group is one of many errors. */
function isCounted(group: Row): boolean {
  return isDue(group) && (flag(group, 'notice_folded') || group.notice_after_ms !== null);
}

/**
 * Returns the receipts of an error that has no notices: of each channel that will get one, and of each that gets none, since it
 * is not active or was deleted. `channelIds`: which have notices of it already.
 */
export async function waitingNotices(
  log: LogReader,
  ownerId: string,
  of: { readonly entry: number; readonly channelIds: readonly (string | null)[] },
): Promise<readonly Receipt[]> {
  const row =
    await log.database.get(sql`SELECT error_groups.state, notice_due_ms, notice_after_ms, notice_folded, errors.emitter_id
    FROM emissions AS errors JOIN error_groups ON error_groups.id = errors.group_id AND error_groups.owner_id = errors.owner_id
    WHERE errors.entry = ${of.entry} AND errors.owner_id = ${ownerId} AND ${IS_ERROR}`);
  if (!row) return [];
  const emitterId = text(row, 'emitter_id');
  const chosen = (await chosenChannels(log, ownerId, [emitterId]))(emitterId);
  const isWaiting = of.channelIds.length === 0 && isDue(row);
  return chosen.flatMap(({ id, whyNot }): Receipt[] => {
    if (of.channelIds.includes(id) || (whyNot === null && !isWaiting)) return [];
    const listenerId = channelListener(ownerId, id);
    const reason = whyNot ?? whyWaiting(row);
    return [
      { kind: 'withheld', number: null, listenerId, subscriptionId: null, via: 'channel', state: 'withheld', reason },
    ];
  });
}

function whyWaiting(group: Row): string {
  const due = new Date(number(group, 'notice_due_ms')).toISOString();
  if (flag(group, 'notice_folded')) return `one of many kinds of errors: told in the summary of ${due}`;
  return numberOrNull(group, 'notice_after_ms') === null
    ? 'its notice is about to be sent'
    : `counted, and told in the digest of ${due}`;
}
