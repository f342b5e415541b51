// Notices whose process was lost between their emission and the end of what was taken. They are taken again, to be sent to the
// channels that are missing, and told what they told: errors that came meanwhile are counted by the next notice, and a recovery
// that came meanwhile is a notice of its own. Else an idempotency key would keep the new counts, or the recovery, from being sent.

import { NOTICE } from '../../../domain/emission.ts';
import { readNotice } from '../../../domain/notices/notice.ts';
import type { TakenNotice } from '../../contract/channels.ts';
import { type EmissionReader, toEmission } from '../../rows/log-rows.ts';
import { raw, sql } from '../sql.ts';
import { get, type Steps } from '../steps.ts';

/** Written out: partial indexes apply to words, not to parameters. */
const IS_NOTICE = raw(`name = '${NOTICE}'`);

/** Returns the notice as it was emitted, if one of its number is in the log; else as it was taken. */
export function* asSent(taken: TakenNotice, reader: EmissionReader): Steps<TakenNotice> {
  const { group, sequence } = taken;
  const row = yield* get(sql`SELECT * FROM emissions WHERE digest_key = ${group.id} AND ${IS_NOTICE}
    AND owner_id = ${group.ownerId} AND item_id = ${String(sequence)} ORDER BY entry LIMIT 1`);
  if (!row) return taken;
  const { body, itemTs } = toEmission(row, reader);
  const { kind, count, more } = readNotice(body);
  if (kind !== 'error' && kind !== 'digest' && kind !== 'recovered') return taken;
  const wasMailed = kind === 'recovered' && taken.wasMailed;
  return { ...taken, kind, more, wasMailed, group: { ...group, count, lastEntry: itemTs ?? group.lastEntry } };
}
