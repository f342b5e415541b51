// Changes of the configuration to the open deliveries of a listener, whose queue is locked.

import type { DeliveryState } from '../../../domain/delivery/delivery.ts';
import { HEALTHY } from '../../../domain/delivery/health.ts';
import type { Webhook } from '../../../domain/resource.ts';
import { FURTHER_ERRORS } from '../../check/checks.ts';
import type { Listener, LockedDeliveries } from '../../config/config-database.ts';
import type { WebhookStore } from '../../contract/resources.ts';
import { number, text } from '../../rows/cells.ts';
import { emptyQueue, keepCancelled, lockQueue, moveInSteps, ROWS_PER_STEP, readQueue } from '../claims/queued-work.ts';
import { arrayLiteral } from '../connection/values.ts';
import type { Core } from '../core.ts';
import { forgetHealth, type ListenerQueue, sendQueues, toHealth } from '../log/listener-queue.ts';
import type { ConfigWriting } from './config-write.ts';

export function webhookHealth({ pool }: Pick<Core, 'pool'>): WebhookStore['webhookHealth'] {
  return async (ownerId, ids) => {
    const rows = await pool.all(
      `SELECT w.id, l.failing_since_ms, coalesce(l.exhausted_in_row, 0) AS exhausted_in_row, l.noticed_at_ms,
          l.paused_until_ms
        FROM webhooks AS w LEFT JOIN listener_queues AS l ON l.owner_id = w.owner_id AND l.listener_id = w.id
        WHERE w.owner_id = $1 AND w.id = ANY($2::text[])`,
      ownerId,
      arrayLiteral(ids),
    );
    return new Map(rows.map((row) => [text(row, 'id'), toHealth(row)]));
  };
}

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

interface Move {
  readonly from: readonly ('pending' | 'retrying' | 'held')[];
  readonly to: 'due' | 'held' | 'cancelled';
}

/** Moves the rows in `next`. `$4`: when they are due or over. */
const MOVES: Readonly<Record<Move['to'], string>> = {
  held: `moved AS (UPDATE open_deliveries AS o SET state = 'held', due_at_ms = $4::bigint FROM next
    WHERE o.delivery = next.delivery RETURNING o.delivery, next.state, o.state AS now_state)`,
  due: `moved AS (UPDATE open_deliveries AS o SET due_at_ms = $4::bigint, state = CASE WHEN o.requests_made = 0
      AND o.due_by = 'event' THEN 'pending' ELSE 'retrying' END FROM next
    WHERE o.delivery = next.delivery RETURNING o.delivery, next.state, o.state AS now_state)`,
  cancelled: `gone AS (DELETE FROM open_deliveries AS o USING next WHERE o.delivery = next.delivery RETURNING o.*),
    kept AS (${keepCancelled('$4')}), moved AS (SELECT delivery, state, 'cancelled' AS now_state FROM gone)`,
};

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
    const { ownerId } = this.#queue;
    const which = [arrayLiteral(deliveries), arrayLiteral(states), nowMs] as const;
    const [waiting, over] = await Promise.all([tx.query(DUE_AT_ONCE, ...which), tx.query(OPEN_AGAIN, ...which)]);
    let total = 0;
    for (const row of [...waiting, ...over]) {
      const [state, n] = [text(row, 'state'), number(row, 'n')];
      ledger.moved(ownerId, 'deliveries', { from: state, to: 'retrying', n });
      // Its error stays, but no exhausted delivery belongs to it now.
      if (state === 'exhausted') ledger.count(ownerId, FURTHER_ERRORS, n);
      total += n;
    }
    const opened = over.reduce((sum, row) => sum + number(row, 'n'), 0);
    this.#queue.change({ waiting: opened }, this.#node);
    sendQueues(tx, [this.#queue]);
    if (total > 0) this.#onResent();
    return total;
  }

  async hold(): Promise<void> {
    const held = await this.#move({ from: ['pending', 'retrying'], to: 'held' });
    this.#queue.change({ waiting: -held }, this.#node);
  }

  async release(): Promise<void> {
    this.#queue.change({ waiting: await this.#move({ from: ['held'], to: 'due' }) }, this.#node);
  }

  async cancel(): Promise<void> {
    const { tx } = this.#w;
    const of = this.#of;
    emptyQueue(tx, of);
    forgetHealth(tx, of);
    await this.#move({ from: ['pending', 'retrying', 'held'], to: 'cancelled' });
  }

  forgetHealth(): void {
    this.#queue.health = HEALTHY;
  }

  /** The statement must come before that of the queue's row. */
  endPause(): void {
    const { ownerId, id } = this.#of;
    void this.#w.tx.query(
      `UPDATE open_deliveries SET due_at_ms = $1::bigint WHERE owner_id = $2 AND listener_id = $3 AND state = 'retrying'
        AND due_by = 'retry_after' AND due_at_ms > $1::bigint`,
      this.#w.nowMs,
      ownerId,
      id,
    );
  }

  settingsChanged({ settings: was }: Webhook, { settings: is }: Webhook): void {
    const queue = this.#queue;
    const [wasMs, isMs] = [was.rateLimit?.intervalMs, is.rateLimit?.intervalMs];
    // Earlier requests count for the new interval; without a limit, not at all.
    if (queue.keptUntilMs !== null && wasMs !== isMs) {
      queue.keep(wasMs && isMs ? queue.keptUntilMs - wasMs + isMs : null);
    }
    if (queue.isChanged || was.ordered !== is.ordered) sendQueues(this.#w.tx, [queue]);
  }

  get #of(): Listener {
    return { ownerId: this.#queue.ownerId, id: this.#queue.listenerId };
  }

  async #move({ from, to }: Move): Promise<number> {
    const { tx, ledger, nowMs } = this.#w;
    const { ownerId, id } = this.#of;
    let total = 0;
    const step = (after: number) =>
      tx.query(
        `WITH next AS (SELECT delivery, state FROM open_deliveries
            WHERE owner_id = $1 AND listener_id = $2 AND state IN ('${from.join("', '")}') AND delivery > $3::bigint
            ORDER BY delivery LIMIT ${ROWS_PER_STEP}),
          ${MOVES[to]}
          SELECT state, now_state, count(*) AS n, max(delivery) AS last FROM moved GROUP BY state, now_state`,
        ownerId,
        id,
        after,
        to === 'held' ? null : nowMs,
      );
    await moveInSteps(step, (row) => {
      const n = number(row, 'n');
      ledger.moved(ownerId, 'deliveries', { from: text(row, 'state'), to: text(row, 'now_state'), n });
      total += n;
    });
    return total;
  }
}
