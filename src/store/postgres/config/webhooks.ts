// Changes of the configuration to the open deliveries of a listener, whose queue is locked.

import type { DeliveryState } from '../../../domain/delivery/delivery.ts';
import { HEALTHY } from '../../../domain/delivery/health.ts';
import type { ListenerMove } from '../../../domain/delivery/progress.ts';
import type { Webhook } from '../../../domain/resource.ts';
import { FURTHER_ERRORS } from '../../check/checks.ts';
import type { Listener, LockedDeliveries } from '../../config/config-database.ts';
import { number, text } from '../../rows/cells.ts';
import { lockQueue, readQueue } from '../claims/queued-work.ts';
import { arrayLiteral } from '../connection/values.ts';
import { moveDeliveries } from '../deliveries/move-deliveries.ts';
import { type ListenerQueue, sendQueues } from '../log/listener-queue.ts';
import type { ConfigWriting } from './config-write.ts';

interface Locking {
  /** The id of this process. */
  readonly node: number;
  /** Called when deliveries are due: other processes are notified. */
  readonly onResent: () => void;
}

/** Locks the deliveries to a listener; undefined: it has no queue. */
export async function lockDeliveries(
  w: ConfigWriting,
  of: Listener,
  locking: Locking,
): Promise<LockedDeliveries | undefined> {
  lockQueue(w.tx, of);
  const queue = await readQueue(w.tx, of);
  return queue && new OpenDeliveries(w, queue, locking);
}

const DUE_AT_ONCE = `WITH next AS (SELECT delivery, state FROM open_deliveries
    WHERE delivery = ANY($1::bigint[]) AND state = ANY($2::text[]) AND state IN ('pending', 'retrying')),
  moved AS (UPDATE open_deliveries AS o SET state = 'retrying', due_at_ms = $3::bigint, due_by = 'resend' FROM next
    WHERE o.delivery = next.delivery AND o.state = next.state RETURNING next.state)
  SELECT state, count(*) AS n FROM moved GROUP BY state`;

const OPEN_AGAIN = `WITH gone AS (DELETE FROM deliveries
    WHERE delivery = ANY($1::bigint[]) AND state = ANY($2::text[]) RETURNING *),
  opened AS (INSERT INTO open_deliveries (delivery, owner_id, kind, listener_id, subscription_id, via, entry, state,
      attempts_made, requests_made, tries, due_by, fence, due_at_ms)
    SELECT delivery, owner_id, kind, listener_id, subscription_id, via, entry, 'retrying', attempts_made,
      requests_made, 0, 'resend', fence, $3::bigint FROM gone)
  SELECT state, count(*) AS n FROM gone GROUP BY state`;

class OpenDeliveries implements LockedDeliveries {
  readonly #w: ConfigWriting;
  readonly #queue: ListenerQueue;
  readonly #node: number;
  readonly #onResent: () => void;

  constructor(w: ConfigWriting, queue: ListenerQueue, { node, onResent }: Locking) {
    this.#w = w;
    this.#queue = queue;
    this.#node = node;
    this.#onResent = onResent;
  }

  async sendAgain(deliveries: readonly number[], states: readonly DeliveryState[]): Promise<number> {
    const { tx, ledger, nowMs } = this.#w;
    const which = [arrayLiteral(deliveries), arrayLiteral(states), nowMs] as const;
    const [waiting, over] = await Promise.all([tx.query(DUE_AT_ONCE, ...which), tx.query(OPEN_AGAIN, ...which)]);
    let total = 0;
    for (const row of [...waiting, ...over]) {
      const [from, n] = [text<DeliveryState>(row, 'state'), number(row, 'n')];
      this.#queue.deliveriesMoved({ from, to: 'retrying', n }, ledger, this.#node);
      // Its error stays, but no exhausted delivery belongs to it now.
      if (from === 'exhausted') ledger.count(this.#queue.ownerId, FURTHER_ERRORS, n);
      total += n;
    }
    sendQueues(tx, [this.#queue]);
    if (total > 0) this.#onResent();
    return total;
  }

  move(move: ListenerMove): Promise<void> {
    const { tx, ledger, nowMs } = this.#w;
    return moveDeliveries(tx, this.#queue, { move, nowMs, ledger, node: this.#node });
  }

  forgetHealth(): void {
    this.#queue.health = HEALTHY;
  }

  settingsChanged({ settings: was }: Webhook, after: Webhook | undefined): void {
    const queue = this.#queue;
    const [wasMs, isMs] = [was.rateLimit?.intervalMs, after?.settings.rateLimit?.intervalMs];
    // Earlier requests count for the new interval; without a limit, not at all.
    if (queue.keptUntilMs !== null && wasMs !== isMs) {
      queue.keep(wasMs && isMs ? queue.keptUntilMs - wasMs + isMs : null);
    }
    if (queue.isChanged || was.ordered !== after?.settings.ordered) sendQueues(this.#w.tx, [queue]);
  }
}
