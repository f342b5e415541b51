// Where a delivery stands in its schedule, out of its row.

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
  return {
    attemptsMade: row.attempts_made as number,
    requestsMade: row.requests_made as number,
    tries: row.tries as number,
    dueBy: row.due_by as DueBy,
  };
}

/** One that waits and was never sent is a first attempt; everything else is a retry. */
export function waitingState({ dueBy, requestsMade }: DeliveryStanding): 'pending' | 'retrying' {
  return dueBy === 'event' && requestsMade === 0 ? 'pending' : 'retrying';
}
