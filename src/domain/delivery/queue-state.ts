// Whether a listener's next delivery may be sent.

/** The queue of a listener. */
export interface QueueState {
  readonly waiting: number;
  /** Deliveries under way. */
  readonly sending: number;
  /** Whether a delivery that waits is due, as far as the store knows. */
  readonly isSomeDue: boolean;
  /** The receiver has asked for a pause. */
  readonly isPaused: boolean;
}

/** Returns whether a delivery may be sent now, if one is due. An ordered webhook gets one at a time. */
export function maySend({ sending, isPaused }: Pick<QueueState, 'sending' | 'isPaused'>, isOrdered: boolean): boolean {
  return !isPaused && !(isOrdered && sending > 0);
}

/** Returns whether a new delivery may be sent at once: it overtakes none. For an ordered webhook, retries count that are not due. */
export function maySendAtOnce(queue: QueueState, isOrdered: boolean): boolean {
  return maySend(queue, isOrdered) && !queue.isSomeDue && !(isOrdered && queue.waiting > 0);
}
