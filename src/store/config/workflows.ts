// Workflows.

import { LIMITS } from '../../domain/limits.ts';
import type { WorkflowStore } from '../contract/resources.ts';
import { toWorkflow } from '../rows/runnable-rows.ts';
import type { ConfigCore } from './config-database.ts';
import { readPage } from './pages.ts';
import { deleteRunnable, insertRunnable, updateRunnable } from './runnables.ts';
import { raw, sql } from './sql.ts';

export function workflowVerbs({ database, seal }: ConfigCore): WorkflowStore {
  return {
    createWorkflow: (write) =>
      database.writeRouting(write.workflow.ownerId, () => insertRunnable({ ...write, record: write.workflow, seal })),

    updateWorkflow: (write) =>
      database.writeListener(write.workflow, (w) => updateRunnable(w, { ...write, record: write.workflow, seal })),

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
