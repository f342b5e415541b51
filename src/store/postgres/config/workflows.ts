// Workflows.

import { LIMITS } from '../../../domain/limits.ts';
import type { WorkflowStore } from '../../contract/resources.ts';
import { toWorkflow } from '../../rows/runnable-rows.ts';
import type { Value } from '../connection/values.ts';
import type { Core } from '../core.ts';
import { readPage } from '../pages.ts';
import { configWrite, lineWrite } from './config-write.ts';
import { deleteRunnable, insertRunnable, updateRunnable } from './runnables.ts';

export function workflowVerbs(core: Core): WorkflowStore {
  const { pool } = core;
  return {
    createWorkflow: (write) =>
      configWrite(core, write.workflow.ownerId, ({ tx }) =>
        insertRunnable(tx, { ...write, record: write.workflow, seal: core.seal }),
      ),
    updateWorkflow: async (write) => {
      const isThere = await lineWrite(core, write.workflow, ({ tx }) =>
        updateRunnable(tx, { ...write, record: write.workflow, seal: core.seal }),
      );
      // Other nodes may begin now what its throttle held back.
      core.notices.tell('runs');
      return isThere;
    },
    deleteWorkflow: async (ownerId, id) => id.startsWith('p_') && deleteRunnable(core, { ownerId, id }),

    getWorkflow: async (ownerId, id) => {
      if (!id.startsWith('p_')) return undefined;
      const row = await pool.get('SELECT * FROM runnables WHERE id = $1 AND owner_id = $2', id, ownerId);
      return row && toWorkflow(row, core.seal);
    },

    listWorkflows: ({ ownerId, active, name }, page) => {
      const where = ['owner_id = $1', "id LIKE 'p\\_%'"];
      const values: Value[] = [ownerId];
      if (active !== undefined) where.push(`active = $${values.push(active)}`);
      if (name !== undefined) where.push(`name = $${values.push(name)}`);
      const listing = {
        from: 'runnables',
        columns: '*',
        key: 'id',
        where,
        values,
        countUpTo: LIMITS.countedRecords,
      };
      return readPage(pool, listing, { page, map: (row) => toWorkflow(row, core.seal) });
    },
  };
}
