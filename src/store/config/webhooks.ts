// Webhooks, and what happens to their open deliveries when they are disabled, enabled or deleted.

import { LIMITS } from '../../domain/limits.ts';
import type { Webhook } from '../../domain/resource.ts';
import type { WebhookStore } from '../contract/resources.ts';
import type { Row } from '../rows/rows.ts';
import { sealedCells, toWebhook } from '../rows/webhook-rows.ts';
import type { Seal } from '../seal/seal.ts';
import type { ConfigCore, Writing } from './config-database.ts';
import { cancelOperations } from './operation-steps.ts';
import { readPage } from './pages.ts';
import { raw, type Sql, sql } from './sql.ts';
import { get, type Steps, send, work } from './steps.ts';
import { removeSubscriptions } from './subscriptions.ts';

const one = (ownerId: string, id: string): Sql =>
  sql`SELECT * FROM webhooks WHERE id = ${id} AND owner_id = ${ownerId}`;

export function webhookVerbs({ database, seal }: ConfigCore): WebhookStore {
  const map = (row: Row): Webhook => toWebhook(row, seal);
  return {
    createWebhook: (webhook) =>
      database.writeRouting(webhook.ownerId, function* (w) {
        yield* send(insert(webhook, seal));
        w.webhookWritten(webhook.id);
      }),

    updateWebhook: (ownerId, id, change) =>
      database.writeListener({ ownerId, id }, function* (w) {
        const row = yield* get(one(ownerId, id));
        if (!row) return undefined;
        const before = map(row);
        const webhook = { ...change(before), id, ownerId, createdAtMs: before.createdAtMs };
        yield* send(update(webhook, seal));
        yield* changed(w, before, webhook);
        return webhook;
      }),

    getWebhook: async (ownerId, id) => {
      const row = await database.get(one(ownerId, id));
      return row && map(row);
    },

    webhookHealth: database.webhookHealth,

    listWebhooks: (ownerId, page) =>
      readPage(database, {
        from: raw('webhooks'),
        columns: raw('*'),
        where: [sql`owner_id = ${ownerId}`],
        countUpTo: LIMITS.countedRecords,
        page,
        map,
      }),

    deleteWebhook: (ownerId, id) => {
      const which = { ownerId, id };
      return database.writeListener({ ...which, hasOperations: true }, function* (w) {
        const row = yield* get(sql`DELETE FROM webhooks WHERE id = ${id} AND owner_id = ${ownerId} RETURNING *`);
        if (!row) return undefined;
        const webhook = map(row);
        yield* removeSubscriptions(which);
        w.webhookWritten(id);
        yield* cancelOperations(id, w.nowMs);
        const deliveries = yield* work(() => w.lockDeliveries(which));
        yield* work(() => deliveries?.cancel());
        return webhook;
      });
    },
  };
}

function* changed(w: Writing, before: Webhook, after: Webhook): Steps<void> {
  w.webhookWritten(after.id);
  const deliveries = yield* work(() => w.lockDeliveries(after));
  if (!deliveries) throw new Error(`webhook ${after.id} has no queue`);
  const isEnabled = after.active && !before.active;
  const isElsewhere = after.url !== before.url;
  if (isEnabled || isElsewhere) deliveries.forgetHealth();
  // The pause belongs to the old address.
  if (isElsewhere) deliveries.endPause();
  if (isEnabled) yield* work(() => deliveries.release());
  if (before.active && !after.active) yield* work(() => deliveries.hold());
  yield* work(() => deliveries.settingsChanged(before, after));
}

/** `is_ordered` has its own column, which claims read. */
function insert(webhook: Webhook, seal: Seal): Sql {
  const { settings, secrets } = sealedCells(webhook, seal);
  return sql`INSERT INTO webhooks
      (id, owner_id, url, name, description, active, settings, is_ordered, secrets, created_at_ms, updated_at_ms)
    VALUES (${webhook.id}, ${webhook.ownerId}, ${webhook.url}, ${webhook.name}, ${webhook.description},
      ${webhook.active}, ${settings}, ${webhook.settings.ordered}, ${secrets}, ${webhook.createdAtMs},
      ${webhook.updatedAtMs})`;
}

function update(webhook: Webhook, seal: Seal): Sql {
  const { settings, secrets } = sealedCells(webhook, seal);
  return sql`UPDATE webhooks SET url = ${webhook.url}, name = ${webhook.name}, description = ${webhook.description},
      active = ${webhook.active}, settings = ${settings}, is_ordered = ${webhook.settings.ordered}, secrets = ${secrets},
      updated_at_ms = ${webhook.updatedAtMs}
    WHERE id = ${webhook.id} AND owner_id = ${webhook.ownerId}`;
}
