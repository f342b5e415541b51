// What follows for leased deliveries, for both backends: an attempt has ended, or its delivery was released or rescued.

import { type DeliveryLease, isWebhook, MAIL } from '../../domain/delivery/delivery.ts';
import { type HealthError, judgeWebhook, noticeText, pauseAfterRequest } from '../../domain/delivery/health.ts';
import { isRequestListener } from '../../domain/delivery/http-request.ts';
import { afterAttempt, afterReturn, closedStateOf } from '../../domain/delivery/progress.ts';
import { failureOfDelivery } from '../../domain/failure.ts';
import { FURTHER_ERRORS } from '../check/checks.ts';
import type { AttemptEnd, Attempted } from '../contract/store.ts';
import type { DeliveryPort, LeasedDelivery } from './delivery-port.ts';
import { giveUpMail } from './digests.ts';
import { HANDED_OVER } from './round-robin.ts';
import { writeEmission } from './write-emission.ts';

/** Writes the end of an attempt: its result, the webhook's health, and what both cause. */
export function recordAttempt<Q>(port: DeliveryPort<Q>, end: AttemptEnd): Attempted {
  const leased = port.leasedDelivery(end.delivery);
  if (!leased) return { held: false, claims: port.log.claims, errorEntry: null, isDisabled: false };
  const { delivery, queue, listenerId, ownerId } = leased;
  const { notice, isDisabled } = judge(port, leased, end);
  // Only a delivery that has to wait reads whether its listener is closed.
  const closed = end.state === 'retrying' ? closedStateOf(listenerId, port.webhook(queue)) : null;
  const move = afterAttempt(leased.progress, end, closed);
  port.moveDelivery(leased, move);
  const { trigger } = end.delivery;
  port.insertAttempt(delivery, { n: move.progress.requestsMade, trigger, made: JSON.stringify(end.made) });
  const errorEntry = end.error ? writeEmission(port.log, end.error).emission.entry : null;
  const { attemptsMade, tries } = leased.progress;
  if (listenerId === MAIL && end.state === 'exhausted')
    giveUpMail(port.log, end.delivery.emission, attemptsMade > tries);
  if (notice) {
    // An error beside those of exhausted deliveries.
    const failed = { code: notice.code, msg: noticeText(notice, end.made.detail) };
    writeEmission(port.log, failureOfDelivery(end.delivery, end.made, failed));
    port.log.count(ownerId, FURTHER_ERRORS, 1);
  }
  handOver(port, queue);
  return { held: true, claims: port.log.claims, errorEntry, isDisabled };
}

/** Claims with the slots that an attempt's end has freed what is due next for the same listener, without a tick. */
function handOver<Q>(port: DeliveryPort<Q>, queue: Q): void {
  for (let claimed = 0; claimed < HANDED_OVER; claimed++) {
    const next = port.claimNext(queue);
    if (next === 'claimed') continue;
    // The end of a delivery that was claimed here claims the rest.
    if (next === 'refused' && claimed === 0) port.log.claims.deliveriesWaiting = true;
    return;
  }
}

/** Releases deliveries that were not sent; leases that are no longer ours are skipped. */
export function releaseDeliveries<Q>(port: DeliveryPort<Q>, leases: readonly DeliveryLease[]): void {
  for (const lease of leases) {
    const leased = port.leasedDelivery(lease);
    if (leased) giveBack(port, leased);
  }
}

/** Makes deliveries of expired leases due again; an end under such a lease is refused. Returns how many there were. */
export function rescueDeliveries<Q>(port: DeliveryPort<Q>): number {
  const expired = port.expiredDeliveries();
  for (const leased of expired) giveBack(port, { ...leased, fence: leased.fence + 1 });
  return expired.length;
}

function giveBack<Q>(port: DeliveryPort<Q>, leased: LeasedDelivery<Q>): void {
  const closed = closedStateOf(leased.listenerId, port.webhook(leased.queue));
  port.moveDelivery(leased, afterReturn(leased.progress, closed, port.log.nowMs));
  if (closed === null) port.log.wakeOthers('deliveries');
}

interface Signs {
  readonly notice: HealthError | null;
  readonly isDisabled: boolean;
}

const NO_SIGNS: Signs = { notice: null, isDisabled: false };

/** Writes what an attempt changes in its listener's health. The owner's mail has no health. */
function judge<Q>(port: DeliveryPort<Q>, { queue, listenerId }: LeasedDelivery<Q>, end: AttemptEnd): Signs {
  const { pauseUntilMs } = end;
  if (isRequestListener(listenerId)) {
    if (pauseUntilMs !== null) port.setHealth(queue, pauseAfterRequest(port.health(queue), pauseUntilMs));
    return NO_SIGNS;
  }
  if (!isWebhook(listenerId)) return NO_SIGNS;
  const before = port.health(queue);
  const { state, disableWebhook } = end;
  const judged = judgeWebhook(before, {
    webhook: port.webhook(queue),
    attemptedUrl: end.delivery.webhook?.url,
    state,
    pauseUntilMs,
    disableWebhook,
    nowMs: port.log.nowMs,
  });
  if (judged.health !== before) port.setHealth(queue, judged.health);
  if (judged.isDisabled) port.disableWebhook(queue);
  return judged;
}
