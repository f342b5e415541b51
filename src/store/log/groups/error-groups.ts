// Groups of errors, written in the transaction that captures the errors, for both databases.
//
// The errors of a transaction are collected, and their groups written before it is committed: counts are added in place, so
// that they are exact whichever process adds them, and each transaction locks the rows in the order of their ids, after all
// others but the ledger's. What was read before decides nothing; the write itself returns the state of each group, and one that
// is not open is opened again if domain/errors/group.ts says so.

import { hash } from 'node:crypto';
import type { Emission } from '../../../domain/emission.ts';
import { type CapturedFault, keyOf, ruleFor } from '../../../domain/errors/fingerprint.ts';
import { type GroupedError, OPEN, type Reopened, reopenedBy } from '../../../domain/errors/group.ts';
import { msOf, PREFIX, resourceIdOf } from '../../../domain/ids.ts';
import { HOUR_MS, LIMITS } from '../../../domain/limits.ts';
import { channelsFor, OWNER_MAIL } from '../../../domain/notices/channel.ts';
import { FOR_UPDATE, isAmong, type Sql, sql, tableOf } from '../../config/sql.ts';
import { all, type Steps, send, together } from '../../config/steps.ts';
import { number, numberOrNull, text } from '../../rows/cells.ts';
import { toGroupStatus } from '../../rows/group-rows.ts';
import type { Row } from '../../rows/rows.ts';
import type { LogWriter, NewGroup } from '../port.ts';
import { type FullEmitters, OTHERS_KEY, othersOf } from './full-emitters.ts';

/** Returns the group of a new error. Its id is made of what it has in common with others, so all processes agree. */
export function groupOf(
  log: Pick<LogWriter, 'runnable' | 'owner'>,
  { ownerId, emitterId }: Pick<Emission, 'ownerId' | 'emitterId'>,
  fault: CapturedFault,
): NewGroup {
  const runnable = /^(p|dc)_/.test(emitterId) ? log.runnable(ownerId, emitterId) : undefined;
  const rule = ruleFor(fault, runnable?.settings.grouping ?? []);
  const id = groupId({ ownerId, emitterId }, keyOf(fault, rule));
  const channels = channelsFor(log.owner(ownerId), { emitterId, settings: runnable?.settings });
  const isTold = !fault.isOfNotice && channels.some((channel) => channel !== OWNER_MAIL || !fault.isOfMail);
  return { id, ownerId, emitterId, fingerprint: fault.fingerprint, rule: rule?.group ?? null, isTold };
}

export function groupId({ ownerId, emitterId }: { ownerId: string; emitterId: string }, key: string): string {
  return resourceIdOf(PREFIX.errorGroup, hash('sha256', `${ownerId} ${emitterId} ${key}`, 'buffer'));
}

interface CapturedGroup {
  readonly group: NewGroup;
  readonly errors: GroupedError[];
}

/** The errors that a transaction has captured so far, by group. */
export class GroupCaptures {
  readonly #captures = new Map<string, CapturedGroup>();
  readonly #over = new Set<string>();
  readonly fullEmitters: FullEmitters;

  constructor(fullEmitters: FullEmitters) {
    this.fullEmitters = fullEmitters;
  }

  get isEmpty(): boolean {
    return this.#captures.size + this.#over.size === 0;
  }

  resolve(id: string): void {
    this.#over.add(id);
  }

  /** Returns the groups to be resolved. An error of one that is captured with that opens it again. */
  over(): readonly string[] {
    return [...this.#over];
  }

  /** Returns the id of the group that counts the error. */
  add(given: NewGroup, error: GroupedError): string {
    const isOther = this.fullEmitters.hasNoRoomFor(given);
    const group = isOther ? othersOf(given, groupId(given, OTHERS_KEY)) : given;
    const known = this.#captures.get(group.id);
    if (known) known.errors.push(error);
    else this.#captures.set(group.id, { group, errors: [error] });
    return group.id;
  }

  /** Returns the errors of a group, in the order in which they were captured. */
  errorsOf(id: string): readonly GroupedError[] {
    return this.#captures.get(id)?.errors ?? [];
  }

  /** Returns whether channels are notified of a group's errors. */
  isTold(id: string): boolean {
    return this.#captures.get(id)?.group.isTold ?? false;
  }

  all(): readonly CapturedGroup[] {
    return [...this.#captures.values()];
  }
}

/**
 * Writes the groups of captured errors, and opens those again that the errors open. Returns whether a notice is due now: with
 * the first error of a group, with the first one behind the window of the last notice, and when a group is over.
 */
export function* writeGroupsOf(captures: GroupCaptures, nowMs: number): Steps<boolean> {
  const over = captures.over();
  const groups = captures.all();
  if (over.length > 0) {
    const ids = isAmong([...over, ...groups.map(({ group }) => group.id)]);
    yield* send(sql`SELECT 1 FROM error_groups WHERE id ${ids} ORDER BY id ${FOR_UPDATE}`);
    yield* send(setResolved(sql`id ${isAmong(over)}`, nowMs));
  }
  let isDue = over.length > 0;
  if (groups.length === 0) return isDue;
  const deployments = deploymentsOf(groups);
  const [written = []] = yield* together(
    upsertGroups(groups, nowMs),
    upsertHours(groups),
    ...(deployments.length === 0 ? [] : [upsertDeployments(deployments)]),
  );
  yield* countGroups(captures, written, nowMs);
  for (const row of written) {
    const reopened = reopenedIn(row, captures, nowMs);
    const isTold = captures.isTold(text(row, 'id'));
    if (reopened) yield* send(setOpen(text(row, 'id'), reopened, { nowMs, isTold }));
    const dueMs = numberOrNull(row, 'notice_due_ms');
    isDue ||= (reopened !== null && isTold) || (dueMs !== null && dueMs <= nowMs);
  }
  return isDue;
}

/** Reads how many groups an emitter has: when it got a new one, and now and then when it had too many. */
function* countGroups(captures: GroupCaptures, written: readonly Row[], nowMs: number): Steps<void> {
  const { fullEmitters } = captures;
  const isNew = new Set(
    written.flatMap((row) => {
      const id = text(row, 'id');
      return number(row, 'n') === captures.errorsOf(id).length ? [id] : [];
    }),
  );
  const grown = captures.all().filter(({ group }) => isNew.has(group.id) || fullEmitters.isStale(group, nowMs));
  const emitters = new Map(grown.map(({ group }) => [`${group.ownerId} ${group.emitterId}`, group]));
  for (const group of emitters.values()) {
    const ofEmitter = sql`FROM error_groups WHERE owner_id = ${group.ownerId} AND emitter_id = ${group.emitterId}`;
    const counted = sql`SELECT count(*) AS n FROM (SELECT 1 ${ofEmitter} LIMIT ${LIMITS.groupsPerEmitter}) AS counted`;
    const [row] = yield* all(counted);
    const isFull = row !== undefined && number(row, 'n') >= LIMITS.groupsPerEmitter;
    // All of them, also those beyond: they go on counting their own errors.
    const ids = isFull ? yield* all(sql`SELECT id ${ofEmitter}`) : [];
    fullEmitters.noteGroups(
      group,
      ids.map((known) => text(known, 'id')),
      nowMs,
    );
  }
}

function reopenedIn(row: Row, captures: GroupCaptures, nowMs: number): Reopened | null {
  const errors = captures.errorsOf(text(row, 'id'));
  return reopenedBy(toGroupStatus(row), errors, { countBefore: number(row, 'n') - errors.length, nowMs });
}

/** Resolves groups that meet a condition. One that its owner has muted stays so, until the time of the mute is over. */
export function setResolved(condition: Sql, nowMs: number): Sql {
  return sql`UPDATE error_groups SET state = 'resolved', until_ms = NULL, until_count = NULL, after_deployment = NULL,
    reopened = NULL, notice_due_ms = ${nowMs}, notice_folded = false, updated_at_ms = ${nowMs}
    WHERE ${condition} AND (state = 'open' OR state = 'muted' AND until_ms <= ${nowMs})`;
}

function setOpen(id: string, reopened: Reopened, { nowMs, isTold }: { nowMs: number; isTold: boolean }): Sql {
  return sql`UPDATE error_groups SET state = ${OPEN.state}, until_ms = NULL, until_count = NULL, after_deployment = NULL,
    reopened = ${JSON.stringify(reopened)}, notice_after_ms = NULL, notice_due_ms = ${isTold ? nowMs : null},
    updated_at_ms = ${nowMs} WHERE id = ${id}`;
}

const NEW_GROUP = {
  id: 'text',
  owner_id: 'text',
  emitter_id: 'text',
  version: 'bigint',
  namespace: 'text',
  code: 'text',
  template: 'text',
  frame: 'text',
  rule: 'text',
  n: 'bigint',
  first_entry: 'bigint',
  last_entry: 'bigint',
  first_deployment: 'text',
  last_deployment: 'text',
  notice_due_ms: 'bigint',
} as const;

/** Counts errors in their groups. Entries of several processes come in any order. */
function upsertGroups(captures: readonly CapturedGroup[], nowMs: number): Sql {
  const rows = captures.map(({ group, errors }) => ({
    id: group.id,
    owner_id: group.ownerId,
    emitter_id: group.emitterId,
    ...group.fingerprint,
    rule: group.rule,
    n: errors.length,
    ...firstAndLast(errors),
    first_deployment: errors[0]?.deploymentId ?? null,
    last_deployment: errors.at(-1)?.deploymentId ?? null,
    notice_due_ms: group.isTold ? nowMs : null,
  }));
  return sql`INSERT INTO error_groups (id, owner_id, emitter_id, version, namespace, code, template, frame, rule, n,
      first_entry, last_entry, first_deployment, last_deployment, state, notice_due_ms, updated_at_ms)
    SELECT id, owner_id, emitter_id, version, namespace, code, template, frame, rule, n,
      first_entry, last_entry, first_deployment, last_deployment, 'open', notice_due_ms, ${nowMs} FROM ${tableOf(NEW_GROUP, rows)}
      WHERE true ORDER BY id
    ON CONFLICT (id) DO UPDATE SET n = error_groups.n + excluded.n,
      first_entry = CASE WHEN excluded.first_entry < error_groups.first_entry
        THEN excluded.first_entry ELSE error_groups.first_entry END,
      last_entry = CASE WHEN excluded.last_entry > error_groups.last_entry
        THEN excluded.last_entry ELSE error_groups.last_entry END,
      last_deployment = coalesce(excluded.last_deployment, error_groups.last_deployment),
      notice_due_ms = CASE WHEN error_groups.state <> 'open' OR error_groups.notice_due_ms IS NOT NULL
          THEN error_groups.notice_due_ms
        WHEN error_groups.notice_after_ms > excluded.notice_due_ms THEN error_groups.notice_after_ms
        ELSE excluded.notice_due_ms END
    RETURNING id, n, state, until_ms, until_count, after_deployment, notice_due_ms`;
}

function firstAndLast(errors: readonly GroupedError[]): { first_entry: number; last_entry: number } {
  return { first_entry: errors[0]?.entry ?? 0, last_entry: errors.at(-1)?.entry ?? 0 };
}

function upsertHours(captures: readonly CapturedGroup[]): Sql {
  const rows = captures.flatMap(({ group, errors }) => {
    const hours = Map.groupBy(errors, ({ entry }) => hourOf(entry));
    return [...hours].map(([hour, { length: n }]) => ({ group_id: group.id, hour, n }));
  });
  return sql`INSERT INTO error_group_hours (group_id, hour, n)
    SELECT group_id, hour, n FROM ${tableOf({ group_id: 'text', hour: 'bigint', n: 'bigint' }, rows)}
      WHERE true ORDER BY group_id, hour
    ON CONFLICT (group_id, hour) DO UPDATE SET n = error_group_hours.n + excluded.n`;
}

/** Returns the hour since 1970 of an error. */
export function hourOf(entry: number): number {
  return Math.floor(msOf(entry) / HOUR_MS);
}

const SEEN_IN = {
  group_id: 'text',
  deployment_id: 'text',
  n: 'bigint',
  first_entry: 'bigint',
  last_entry: 'bigint',
} as const;

function deploymentsOf(captures: readonly CapturedGroup[]) {
  return captures.flatMap(({ group, errors }) => {
    const byDeployment = Map.groupBy(errors, ({ deploymentId }) => deploymentId);
    return [...byDeployment].flatMap(([deploymentId, of]) =>
      deploymentId === null
        ? []
        : [{ group_id: group.id, deployment_id: deploymentId, n: of.length, ...firstAndLast(of) }],
    );
  });
}

function upsertDeployments(rows: ReturnType<typeof deploymentsOf>): Sql {
  return sql`INSERT INTO error_group_deployments (group_id, deployment_id, n, first_entry, last_entry)
    SELECT group_id, deployment_id, n, first_entry, last_entry FROM ${tableOf(SEEN_IN, rows)}
      WHERE true ORDER BY group_id, deployment_id
    ON CONFLICT (group_id, deployment_id) DO UPDATE SET n = error_group_deployments.n + excluded.n,
      first_entry = CASE WHEN excluded.first_entry < error_group_deployments.first_entry
        THEN excluded.first_entry ELSE error_group_deployments.first_entry END,
      last_entry = CASE WHEN excluded.last_entry > error_group_deployments.last_entry
        THEN excluded.last_entry ELSE error_group_deployments.last_entry END`;
}
