// Webhooks. What becomes of their open deliveries is each backend's own (`<backend>/config/webhooks.ts`).

import { LIMITS } from '../../domain/limits.ts';
import type { Webhook } from '../../domain/resource.ts';
import type { WebhookStore } from '../contract/resources.ts';
import type { Row } from '../rows/rows.ts';
import { sealedCells, toWebhook } from '../rows/webhook-rows.ts';
import type { Seal } from '../seal/seal.ts';
import type { ConfigCore } from './config-database.ts';
import { readPage } from './pages.ts';
import { raw, type Sql, sql } from './sql.ts';
import { get, send, work } from './steps.ts';
import { removeSubscriptions } from './subscriptions.ts';

const one = (ownerId: string, id: string): Sql =>
  sql`SELECT * FROM webhooks WHERE id = ${id} AND owner_id = ${ownerId}`;

export function webhookVerbs({ database, seal }: ConfigCore): WebhookStore {
  const map = (row: Row): Webhook => toWebhook(row, seal);
  return {
    createWebhook: (webhook) =>
      database.writeRouting(webhook.ownerId, function* (w) {
        yield* send(insert(webhook, seal));
        yield* work(() => w.webhookWritten(null, webhook));
      }),

    updateWebhook: (ownerId, id, change) =>
      database.writeListener({ ownerId, id }, function* (w) {
        const row = yield* get(one(ownerId, id));
        if (!row) return undefined;
        const before = map(row);
        const webhook = { ...change(before), id, ownerId, createdAtMs: before.createdAtMs };
        yield* send(update(webhook, seal));
        yield* work(() => w.webhookWritten(before, webhook));
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
        yield* work(() => w.webhookWritten(webhook, null));
        return webhook;
      });
    },
  };
}

/** `is_ordered` stands in a column too, since claims read it from there. */
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
