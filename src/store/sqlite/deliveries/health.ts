// Health of webhooks. Only failing and paused webhooks have a row.

import { HEALTHY, type WebhookHealth } from '../../../domain/delivery/health.ts';
import { toHealth } from '../../rows/webhook-rows.ts';
import type { Core } from '../core.ts';
import type { Connection } from '../database.ts';

export function readHealth(connection: Connection, webhookId: string): WebhookHealth {
  const row = connection.get('SELECT * FROM webhook_health WHERE webhook_id = ?', webhookId);
  return row ? toHealth(row) : HEALTHY;
}

export function writeHealth(core: Core, webhookId: string, health: WebhookHealth): void {
  const { failingSinceMs, exhaustedInRow, noticedAtMs, pausedUntilMs } = health;
  core.queues.pause(webhookId, pausedUntilMs ?? 0);
  if (failingSinceMs === null && pausedUntilMs === null) {
    core.writer.run('DELETE FROM webhook_health WHERE webhook_id = ?', webhookId);
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
