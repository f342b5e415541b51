// Health of webhooks. Only failing and paused webhooks have a row.

import { HEALTHY, type WebhookHealth } from '../../../domain/delivery/health.ts';
import { number, numberOrNull } from '../../rows/cells.ts';
import type { Core } from '../core.ts';
import type { Connection, Row } from '../database.ts';

export function readHealth(connection: Connection, webhookId: string): WebhookHealth {
  const row = connection.get('SELECT * FROM webhook_health WHERE webhook_id = ?', webhookId);
  return row ? toHealth(row) : HEALTHY;
}

/** Resets the health of a webhook. */
export function forgetHealth(core: Core, webhookId: string): void {
  core.writer.run('DELETE FROM webhook_health WHERE webhook_id = ?', webhookId);
  core.queues.pause(webhookId, 0);
}

export function writeHealth(core: Core, webhookId: string, health: WebhookHealth): void {
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
  core.queues.pause(webhookId, pausedUntilMs ?? 0);
}

function toHealth(row: Row): WebhookHealth {
  return {
    failingSinceMs: numberOrNull(row, 'failing_since_ms'),
    exhaustedInRow: number(row, 'exhausted_in_row'),
    noticedAtMs: numberOrNull(row, 'noticed_at_ms'),
    pausedUntilMs: numberOrNull(row, 'paused_until_ms'),
  };
}
