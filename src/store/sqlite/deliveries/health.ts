// Webhooks' health. Only those that are not well, or were put off, have a row.

import { HEALTHY, judgeHealth, type Notice, type WebhookHealth } from '../../../domain/delivery/health.ts';
import type { AttemptEnd } from '../../contract/store.ts';
import type { Core } from '../core.ts';
import type { Connection, Row } from '../database.ts';
import type { Transaction } from '../log/transaction.ts';

export function readHealth(connection: Connection, webhookId: string): WebhookHealth {
  const row = connection.get('SELECT * FROM webhook_health WHERE webhook_id = ?', webhookId);
  return row ? toHealth(row) : HEALTHY;
}

/** What an attempt says of its webhook, which is active. Written only when it changes. */
export function judgeAttempt(core: Core, tx: Transaction, of: { webhookId: string; end: AttemptEnd }): Notice | null {
  const { webhookId, end } = of;
  const { state, pauseUntilMs } = end;
  const before = readHealth(core.writer, webhookId);
  const { health, notice } = judgeHealth(before, { state, pauseUntilMs, nowMs: tx.nowMs });
  if (health !== before) writeHealth(core, webhookId, health);
  if (pauseUntilMs !== null) core.turns.pause(webhookId, health.pausedUntilMs ?? 0);
  return notice;
}

/** Begins anew. */
export function forgetHealth(core: Core, webhookId: string): void {
  core.writer.run('DELETE FROM webhook_health WHERE webhook_id = ?', webhookId);
  core.turns.pause(webhookId, 0);
}

function writeHealth(core: Core, webhookId: string, health: WebhookHealth): void {
  const { failingSinceMs, exhaustedInRow, noticedAtMs, pausedUntilMs } = health;
  if (failingSinceMs === null && pausedUntilMs === null) {
    forgetHealth(core, webhookId);
    return;
  }
  core.writer.run(
    `INSERT OR REPLACE INTO webhook_health (webhook_id, failing_since_ms, exhausted_in_row, noticed_at_ms,
      paused_until_ms) VALUES (?,?,?,?,?)`,
    webhookId,
    failingSinceMs,
    exhaustedInRow,
    noticedAtMs,
    pausedUntilMs,
  );
}

function toHealth(row: Row): WebhookHealth {
  return {
    failingSinceMs: row.failing_since_ms as number | null,
    exhaustedInRow: row.exhausted_in_row as number,
    noticedAtMs: row.noticed_at_ms as number | null,
    pausedUntilMs: row.paused_until_ms as number | null,
  };
}
