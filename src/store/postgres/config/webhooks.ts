// Webhooks, and what becomes of their open deliveries when one is disabled, enabled or deleted.

import { HEALTHY } from '../../../domain/delivery/health.ts';
import { LIMITS } from '../../../domain/limits.ts';
import type { Webhook } from '../../../domain/resource.ts';
import type { WebhookStore } from '../../contract/resources.ts';
import { sealedCells, toWebhook } from '../../rows/webhook-rows.ts';
import type { Seal } from '../../seal/seal.ts';
import {
  emptyLine,
  keepCancelled,
  type Listener,
  moveInSteps,
  ROWS_PER_STEP,
  readLine,
} from '../claims/queued-work.ts';
import type { Tx } from '../connection/transaction-connection.ts';
import { arrayLiteral } from '../connection/values.ts';
import type { Core } from '../core.ts';
import { cancelOperationsOf, lockOperationsOf } from '../deliveries/operation-rows.ts';
import { forgetHealth, type Line, sendLines, toHealth } from '../log/listener-queue.ts';
import { readPage } from '../pages.ts';
import { type ConfigWriting, configWrite, lineWrite } from './config-write.ts';

export function webhookVerbs(core: Core): WebhookStore {
  const { pool, seal } = core;
  return {
    createWebhook: (webhook) => configWrite(core, webhook.ownerId, ({ tx }) => insert(tx, { webhook, seal })),

    updateWebhook: (ownerId, id, change) =>
      lineWrite(core, { ownerId, id }, (w) => updateIn(w, { listener: { ownerId, id }, change, core })),

    getWebhook: async (ownerId, id) => {
      const row = await pool.get('SELECT * FROM webhooks WHERE id = $1 AND owner_id = $2', id, ownerId);
      return row && toWebhook(row, seal);
    },

    webhookHealth: async (ownerId, ids) => {
      const rows = await pool.all(
        `SELECT w.id, l.failing_since_ms, coalesce(l.exhausted_in_row, 0) AS exhausted_in_row, l.noticed_at_ms,
            l.paused_until_ms
          FROM webhooks AS w LEFT JOIN lines AS l ON l.owner_id = w.owner_id AND l.listener_id = w.id
          WHERE w.owner_id = $1 AND w.id = ANY($2::text[])`,
        ownerId,
        arrayLiteral(ids),
      );
      return new Map(rows.map((row) => [row.id as string, toHealth(row)]));
    },

    listWebhooks: (ownerId, page) => {
      const listing = {
        from: 'webhooks',
        columns: '*',
        key: 'id',
        where: ['owner_id = $1'],
        values: [ownerId],
        countUpTo: LIMITS.countedRecords,
      };
      return readPage(pool, listing, { page, map: (row) => toWebhook(row, seal) });
    },

    deleteWebhook: (ownerId, id) =>
      // Whoever is at a step of an operation locks that first, and then the line.
      lineWrite(core, { ownerId, id, before: (tx) => lockOperationsOf(tx, id) }, async (w) => {
        const [row] = await w.tx.query('DELETE FROM webhooks WHERE id = $1 AND owner_id = $2 RETURNING *', id, ownerId);
        if (!row) return undefined;
        removeSubscriptions(w.tx, { ownerId, id });
        cancelOperationsOf(w.tx, { webhookId: id, nowMs: w.nowMs });
        await cancelDeliveries(w, { ownerId, id });
        return toWebhook(row, seal);
      }),
  };
}

async function insert(tx: Tx, { webhook, seal }: { webhook: Webhook; seal: Seal }): Promise<void> {
  const { settings, secrets } = sealedCells(webhook, seal);
  await tx.query(
    `INSERT INTO webhooks (id, owner_id, url, name, description, active, settings, is_ordered, secrets, created_at_ms,
        updated_at_ms)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    webhook.id,
    webhook.ownerId,
    webhook.url,
    webhook.name,
    webhook.description,
    webhook.active,
    settings,
    webhook.settings.ordered,
    secrets,
    webhook.createdAtMs,
    webhook.updatedAtMs,
  );
}

function removeSubscriptions(tx: Tx, of: Listener): void {
  void tx.query(
    'DELETE FROM subscriptions WHERE owner_id = $1 AND (listener_id = $2 OR emitter_id = $2)',
    of.ownerId,
    of.id,
  );
}

interface Update {
  readonly listener: Listener;
  readonly change: (before: Webhook) => Webhook;
  readonly core: Core;
}

async function updateIn(w: ConfigWriting, { listener, change, core }: Update): Promise<Webhook | undefined> {
  const [[row], line] = await Promise.all([
    w.tx.query('SELECT * FROM webhooks WHERE id = $1 AND owner_id = $2', listener.id, listener.ownerId),
    readLine(w.tx, listener),
  ]);
  if (!row || !line) return undefined;
  const before = toWebhook(row, core.seal);
  const { id, ownerId, createdAtMs } = before;
  const webhook = { ...change(before), id, ownerId, createdAtMs };
  const { settings, secrets } = sealedCells(webhook, core.seal);
  void w.tx.query(
    `UPDATE webhooks SET url = $1, name = $2, description = $3, active = $4, settings = $5, is_ordered = $6, secrets = $7,
        updated_at_ms = $8
      WHERE id = $9`,
    webhook.url,
    webhook.name,
    webhook.description,
    webhook.active,
    settings,
    webhook.settings.ordered,
    secrets,
    webhook.updatedAtMs,
    webhook.id,
  );
  const isWoken = webhook.active && !before.active;
  if (isWoken || webhook.url !== before.url) line.health = HEALTHY;
  if (webhook.url !== before.url) endPause(w, listener);
  if (isWoken) line.change({ waiting: await moveOpen(w, listener, { from: ['held'], to: 'due' }) }, core.node.id);
  if (!webhook.active && before.active) {
    line.change(
      { waiting: -(await moveOpen(w, listener, { from: ['pending', 'retrying'], to: 'held' })) },
      core.node.id,
    );
  }
  keepByLimit(line, before, webhook);
  const isOtherOrder = webhook.settings.ordered !== before.settings.ordered;
  if (line.isChanged || isOtherOrder) sendLines(w.tx, [line]);
  return webhook;
}

/** What began before counts for as long as the limit says now; without one, for nothing. */
function keepByLimit(line: Line, before: Webhook, after: Webhook): void {
  const [was, is] = [before.settings.rateLimit, after.settings.rateLimit];
  if (line.keptUntilMs === null || was?.intervalMs === is?.intervalMs) return;
  line.keep(was && is ? line.keptUntilMs - was.intervalMs + is.intervalMs : null);
}

/** Who asked to be left alone has gone: what was put off then is due. Sent before the line's own row is. */
function endPause({ tx, nowMs }: ConfigWriting, { ownerId, id }: Listener): void {
  void tx.query(
    `UPDATE open_deliveries SET due_at_ms = $1::bigint WHERE owner_id = $2 AND listener_id = $3 AND state = 'retrying'
      AND due_by = 'retry_after' AND due_at_ms > $1::bigint`,
    nowMs,
    ownerId,
    id,
  );
}

async function cancelDeliveries(w: ConfigWriting, webhook: Listener): Promise<void> {
  emptyLine(w.tx, webhook);
  forgetHealth(w.tx, webhook);
  await moveOpen(w, webhook, { from: ['pending', 'retrying', 'held'], to: 'cancelled' });
}

interface Move {
  readonly from: readonly ('pending' | 'retrying' | 'held')[];
  readonly to: 'due' | 'held' | 'cancelled';
}

/** What becomes of the rows in `next`. `$4`: due or over since then. */
const MOVES: Readonly<Record<Move['to'], string>> = {
  held: `moved AS (UPDATE open_deliveries AS o SET state = 'held', due_at_ms = $4::bigint FROM next
    WHERE o.delivery = next.delivery RETURNING o.delivery, next.state, o.state AS now_state)`,
  due: `moved AS (UPDATE open_deliveries AS o SET due_at_ms = $4::bigint, state = CASE WHEN o.requests_made = 0
      AND o.due_by = 'event' THEN 'pending' ELSE 'retrying' END FROM next
    WHERE o.delivery = next.delivery RETURNING o.delivery, next.state, o.state AS now_state)`,
  cancelled: `gone AS (DELETE FROM open_deliveries AS o USING next WHERE o.delivery = next.delivery RETURNING o.*),
    kept AS (${keepCancelled('$4')}), moved AS (SELECT delivery, state, 'cancelled' AS now_state FROM gone)`,
};

/** Returns how many; their line is locked by now. */
async function moveOpen(w: ConfigWriting, webhook: Listener, { from, to }: Move): Promise<number> {
  let total = 0;
  const step = (after: number) =>
    w.tx.query(
      `WITH next AS (SELECT delivery, state FROM open_deliveries
          WHERE owner_id = $1 AND listener_id = $2 AND state IN ('${from.join("', '")}') AND delivery > $3::bigint
          ORDER BY delivery LIMIT ${ROWS_PER_STEP}),
        ${MOVES[to]}
        SELECT state, now_state, count(*) AS n, max(delivery) AS last FROM moved GROUP BY state, now_state`,
      webhook.ownerId,
      webhook.id,
      after,
      to === 'held' ? null : w.nowMs,
    );
  await moveInSteps(step, ({ state, now_state: nowState, n }) => {
    w.ledger.moved(webhook.ownerId, 'deliveries', { from: state as string, to: nowState as string, n: n as number });
    total += n as number;
  });
  return total;
}
