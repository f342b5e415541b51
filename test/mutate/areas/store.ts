// Mutations of the store: what both backends share, and SQLite's own.

import { type Mutation, of } from '../mutation.ts';

const STORE = 'src/store';
const CONTRACT = ['test/contract/sqlite.test.ts'];

export const STORE_MUTATIONS: readonly Mutation[] = [
  ...of(`${STORE}/log/run-orders.ts`, CONTRACT, {
    'runs: one owner cancels the run of another': ['found?.ownerId !== ownerId', 'found === undefined'],
    'waits: an order to cancel resumes': ["early.order === 'cancel' ? 'cancelled' : 'queued'", "'queued' as string"],
  }),
  ...of(`${STORE}/log/run-records.ts`, CONTRACT, {
    'runs: one owner reads the run of another': ['AND runs.owner_id = ${ownerId}`', "AND ${ownerId} <> ''`"],
  }),
  ...of(`${STORE}/log/log-records.ts`, CONTRACT, {
    'log: one owner reads the emission of another': [
      'SELECT * FROM emissions WHERE entry = ${entry} AND owner_id = ${ownerId}`',
      "SELECT * FROM emissions WHERE entry = ${entry} AND ${ownerId} <> ''`",
    ],
    'log: one owner reads the receipts of another': [
      'AS via FROM emissions WHERE entry = ${entry} AND owner_id = ${ownerId}`',
      "AS via FROM emissions WHERE entry = ${entry} AND ${ownerId} <> ''`",
    ],
    'schedules: a tick comes early': [
      'next_at_ms <= (SELECT ${log.now()})',
      'next_at_ms <= (SELECT ${log.now()}) + 1000',
    ],
  }),
  ...of(`${STORE}/log/watch/decisions.ts`, CONTRACT, {
    'watches: a decision counts for another version': [' AND watches.version = given.version', ''],
  }),
  ...of(`${STORE}/log/watch/notes.ts`, CONTRACT, {
    'watches: the end of a silence is not seen': [
      'due_at_ms = CASE WHEN open IS NULL THEN due_at_ms ELSE ${dueSoon} END',
      'due_at_ms = due_at_ms',
    ],
  }),
  ...of(`${STORE}/config/watch/watches.ts`, CONTRACT, {
    'watches: time without a server counts': ['if (nowMs > atMs) yield* excuse(atMs, nowMs);', 'if (nowMs > atMs) {}'],
  }),
  ...of('src/domain/watch/heartbeat.ts', CONTRACT, {
    'heartbeats: a ping that no server could take is missed': ['= isPast || isBack', '= isBack'],
  }),
  ...of(`${STORE}/log/replays/replay-errors.ts`, CONTRACT, {
    'replays: a step on an outdated cursor is made': [' || operation.after !== step.after', ''],
    'replays: one owner steps the operation of another': [
      'operation?.ownerId !== step.ownerId',
      'operation === undefined',
    ],
    'replays: a full queue fails what is replayed': [
      '>= runnable.settings.queueLimit',
      '> runnable.settings.queueLimit',
    ],
    'replays: a paused operation goes on': [" AND state = 'running'\n", '\n'],
    'replays: what an earlier replay left broken is forgotten': ['hasLeftUnfixed ||= isLeftUnfixed', 'isLeftUnfixed'],
    'replays: what is followed is beyond the bound': ["if (outcome === 'under_way' && !mayBegin) return 'room';", ''],
  }),
  ...of(`${STORE}/log/replays/last-replays.ts`, CONTRACT, {
    'replays: a cancelled one stands for its error': [" AND made.state <> 'cancelled'", ''],
    'replays: the operation that made it is not known': ['results.run = ${run} AND', 'results.run = -1 AND'],
  }),
  ...of(`${STORE}/log/replays/last-replays.ts`, ['test/postgres/nodes/replays.test.ts'], {
    'replays: two nodes replay one error': ["postgres: 'FOR NO KEY UPDATE'", "postgres: ''"],
  }),
  ...of(`${STORE}/log/replays/replay-records.ts`, CONTRACT, {
    'replays: what was replayed takes the room of others': ['|| left.has(error.entry)) continue', ') continue'],
    'replays: other codes are meant': ['(code === null ||', '(true ||'],
    'replays: other steps are meant': ['(byDetail === null ||', '(true ||'],
    'replays: one owner replays the errors of another': [
      '${isAmongNumbers(named)} AND owner_id = ${ownerId}',
      "${isAmongNumbers(named)} AND ${ownerId} <> ''",
    ],
    'replays: what comes later is meant, too': ['Math.min(lastEntry + 1, ', 'Math.min(Infinity, '],
  }),
  ...of(`${STORE}/config/replay-steps.ts`, CONTRACT, {
    'replays: a group with newer errors is resolved': [" AND last_entry <= ${number(row, 'last_entry')}`", '`'],
    'replays: a part of a group resolves it': [
      'const groupId = wholeGroupOf(replaying.order.selection);',
      'const { groupId } = replaying.order.selection;',
    ],
    'replays: one that is not fixed resolves the group': ['if (!isAllFixed(replaying)) return false;', ''],
  }),
  ...of(`${STORE}/log/replays/fixed-groups.ts`, CONTRACT, {
    'replays: one of a group that has an unfixed error resolves it': ['.every(({ entry }) => fixed(entry, id))', ''],
    'replays: a failed one of a part resolves its group': ["IN ('fixed', 'replayed_before')", 'IS NOT NULL'],
    'replays: an earlier one that failed differently counts as fixed': ['&& !isLeftUnfixed(replay, groupId)', ''],
  }),
  ...of(`${STORE}/log/ticks.ts`, CONTRACT, {
    'schedules: a tick fires twice': ['return log.takeTick(tick) ?', 'return (log.takeTick(tick), true) ?'],
    'schedules: a tick of a busy source is emitted': ["flag(row, 'is_skipped') ? []", 'false ? []'],
    'schedules: an earlier tick comes again': ['yield* send(sql`', 'void (sql`'],
    'schedules: a tick is followed by itself': ['if (nextAtMs > expectedAtMs) return;', 'return;'],
    'schedules: a tick of the schedule before counts': ['AND triggers.schedule = given.schedule AND', 'AND'],
  }),
  ...of(`${STORE}/config/triggers.ts`, CONTRACT, {
    'schedules: later due times of the one before hold up a new one': [
      'OR triggers.last_due_at_ms <= excluded.next_at_ms',
      'OR true',
    ],
  }),
  ...of(`${STORE}/schema-version.ts`, ['test/unit/store/schema/schema-sqlite.test.ts'], {
    'schema: a newer one is opened': ['if (at > known) {', 'if (false) {'],
    'schema: one of before the first release is opened': ['if (at === 0 || at >= FIRST_SCHEMA) return;', 'return;'],
    'schema: the newest migration is run again': ['schema > at', 'schema >= at'],
  }),
  ...of(`${STORE}/sqlite/maintenance/schema.ts`, ['test/unit/store/schema/schema-sqlite.test.ts'], {
    'sqlite: what a failed migration wrote is kept': ["db.exec('ROLLBACK');", "db.exec('COMMIT');"],
  }),
  ...of(`${STORE}/sqlite/runs/leased-run.ts`, CONTRACT, {
    'runs: a result under an old fence is taken': [
      'WHERE run = ? AND fence = ? AND',
      'WHERE run = ? AND fence >= ? AND',
    ],
    'runs: a result of a run that is over is taken': ["boot = ? AND state = 'running'`;", 'boot = ?`;'],
    'runs: what this process runs is rescued': ['AND o.boot < ?', 'AND o.boot <= ?'],
    'runs: an unattributed run is not alone': ['isAlone ? 1 : 0', '0'],
  }),
  ...of(`${STORE}/sqlite/runs/run-queue.ts`, [...CONTRACT, 'test/unit/store/lost-runs.test.ts'], {
    'runs: the newest goes first': ['ORDER BY run LIMIT`', 'ORDER BY run DESC LIMIT`'],
    'runs: what is claimed still waits': ['tx.runsOpened(id, -1);\n    core', 'core'],
    'runs: slots that find no run are kept': ['admission.dropRun(id);', ';'],
  }),
  ...of('src/store/rows/run-rows.ts', CONTRACT, {
    'runs: a claim keeps the fence': ['fence = o.fence + 1', 'fence = o.fence'],
    'runs: what waited goes on with newer code': [
      'CASE WHEN o.carried IS NULL THEN ${deployment} ELSE o.deployment_id END',
      '${deployment}',
    ],
    'runs: what waited begins once more': ['coalesce(o.started_at_ms, ', '('],
  }),
  ...of('src/store/log/grant-runs.ts', CONTRACT, {
    'runs: a throttle lets all begin': ['if (count >= room) {', 'if (false) {'],
    'runs: a claim goes beyond its limit': ['rest === 0 || ', ''],
    'runs: nobody hears that more waits': ['isMoreWaiting = true;', ''],
  }),
  ...of(`${STORE}/sqlite/deliveries/delivery-port.ts`, CONTRACT, {
    'deliveries: a result under an old fence is taken': ['fence = ? AND boot = ? AND', 'fence >= ? AND boot = ? AND'],
    'deliveries: a result of one that is over is taken': ["boot = ? AND state = 'sending'`", 'boot = ?`'],
    'deliveries: what this process sends is rescued': [
      "state = 'sending' AND boot < ?",
      "state = 'sending' AND boot <= ?",
    ],
  }),
  ...of(`${STORE}/sqlite/deliveries/claim-deliveries.ts`, CONTRACT, {
    'deliveries: a claim keeps the fence': ["number(row, 'fence') + 1", "number(row, 'fence')"],
    'deliveries: an ordered webhook gets two at a time': ['if (queue.sending > 0) {', 'if (false) {'],
  }),
  ...of(`${STORE}/sqlite/deliveries/listener-queues.ts`, ['test/unit/store/waiting-rows.test.ts'], {
    'deliveries: rows that were read ahead outlive a change': [
      'if (from !== null && !isClaim && (isWaiting(from) || isWaiting(to))) this.rows.drop(listenerId);',
      '',
    ],
  }),
  ...of(`${STORE}/sqlite/log/digest-rows.ts`, CONTRACT, {
    'digests: a window closes late': ['WHERE closes_at_ms <= ? LIMIT', 'WHERE closes_at_ms < ? LIMIT'],
  }),
  ...of(`${STORE}/sqlite/log/log-writer.ts`, CONTRACT, {
    'idempotency: a key that is over still counts': ['AND expires_at_ms > ?', 'AND expires_at_ms > 0 * ?'],
    'idempotency: a key of another trigger counts': [
      'WHERE trigger_id = ? AND key = ?',
      'WHERE trigger_id <> ? AND key = ?',
    ],
    'slots: a rollback keeps the slot of a run': ['this.tx.onRollback(() => this.admission.dropRun(runnable.id));', ''],
    'slots: a rollback keeps the slot of a delivery': [
      'this.tx.onRollback(() => this.admission.dropDelivery(listenerId));',
      '',
    ],
    'later: what is due is kept': [
      "for (const row of due) writer.run('DELETE FROM later_emissions WHERE entry = ?', number(row, 'entry'));",
      '',
    ],
  }),
  ...of(`${STORE}/log/retention/retention.ts`, ['test/unit/store/expired-keys.test.ts'], {
    'pruning: one step of expired keys is all': ['gone.length === KEYS_PER_STEP', 'false'],
  }),
  ...of(`${STORE}/log/retention/retention.ts`, CONTRACT, {
    'pruning: what is listed goes': ['(NOT p.is_listed OR p.entry <', '(true OR p.entry <'],
    'pruning: errors that their workflow keeps go': ['AND NOT ${HAS_OWN_RETENTION} AND', 'AND'],
  }),
  ...of(`${STORE}/log/retention/errors.ts`, CONTRACT, {
    'pruning: the newest errors of a workflow go': [
      'Math.min(of.before, number(oldest',
      'Math.max(of.before, number(oldest',
    ],
    'pruning: errors of a deleted workflow are kept': [
      'DELETE FROM error_retentions WHERE',
      'DELETE FROM error_retentions WHERE false AND',
    ],
  }),
  ...of(`${STORE}/log/retention/delete-emissions.ts`, CONTRACT, {
    'pruning: what counted digests tell of is forgotten': [
      'AND NOT EXISTS (SELECT 1 FROM digests AS g WHERE g.newest_entry = p.entry)`',
      '`',
    ],
    'pruning: what has open runs goes': ["AND r.state IN ('queued', 'running', 'waiting')", "AND r.state = 'running'"],
    'pruning: numbers are given again': ["VALUES ('last_number',", "VALUES ('a_number',"],
  }),
  ...of(`${STORE}/sqlite/log/transaction.ts`, CONTRACT, {
    'transactions: a rollback undoes nothing': ['for (const undo of this.#undo) undo();', ''],
  }),
  ...of(`${STORE}/log/ledger.ts`, CONTRACT, {
    'transactions: the ledger is not written': ['if (by !== 0) yield', 'if (false) yield'],
    'transactions: work that is counted stays where it was': ['if (from !== null) this.count', 'if (false) this.count'],
  }),
  ...of(
    `${STORE}/sqlite/log/batch.ts`,
    ['test/unit/store/wal/batch.test.ts', 'test/unit/store/wal/failing-sync.test.ts'],
    {
      'batch: callers hear before the disk': [
        'failure ? waiting.reject(failure) : waiting.resolve(value)',
        'waiting.resolve(value)',
      ],
      'batch: a verb that throws takes the others with it': [
        'const error = this.#attempt([waiting], []);',
        'const error = culprit;',
      ],
    },
  ),
  ...of(`${STORE}/log/write-emission.ts`, CONTRACT, {
    'queues: one more than its limit': [
      'waiting >= runnable.settings.queueLimit',
      'waiting > runnable.settings.queueLimit',
    ],
    'queues: a new run overtakes': ['waiting === 0 || besideHooks', 'true'],
    'digests: a window of 0 is opened': ['if (windowMs > 0) {', 'if (windowMs >= 0) {'],
    'digests: repeats are sent': ['if (reason !== null) {', 'if (false) {'],
    'deliveries: a disabled webhook gets some': [
      'const isHeld = closedStateOf(listenerId, webhook) !== null;',
      'const isHeld = false;',
    ],
    'mails: the address of no owner': ['isMail ? (log.owner(emission.ownerId)?.email ?? null) : null', 'null'],
  }),
  ...of(`${STORE}/log/digests.ts`, CONTRACT, {
    'digests: an empty window tells': [
      'if (newest === null || countedIn(digestKey, window) === 0) {',
      'if (newest === null) {',
    ],
    'digests: one that was given up counts for nothing': ['if (digest && !isResent) {', 'if (false) {'],
  }),
  ...of(`${STORE}/log/rescue-runs.ts`, CONTRACT, {
    'rescue: once more': ['run.rescues + 1 < LIMITS.rescues', 'run.rescues < LIMITS.rescues'],
    'rescue: what was cancelled runs again': ['!runnable || run.isStopped ||', '!runnable ||'],
  }),
  ...of(`${STORE}/log/append.ts`, CONTRACT, {
    'idempotency: another request is the same': ['requestHash === idempotency.requestHash', 'true'],
  }),
  ...of(`${STORE}/config/webhooks.ts`, [...CONTRACT, 'test/flows/owners-walk.test.ts'], {
    'webhooks: one owner reads that of another': [
      'SELECT * FROM webhooks WHERE id = ${id} AND owner_id = ${ownerId}`',
      'SELECT * FROM webhooks WHERE id = ${id} AND ${ownerId} <> ${id}`',
    ],
    'webhooks: one owner deletes that of another': [
      'DELETE FROM webhooks WHERE id = ${id} AND owner_id = ${ownerId} RETURNING',
      'DELETE FROM webhooks WHERE id = ${id} AND ${ownerId} <> ${id} RETURNING',
    ],
    'webhooks: a disabled one keeps what waits': [
      'return after.active ? RELEASE : HOLD;',
      'return after.active ? RELEASE : null;',
    ],
    'webhooks: an enabled one keeps what is held': [
      'return after.active ? RELEASE : HOLD;',
      'return after.active ? null : HOLD;',
    ],
    'webhooks: a new address inherits the pause': ['if (isElsewhere) yield* send(endPause(w, before));', ''],
    'webhooks: a deleted one keeps its subscriptions': ['yield* removeSubscriptions(which);', ''],
  }),
  ...of(`${STORE}/config/deployments.ts`, CONTRACT, {
    "codes: another owner's is read": [
      'JOIN codes AS c ON c.owner_id = u.owner_id AND c.hash',
      'JOIN codes AS c ON c.hash',
    ],
    'codes: one goes that a deployment has': [
      'AND NOT EXISTS (SELECT 1 FROM deployment_codes AS u WHERE',
      'AND NOT EXISTS (SELECT 1 FROM deployment_codes AS u WHERE false AND',
    ],
    'codes: one stays since another owner has it': [
      'WHERE u.owner_id = c.owner_id AND u.hash = c.hash)`);',
      'WHERE u.hash = c.hash)`);',
    ],
    'deployments: one owner reads that of another': [
      'WHERE d.id = ${id} AND d.owner_id = ${ownerId}`',
      "WHERE d.id = ${id} AND ${ownerId} <> ''`",
    ],
  }),
  ...of(`${STORE}/config/operation-steps.ts`, CONTRACT, {
    'operations: a paused one outlives its webhook': ["state IN ('running', 'paused')`", "state IN ('running')`"],
  }),
  ...of(`${STORE}/config/owners.ts`, CONTRACT, {
    'keys: one owner revokes that of another': [
      'WHERE id = ${keyId} AND owner_id = ${ownerId} RETURNING id',
      'WHERE id = ${keyId} AND ${ownerId} <> ${keyId} RETURNING id',
    ],
    'owners: one more than may be': ["number(row, 'n') >= max", "number(row, 'n') > max"],
  }),
  ...of(`${STORE}/config/subscriptions.ts`, CONTRACT, {
    'subscriptions: that of a trigger is deleted by hand': [
      "DELETE FROM subscriptions\n          WHERE id = ${id} AND owner_id = ${ownerId} AND via = 'subscription'",
      'DELETE FROM subscriptions\n          WHERE id = ${id} AND owner_id = ${ownerId}',
    ],
    "subscriptions: to another owner's emitter": [
      'FROM ${raw(table)} WHERE id = ${id} AND owner_id = ${ownerId}`',
      'FROM ${raw(table)} WHERE id = ${id} AND ${ownerId} <> ${id}`',
    ],
  }),
  ...of(`${STORE}/config/data-records.ts`, CONTRACT, {
    'data: an expired record is there': ['r.expires_at_ms > ${nowMs})', 'r.expires_at_ms > ${0 * nowMs})'],
    'data: a cleared record is there': ['AND r.generation = s.generation\n      AND r.key', 'AND r.key'],
  }),
];
