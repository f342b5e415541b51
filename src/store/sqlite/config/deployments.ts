// Deployments of workflows and sources, their code, and which of them may go.

import { LIMITS } from '../../../domain/limits.ts';
import type { Deployment } from '../../../domain/resource.ts';
import type { DeploymentPlace, DeploymentStore } from '../../contract/deployments.ts';
import { deploymentCells, type FindCode, isSpare, type KeptCode, toDeployment } from '../../rows/deployment-rows.ts';
import type { Core } from '../core.ts';
import type { Connection } from '../database.ts';
import { readPage } from '../pages.ts';
import { OPEN_RUN } from '../partial-index.ts';

/** Looked at in one transaction. */
const PRUNED_AT_ONCE = 100;

export function deploymentVerbs(core: Core): DeploymentStore {
  const { reader, writer, seal } = core;
  return {
    listDeployments: async (ownerId, runnableId, page) => {
      const listing = {
        from: 'deployments',
        columns: '*',
        key: 'id',
        where: ['runnable_id = ?', 'owner_id = ?'],
        values: [runnableId, ownerId],
        countUpTo: LIMITS.countedRecords,
      };
      const find = finder(reader, ownerId);
      return readPage(reader, listing, { page, map: (row) => toDeployment(row, seal, find) });
    },

    getDeployment: async (ownerId, id) => {
      const row = reader.get('SELECT * FROM deployments WHERE id = ? AND owner_id = ?', id, ownerId);
      return row && toDeployment(row, seal, finder(reader, ownerId));
    },

    pruneDeployments: (settledMs, after) => core.batch.write(() => pruneSome(writer, settledMs, after)),
  };
}

function finder(reader: Connection, ownerId: string): FindCode {
  const found = new Map<string, string | undefined>();
  return (hash) => {
    if (!found.has(hash)) {
      const row = reader.get('SELECT text FROM codes WHERE owner_id = ? AND hash = ?', ownerId, hash);
      found.set(hash, row && (JSON.parse(row.text as string) as string));
    }
    return found.get(hash);
  };
}

/** In the transaction that makes it the active one. */
export function insertDeployment({ writer, seal }: Core, deployment: Deployment): void {
  const { id, ownerId, runnableId, createdAtMs } = deployment;
  const { steps, props, codes } = deploymentCells(deployment, seal);
  writer.run(
    `INSERT INTO deployments (id, owner_id, runnable_id, created_at_ms, steps, step_props)
      VALUES (?,?,?,?,?,?)`,
    id,
    ownerId,
    runnableId,
    createdAtMs,
    steps,
    props,
  );
  insertCodes(writer, { id, ownerId, codes });
}

function insertCodes(writer: Connection, of: { id: string; ownerId: string } & Pick<KeptCode, 'codes'>): void {
  for (const [hash, text] of of.codes) {
    writer.run('INSERT OR IGNORE INTO codes (owner_id, hash, text) VALUES (?,?,?)', of.ownerId, hash, text);
    writer.run('INSERT INTO deployment_codes (deployment_id, owner_id, hash) VALUES (?,?,?)', of.id, of.ownerId, hash);
  }
}

const IS_SPARE = isSpare({
  settledMs: '?1',
  goesOn: 'runs AS o WHERE o.carried IS NOT NULL AND o.deployment_id = d.id',
  isOpen: `runs AS o WHERE o.${OPEN_RUN} AND o.runnable_id = d.runnable_id`,
});

function pruneSome(writer: Connection, settledMs: number, after: DeploymentPlace | null) {
  const rows = writer.all(
    `SELECT d.runnable_id, d.id, ${IS_SPARE} AS is_spare FROM deployments AS d
      WHERE (d.runnable_id, d.id) > (?2, ?3) ORDER BY d.runnable_id, d.id LIMIT ${PRUNED_AT_ONCE}`,
    settledMs,
    after?.runnableId ?? '',
    after?.id ?? '',
  );
  const spare = rows.filter((row) => row.is_spare === 1);
  for (const row of spare) deleteDeployment(writer, row.id as string);
  const last = rows.length < PRUNED_AT_ONCE ? undefined : rows.at(-1);
  const next = last ? { runnableId: last.runnable_id as string, id: last.id as string } : null;
  return { deleted: spare.length, next };
}

function deleteDeployment(writer: Connection, id: string): void {
  const named = writer.all('SELECT owner_id, hash FROM deployment_codes WHERE deployment_id = ?', id);
  writer.run('DELETE FROM deployments WHERE id = ?', id);
  writer.run('DELETE FROM deployment_codes WHERE deployment_id = ?', id);
  for (const row of named) {
    writer.run(
      `DELETE FROM codes WHERE owner_id = ?1 AND hash = ?2
        AND NOT EXISTS (SELECT 1 FROM deployment_codes WHERE owner_id = ?1 AND hash = ?2)`,
      row.owner_id as string,
      row.hash as string,
    );
  }
}
