// Sending deliveries again: what waits is due at once, and what is over moves back to what is open. Rows that wait are
// touched under their queue's lock only, and those that are on their way never.
//
// Retention may be about to take the event of one that is over: so that is locked first, and before the queue.

import type { DeliveryState } from '../../../domain/delivery/delivery.ts';
import { type NotResendable, reasonAgainstResending } from '../../../domain/delivery/progress.ts';
import { RESENDABLE } from '../../../domain/operation.ts';
import { FURTHER_ERRORS } from '../../check/checks.ts';
import type { DeliveryRecord } from '../../contract/records.ts';
import { number, text } from '../../rows/cells.ts';
import { toDeliveryRecord } from '../../rows/log-rows.ts';
import { lockQueue, readQueue } from '../claims/queued-work.ts';
import { NOW_SQL } from '../connection/clock.ts';
import type { Tx } from '../connection/transaction-connection.ts';
import { arrayLiteral, type Row } from '../connection/values.ts';
import type { Core } from '../core.ts';
import { Ledger } from '../log/ledger.ts';
import { type ListenerQueue, sendQueues } from '../log/listener-queue.ts';
import { DELIVERY_COLUMNS } from './delivery-records.ts';

const BY_HAND = [...RESENDABLE, 'pending'] as const;

/** See DeliveryStore. */
export async function resendDelivery(
  core: Core,
  ownerId: string,
  delivery: number,
): Promise<DeliveryRecord | NotResendable | undefined> {
  const done = await core.config.transact((tx) => resendIn(core, tx, { ownerId, delivery }));
  if (typeof done === 'object') core.notices.tell('deliveries');
  return done;
}

async function resendIn(
  core: Core,
  tx: Tx,
  which: { ownerId: string; delivery: number },
): Promise<DeliveryRecord | NotResendable | undefined> {
  const { ownerId, delivery } = which;
  const [found] = await tx.query(
    `SELECT d.listener_id, ${NOW_SQL} AS now_ms FROM emissions AS e JOIN all_deliveries AS d ON d.entry = e.entry
      WHERE d.delivery = $1 AND d.owner_id = $2 FOR KEY SHARE OF e`,
    delivery,
    ownerId,
  );
  if (!found) return undefined;
  const nowMs = core.clock.heard(number(found, 'now_ms'), tx.beganAt);
  const listener = { ownerId, id: text(found, 'listener_id') };
  lockQueue(tx, listener);
  const [queue, webhooks, states] = await Promise.all([
    readQueue(tx, listener),
    tx.query('SELECT active FROM webhooks WHERE id = $1 AND owner_id = $2', listener.id, ownerId),
    tx.query('SELECT state FROM all_deliveries WHERE delivery = $1', delivery),
  ]);
  if (!queue) return 'gone';
  const webhook = webhooks[0] && { active: webhooks[0].active === true };
  const reason = reasonAgainstResending({ state: states[0]?.state as DeliveryState, listenerId: listener.id }, webhook);
  if (reason !== null) return reason;
  await sendAgain(core, tx, { queue, deliveries: [delivery], states: BY_HAND, nowMs });
  const [row] = await tx.query(
    `SELECT ${DELIVERY_COLUMNS} FROM all_deliveries AS d JOIN emissions AS e ON e.entry = d.entry WHERE d.delivery = $1`,
    delivery,
  );
  return toDeliveryRecord(row as Row, core.storeTag);
}

export interface Again {
  /** Locked. */
  readonly queue: ListenerQueue;
  readonly deliveries: readonly number[];
  /** Only those that are in one of these now. */
  readonly states: readonly string[];
  readonly nowMs: number;
}

/** Makes them due at once, with all counters. Returns how many there were. */
export async function sendAgain(core: Core, tx: Tx, { queue, deliveries, states, nowMs }: Again): Promise<number> {
  const which = [arrayLiteral(deliveries), arrayLiteral(states), nowMs] as const;
  const [waiting, over] = await Promise.all([tx.query(DUE_AT_ONCE, ...which), tx.query(OPEN_AGAIN, ...which)]);
  const ledger = new Ledger();
  let total = 0;
  for (const { state, n } of [...waiting, ...over] as { state: string; n: number }[]) {
    ledger.moved(queue.ownerId, 'deliveries', { from: state, to: 'retrying', n });
    // Its error stays, and tells of no delivery that is exhausted now.
    if (state === 'exhausted') ledger.count(queue.ownerId, FURTHER_ERRORS, n);
    total += n;
  }
  const opened = over.reduce((sum, { n }) => sum + (n as number), 0);
  queue.change({ waiting: opened }, core.node.id);
  sendQueues(tx, [queue]);
  ledger.write(tx, core.node.slot);
  return total;
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
