// Deployments of workflows and sources, their code, and their pruning.
//
// A transaction that writes, deletes or activates a deployment has the owner's configuration locked. So deploying and pruning
// the same code never overlap, and no deployment is pruned while it is being activated.

import { LIMITS } from '../../domain/limits.ts';
import type { Deployment } from '../../domain/resource.ts';
import type { DeploymentPlace, DeploymentStore } from '../contract/deployments.ts';
import { flag, text } from '../rows/cells.ts';
import { deploymentCells, toDeployment } from '../rows/deployment-rows.ts';
import type { Row } from '../rows/rows.ts';
import type { Seal } from '../seal/seal.ts';
import type { ConfigCore, ConfigDatabase, OpenRunsSql } from './config-database.ts';
import { readPage } from './pages.ts';
import { isAmong, raw, type Sql, sql, tableOf } from './sql.ts';
import { all, type Steps, send } from './steps.ts';

/** Deployments that one step looks at. */
const PRUNED_AT_ONCE = 100;

const FROM = raw('deployments AS d');

/** A deployment with its code, as the text of a JSON object by hash, in one statement: it is never read without its code. */
const COLUMNS = raw(`d.id, d.owner_id, d.runnable_id, d.created_at_ms, d.steps, d.step_props,
  (SELECT '{' || string_agg('"' || c.hash || '":' || c.text, ',') || '}'
    FROM deployment_codes AS u JOIN codes AS c ON c.owner_id = u.owner_id AND c.hash = u.hash
    WHERE u.deployment_id = d.id) AS codes`);

export function deploymentVerbs({ database, seal }: ConfigCore): DeploymentStore {
  const map = (row: Row): Deployment => toDeployment(row, seal);
  return {
    listDeployments: (ownerId, runnableId, page) =>
      readPage(database, {
        from: FROM,
        columns: COLUMNS,
        where: [sql`runnable_id = ${runnableId} AND owner_id = ${ownerId}`],
        countUpTo: LIMITS.countedRecords,
        page,
        map,
      }),

    getDeployment: async (ownerId, id) => {
      const row = await database.get(
        sql`SELECT ${COLUMNS} FROM ${FROM} WHERE d.id = ${id} AND d.owner_id = ${ownerId}`,
      );
      return row && map(row);
    },

    pruneDeployments: (settledMs, after) => pruneSome(database, settledMs, after),
  };
}

/** Inserts a deployment with its code, in the transaction that activates it. */
export function* insertDeployment(deployment: Deployment, seal: Seal): Steps<void> {
  const { id, ownerId, runnableId, createdAtMs } = deployment;
  const { steps, props, codes } = deploymentCells(deployment, seal);
  yield* send(sql`INSERT INTO deployments (id, owner_id, runnable_id, created_at_ms, steps, step_props)
    VALUES (${id}, ${ownerId}, ${runnableId}, ${createdAtMs}, ${steps}, ${props})`);
  if (codes.size === 0) return;
  const named = [...codes].map(([hash, code]) => ({ deployment_id: id, owner_id: ownerId, hash, text: code }));
  yield* send(sql`INSERT INTO codes (owner_id, hash, text)
    SELECT * FROM ${tableOf({ owner_id: 'text', hash: 'text', text: 'text' }, named)} WHERE true ON CONFLICT DO NOTHING`);
  yield* send(sql`INSERT INTO deployment_codes (deployment_id, owner_id, hash)
    SELECT * FROM ${tableOf({ deployment_id: 'text', owner_id: 'text', hash: 'text' }, named)}`);
}

/** Returns a condition on deployment `d`: it is no longer needed (see DeploymentStore). */
function isSpare({ thatGoOn, ofRunnable }: OpenRunsSql, settledMs: number): Sql {
  const kept = LIMITS.deploymentsKept;
  return sql`(NOT EXISTS (SELECT 1 FROM ${thatGoOn})
    AND NOT EXISTS (SELECT 1 FROM operations AS u WHERE u.deployment_id = d.id AND u.state IN ('running', 'paused'))
    AND CASE WHEN EXISTS (SELECT 1 FROM runnables AS r WHERE r.id = d.runnable_id)
      THEN (SELECT count(*) FROM (SELECT 1 FROM deployments AS n WHERE n.runnable_id = d.runnable_id AND n.id > d.id
          ORDER BY n.runnable_id, n.id LIMIT ${kept}) AS newer) = ${kept}
        AND NOT EXISTS (SELECT 1 FROM runnables AS r
          WHERE r.id = d.runnable_id AND (r.deployment_id = d.id OR r.updated_at_ms > ${settledMs}))
        AND NOT EXISTS (SELECT 1 FROM source_changes AS c WHERE c.source_id = d.runnable_id)
      ELSE NOT EXISTS (SELECT 1 FROM ${ofRunnable}) END)`;
}

async function pruneSome(database: ConfigDatabase, settledMs: number, after: DeploymentPlace | null) {
  const isNotNeeded = isSpare(database.openRuns, settledMs);
  const rows = await database.planned(sql`SELECT d.runnable_id, d.id, d.owner_id, ${isNotNeeded} AS is_spare
    FROM ${FROM} WHERE (d.runnable_id, d.id) > (${after?.runnableId ?? ''}, ${after?.id ?? ''})
    ORDER BY d.runnable_id, d.id LIMIT ${PRUNED_AT_ONCE}`);
  const spare = Map.groupBy(
    rows.filter((row) => flag(row, 'is_spare')),
    (row) => text(row, 'owner_id'),
  );
  let deleted = 0;
  for (const [ownerId, some] of spare) {
    const ids = some.map((row) => text(row, 'id'));
    deleted += await database.writeLocked(ownerId, () => deleteSpare(ownerId, ids, isNotNeeded));
  }
  const last = rows.length < PRUNED_AT_ONCE ? undefined : rows.at(-1);
  return { deleted, next: last ? { runnableId: text(last, 'runnable_id'), id: text(last, 'id') } : null };
}

/** Deletes the deployments that are still not needed; the lock keeps them from being activated meanwhile. Returns how many. */
function* deleteSpare(ownerId: string, ids: readonly string[], isNotNeeded: Sql): Steps<number> {
  const gone = yield* all(sql`DELETE FROM deployments AS d WHERE d.id ${isAmong(ids)} AND ${isNotNeeded} RETURNING id`);
  const named = yield* all(sql`DELETE FROM deployment_codes
    WHERE deployment_id ${isAmong(gone.map((row) => text(row, 'id')))} RETURNING hash`);
  yield* send(sql`DELETE FROM codes AS c
    WHERE c.owner_id = ${ownerId} AND c.hash ${isAmong(named.map((row) => text(row, 'hash')))}
      AND NOT EXISTS (SELECT 1 FROM deployment_codes AS u WHERE u.owner_id = c.owner_id AND u.hash = c.hash)`);
  return gone.length;
}
