// The end of an attempt, in one transaction: what it came to, what it says of the webhook, and what both cause.

import { type DueBy, kindOf } from '../../../domain/delivery/delivery.ts';
import { type Notice, noticeText } from '../../../domain/delivery/health.ts';
import { failureOfDelivery } from '../../../domain/failure.ts';
import { FURTHER_ERRORS } from '../../check/checks.ts';
import type { AttemptEnd, Attempted } from '../../contract/store.ts';
import { writeEmission } from '../../log/write-emission.ts';
import { disableWebhook } from '../config/webhooks.ts';
import type { Core } from '../core.ts';
import type { Row } from '../database.ts';
import type { SqliteLogWriter } from '../log/log-writer.ts';
import { handOver } from './claim-deliveries.ts';
import { forgetHealth, judgeAttempt } from './health.ts';
import { stateToReturnTo } from './rescue.ts';

export function recordAttempt(core: Core, w: SqliteLogWriter, end: AttemptEnd): Attempted {
  const { delivery, fence } = end.delivery;
  const row = core.writer.get(
    `SELECT owner_id, listener_id, requests_made, due_by FROM deliveries
      WHERE delivery = ? AND fence = ? AND boot = ? AND state = 'sending'`,
    delivery,
    fence,
    core.boot,
  );
  if (!row) return { held: false, claims: w.claims, errorEntry: null, isDisabled: false };
  const listenerId = row.listener_id as string;
  if (kindOf(listenerId) === 'http') pauseFor(core, listenerId, end);
  const { notice, isDisabled } = judge(core, w, { listenerId, end });
  writeAttempt(core, w, { row, end });
  const errorEntry = end.error ? writeEmission(w, end.error).emission.entry : null;
  if (notice) writeNotice(w, { notice, end });
  handOver(core, w, listenerId);
  return { held: true, claims: w.claims, errorEntry, isDisabled };
}

/** Of a webhook its health has it. This is forgotten with the process, and then told anew by the next answer. */
function pauseFor({ turns }: Core, listenerId: string, { pauseUntilMs }: AttemptEnd): void {
  if (pauseUntilMs === null) return;
  turns.pause(listenerId, Math.max(pauseUntilMs, turns.find(listenerId)?.pausedUntilMs ?? 0));
}

/** What it says of the webhook. Of one that is gone or not active, and of the owner's mail: nothing. */
function judge(
  core: Core,
  w: SqliteLogWriter,
  { listenerId, end }: { listenerId: string; end: AttemptEnd },
): { notice: Notice | null; isDisabled: boolean } {
  const webhook = listenerId.startsWith('wh_') ? core.routes.webhook(listenerId) : undefined;
  // An address that it no longer has says nothing of it.
  if (!webhook || end.delivery.webhook?.url !== webhook.url) return { notice: null, isDisabled: false };
  const isJudged = webhook.active && !end.disableWebhook;
  const notice = isJudged ? judgeAttempt(core, w.tx, { webhookId: listenerId, end }) : null;
  if (end.disableWebhook) forgetHealth(core, listenerId);
  const isDisabled = end.disableWebhook || notice?.code === 'WebhookDisabled';
  if (isDisabled) disableWebhook(core, w.tx, webhook);
  return { notice, isDisabled };
}

function writeAttempt(core: Core, w: SqliteLogWriter, { row, end }: { row: Row; end: AttemptEnd }): void {
  const { delivery, trigger } = end.delivery;
  const listenerId = row.listener_id as string;
  const counted = end.pauseUntilMs === null ? 1 : 0;
  const n = (row.requests_made as number) + 1;
  const isRetrying = end.state === 'retrying';
  const dueBy: DueBy = isRetrying ? (counted ? 'schedule' : 'retry_after') : (row.due_by as DueBy);
  const state = isRetrying ? stateToReturnTo(core, listenerId, { dueBy, requestsMade: n }) : end.state;
  const isOpen = state === 'retrying';
  core.writer.run(
    `UPDATE deliveries SET state = ?, attempts_made = attempts_made + ?, requests_made = ?, tries = tries + ?, due_by = ?,
      due_at_ms = ?, ended_at_ms = ? WHERE delivery = ?`,
    state,
    counted,
    n,
    counted,
    dueBy,
    isOpen ? end.nextAttemptAtMs : null,
    isOpen || state === 'held' ? null : w.tx.nowMs,
    delivery,
  );
  core.writer.run(
    'INSERT INTO attempts (delivery, n, trigger, made) VALUES (?,?,?,?)',
    delivery,
    n,
    trigger,
    JSON.stringify(end.made),
  );
  const dueAtMs = end.nextAttemptAtMs;
  w.tx.deliveriesMoved({ ownerId: row.owner_id as string, listenerId, from: 'sending', to: state, dueAtMs });
}

function writeNotice(w: SqliteLogWriter, { notice, end }: { notice: Notice; end: AttemptEnd }): void {
  const { delivery, made } = end;
  const failed = { code: notice.code, msg: noticeText(notice, made.detail) };
  const { emission } = writeEmission(w, failureOfDelivery(delivery, made, failed));
  w.tx.count(emission.ownerId, FURTHER_ERRORS, 1);
}
