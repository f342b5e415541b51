// Webhooks, and what happens to their open deliveries when they are disabled, enabled or deleted.

import { CANCEL, HOLD, type ListenerMove, RELEASE } from '../../domain/delivery/progress.ts';
import { LIMITS } from '../../domain/limits.ts';
import type { Webhook } from '../../domain/resource.ts';
import type { WebhookStore } from '../contract/resources.ts';
import { OPEN_DELIVERIES } from '../log/log-tables.ts';
import { text } from '../rows/cells.ts';
import { OPEN_DELIVERY } from '../rows/delivery-rows.ts';
import type { Row } from '../rows/rows.ts';
import { sealedCells, toHealth, toWebhook } from '../rows/webhook-rows.ts';
import type { Seal } from '../seal/seal.ts';
import type { ConfigCore, Writing } from './config-database.ts';
import { resolveGroups } from './error-groups.ts';
import { cancelOperations } from './operation-steps.ts';
import { readPage } from './pages.ts';
import { differs, isAmong, raw, type Sql, sql } from './sql.ts';
import { get, type Steps, send, work } from './steps.ts';
import { removeSubscriptions } from './subscriptions.ts';

const one = (ownerId: string, id: string): Sql =>
  sql`SELECT * FROM webhooks WHERE id = ${id} AND owner_id = ${ownerId}`;

const HEALTH = differs({
  sqlite: 'webhook_health AS h ON h.webhook_id = w.id',
  postgres: 'listener_queues AS h ON h.owner_id = w.owner_id AND h.listener_id = w.id',
});

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

    webhookHealth: async (ownerId, ids) => {
      const rows = await database.all(sql`SELECT w.id, h.failing_since_ms, h.exhausted_in_row, h.noticed_at_ms,
          h.paused_until_ms
        FROM webhooks AS w LEFT JOIN ${HEALTH} WHERE w.owner_id = ${ownerId} AND w.id ${isAmong(ids)} ORDER BY w.id`);
      return new Map(rows.map((row) => [text(row, 'id'), toHealth(row)]));
    },

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
        yield* cancelOperations(id, w.nowMs);
        yield* changed(w, webhook, undefined);
        yield* resolveGroups(which, w.nowMs);
        return webhook;
      });
    },
  };
}

/** Writes what follows from a change of a webhook. `after`: undefined when the webhook is deleted. */
function* changed(w: Writing, before: Webhook, after: Webhook | undefined): Steps<void> {
  w.webhookWritten(before.id);
  const deliveries = yield* work(() => w.lockDeliveries(before));
  // Deleted while another node had just made it: nothing has been queued for it.
  if (!deliveries && !after) return;
  if (!deliveries) throw new Error(`webhook ${before.id} has no queue`);
  const move = moveOf(before, after);
  const isElsewhere = after !== undefined && after.url !== before.url;
  if (move === RELEASE || isElsewhere || !after) deliveries.forgetHealth();
  if (isElsewhere) yield* send(endPause(w, before));
  if (move) yield* work(() => deliveries.move(move));
  yield* work(() => deliveries.settingsChanged(before, after));
}

/** Makes what waits for the end of a pause due: the pause belongs to the old address. */
function endPause({ nowMs }: Writing, { ownerId, id }: Webhook): Sql {
  return sql`UPDATE ${OPEN_DELIVERIES} SET due_at_ms = ${nowMs} WHERE owner_id = ${ownerId} AND listener_id = ${id}
    AND state = 'retrying' AND due_by = 'retry_after' AND due_at_ms > ${nowMs} AND ${raw(OPEN_DELIVERY)}`;
}

function moveOf(before: Webhook, after: Webhook | undefined): ListenerMove | null {
  if (!after) return CANCEL;
  if (after.active === before.active) return null;
  return after.active ? RELEASE : HOLD;
}

/** Inserts a webhook. `is_ordered` has its own column, which claims read. */
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
