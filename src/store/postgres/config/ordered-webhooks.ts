// What an older store does not say of its webhooks.

import { toWebhookSettings } from '../../rows/webhook-rows.ts';
import type { Seal } from '../../seal/seal.ts';
import type { Pool } from '../connection/pool.ts';

/** Webhooks that were moved here from another store: only who has the key can tell which are ordered. */
export async function tellOrdered(pool: Pool, seal: Seal): Promise<void> {
  const rows = await pool.all('SELECT id, settings FROM webhooks WHERE is_ordered IS NULL');
  for (const row of rows) {
    const { ordered } = toWebhookSettings(row, seal);
    await pool.write(
      'UPDATE webhooks SET is_ordered = $2 WHERE id = $1 AND is_ordered IS NULL',
      row.id as string,
      ordered,
    );
  }
}
