// What workflows and sources have in common: their row, deployments, triggers, and the subscriptions that stand for them.

import type { Deployment, Subscription, Trigger } from '../../../domain/resource.ts';
import { type RunnableRow, runnableCells } from '../../rows/runnable-rows.ts';
import type { Core } from '../core.ts';
import type { Transaction } from '../log/transaction.ts';
import { NO_WAIT, OPEN_RUN } from '../partial-index.ts';
import { insertDeployment } from './deployments.ts';

export interface RunnableWrite {
  readonly record: RunnableRow;
  readonly deployment: Deployment | null;
  readonly triggers: readonly Trigger[];
  readonly subscriptions: readonly Subscription[];
}

export function insertRunnable(core: Core, write: RunnableWrite): void {
  const { record } = write;
  const { settings, props, additional } = runnableCells(record, core.seal);
  core.writer.run(
    `INSERT INTO runnables (id, owner_id, name, active, deployment_id, settings, created_at_ms, updated_at_ms,
      component_code, configured_props, dedupe, secret_props, additional_props)
      VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)`,
    record.id,
    record.ownerId,
    record.name,
    record.active ? 1 : 0,
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
  writeParts(core, write);
}

/** False when it is gone, or the deployment that it names. */
export function updateRunnable(core: Core, write: RunnableWrite): boolean {
  const { record } = write;
  const { settings, props, additional } = runnableCells(record, core.seal);
  const changed = core.writer.run(
    `UPDATE runnables SET name = ?, active = ?, deployment_id = ?, settings = ?, updated_at_ms = ?,
      component_code = ?, configured_props = ?, dedupe = ?, secret_props = ?, additional_props = ?
      WHERE id = ? AND owner_id = ?
        AND (? OR EXISTS (SELECT 1 FROM deployments AS d WHERE d.id = ? AND d.runnable_id = runnables.id))`,
    record.name,
    record.active ? 1 : 0,
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
    write.deployment === null ? 0 : 1,
    record.deploymentId,
  );
  if (changed === 0) return false;
  if (record.settings.throttle === null) core.throttles.forget(record.id);
  removeParts(core, write);
  writeParts(core, write);
  return true;
}

function writeParts(core: Core, write: RunnableWrite): void {
  if (write.deployment) insertDeployment(core, write.deployment);
  for (const trigger of write.triggers) putTrigger(core, trigger);
  for (const subscription of write.subscriptions) putSubscription(core, subscription);
}

/** Triggers and trigger subscriptions that the new state no longer has. */
function removeParts(core: Core, write: RunnableWrite): void {
  const keptTriggers = new Set(write.triggers.map((t) => t.id));
  for (const row of core.writer.all('SELECT id FROM triggers WHERE runnable_id = ?', write.record.id)) {
    if (!keptTriggers.has(row.id as string)) removeTrigger(core, write.record.ownerId, row.id as string);
  }
  const kept = new Set(write.subscriptions.map((s) => s.id));
  const own = core.writer.all(
    "SELECT id FROM subscriptions WHERE owner_id = ? AND listener_id = ? AND via = 'trigger'",
    write.record.ownerId,
    write.record.id,
  );
  for (const row of own) {
    if (!kept.has(row.id as string)) core.writer.run('DELETE FROM subscriptions WHERE id = ?', row.id as string);
  }
}

function removeTrigger(core: Core, ownerId: string, triggerId: string): void {
  core.writer.run('DELETE FROM triggers WHERE id = ?', triggerId);
  core.writer.run('DELETE FROM subscriptions WHERE owner_id = ? AND emitter_id = ?', ownerId, triggerId);
  core.writer.run('DELETE FROM idempotency WHERE trigger_id = ?', triggerId);
}

/**
 * Of a trigger that stands, what may change is changed. Its next tick goes back only with a new schedule: the one that the
 * caller has read may have fired meanwhile, and would fire again.
 */
function putTrigger(core: Core, trigger: Trigger): void {
  const { customResponse, tokenHash, nextAtMs } = trigger;
  const schedule = trigger.schedule === null ? null : JSON.stringify(trigger.schedule);
  const changed = core.writer.run(
    `UPDATE triggers SET custom_response = ?1, token_hash = ?2, schedule = ?3,
        next_at_ms = CASE WHEN schedule IS ?3 AND next_at_ms > ?4 THEN next_at_ms ELSE ?4 END
      WHERE id = ?5 AND runnable_id = ?6`,
    customResponse ? 1 : 0,
    tokenHash,
    schedule,
    nextAtMs,
    trigger.id,
    trigger.runnableId,
  );
  if (changed === 1) return;
  core.writer.run(
    `INSERT INTO triggers (id, owner_id, runnable_id, kind, created_at_ms, key, custom_response, token_hash,
      schedule, next_at_ms) VALUES (?,?,?,?,?,?,?,?,?,?)`,
    trigger.id,
    trigger.ownerId,
    trigger.runnableId,
    trigger.kind,
    trigger.createdAtMs,
    trigger.key,
    customResponse ? 1 : 0,
    tokenHash,
    schedule,
    nextAtMs,
  );
}

/** Writes a subscription unless the same one stands; the standing one wins. */
export function putSubscription(core: Core, s: Subscription): void {
  core.writer.run(
    `INSERT OR IGNORE INTO subscriptions (id, owner_id, emitter_id, listener_id, event_name, via, active, created_at_ms)
      VALUES (?,?,?,?,?,?,?,?)`,
    s.id,
    s.ownerId,
    s.emitterId,
    s.listenerId,
    s.eventName,
    s.via,
    s.active ? 1 : 0,
    s.createdAtMs,
  );
}

/** Removes the row with triggers and subscriptions; cancels what was queued. False when it is not there. */
export function deleteRunnable(core: Core, tx: Transaction, which: { ownerId: string; id: string }): boolean {
  const { ownerId, id } = which;
  if (core.writer.run('DELETE FROM runnables WHERE id = ? AND owner_id = ?', id, ownerId) === 0) return false;
  for (const row of core.writer.all('SELECT id FROM triggers WHERE runnable_id = ?', id)) {
    removeTrigger(core, ownerId, row.id as string);
  }
  core.writer.run('DELETE FROM subscriptions WHERE owner_id = ? AND listener_id = ?', ownerId, id);
  core.writer.run('DELETE FROM subscriptions WHERE owner_id = ? AND emitter_id = ?', ownerId, id);
  core.writer.run('DELETE FROM source_db WHERE source_id = ?', id);
  core.writer.run('DELETE FROM dedupe WHERE source_id = ?', id);
  core.writer.run('DELETE FROM later_emissions WHERE emitter_id = ?', id);
  core.throttles.forget(id);
  for (const state of ['queued', 'waiting']) {
    const cancelled = core.writer.run(
      `UPDATE runs SET state = 'cancelled', ended_at_ms = ?, ${NO_WAIT}
        WHERE state = ? AND ${OPEN_RUN} AND runnable_id = ?`,
      tx.nowMs,
      state,
      id,
    );
    if (cancelled > 0) {
      tx.count(ownerId, `runs.${state}`, -cancelled);
      tx.count(ownerId, 'runs.cancelled', cancelled);
    }
    if (state === 'queued') tx.runsOpened(id, -cancelled);
  }
  return true;
}
