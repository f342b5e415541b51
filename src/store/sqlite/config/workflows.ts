// Workflows.

import { LIMITS } from '../../../domain/limits.ts';
import type { WorkflowStore } from '../../contract/resources.ts';
import { toWorkflow } from '../../rows/runnable-rows.ts';
import type { Core } from '../core.ts';
import type { Value } from '../database.ts';
import { readPage } from '../pages.ts';
import { configWrite } from './config-write.ts';
import { deleteRunnable, insertRunnable, updateRunnable } from './runnables.ts';

export function workflowVerbs(core: Core): WorkflowStore {
  const { reader } = core;
  return {
    createWorkflow: (write) => configWrite(core, () => insertRunnable(core, { ...write, record: write.workflow })),
    updateWorkflow: (write) => configWrite(core, () => updateRunnable(core, { ...write, record: write.workflow })),
    deleteWorkflow: async (ownerId, id) =>
      id.startsWith('p_') && configWrite(core, (tx) => deleteRunnable(core, tx, { ownerId, id })),

    getWorkflow: async (ownerId, id) => {
      if (!id.startsWith('p_')) return undefined;
      const row = reader.get('SELECT * FROM runnables WHERE id = ? AND owner_id = ?', id, ownerId);
      return row && toWorkflow(row, core.seal);
    },

    listWorkflows: async ({ ownerId, active, name }, page) => {
      const where = ['owner_id = ?', "id GLOB 'p_*'"];
      const values: Value[] = [ownerId];
      if (active !== undefined) {
        where.push('active = ?');
        values.push(active ? 1 : 0);
      }
      if (name !== undefined) {
        where.push('name = ?');
        values.push(name);
      }
      const listing = {
        from: 'runnables',
        columns: '*',
        key: 'id',
        where,
        values,
        countUpTo: LIMITS.countedRecords,
      };
      return readPage(reader, listing, { page, map: (row) => toWorkflow(row, core.seal) });
    },
  };
}
