// What workflows and sources have in common: their row, deployments, triggers, and the subscriptions of triggers.

import type { Deployment, Subscription, Trigger } from '../../domain/resource.ts';
import { putErrorRetention, removeErrorRetention } from '../log/retention/errors.ts';
import { type NamedCode, namedCode } from '../rows/deployment-rows.ts';
import { type RunnableRow, runnableCells } from '../rows/runnable-rows.ts';
import type { Seal } from '../seal/seal.ts';
import type { Listener, Writing } from './config-database.ts';
import { insertDeployment } from './deployments.ts';
import { resolveGroups } from './error-groups.ts';
import { type Sql, sql } from './sql.ts';
import { get, type Steps, send, work } from './steps.ts';
import { putTriggerSubscriptions, removeSubscriptions, removeTriggerSubscriptions } from './subscriptions.ts';
import { putTriggers, removeTriggers } from './triggers.ts';
import { unwatch, watchRunnable } from './watch/watches.ts';

export interface RunnableWrite {
  readonly record: RunnableRow;
  readonly deployment: Deployment | null;
  readonly triggers: readonly Trigger[];
  readonly subscriptions: readonly Subscription[];
  /** As in SourceWrite. */
  readonly keepsTriggers?: boolean;
  readonly seal: Seal;
  /** Updates the row of this version alone. */
  readonly ifUpdatedAtMs?: number;
}

interface RunnableCells {
  readonly settings: string;
  readonly component: NamedCode;
  readonly props: string | null;
  readonly dedupe: string | null;
  readonly secretProps: string | null;
  readonly additional: string | null;
}

const NO_CODE: NamedCode = { code: null, hash: null };

/** Returns the columns that differ from the record's fields. */
function cellsOf({ record, deployment, seal }: RunnableWrite): RunnableCells {
  const { componentCode, dedupe = null, secretProps } = record;
  const component = componentCode === undefined ? NO_CODE : namedCode(componentCode);
  if (deployment && component.hash !== null && deployment.steps[0]?.code !== componentCode)
    throw new Error(`the code of source ${record.id} is not that of its deployment`);
  const secret = secretProps === undefined ? null : JSON.stringify(secretProps);
  return { ...runnableCells(record, seal), component, dedupe, secretProps: secret };
}

export function* insertRunnable(write: RunnableWrite): Steps<void> {
  const { record } = write;
  const cells = cellsOf(write);
  yield* send(sql`INSERT INTO runnables (id, owner_id, name, active, deployment_id, settings, created_at_ms,
      updated_at_ms, component_code, component_code_hash, configured_props, dedupe, secret_props, additional_props)
    VALUES (${record.id}, ${record.ownerId}, ${record.name}, ${record.active}, ${record.deploymentId},
      ${cells.settings}, ${record.createdAtMs}, ${record.updatedAtMs}, ${cells.component.code}, ${cells.component.hash},
      ${cells.props}, ${cells.dedupe}, ${cells.secretProps}, ${cells.additional})`);
  yield* writeParts(write);
}

/**
 * Updates the row. Returns false when the row, or the deployment that it names, is gone, or does not have the long code of the record, or
 * the row has another version.
 * The caller has locked its queue.
 */
export function* updateRunnable(w: Writing, write: RunnableWrite): Steps<boolean> {
  const { record, deployment, keepsTriggers = false } = write;
  const cells = cellsOf(write);
  const hasDeployment = deployment === null ? isThere(record.deploymentId, cells.component.hash) : sql`true`;
  const written = yield* get(sql`UPDATE runnables SET name = ${record.name}, active = ${record.active},
      deployment_id = ${record.deploymentId}, settings = ${cells.settings}, updated_at_ms = ${record.updatedAtMs},
      component_code = ${cells.component.code}, component_code_hash = ${cells.component.hash},
      configured_props = ${cells.props}, dedupe = ${cells.dedupe},
      secret_props = ${cells.secretProps}, additional_props = ${cells.additional}
    WHERE id = ${record.id} AND owner_id = ${record.ownerId} AND ${hasDeployment}
      AND ${isOfVersion(write.ifUpdatedAtMs)} RETURNING id`);
  if (!written) return false;
  yield* work(() => w.throttleChanged(record, record.settings.throttle !== null));
  if (!keepsTriggers) yield* removeOtherTriggers(write);
  yield* writeParts(write);
  return true;
}

function* removeOtherTriggers({ record, triggers, subscriptions }: RunnableWrite): Steps<void> {
  yield* removeTriggers(
    record,
    triggers.map((trigger) => trigger.id),
  );
  yield* removeTriggerSubscriptions(
    record,
    subscriptions.map((subscription) => subscription.id),
  );
}

/** Returns a condition on a row that callers change; undefined: any version. */
export function isOfVersion(updatedAtMs: number | undefined): Sql {
  return updatedAtMs === undefined ? sql`true` : sql`updated_at_ms = ${updatedAtMs}`;
}

/** Returns a condition on a row of `runnables`: the deployment is there, and names the code. Without it, a source has no code. */
function isThere(deploymentId: string, hash: string | null): Sql {
  const isDeployed = sql`EXISTS (SELECT 1 FROM deployments AS d WHERE d.id = ${deploymentId} AND d.runnable_id = runnables.id)`;
  if (hash === null) return isDeployed;
  return sql`${isDeployed} AND EXISTS (SELECT 1 FROM deployment_codes AS u
    WHERE u.deployment_id = ${deploymentId} AND u.hash = ${hash})`;
}

function* writeParts(write: RunnableWrite): Steps<void> {
  const { record, deployment, triggers, subscriptions, keepsTriggers = false, seal } = write;
  if (deployment) yield* insertDeployment(deployment, seal);
  if (!keepsTriggers) {
    yield* putTriggerSubscriptions(record, subscriptions);
    yield* putTriggers(triggers);
  }
  yield* watchRunnable(record);
  yield* putErrorRetention(record);
}

/**
 * Deletes the row with triggers and subscriptions, and cancels its queued runs. Returns false when there is no such row.
 * `only`: a condition on the row.
 */
export function* deleteRunnable(w: Writing, which: Listener, only: Sql = sql`true`): Steps<boolean> {
  const { ownerId, id } = which;
  const gone = yield* get(
    sql`DELETE FROM runnables WHERE id = ${id} AND owner_id = ${ownerId} AND ${only} RETURNING id`,
  );
  if (!gone) return false;
  yield* send(sql`DELETE FROM source_changes WHERE source_id = ${id}`);
  yield* removeTriggers(which, []);
  yield* unwatch(which);
  yield* removeErrorRetention(which);
  yield* removeSubscriptions(which);
  yield* send(sql`DELETE FROM source_db WHERE source_id = ${id}`);
  yield* send(sql`DELETE FROM dedupe WHERE source_id = ${id}`);
  yield* send(sql`DELETE FROM later_emissions WHERE emitter_id = ${id}`);
  yield* work(() => w.cancelRuns(which));
  yield* resolveGroups(which, w.nowMs);
  return true;
}
