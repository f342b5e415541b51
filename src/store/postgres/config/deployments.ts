// Deployments of workflows and sources, their code, and which of them may go.
//
// Whoever writes or deletes one, or makes one the active one, has the owner's version locked (config-write.ts). So one that
// is deployed while another one with the same code is pruned comes before that or behind it, and finds its code or writes
// it; and none is pruned that somebody is just activating.

import { LIMITS } from '../../../domain/limits.ts';
import type { Deployment } from '../../../domain/resource.ts';
import type { DeploymentPlace, DeploymentStore } from '../../contract/deployments.ts';
import { deploymentCells, isSpare, toDeployment } from '../../rows/deployment-rows.ts';
import type { Seal } from '../../seal/seal.ts';
import type { Tx } from '../connection/transaction-connection.ts';
import { arrayLiteral, type Row } from '../connection/values.ts';
import type { Core } from '../core.ts';
import { readPage } from '../pages.ts';
import { lockOwner } from './config-write.ts';

/** Looked at in one step. */
const PRUNED_AT_ONCE = 100;

/** With its code, as the text of a JSON object by hash, in one question: neither is there without the other. */
const COLUMNS = `d.id, d.owner_id, d.runnable_id, d.created_at_ms, d.steps, d.step_props,
  (SELECT '{' || string_agg('"' || c.hash || '":' || c.text, ',') || '}'
    FROM deployment_codes AS u JOIN codes AS c ON c.owner_id = u.owner_id AND c.hash = u.hash
    WHERE u.deployment_id = d.id) AS codes`;

export function deploymentVerbs(core: Core): DeploymentStore {
  const { pool, seal } = core;
  return {
    listDeployments: (ownerId, runnableId, page) => {
      const listing = {
        from: 'deployments AS d',
        columns: COLUMNS,
        key: 'id',
        where: ['runnable_id = $1', 'owner_id = $2'],
        values: [runnableId, ownerId],
        countUpTo: LIMITS.countedRecords,
      };
      return readPage(pool, listing, { page, map: (row) => wholeOf(row, seal) });
    },

    getDeployment: async (ownerId, id) => {
      const row = await pool.get(
        `SELECT ${COLUMNS} FROM deployments AS d WHERE d.id = $1 AND d.owner_id = $2`,
        id,
        ownerId,
      );
      return row && wholeOf(row, seal);
    },

    pruneDeployments: (settledMs, after) => pruneSome(core, settledMs, after),
  };
}

function wholeOf(row: Row, seal: Seal): Deployment {
  const codes = new Map<string, string>(Object.entries(JSON.parse((row.codes as string | null) ?? '{}')));
  return toDeployment(row, seal, (hash) => codes.get(hash));
}

/** In the transaction that makes it the active one. */
export async function insertDeployment(tx: Tx, deployment: Deployment, seal: Seal): Promise<void> {
  const { id, ownerId, runnableId, createdAtMs } = deployment;
  const { steps, props, codes } = deploymentCells(deployment, seal);
  void tx.query(
    `INSERT INTO deployments (id, owner_id, runnable_id, created_at_ms, steps, step_props)
      VALUES ($1, $2, $3, $4, $5, $6)`,
    id,
    ownerId,
    runnableId,
    createdAtMs,
    steps,
    props,
  );
  insertCodes(tx, { id, ownerId, codes });
}

function insertCodes(tx: Tx, of: { id: string; ownerId: string; codes: ReadonlyMap<string, string> }): void {
  if (of.codes.size === 0) return;
  void tx.query(
    `WITH named AS (SELECT * FROM unnest($3::text[], $4::text[]) AS u (hash, text)),
      kept AS (INSERT INTO codes (owner_id, hash, text) SELECT $2, hash, text FROM named ON CONFLICT DO NOTHING)
      INSERT INTO deployment_codes (deployment_id, owner_id, hash) SELECT $1, $2, hash FROM named`,
    of.id,
    of.ownerId,
    arrayLiteral([...of.codes.keys()]),
    arrayLiteral([...of.codes.values()]),
  );
}

const IS_SPARE = isSpare({
  settledMs: '$1::bigint',
  goesOn: 'open_runs AS o WHERE o.carried IS NOT NULL AND o.deployment_id = d.id',
  isOpen: 'open_runs AS o WHERE o.runnable_id = d.runnable_id',
});

async function pruneSome({ pool, config }: Core, settledMs: number, after: DeploymentPlace | null) {
  const rows = await pool.planned(
    `SELECT d.runnable_id, d.id, d.owner_id, ${IS_SPARE} AS is_spare FROM deployments AS d
      WHERE (d.runnable_id, d.id) > ($2, $3) ORDER BY d.runnable_id, d.id LIMIT ${PRUNED_AT_ONCE}`,
    settledMs,
    after?.runnableId ?? '',
    after?.id ?? '',
  );
  const spare = Map.groupBy(
    rows.filter((row) => row.is_spare === true),
    (row) => row.owner_id as string,
  );
  let deleted = 0;
  for (const [ownerId, some] of spare) {
    const ids = arrayLiteral(some.map((row) => row.id as string));
    deleted += await config.transact((tx) => deleteSpare(tx, { ownerId, ids, settledMs }));
  }
  const last = rows.length < PRUNED_AT_ONCE ? undefined : rows.at(-1);
  return { deleted, next: last ? { runnableId: last.runnable_id as string, id: last.id as string } : null };
}

async function deleteSpare(tx: Tx, of: { ownerId: string; ids: string; settledMs: number }): Promise<number> {
  lockOwner(tx, of.ownerId);
  // Looked at again with the lock: one may have been activated meanwhile.
  const gone = await tx.query(
    `DELETE FROM deployments AS d WHERE d.id = ANY($2::text[]) AND ${IS_SPARE} RETURNING d.id`,
    of.settledMs,
    of.ids,
  );
  const named = await tx.query(
    'DELETE FROM deployment_codes WHERE deployment_id = ANY($1::text[]) RETURNING hash',
    arrayLiteral(gone.map((row) => row.id as string)),
  );
  void tx.query(
    `DELETE FROM codes AS c WHERE c.owner_id = $1 AND c.hash = ANY($2::text[])
      AND NOT EXISTS (SELECT 1 FROM deployment_codes AS u WHERE u.owner_id = c.owner_id AND u.hash = c.hash)`,
    of.ownerId,
    arrayLiteral(named.map((row) => row.hash as string)),
  );
  return gone.length;
}
