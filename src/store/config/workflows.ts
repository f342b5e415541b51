// Workflows.

import { LIMITS } from '../../domain/limits.ts';
import type { WorkflowStore, WorkflowWrite } from '../contract/resources.ts';
import { text } from '../rows/cells.ts';
import { toWorkflow } from '../rows/runnable-rows.ts';
import type { ConfigCore } from './config-database.ts';
import { readPage } from './pages.ts';
import { deleteRunnable, insertRunnable, updateRunnable } from './runnables.ts';
import { raw, sql } from './sql.ts';
import { all, type Steps } from './steps.ts';

export function workflowVerbs({ database, seal }: ConfigCore): WorkflowStore {
  return {
    createWorkflow: (write) =>
      database.writeRouting(write.workflow.ownerId, function* () {
        yield* checkNamed(write);
        yield* insertRunnable({ ...write, record: write.workflow, seal });
      }),

    updateWorkflow: (write) =>
      database.writeListener(write.workflow, function* (w) {
        yield* checkNamed(write);
        return yield* updateRunnable(w, { ...write, record: write.workflow, seal });
      }),

    deleteWorkflow: async (ownerId, id) =>
      id.startsWith('p_') && database.writeListener({ ownerId, id }, (w) => deleteRunnable(w, { ownerId, id })),

    getWorkflow: async (ownerId, id) => {
      if (!id.startsWith('p_')) return undefined;
      const row = await database.get(sql`SELECT * FROM runnables WHERE id = ${id} AND owner_id = ${ownerId}`);
      return row && toWorkflow(row, seal);
    },

    listWorkflows: ({ ownerId, active, name }, page) =>
      readPage(database, {
        from: raw('runnables'),
        columns: raw('*'),
        where: [
          sql`owner_id = ${ownerId} AND substr(id, 1, 2) = 'p_'`,
          ...(active === undefined ? [] : [sql`active = ${active}`]),
          ...(name === undefined ? [] : [sql`name = ${name}`]),
        ],
        countUpTo: LIMITS.countedRecords,
        page,
        map: (row) => toWorkflow(row, seal),
      }),
  };
}

/** Throws unless exactly the workflows of `onlyNamed` have the name. The owner's configuration is written in turn. */
function* checkNamed({ workflow: { ownerId, id, name }, onlyNamed }: WorkflowWrite): Steps<void> {
  if (onlyNamed === undefined) return;
  const rows = yield* all(sql`SELECT id, deployment_id FROM runnables
    WHERE owner_id = ${ownerId} AND substr(id, 1, 2) = 'p_' AND name = ${name} AND id <> ${id}`);
  const there = rows.map((row) => `${text(row, 'id')} ${text(row, 'deployment_id')}`).sort();
  const known = onlyNamed.map((one) => `${one.id} ${one.deploymentId}`).sort();
  if (there.join() !== known.join()) throw new Error(`the workflows named ${JSON.stringify(name)} have changed`);
}
