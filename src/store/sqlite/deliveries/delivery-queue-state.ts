// What an open delivery to a webhook waits for.

import type { DeliveryState } from '../../../domain/delivery/delivery.ts';
import { LIMITS } from '../../../domain/limits.ts';
import type { Webhook } from '../../../domain/resource.ts';
import type { Standing } from '../../contract/records.ts';
import { number, text } from '../../rows/cells.ts';
import { toWebhook } from '../../rows/webhook-rows.ts';
import type { Core } from '../core.ts';
import type { Row, Value } from '../database.ts';
import { OPEN_DELIVERY } from '../partial-index.ts';
import { readHealth } from './health.ts';

const OPEN: readonly DeliveryState[] = ['pending', 'sending', 'retrying', 'held'];

/** Null when it is over, for a mail, and when its webhook is gone. */
export function standingOf(core: Core, row: Row): Standing | null {
  const listenerId = text(row, 'listener_id');
  if (!listenerId.startsWith('wh_') || !OPEN.includes(text<DeliveryState>(row, 'state'))) return null;
  const kept = core.reader.get('SELECT * FROM webhooks WHERE id = ?', listenerId);
  if (!kept) return null;
  const webhook = toWebhook(kept, core.seal);
  const pausedUntilMs = readHealth(core.reader, listenerId).pausedUntilMs ?? 0;
  return {
    webhook,
    pausedUntilMs: pausedUntilMs > core.clock.nowMs() ? pausedUntilMs : null,
    sending: count(core, `listener_id = ? AND state = 'sending' AND ${OPEN_DELIVERY}`, [listenerId]),
    ahead: aheadOf(core, row, webhook),
    head: webhook.settings.ordered ? headBefore(core, row) : null,
  };
}

function aheadOf(core: Core, row: Row, { id, settings }: Webhook): number {
  const { delivery, state, due_at_ms: dueAtMs } = row as { delivery: number; state: string; due_at_ms: number };
  if (state !== 'pending' && state !== 'retrying') return 0;
  if (settings.ordered) {
    return count(core, "listener_id = ? AND delivery < ? AND state IN ('pending', 'retrying')", [id, delivery]);
  }
  const before = `listener_id = ? AND state = ? AND ${OPEN_DELIVERY} AND (due_at_ms, delivery) < (?, ?)`;
  if (state === 'pending') return count(core, before, [id, 'pending', dueAtMs, delivery]);
  const first = count(core, `listener_id = ? AND state = 'pending' AND ${OPEN_DELIVERY}`, [id]);
  // Of those that are due by now, also when this one is not.
  const nowMs = core.clock.nowMs();
  const until = dueAtMs <= nowMs ? [dueAtMs, delivery] : [nowMs, Number.MAX_SAFE_INTEGER];
  return Math.min(first + count(core, before, [id, 'retrying', ...until]), LIMITS.countedRecords);
}

function count(core: Core, where: string, values: readonly Value[]): number {
  const row = core.reader.get(
    `SELECT count(*) AS n FROM (SELECT 1 FROM deliveries WHERE ${where} LIMIT ${LIMITS.countedRecords})`,
    ...values,
  );
  return row?.n as number;
}

/** The first that waits or is on its way, when that is another one. */
function headBefore(core: Core, row: Row): number | null {
  const delivery = number(row, 'delivery');
  const waiting = core.reader.get(
    `SELECT delivery FROM deliveries WHERE listener_id = ? AND state IN ('pending', 'retrying')
      ORDER BY delivery LIMIT 1`,
    text(row, 'listener_id'),
  );
  const sending = core.reader.get(
    `SELECT min(delivery) AS delivery FROM deliveries WHERE listener_id = ? AND state = 'sending' AND ${OPEN_DELIVERY}`,
    text(row, 'listener_id'),
  );
  const heads = [waiting?.delivery, sending?.delivery].filter((n) => typeof n === 'number');
  const head = heads.length === 0 ? delivery : Math.min(...heads);
  return head === delivery ? null : head;
}
