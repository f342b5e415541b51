// Notices of groups of errors: taken when they are due, and ended when they are in the log. That one is due is decided where
// errors are captured (log/groups/error-groups.ts) and where owners change groups (error-groups.ts).
//
// A notice is written by a transaction of its own, as an event from outside would be: a group is locked last by those that
// capture errors, and could not be locked before the queue of a channel. The idempotency key of each notice keeps one that is
// taken again from being sent again. (Rejected: the notice as one more emission of the capturing transaction. On Postgres
// that one learns only from its last statement whether the group was open.)
//
// Messages may differ with each error, so that each is a group. NOTICE_LIMITS.noticesAtOnce groups of one emitter have notices of their
// own within NOTICE_LIMITS.foldMs; what else is due is folded into one notice at the end of that time.

import { EMAIL, ERRORS, NOTICE } from '../../../domain/emission.ts';
import type { ErrorGroup } from '../../../domain/errors/group.ts';
import { NOTICE_LIMITS } from '../../../domain/notices/limits.ts';
import { summariesOf, summaryKey } from '../../../domain/notices/notice.ts';
import type { FoldedGroups, NoticeStore, TakenNotice, ToldListener } from '../../contract/channels.ts';
import { IS_SETTLED } from '../../log/groups/group-notices.ts';
import { ALL_DELIVERIES, ALL_RUNS, OF_LIVE_OWNER } from '../../log/log-tables.ts';
import { number, numberOrNull, text } from '../../rows/cells.ts';
import { toErrorGroup } from '../../rows/group-rows.ts';
import type { Row } from '../../rows/rows.ts';
import type { ConfigCore } from '../config-database.ts';
import { differs, FOR_UPDATE, isAmong, isAmongRows, isNotAmong, NO_KEY, raw, type Sql, sql, tableOf } from '../sql.ts';
import { all, get, type Steps, send } from '../steps.ts';
import { asSent } from './sent-notices.ts';

/** Written out: partial indexes apply to words, not to parameters. */
const NAMES = { errors: raw(`'${ERRORS}'`), notice: raw(`'${NOTICE}'`) };
const SKIP_LOCKED = differs({ sqlite: '', postgres: 'FOR UPDATE SKIP LOCKED' });

interface Emitter {
  readonly ownerId: string;
  readonly emitterId: string;
}

export function noticeVerbs(core: ConfigCore): NoticeStore {
  const { database, clock } = core;
  return {
    takeNotices: async (limit) => {
      // Most of the time nothing is due: that is found without a transaction.
      if (
        !(await database.get(
          sql`SELECT 1 AS one FROM error_groups WHERE notice_due_ms IS NOT NULL AND ${OF_LIVE_OWNER} LIMIT 1`,
        ))
      )
        return [];
      const own = await database.write(function* ({ nowMs }) {
        const due = yield* all(sql`SELECT * FROM error_groups WHERE notice_due_ms <= ${nowMs}
          AND (NOT notice_folded OR state <> 'open') AND ${OF_LIVE_OWNER} ORDER BY notice_due_ms, first_entry LIMIT ${limit} ${SKIP_LOCKED}`);
        const own = yield* foldMost(due, nowMs);
        if (own.length > 0) {
          yield* send(sql`UPDATE error_groups SET notice_due_ms = ${nowMs + NOTICE_LIMITS.noticeLeaseMs}
            WHERE id ${isAmong(own.map((row) => text(row, 'id')))}`);
        }
        const taken: TakenNotice[] = [];
        for (const row of own) {
          const one = yield* takenOf(row);
          if (one) taken.push(yield* asSent(one, core));
          else
            yield* send(
              sql`UPDATE error_groups SET notice_due_ms = ${nowMs + NOTICE_LIMITS.undecidedMs} WHERE id = ${text(row, 'id')}`,
            );
        }
        return taken;
      });
      // Each in a transaction that waits for the locks of this emitter's groups alone, in their order, and holds no others.
      const folded: TakenNotice[] = [];
      for (const row of await database.all(foldedEmitters(clock.nowMs()))) {
        folded.push(...(await database.write(({ nowMs }) => takeFolded(emitterOf(row), nowMs))));
      }
      return [...own, ...folded];
    },

    areSettled: async (ownerId, groupIds) => {
      const row = await database.get(sql`SELECT count(*) AS n FROM error_groups AS g
        WHERE g.id ${isAmong(groupIds)} AND ${NO_KEY}g.owner_id = ${ownerId} AND ${raw(IS_SETTLED)}`);
      return row !== undefined && number(row, 'n') === new Set(groupIds).size;
    },

    endNotice: (taken, windowMs) =>
      database.write(({ nowMs }) =>
        taken.folded ? endFolded(taken.folded, { nowMs, windowMs }) : endOwn(taken, { nowMs, windowMs }),
      ),
  };
}

/** Returns the groups that have a notice of their own now, and folds the others that are due. */
function* foldMost(due: readonly Row[], nowMs: number): Steps<Row[]> {
  // A recovery closes what was opened, so it is never folded.
  const own = due.filter((row) => text(row, 'state') === 'resolved');
  const open = due.filter((row) => text(row, 'state') !== 'resolved');
  for (const [, rows] of Map.groupBy(open, (row) => `${text(row, 'owner_id')} ${text(row, 'emitter_id')}`)) {
    const [first] = rows as [Row, ...Row[]];
    const emitter = emitterOf(first);
    const told = yield* get(sql`SELECT count(*) AS n FROM (SELECT 1 FROM error_groups WHERE ${isOf(emitter)}
      AND notice_told_ms > ${nowMs - NOTICE_LIMITS.foldMs} LIMIT ${NOTICE_LIMITS.noticesAtOnce}) AS told`);
    const room = NOTICE_LIMITS.noticesAtOnce - (told ? number(told, 'n') : 0);
    const having = rows.slice(0, room);
    own.push(...having);
    if (rows.length > room) yield* fold(emitter, { nowMs, but: having.map((row) => text(row, 'id')) });
  }
  return own;
}

/**
 * Folds all that is due of an emitter: until the time at which others are told that were folded before. What a transaction is
 * just counting is folded by the next step: the groups that are taken are locked, and waiting for others could be in a circle.
 */
function* fold(emitter: Emitter, { nowMs, but }: { nowMs: number; but: readonly string[] }): Steps<void> {
  const known = yield* get(sql`SELECT min(notice_due_ms) AS at FROM error_groups WHERE ${isOf(emitter)}
    AND notice_folded AND state = 'open' AND notice_due_ms > ${nowMs}`);
  const dueMs = (known && numberOrNull(known, 'at')) ?? nowMs + NOTICE_LIMITS.foldMs;
  const due = sql`SELECT id FROM error_groups WHERE ${isOf(emitter)} AND notice_due_ms <= ${nowMs} AND state = 'open'
    AND NOT notice_folded AND id ${isNotAmong(but)} ORDER BY id ${SKIP_LOCKED}`;
  yield* send(sql`UPDATE error_groups SET notice_folded = true, notice_due_ms = ${dueMs} WHERE id ${isAmongRows(due)}`);
}

const isDueFolded = (nowMs: number): Sql => sql`notice_due_ms <= ${nowMs} AND notice_folded AND state = 'open'`;

function foldedEmitters(nowMs: number): Sql {
  return sql`SELECT owner_id, emitter_id FROM error_groups WHERE ${isDueFolded(nowMs)}
    GROUP BY owner_id, emitter_id LIMIT ${NOTICE_LIMITS.foldsPerStep}`;
}

/** Takes what is folded of an emitter; nothing when another process has taken it. */
function* takeFolded(emitter: Emitter, nowMs: number): Steps<TakenNotice[]> {
  const leasedUntilMs = nowMs + NOTICE_LIMITS.noticeLeaseMs;
  const due = sql`SELECT id FROM error_groups WHERE ${isOf(emitter)} AND ${isDueFolded(nowMs)} ORDER BY id ${FOR_UPDATE}`;
  const taken = yield* all(sql`UPDATE error_groups SET notice_due_ms = ${leasedUntilMs} WHERE id ${isAmongRows(due)}
    RETURNING id, n, last_entry`);
  const [first, ...others] = taken;
  if (!first) return [];
  const newest = others.reduce((a, b) => (number(b, 'last_entry') > number(a, 'last_entry') ? b : a), first);
  const whole = yield* get(sql`SELECT * FROM error_groups WHERE id = ${text(newest, 'id')}`);
  if (!whole) return [];
  const one = yield* takenOf(whole);
  if (!one) return [];
  const ids = taken.map((row) => text(row, 'id'));
  const counts = taken.map((row) => number(row, 'n'));
  const errors = counts.reduce((sum, n) => sum + n, 0);
  return [others.length === 0 ? one : { ...one, folded: { ids, counts, errors, leasedUntilMs } }];
}

interface Ending {
  readonly nowMs: number;
  readonly windowMs: number;
}

function* endOwn({ group, kind, sequence }: TakenNotice, { nowMs, windowMs }: Ending): Steps<void> {
  const isNew = sql`n > ${group.count}`;
  const next =
    kind === 'recovered'
      ? sql`CASE WHEN state = 'open' AND ${isNew} THEN CAST (${nowMs} AS BIGINT) END`
      : sql`CASE WHEN state = 'resolved' THEN CAST (${nowMs} AS BIGINT)
          WHEN state = 'open' AND ${isNew} THEN CAST (${nowMs + windowMs} AS BIGINT) END`;
  const after = kind === 'recovered' ? null : nowMs + windowMs;
  const told = kind === 'recovered' ? raw('notice_told_ms') : sql`CAST (${nowMs} AS BIGINT)`;
  yield* send(sql`UPDATE error_groups SET notices = ${sequence}, told_n = ${group.count}, notice_after_ms = ${after},
      notice_due_ms = ${next}, notice_told_ms = ${told}, notice_folded = false
    WHERE id = ${group.id} AND notices = ${sequence - 1}`);
}

/**
 * Ends the groups of a notice. Others of the emitter may have been folded since, to be told when the lease is over; and errors that
 * have come since are counted in their next notices.
 */
function* endFolded({ ids, counts, leasedUntilMs }: FoldedGroups, { nowMs, windowMs }: Ending): Steps<void> {
  const groups = tableOf(
    { id: 'text', told: 'bigint' },
    ids.map((id, i) => ({ id, told: counts[i] ?? 0 })),
  );
  const nextMs = sql`CAST (${nowMs + windowMs} AS BIGINT)`;
  const leased = sql`SELECT id FROM error_groups WHERE id ${isAmong(ids)} AND notice_folded AND state = 'open'
    AND notice_due_ms = ${leasedUntilMs} ORDER BY id ${FOR_UPDATE}`;
  yield* send(sql`UPDATE error_groups SET notices = notices + 1, told_n = taken.told, notice_after_ms = ${nextMs},
      notice_due_ms = CASE WHEN n > taken.told THEN ${nextMs} END, notice_folded = false
    FROM (SELECT id, told FROM ${groups} WHERE true) AS taken
    WHERE error_groups.id = taken.id AND error_groups.id ${isAmongRows(leased)}`);
}

function emitterOf(row: Row): Emitter {
  return { ownerId: text(row, 'owner_id'), emitterId: text(row, 'emitter_id') };
}

function isOf({ ownerId, emitterId }: Emitter): Sql {
  return sql`owner_id = ${ownerId} AND emitter_id = ${emitterId}`;
}

/** Whether a listener was told; undecided while an attempt is under way that may yet be withheld, or have been sent. */
interface Told {
  readonly heard: boolean;
  readonly isUndecided: boolean;
}

/** Returns who was told of a group, also by summaries of which it was the newest one: who was told of so many is not told of each that recovers. */
function* toldOf({ id, ownerId, emitterId }: ErrorGroup): Steps<(ToldListener & Told)[]> {
  const prefix = summariesOf(id);
  const rows = yield* all(sql`SELECT notices.only_listener_id, ${toldBy(id)}
    FROM emissions AS notices JOIN ${ALL_DELIVERIES} AS sent ON sent.entry = notices.entry
    WHERE notices.digest_key ${isAmong([id, summaryKey(emitterId)])} AND notices.name = ${NAMES.notice}
      AND notices.owner_id = ${ownerId} AND notices.only_listener_id IS NOT NULL
      AND (notices.digest_key = ${id} OR substr(notices.item_id, 1, ${prefix.length}) = ${prefix})
    GROUP BY notices.only_listener_id`);
  return rows.map((row) => ({ listenerId: text(row, 'only_listener_id'), ...toTold(row) }));
}

/** Returns the columns of `toTold`, over the deliveries `sent`: what waits is withheld when a person resolved the group. */
function toldBy(groupId: string): Sql {
  const isSettled = sql`EXISTS (SELECT 1 FROM error_groups AS g WHERE g.id = ${groupId} AND ${raw(IS_SETTLED)})`;
  return sql`max(CASE WHEN sent.state = 'delivered'
        OR (sent.state IN ('sending', 'pending', 'retrying') AND NOT ${isSettled}) THEN 1 ELSE 0 END) AS heard,
      max(CASE WHEN sent.state = 'sending' AND ${isSettled} THEN 1 ELSE 0 END) AS undecided`;
}

function toTold(row: Row): Told {
  const heard = number(row, 'heard') === 1;
  return { heard, isUndecided: !heard && number(row, 'undecided') === 1 };
}

const HAS_GROUP = differs({ sqlite: 'instr(told.summary, g.id) > 0', postgres: 'strpos(told.summary, g.id) > 0' });

/** Returns who was told of a group by summaries, if no group that they told of is open any more. */
function* summariesOver({ id, ownerId, emitterId }: ErrorGroup): Steps<TakenNotice['summaries']> {
  const told = sql`emissions AS told WHERE told.digest_key = ${summaryKey(emitterId)} AND told.name = ${NAMES.notice}
    AND told.owner_id = ${ownerId}`;
  const rows = yield* all(sql`SELECT told.only_listener_id, max(told.entry) AS newest FROM ${told}
      AND EXISTS (SELECT 1 FROM error_groups AS g WHERE g.id = ${id} AND ${HAS_GROUP})
    GROUP BY told.only_listener_id`);
  if (rows.length === 0) return null;
  const open = yield* get(sql`SELECT 1 AS one FROM error_groups AS g WHERE g.owner_id = ${ownerId}
    AND g.emitter_id = ${emitterId} AND g.state = 'open' AND EXISTS (SELECT 1 FROM ${told} AND ${HAS_GROUP}) LIMIT 1`);
  if (open) return null;
  const listenerIds = rows.map((row) => text(row, 'only_listener_id'));
  return { listenerIds, newest: Math.max(...rows.map((row) => number(row, 'newest'))) };
}

/** Returns whether the global error workflow has mailed one of the group's errors, or will, and not only counted it. */
function* mailOf({ id, ownerId }: ErrorGroup): Steps<Told> {
  const errors = sql`SELECT entry FROM emissions WHERE group_id = ${id} AND name = ${NAMES.errors}
    AND owner_id = ${ownerId} ORDER BY entry LIMIT ${NOTICE_LIMITS.mailedAmong}`;
  const row =
    yield* get(sql`SELECT coalesce(told.heard, 0) AS heard, coalesce(told.undecided, 0) AS undecided FROM (SELECT ${toldBy(id)}
    FROM (${errors}) AS failed
    JOIN ${ALL_RUNS} AS runs ON runs.entry = failed.entry AND runs.via = 'global'
    JOIN emissions AS mails ON mails.cause_run = runs.run AND mails.name = ${EMAIL}
    JOIN ${ALL_DELIVERIES} AS sent ON sent.entry = mails.entry) AS told`);
  return row ? toTold(row) : { heard: false, isUndecided: false };
}

/** Returns null for a recovery of which it is not decided yet who was told of the errors. */
function* takenOf(row: Row): Steps<TakenNotice | null> {
  const group = toErrorGroup(row);
  const wasTold = numberOrNull(row, 'notice_after_ms') !== null;
  const listeners = yield* toldOf(group);
  const taken = {
    group,
    sequence: number(row, 'notices') + 1,
    more: number(row, 'n') - number(row, 'told_n'),
    wasTold,
    told: listeners.map(({ listenerId, heard }) => ({ listenerId, heard })),
    folded: null,
  };
  if (text(row, 'state') !== 'resolved') {
    return { ...taken, kind: wasTold ? 'digest' : 'error', wasMailed: false, summaries: null };
  }
  const mail = yield* mailOf(group);
  if ([mail, ...listeners].some(({ isUndecided }) => isUndecided)) return null;
  return { ...taken, kind: 'recovered', wasMailed: mail.heard, summaries: yield* summariesOver(group) };
}
