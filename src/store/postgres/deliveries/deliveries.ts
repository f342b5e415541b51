// Deliveries: recording attempts, claiming what is due, handing back. What is read of them is in delivery-records.ts.

import { isWebhook, MAIL } from '../../../domain/delivery/delivery.ts';
import { HEALTHY, judgeHealth, type Notice, noticeText } from '../../../domain/delivery/health.ts';
import { isRequestListener } from '../../../domain/delivery/http-request.ts';
import type { NewEmission } from '../../../domain/emission.ts';
import { failureOfDelivery } from '../../../domain/failure.ts';
import { FURTHER_ERRORS } from '../../check/checks.ts';
import type { AttemptEnd, Attempted, DeliveryStore } from '../../contract/store.ts';
import { writeEmission } from '../../log/write-emission.ts';
import { claimDeliveries } from '../claims/claim-deliveries.ts';
import type { Core } from '../core.ts';
import { leaseKey } from '../log/batch-needs.ts';
import type { Pass } from '../log/batch-planner.ts';
import type { Line } from '../log/listener-queue.ts';
import { PlannedLogWriter } from '../log/log-writer.ts';
import { deliveryReads } from './delivery-records.ts';
import { type DeliveryStanding, standingOf } from './delivery-schedule.ts';
import { closedStateOf, keptUntilMs, sendBack } from './rescue.ts';
import { resendDelivery } from './resend.ts';

/** Two, so that a queue shrinks also while new hands are free. */
const HANDED_OVER = 2;

export function deliveryVerbs(core: Core): DeliveryStore {
  return {
    ...deliveryReads(core),
    claimDeliveries: (limit, admission) => claimDeliveries(core, limit, admission),
    resendDelivery: (ownerId, delivery) => resendDelivery(core, ownerId, delivery),

    recordAttempt: (end, admission) =>
      core.batch.write({
        needs: (needs) => {
          needs.attempt(end.delivery);
          needs.owners.add(end.delivery.emission.ownerId);
        },
        plan: (pass) => recordAttempt(new PlannedLogWriter(pass, admission), end),
      }),

    releaseDeliveries: (leases) =>
      core.batch.write({
        needs: (needs) => {
          for (const lease of leases) needs.attempt(lease);
        },
        plan: (pass) => {
          for (const { delivery, fence } of leases) {
            const row = pass.leased('attempts', leaseKey(delivery, fence));
            if (row) sendBack(pass, { row, delivery, fence });
          }
        },
      }),
  };
}

function recordAttempt(log: PlannedLogWriter, end: AttemptEnd): Attempted {
  const { pass } = log;
  const { delivery, fence } = end.delivery;
  const row = pass.leased('attempts', leaseKey(delivery, fence));
  if (!row) return { held: false, claims: log.claims, errorEntry: null, isDisabled: false };
  const ownerId = row.owner_id as string;
  const line = pass.line(ownerId, row.listener_id as string, false);
  const notice = judge(pass, line, end);
  const isDisabled = isOfNow(pass, line, end) && (end.disableWebhook || notice?.code === 'WebhookDisabled');
  if (isDisabled) disable(pass, line);
  const standing = standingAfter(standingOf(row), end);
  const state = end.state === 'retrying' ? (closedStateOf(pass, line) ?? 'retrying') : end.state;
  const isOpen = state === 'retrying';
  if (isOpen || state === 'held') {
    const dueAtMs = isOpen ? end.nextAttemptAtMs : null;
    pass.plan.deliveryChanges.push({ delivery, state, standing, fence, dueAtMs });
  } else pass.plan.deliveryEnds.push({ delivery, state, standing });
  const { trigger } = end.delivery;
  pass.plan.attempts.push({ delivery, n: standing.requestsMade, trigger, made: JSON.stringify(end.made) });
  pass.ledger.moved(ownerId, 'deliveries', { from: 'sending', to: state });
  line.change({ taken: -1, waiting: isOpen ? 1 : 0, keptUntilMs: keptUntilMs(pass, line) }, pass.core.node.id);
  if (isOpen) pass.wentBack.add(line);
  const errorEntry = end.error ? writeEmission(log, end.error).emission.entry : null;
  if (notice) tell(log, noticeOf(end, notice));
  handOver(log, line);
  return { held: true, claims: log.claims, errorEntry, isDisabled };
}

/** What an attempt tells of its webhook's health; the line has it from now on. */
function judge(pass: Pass, line: Line, end: AttemptEnd): Notice | null {
  if (isRequestListener(line.listenerId)) pauseFor(line, end);
  if (end.disableWebhook || !isWebhook(line.listenerId) || closedStateOf(pass, line) !== null) return null;
  if (!isOfNow(pass, line, end)) return null;
  const { state, pauseUntilMs } = end;
  const judged = judgeHealth(line.health, { state, pauseUntilMs, nowMs: pass.nowMs });
  line.health = judged.health;
  return judged.notice;
}

/** All that goes to one place waits, as a webhook does; of its health nothing else is kept. */
function pauseFor(line: Line, { pauseUntilMs }: AttemptEnd): void {
  if (pauseUntilMs === null) return;
  line.health = { ...HEALTHY, pausedUntilMs: Math.max(pauseUntilMs, line.health.pausedUntilMs ?? 0) };
}

/** An address that the webhook no longer has says nothing of it. */
function isOfNow(pass: Pass, line: Line, { delivery }: AttemptEnd): boolean {
  if (!isWebhook(line.listenerId)) return false;
  return pass.webhook(line.ownerId, line.listenerId)?.url === delivery.webhook?.url;
}

/** Written with the transaction (claim.ts); what waits for it is held. */
function disable(pass: Pass, line: Line): void {
  pass.goneWebhooks.add(line);
  line.health = HEALTHY;
}

/** An error that no delivery ended with. */
function tell(log: PlannedLogWriter, notice: NewEmission): void {
  writeEmission(log, notice);
  log.count(notice.ownerId, FURTHER_ERRORS, 1);
}

function noticeOf({ delivery, made }: AttemptEnd, notice: Notice): NewEmission {
  return failureOfDelivery(delivery, made, { code: notice.code, msg: noticeText(notice, made.detail) });
}

function standingAfter(before: DeliveryStanding, { state, pauseUntilMs }: AttemptEnd): DeliveryStanding {
  const requestsMade = before.requestsMade + 1;
  if (pauseUntilMs !== null) return { ...before, requestsMade, dueBy: 'retry_after' };
  const dueBy = state === 'retrying' ? 'schedule' : before.dueBy;
  return { attemptsMade: before.attemptsMade + 1, requestsMade, tries: before.tries + 1, dueBy };
}

/** The hands that an attempt's end freed take the next due delivery of the same listener, without a tick between. */
function handOver(log: PlannedLogWriter, line: Line): void {
  const { pass } = log;
  if (line.waiting === 0 || pass.isGone(line) || line.isPaused(pass.nowMs)) return;
  if (!line.isFor(pass.core.node.id, pass.nowMs)) return;
  const isMail = line.listenerId === MAIL;
  const isToWebhook = isWebhook(line.listenerId);
  const webhook = isToWebhook ? (pass.webhook(line.ownerId, line.listenerId) ?? null) : null;
  if (isToWebhook && !webhook?.active) return;
  // What a claim will tell with it is read by now.
  if (isMail) pass.owner(line.ownerId);
  const isOrdered = webhook?.settings.ordered ?? false;
  // What went back is the head again, and not yet in the rows that a claim would find.
  if (isOrdered && pass.wentBack.has(line)) {
    log.claims.deliveriesWaiting = true;
    return;
  }
  const most = isOrdered ? 1 - line.taken - line.granted : HANDED_OVER;
  for (let taken = 0; taken < most && line.waiting > line.granted; taken++) {
    if (!log.takeDelivery(line.listenerId, webhook)) return;
    pass.grant(line, log, null);
  }
}
