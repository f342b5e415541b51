// Where a delivery stands in its schedule, out of its row: what an older process wrote says it by attempts_made alone.

import type { DueBy } from '../../../domain/delivery/delivery.ts';
import type { Row } from '../connection/values.ts';

export interface DeliveryStanding {
  /** Those that count. */
  readonly attemptsMade: number;
  readonly requestsMade: number;
  readonly tries: number;
  readonly dueBy: DueBy;
}

export function standingOf(row: Row): DeliveryStanding {
  const attemptsMade = row.attempts_made as number;
  return {
    attemptsMade,
    requestsMade: Math.max(row.requests_made as number, attemptsMade),
    tries: (row.tries as number | null) ?? attemptsMade,
    dueBy: (row.due_by as DueBy | null) ?? (attemptsMade === 0 ? 'event' : 'schedule'),
  };
}

/** One that waits and was never sent is a first attempt; everything else is a retry. */
export function waitingState({ dueBy, requestsMade }: DeliveryStanding): 'pending' | 'retrying' {
  return dueBy === 'event' && requestsMade === 0 ? 'pending' : 'retrying';
}
