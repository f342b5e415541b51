// Groups of errors: their lists, and what owners change of them. The transactions that capture errors write them, too:
// log/groups/error-groups.ts.

import { type ErrorGroup, folded, groupAt, openedByPerson, ordered } from '../../domain/errors/group.ts';
import { NUMBERS_PER_MS } from '../../domain/ids.ts';
import { HOUR_MS, LIMITS } from '../../domain/limits.ts';
import { NOTICE_LIMITS } from '../../domain/notices/limits.ts';
import type {
  ErrorGroupStore,
  GroupDeployment,
  GroupPageQuery,
  GroupPlace,
  GroupQuery,
  GroupWhole,
} from '../contract/error-groups.ts';
import type { PageQuery } from '../contract/records.ts';
import { number, text, textOrNull } from '../rows/cells.ts';
import { toErrorGroup } from '../rows/group-rows.ts';
import type { Row } from '../rows/rows.ts';
import type { ConfigCore, Listener } from './config-database.ts';
import { type Listing, readPage } from './pages.ts';
import { differs, FOR_UPDATE, isAmong, isAmongRows, joined, NO_KEY, raw, type Sql, sql } from './sql.ts';
import { all, get, type Steps, send } from './steps.ts';

/** The count and the id as one text that sorts as they do. */
const BY_COUNT = sql`${differs({
  sqlite: "(printf('%015d', n) || id)",
  postgres: '((lpad(CAST(n AS text), 15, \'0\') || id) COLLATE "C")',
})}`;

export function errorGroupVerbs({ database, clock }: ConfigCore): ErrorGroupStore {
  const one = (ownerId: string, id: string): Sql =>
    sql`SELECT * FROM error_groups WHERE id = ${id} AND owner_id = ${ownerId}`;

  return {
    listErrorGroups: (of, page) => {
      const nowMs = clock.nowMs();
      const listing = {
        from: raw('error_groups'),
        columns: raw('*'),
        where: conditionsOf(of, nowMs),
        countUpTo: LIMITS.countedRecords,
        map: (row) => groupAt(toErrorGroup(row), nowMs),
      } satisfies Partial<Listing<ErrorGroup>>;
      if (of.sort === 'count') {
        const place = ({ value, id }: GroupPlace): string => String(value).padStart(15, '0') + id;
        const sorted = { from: lastSeen(listing.where), where: [raw('true')], key: BY_COUNT };
        return readPage(database, { ...listing, ...sorted, page: pageAt(page, place) });
      }
      return readPage(database, { ...listing, key: raw('last_entry'), page: pageAt(page, ({ value }) => value) });
    },

    getErrorGroup: (ownerId, id) => readWhole(ownerId, id),

    groupHours: async (ownerId, ids) => {
      if (ids.length === 0) return new Map();
      const since = Math.floor(clock.nowMs() / HOUR_MS) - LIMITS.groupHours;
      const rows = await database.all(sql`SELECT h.group_id, h.hour, h.n FROM error_groups AS g
        JOIN error_group_hours AS h ON h.group_id = g.id
        WHERE g.id ${isAmong(ids)} AND ${NO_KEY}g.owner_id = ${ownerId} AND h.hour > ${since}
        ORDER BY h.group_id, h.hour DESC`);
      const byGroup = Map.groupBy(rows, (row) => text(row, 'group_id'));
      return new Map([...byGroup].map(([id, hours]) => [id, hours.map(hourOf)]));
    },

    groupAssignees: async (ownerId) => {
      const isOpen = isIn('open', mutedUntil(clock.nowMs()));
      const rows = await database.all(sql`SELECT max(assignee) AS assignee, count(*) AS n,
          count(CASE WHEN ${isOpen} THEN 1 END) AS open FROM ${lastSeen([sql`owner_id = ${ownerId}`])}
        WHERE assignee IS NOT NULL GROUP BY ${FOLDED} ORDER BY open DESC, n DESC, ${FOLDED} LIMIT ${LIMITS.pageRecords}`);
      return rows.map((row) => ({
        assignee: text(row, 'assignee'),
        groups: number(row, 'n'),
        open: number(row, 'open'),
      }));
    },

    updateErrorGroup: (ownerId, id, change, check) =>
      database.write(function* ({ nowMs }) {
        const row = yield* get(sql`${one(ownerId, id)} ${FOR_UPDATE}`);
        if (!row) return undefined;
        const before = groupAt(toErrorGroup(row), nowMs);
        check?.(before);
        const { status: order } = change;
        const deploymentId = order === undefined ? null : yield* newestDeployment(before);
        const current = order === undefined ? before : ordered(order, { count: before.count, deploymentId });
        if (!current) return { group: before, refused: true };
        const { state, untilMs, untilCount, afterDeployment } = current;
        const { note = before.note, assignee = before.assignee } = change;
        // Why it is open stays with it, and ends with the next state.
        const reopened = state === 'open' ? openedByPerson(before, nowMs) : null;
        yield* send(sql`UPDATE error_groups SET note = ${note}, assignee = ${assignee}, updated_at_ms = ${nowMs}
            WHERE id = ${id}`);
        // A mute whose time is over stays stored until the next error, which is told at once because of it.
        if (state !== before.state || state !== 'open') {
          yield* send(sql`UPDATE error_groups SET state = ${state}, until_ms = ${untilMs}, until_count = ${untilCount},
              after_deployment = ${afterDeployment}, reopened = ${reopened && JSON.stringify(reopened)} WHERE id = ${id}`);
        }
        if (state !== before.state) yield* send(noticeAfter(state, id, nowMs));
        const group = { ...before, state, untilMs, untilCount, afterDeployment, reopened, note, assignee };
        return { group: { ...group, updatedAtMs: nowMs }, refused: false };
      }),
  };

  async function readWhole(ownerId: string, id: string): Promise<GroupWhole | undefined> {
    const nowMs = clock.nowMs();
    const row = await database.get(one(ownerId, id));
    if (!row) return undefined;
    const since = Math.floor(nowMs / HOUR_MS) - LIMITS.groupHours;
    const [hours, deployments, entries] = await Promise.all([
      database.all(sql`SELECT hour, n FROM error_group_hours WHERE group_id = ${id} AND hour > ${since}
        ORDER BY hour DESC LIMIT ${LIMITS.groupHours}`),
      database.all(sql`SELECT deployment_id, n, first_entry, last_entry FROM error_group_deployments
        WHERE group_id = ${id} ORDER BY deployment_id DESC LIMIT ${LIMITS.groupDeployments}`),
      // As a range: Postgres would otherwise walk the primary key.
      database.planned(sql`SELECT entry FROM emissions WHERE group_id >= ${id} AND group_id <= ${id}
        AND owner_id = ${ownerId} ORDER BY group_id DESC, entry DESC LIMIT ${LIMITS.groupSamples}`),
    ]);
    return {
      group: groupAt(toErrorGroup(row), nowMs),
      hours: hours.map(hourOf),
      deployments: deployments.map(
        (seen): GroupDeployment => ({
          deploymentId: text(seen, 'deployment_id'),
          count: number(seen, 'n'),
          firstEntry: number(seen, 'first_entry'),
          lastEntry: number(seen, 'last_entry'),
        }),
      ),
      entries: entries.map((entry) => number(entry, 'entry')),
    };
  }
}

function hourOf(row: Row): GroupWhole['hours'][number] {
  return { hour: number(row, 'hour'), count: number(row, 'n') };
}

function pageAt<C>({ limit, after, before }: GroupPageQuery, place: (at: GroupPlace) => C): PageQuery<C> {
  return {
    limit,
    ...(after === undefined ? {} : { after: place(after) }),
    ...(before === undefined ? {} : { before: place(before) }),
  };
}

/** The assignee, as `folded` writes it: letters A to Z in lower case. */
const FOLDED = differs({ sqlite: 'lower(assignee)', postgres: 'lower(assignee COLLATE "C")' });

const mutedUntil = (nowMs: number): Sql => sql`(state = 'muted' AND until_ms <= ${nowMs})`;

function conditionsOf({ ownerId, emitterId, state, code, sinceMs, assignee }: GroupQuery, nowMs: number): Sql[] {
  return [
    sql`owner_id = ${ownerId}`,
    ...(emitterId === undefined ? [] : [sql`emitter_id = ${emitterId}`]),
    ...(state === undefined ? [] : [isIn(state, mutedUntil(nowMs))]),
    ...(code === undefined ? [] : [sql`code = ${code}`]),
    ...(sinceMs === undefined ? [] : [sql`last_entry >= ${sinceMs * NUMBERS_PER_MS}`]),
    ...(assignee === undefined
      ? []
      : [assignee === null ? raw('assignee IS NULL') : sql`${FOLDED} = ${folded(assignee)}`]),
  ];
}

/** Returns the groups that were last seen, as many as a search looks at: no index has them in the order of their counts, so all of these are sorted. */
function lastSeen(conditions: readonly Sql[]): Sql {
  return sql`(SELECT * FROM error_groups WHERE ${joined(conditions, ' AND ')} ORDER BY last_entry DESC LIMIT ${LIMITS.searchedRecords}) AS seen`;
}

function isIn(state: ErrorGroup['state'], isOver: Sql): Sql {
  if (state === 'open') return sql`(state = 'open' OR ${isOver})`;
  return state === 'muted' ? sql`(state = 'muted' AND NOT coalesce(${isOver}, false))` : sql`state = ${state}`;
}

/** Returns the newest deployment that there is, or that had the error; null: its errors have none. */
function* newestDeployment({ emitterId, lastDeployment }: ErrorGroup): Steps<string | null> {
  const row = yield* get(sql`SELECT max(id) AS newest FROM deployments WHERE runnable_id = ${emitterId}`);
  const newest = row ? textOrNull(row, 'newest') : null;
  if (lastDeployment === null || newest === null) return lastDeployment;
  return newest > lastDeployment ? newest : lastDeployment;
}

/**
 * Returns the notice about a group whose owner has changed its state: of one that is resolved, that it recovered, unless it is open
 * again soon. Of one that is muted nothing, and of one that is opened nothing before its next error, which is then told at once: the
 * window of the last notice is over.
 */
function noticeAfter(state: ErrorGroup['state'], id: string, nowMs: number): Sql {
  if (state === 'resolved')
    return sql`UPDATE error_groups SET notice_due_ms = ${nowMs + NOTICE_LIMITS.recoveryGraceMs}, notice_folded = false
      WHERE id = ${id}`;
  return sql`UPDATE error_groups SET notice_due_ms = NULL, notice_folded = false,
    notice_after_ms = CASE WHEN notice_after_ms > ${nowMs} THEN CAST (${nowMs} AS BIGINT) ELSE notice_after_ms END WHERE id = ${id}`;
}

/**
 * Resolves the groups of a workflow, source or webhook that is deleted: they can recur no more. Retention deletes them. A notice
 * that is due or being sent may have opened an incident already, so its end is due, too.
 */
export function* resolveGroups({ ownerId, id }: Listener, nowMs: number): Steps<void> {
  const theirs = sql`SELECT id FROM error_groups WHERE owner_id = ${ownerId} AND emitter_id = ${id}
    AND state <> 'resolved' ORDER BY id ${FOR_UPDATE}`;
  yield* send(sql`UPDATE error_groups SET state = 'resolved', until_ms = NULL, until_count = NULL,
    after_deployment = NULL, notice_due_ms = CASE WHEN coalesce(notice_after_ms, notice_due_ms) IS NULL THEN NULL ELSE CAST (${nowMs} AS BIGINT) END,
    updated_at_ms = ${nowMs} WHERE id ${isAmongRows(theirs)}`);
}

interface Pruning {
  /** The last group of the step before. */
  readonly after: string;
  /** Hours and deployments that were last seen before. */
  readonly beforeMs: number;
  readonly nowMs: number;
}

const SKIP_LOCKED = differs({ sqlite: '', postgres: 'FOR UPDATE SKIP LOCKED' });

/**
 * Deletes groups that have had no errors for long, none of which is still in the log, unless they are muted; and of the others
 * the old hours and deployments. Returns the last group of this step; null: there are no more.
 */
export function* pruneGroups({ after, beforeMs, nowMs }: Pruning): Steps<string | null> {
  const page = sql`SELECT id FROM error_groups WHERE id > ${after} ORDER BY id LIMIT ${LIMITS.groupsPruned}`;
  const ids = (yield* all(page)).map((row) => text(row, 'id'));
  const last = ids.at(-1);
  if (last === undefined) return null;
  const within = sql`id > ${after} AND id <= ${last}`;
  const oldest = (beforeMs - LIMITS.groupKeptMs) * NUMBERS_PER_MS;
  const isOld = sql`last_entry < ${oldest} AND updated_at_ms < ${beforeMs - LIMITS.groupKeptMs}
    AND (state <> 'muted' OR until_ms <= ${nowMs})
    AND NOT EXISTS (SELECT 1 FROM emissions WHERE group_id = error_groups.id)`;
  const doomed = sql`SELECT id FROM error_groups WHERE ${within} AND ${isOld} ORDER BY id ${SKIP_LOCKED}`;
  yield* send(sql`DELETE FROM error_groups WHERE id ${isAmongRows(doomed)}`);
  const parts = sql`group_id > ${after} AND group_id <= ${last}`;
  const isOrphan = sql`NOT EXISTS (SELECT 1 FROM error_groups AS g WHERE g.id = group_id)`;
  const hour = Math.floor(beforeMs / HOUR_MS);
  yield* send(sql`DELETE FROM error_group_hours WHERE ${parts} AND (hour < ${hour} OR ${isOrphan})`);
  yield* send(sql`DELETE FROM error_group_deployments
    WHERE ${parts} AND (last_entry < ${beforeMs * NUMBERS_PER_MS} OR ${isOrphan})`);
  return ids.length < LIMITS.groupsPruned ? null : last;
}
