// What both backends make of the rows of deliveries.

import { type ClaimedDelivery, type DueBy, kindOf } from '../../domain/delivery/delivery.ts';
import { type DeliveryProgress, triggerOf } from '../../domain/delivery/progress.ts';
import type { Via } from '../../domain/resource.ts';
import type { Row } from './rows.ts';

/** Columns of `toProgress`. */
export const PROGRESS_COLUMNS = 'attempts_made, requests_made, tries, due_by';

export function toProgress(row: Row): DeliveryProgress {
  return {
    attemptsMade: row.attempts_made as number,
    requestsMade: row.requests_made as number,
    tries: row.tries as number,
    dueBy: row.due_by as DueBy,
  };
}

export function toClaimedDelivery(
  row: Row,
  of: Pick<ClaimedDelivery, 'fence' | 'emission' | 'webhook' | 'mailTo'> & { readonly listenerId: string },
): ClaimedDelivery {
  const progress = toProgress(row);
  return {
    delivery: row.delivery as number,
    fence: of.fence,
    kind: kindOf(of.listenerId),
    emission: of.emission,
    subscriptionId: row.subscription_id as string | null,
    via: row.via as Via,
    webhook: of.webhook,
    mailTo: of.mailTo,
    attempt: progress.attemptsMade + 1,
    tries: progress.tries,
    trigger: triggerOf(progress),
  };
}
