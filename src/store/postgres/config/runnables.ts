// What workflows and sources have in common: their row, deployments, triggers, and the subscriptions that stand for them.

import type { Deployment, Subscription, Trigger } from '../../../domain/resource.ts';
import { type RunnableRow, runnableCells } from '../../rows/runnable-rows.ts';
import type { Seal } from '../../seal/seal.ts';
import type { Listener } from '../claims/queued-work.ts';
import type { Tx } from '../connection/transaction-connection.ts';
import { arrayLiteral } from '../connection/values.ts';
import type { Core } from '../core.ts';
import { cancelWaiting } from '../runs/cancel.ts';
import { type ConfigWriting, lineWrite } from './config-write.ts';
import { insertDeployment } from './deployments.ts';

export interface RunnableWrite {
  readonly record: RunnableRow;
  readonly deployment: Deployment | null;
  readonly triggers: readonly Trigger[];
  readonly subscriptions: readonly Subscription[];
  readonly seal: Seal;
}

export async function insertRunnable(tx: Tx, write: RunnableWrite): Promise<void> {
  const { record, seal } = write;
  const { settings, props, additional } = runnableCells(record, seal);
  void tx.query(
    `INSERT INTO runnables (id, owner_id, name, active, deployment_id, settings, created_at_ms, updated_at_ms,
      component_code, configured_props, dedupe, secret_props, additional_props)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
    record.id,
    record.ownerId,
    record.name,
    record.active,
    record.deploymentId,
    settings,
    record.createdAtMs,
    record.updatedAtMs,
    record.componentCode ?? null,
    props,
    record.dedupe ?? null,
    record.secretProps === undefined ? null : JSON.stringify(record.secretProps),
    additional,
  );
  await writeParts(tx, write);
}

/** False when it is gone, or the deployment that it names. Its line is locked by then. */
export async function updateRunnable(tx: Tx, write: RunnableWrite): Promise<boolean> {
  const { record, seal } = write;
  const { settings, props, additional } = runnableCells(record, seal);
  const changed = await tx.query(
    `UPDATE runnables SET name = $1, active = $2, deployment_id = $3, settings = $4, updated_at_ms = $5,
      component_code = $6, configured_props = $7, dedupe = $8, secret_props = $9, additional_props = $10
      WHERE id = $11 AND owner_id = $12
        AND ($13::boolean OR EXISTS (SELECT 1 FROM deployments AS d WHERE d.id = $3 AND d.runnable_id = runnables.id))
      RETURNING id`,
    record.name,
    record.active,
    record.deploymentId,
    settings,
    record.updatedAtMs,
    record.componentCode ?? null,
    props,
    record.dedupe ?? null,
    record.secretProps === undefined ? null : JSON.stringify(record.secretProps),
    additional,
    record.id,
    record.ownerId,
    write.deployment !== null,
  );
  if (changed.length === 0) return false;
  // With another throttle its next run may begin at another time: the next claim looks when.
  void tx.query(
    `UPDATE lines SET ready_at_ms = CASE WHEN waiting > 0 THEN 0 END, starts = CASE WHEN $3::boolean THEN starts END
      WHERE owner_id = $1 AND listener_id = $2 AND starts IS NOT NULL`,
    record.ownerId,
    record.id,
    record.settings.throttle !== null,
  );
  removeTriggers(tx, record, write.triggers);
  removeTriggerSubscriptions(tx, record, write.subscriptions);
  await writeParts(tx, write);
  return true;
}

async function writeParts(tx: Tx, write: RunnableWrite): Promise<void> {
  if (write.deployment) await insertDeployment(tx, write.deployment, write.seal);
  putSubscriptions(tx, write.subscriptions);
  await putTriggers(tx, write.triggers);
}

/** Those that are not kept, with whoever heard them and the keys of their callers. */
function removeTriggers(tx: Tx, of: Listener, kept: readonly Trigger[]): void {
  void tx.query(
    `WITH gone AS (DELETE FROM triggers WHERE runnable_id = $1 AND owner_id = $2 AND id <> ALL ($3::text[]) RETURNING id),
      unheard AS (DELETE FROM subscriptions WHERE owner_id = $2 AND emitter_id IN (SELECT id FROM gone))
      DELETE FROM idempotency WHERE trigger_id IN (SELECT id FROM gone)`,
    of.id,
    of.ownerId,
    arrayLiteral(kept.map(({ id }) => id)),
  );
}

function removeTriggerSubscriptions(tx: Tx, of: Listener, kept: readonly Subscription[]): void {
  void tx.query(
    `DELETE FROM subscriptions
      WHERE owner_id = $1 AND listener_id = $2 AND via = 'trigger' AND id <> ALL ($3::text[])`,
    of.ownerId,
    of.id,
    arrayLiteral(kept.map(({ id }) => id)),
  );
}

/**
 * Of a trigger that stands, what may change is changed. Its next tick goes back only with a new schedule: the one that the
 * caller has read may have fired meanwhile, and would fire again.
 */
async function putTriggers(tx: Tx, triggers: readonly Trigger[]): Promise<void> {
  if (triggers.length === 0) return;
  const written = await tx.query(
    `INSERT INTO triggers (id, owner_id, runnable_id, kind, created_at_ms, key, custom_response, token_hash, schedule,
        next_at_ms)
      SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::boolean[],
        $8::text[], $9::text[], $10::bigint[])
      ON CONFLICT (id) DO UPDATE SET custom_response = excluded.custom_response, token_hash = excluded.token_hash,
        schedule = excluded.schedule, next_at_ms = CASE WHEN excluded.next_at_ms IS NULL THEN NULL
          WHEN triggers.schedule = excluded.schedule THEN greatest(triggers.next_at_ms, excluded.next_at_ms)
          ELSE excluded.next_at_ms END
        WHERE triggers.runnable_id = excluded.runnable_id RETURNING id`,
    arrayLiteral(triggers.map((t) => t.id)),
    arrayLiteral(triggers.map((t) => t.ownerId)),
    arrayLiteral(triggers.map((t) => t.runnableId)),
    arrayLiteral(triggers.map((t) => t.kind)),
    arrayLiteral(triggers.map((t) => t.createdAtMs)),
    arrayLiteral(triggers.map((t) => t.key)),
    arrayLiteral(triggers.map((t) => t.customResponse)),
    arrayLiteral(triggers.map((t) => t.tokenHash)),
    arrayLiteral(triggers.map((t) => (t.schedule === null ? null : JSON.stringify(t.schedule)))),
    arrayLiteral(triggers.map((t) => t.nextAtMs)),
  );
  if (written.length < triggers.length) throw new Error('a trigger of this id belongs to another workflow or source');
}

/** Writes subscriptions unless the same ones stand; the standing ones win. */
function putSubscriptions(tx: Tx, subscriptions: readonly Subscription[]): void {
  if (subscriptions.length === 0) return;
  void tx.query(
    `INSERT INTO subscriptions (id, owner_id, emitter_id, listener_id, event_name, via, active, created_at_ms)
      SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::boolean[],
        $8::bigint[])
      ON CONFLICT DO NOTHING`,
    arrayLiteral(subscriptions.map((s) => s.id)),
    arrayLiteral(subscriptions.map((s) => s.ownerId)),
    arrayLiteral(subscriptions.map((s) => s.emitterId)),
    arrayLiteral(subscriptions.map((s) => s.listenerId)),
    arrayLiteral(subscriptions.map((s) => s.eventName)),
    arrayLiteral(subscriptions.map((s) => s.via)),
    arrayLiteral(subscriptions.map((s) => s.active)),
    arrayLiteral(subscriptions.map((s) => s.createdAtMs)),
  );
}

export function putSubscription(tx: Tx, subscription: Subscription): void {
  putSubscriptions(tx, [subscription]);
}

/** Whoever hears it, and whomever it hears. */
export function removeSubscriptions(tx: Tx, of: Listener): void {
  void tx.query(
    'DELETE FROM subscriptions WHERE owner_id = $1 AND (listener_id = $2 OR emitter_id = $2)',
    of.ownerId,
    of.id,
  );
}

/** Removes the row with triggers and subscriptions; cancels what was queued. False when it is not there. */
export async function deleteRunnable(core: Core, which: Listener): Promise<boolean> {
  const isGone = await lineWrite(core, which, (w) => deleteIn(w, { ...which, node: core.node.id }));
  // Callers at other nodes may wait for what was cancelled.
  if (isGone) core.notices.tell('answers');
  return isGone;
}

/** A source: only while that node changes it. */
async function deleteIn(w: ConfigWriting, which: Listener & { node: number }): Promise<boolean> {
  const { tx } = w;
  const { ownerId, id, node } = which;
  const gone = await tx.query(
    `DELETE FROM runnables WHERE id = $1 AND owner_id = $2 AND ($1 NOT LIKE 'dc\\_%'
      OR EXISTS (SELECT 1 FROM source_changes WHERE source_id = $1 AND node = $3)) RETURNING id`,
    id,
    ownerId,
    node,
  );
  if (gone.length === 0) return false;
  void tx.query('DELETE FROM source_changes WHERE source_id = $1', id);
  removeTriggers(tx, which, []);
  removeSubscriptions(tx, which);
  void tx.query('DELETE FROM source_db WHERE source_id = $1', id);
  void tx.query('DELETE FROM dedupe WHERE source_id = $1', id);
  void tx.query('DELETE FROM later_emissions WHERE emitter_id = $1', id);
  await cancelWaiting(w, which);
  return true;
}
