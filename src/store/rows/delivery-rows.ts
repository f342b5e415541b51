// Rows of deliveries, for both backends.

import { type ClaimedDelivery, type DueBy, kindOf } from '../../domain/delivery/delivery.ts';
import { type DeliveryProgress, triggerOf } from '../../domain/delivery/progress.ts';
import type { Via } from '../../domain/resource.ts';
import { number, text, textOrNull } from './cells.ts';
import type { Row } from './rows.ts';

/** A delivery is open. Word for word the condition of SQLite's partial index, which SQLite uses for no other words. Not `IN`, as in `OPEN_RUN`. */
export const OPEN_DELIVERY = "(state = 'pending' OR state = 'retrying' OR state = 'sending' OR state = 'held')";

/** The condition of `waitingStateOf` for `pending`. */
export const IS_UNSENT = "due_by = 'event' AND requests_made = 0";

/** Columns of `toProgress`. */
export const PROGRESS_COLUMNS = 'attempts_made, requests_made, tries, due_by';

export function toProgress(row: Row): DeliveryProgress {
  return {
    attemptsMade: number(row, 'attempts_made'),
    requestsMade: number(row, 'requests_made'),
    tries: number(row, 'tries'),
    dueBy: text<DueBy>(row, 'due_by'),
  };
}

export function toClaimedDelivery(
  row: Row,
  of: Pick<ClaimedDelivery, 'fence' | 'emission' | 'webhook' | 'mailTo'> & { readonly listenerId: string },
): ClaimedDelivery {
  const progress = toProgress(row);
  return {
    delivery: number(row, 'delivery'),
    fence: of.fence,
    kind: kindOf(of.listenerId),
    emission: of.emission,
    subscriptionId: textOrNull(row, 'subscription_id'),
    via: text<Via>(row, 'via'),
    webhook: of.webhook,
    mailTo: of.mailTo,
    attempt: progress.attemptsMade + 1,
    tries: progress.tries,
    trigger: triggerOf(progress),
  };
}
