// Mutations of what is around errors: their groups, replays and retries, notices, channels, watches and heartbeats.

import { type Mutation, of } from '../mutation.ts';

const CONTRACT = ['test/contract/sqlite.test.ts'];
const NODES = ['test/postgres/nodes/replays.test.ts'];
const DOMAIN = 'src/domain';
const STORE = 'src/store';

export const INBOX_MUTATIONS: readonly Mutation[] = [
  ...of(`${DOMAIN}/errors/group.ts`, CONTRACT, {
    'groups: an error leaves a resolved one as it is': [
      "afterDeployment === null) return 'error';",
      'false) return null;',
    ],
    'groups: a mute lasts for one error more': ['error.count >= untilCount', 'error.count > untilCount'],
    'groups: the deployment that was resolved opens it': [
      'error.deploymentId > afterDeployment',
      'error.deploymentId >= afterDeployment',
    ],
    'groups: a mute does not end by its time': ['if (untilMs !== null && error.nowMs >= untilMs)', 'if (false)'],
  }),
  ...of(`${DOMAIN}/errors/fingerprint.ts`, ['test/unit/domain/errors/fingerprint.test.ts'], {
    'groups: steps are not told apart': ["'error', namespace, code,", "'error', code,"],
    'groups: the last rule that fits counts': ['rules.find(fits)', 'rules.findLast(fits)'],
    'groups: causes are not told apart': ['...causeCodesIn(stack)', "...causeCodesIn('')"],
    'groups: a frame of a package is an own one': ['!NOT_OWN.test(frame)', 'true'],
    'groups: a pattern fits what begins with it': [
      'text.length - at >= last.length && text.endsWith(last)',
      'text.length - at >= last.length',
    ],
  }),
  ...of(`${STORE}/log/groups/error-groups.ts`, CONTRACT, {
    'groups: only the last transaction counts': ['SET n = error_groups.n + excluded.n', 'SET n = excluded.n'],
    'groups: an hour forgets what it had': ['SET n = error_group_hours.n + excluded.n', 'SET n = excluded.n'],
    'groups: what ends resolves a muted one': [
      " AND (state = 'open' OR state = 'muted' AND until_ms <= ${nowMs})`",
      '`',
    ],
    'groups: the count before is that after': ["number(row, 'n') - errors.length", "number(row, 'n')"],
  }),
  ...of(`${STORE}/log/append.ts`, CONTRACT, {
    'retries: a second one is made': ['if (lastReplay && (', 'if (lastReplay && false && ('],
    'replays: one by hand is made beside that of an operation': ['|| isOperations(lastReplay))', ')'],
  }),
  ...of(`${STORE}/postgres/log/log.ts`, NODES, {
    'retries: two nodes make two': [
      'if (options?.unlessReplayed) needs.retry(',
      'if (options?.unlessReplayed && false) needs.retry(',
    ],
  }),
  ...of('src/engine/runs/replays.ts', NODES, {
    'replays: an error that shows late is skipped': ['logEnd: await store.logEnd()', 'logEnd: Number.MAX_SAFE_INTEGER'],
  }),
  ...of(`${STORE}/config/notices/notices.ts`, CONTRACT, {
    'notices: a digest comes at once': [
      'THEN CAST (${nowMs + windowMs} AS BIGINT) END`',
      'THEN CAST (${nowMs} AS BIGINT) END`',
    ],
    'notices: many kinds of errors are told one by one': ['rows.slice(0, room)', 'rows.slice(0)'],
    'notices: one is ended twice': [' AND notices = ${sequence - 1}`', '`'],
    'notices: one is taken by two': [
      'SET notice_due_ms = ${nowMs + NOTICE_LIMITS.noticeLeaseMs}',
      'SET notice_due_ms = ${nowMs}',
    ],
  }),
  ...of(`${STORE}/config/notices/channels.ts`, CONTRACT, {
    'channels: one owner reads the channel of another': [
      'SELECT * FROM channels WHERE id = ${id} AND owner_id = ${ownerId}`',
      "SELECT * FROM channels WHERE id = ${id} AND ${ownerId} <> ''`",
    ],
    'channels: one owner deletes the channel of another': [
      'DELETE FROM channels WHERE id = ${id} AND owner_id = ${ownerId} RETURNING',
      "DELETE FROM channels WHERE id = ${id} AND ${ownerId} <> '' RETURNING",
    ],
    'channels: one more than the limit': ['>= max) return false;', '> max) return false;'],
  }),
  ...of(`${STORE}/log/fallbacks.ts`, CONTRACT, {
    'fallback: told although a subscriber has taken it': ["if (subscribers === 'taken')", 'if (false)'],
    'fallback: told although a subscriber may take it': ["if (subscribers === 'open')", 'if (false)'],
  }),
  ...of(`${DOMAIN}/watch/watch.ts`, CONTRACT, {
    'watches: a silence is told again and again': [
      'if (watch.open.length > 0) return { next: { ...watch, dueAtMs }, told: [] };',
      '',
    ],
    'watches: time without a server makes silent': [' + watch.excusedMs + limitMs', ' + limitMs'],
    'watches: a few runs are too many failures': ['isOver && all >= ratio.ofAtLeast', 'isOver'],
    'watches: well without a success': ['(succeeded > 0 && !isOver)', '!isOver'],
    'watches: half is over a half': ['failed / all > ratio.over', 'failed / all >= ratio.over'],
  }),
  ...of(`${DOMAIN}/watch/heartbeat.ts`, CONTRACT, {
    'heartbeats: missed before the grace is over': ['ms === null ? [] : [ms + graceMs]', 'ms === null ? [] : [ms]'],
    'heartbeats: missed again and again': ['if (open.some(({ code }) => code === SILENT)) return null;', ''],
    'heartbeats: a failure ends the failure before': [
      'isFailure ? watch.open.filter(({ code }) => code === SILENT) : watch.open',
      'watch.open',
    ],
  }),
  ...of(`${DOMAIN}/watch/heartbeat.ts`, CONTRACT, {
    'heartbeats: one that is switched off stays failed': [
      'rule, open: [], expectedAtMs: null',
      'rule, expectedAtMs: null',
    ],
    'heartbeats: pings at once count as one': ['before.pings + (ping.times ?? 1)', 'before.pings + 1'],
  }),
  ...of('src/engine/schedule/watches.ts', CONTRACT, {
    'heartbeats: failures at once are one': [" && taken.kind !== 'fail') {", ') {'],
    'heartbeats: nothing wakes the scheduler for the first ping': [
      "if (decision.next.dueAtMs !== null && watch.dueAtMs === null) wake.notify('schedules');",
      '',
    ],
  }),
  ...of('src/engine/schedule/watches.ts', ['test/http/owners/owner-deletions.test.ts'], {
    'heartbeats: a ping for a deleted owner is taken': [
      'if ((await store.getOwner(found.heartbeat.ownerId))?.deletion) {',
      'if (false) {',
    ],
  }),
  ...of(`${STORE}/config/watch/heartbeats.ts`, CONTRACT, {
    'heartbeats: one owner reads that of another': [
      'h.id = ${id} AND h.owner_id = ${ownerId}`',
      "h.id = ${id} AND ${ownerId} <> ''`",
    ],
    'heartbeats: one more than the limit': ['>= max) return false;', '> max) return false;'],
    'heartbeats: a deleted one is watched': ['yield* unwatch({ ownerId, id });', ''],
  }),
  ...of(`${STORE}/config/watch/watches.ts`, CONTRACT, {
    'watches: an unchanged rule is judged again': [' WHERE watches.rule <> excluded.rule\n', '\n'],
    'watches: a failure that is not watched for any more stays open': [
      'yield* resolveWatched({ ownerId, id, kinds: down, rules: settings.grouping }, updatedAtMs);',
      '',
    ],
  }),
  ...of(`${STORE}/config/operations.ts`, CONTRACT, {
    'operations: one owner reads that of another': [
      'WHERE o.id = ${id} AND o.owner_id = ${ownerId}`',
      "WHERE o.id = ${id} AND ${ownerId} <> ''`",
    ],
    'operations: one owner reads the results of another': [
      'WHERE o.id = ${operationId} AND o.owner_id = ${ownerId})`',
      "WHERE o.id = ${operationId} AND ${ownerId} <> '')`",
    ],
  }),
  ...of('src/engine/runs/replays.ts', ['test/unit/engine/replays/replays.test.ts', 'test/http/replays.test.ts'], {
    'replays: nothing wakes a new operation': ["wake.notify('operations');", ''],
  }),
  ...of('src/engine/deliveries/operations.ts', ['test/unit/engine/operations.test.ts', 'test/http/replays.test.ts'], {
    'operations: nothing wakes one that is resumed': ["if (order === 'resume') wake.notify('operations');", ''],
    'replays: nothing wakes the notice of a resolved group': ["if (isResolved) wake.notify('schedules');", ''],
  }),
  ...of(`${STORE}/config/notices/channels.ts`, CONTRACT, {
    'channels: an owner keeps one that is deleted': ['yield* forget(ownerId, id);', ''],
  }),
  ...of(`${STORE}/log/fallbacks.ts`, CONTRACT, {
    'fallback: an error of a deleted owner is told': ['if (log.owner(emission.ownerId)?.deletion)', 'if (false)'],
    'fallback: an error is looked at once a minute from the first': [
      'Math.min(NOTICE_LIMITS.fallbackMostMs, Math.max(NOTICE_LIMITS.fallbackFirstMs, ageMs))',
      'NOTICE_LIMITS.fallbackMostMs',
    ],
  }),
  ...of(`${STORE}/postgres/log/batch-reads.ts`, ['test/postgres/lock-order.test.ts'], {
    'locks: triggers are locked in any order': [
      'SELECT 1 FROM triggers WHERE id = ANY($1::text[]) ORDER BY id FOR UPDATE',
      'SELECT 1 FROM triggers WHERE id = ANY($1::text[]) ORDER BY md5(id || random()) FOR UPDATE',
    ],
  }),
  ...of(`${STORE}/config/watch/watches.ts`, ['test/postgres/lock-order.test.ts'], {
    'locks: a change of a workflow takes its watches as they come': [
      '  yield* lockWatches([id]);\n  const gone',
      '  const gone',
    ],
  }),
];
