// What follows from a change of a workflow, beside what is written.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { Settings } from '../../../src/domain/resource.ts';
import { createWorkflows } from '../../../src/engine/resources/workflows.ts';
import type { Store } from '../../../src/store/contract/store.ts';
import { NO_PROP_STORES, runnable } from './parts.ts';

test('looser settings wake what waits, once written', async () => {
  const done: unknown[] = [];
  const store: Partial<Store> = {
    getWorkflow: async () => ({ ...runnable, createdAtMs: 0, updatedAtMs: 0 }),
    getDeployment: async () => ({ id: 'd_1', runnableId: 'p_1', steps: [] }) as never,
    listTriggers: async () => [],
    listTriggerSubscriptions: async () => [],
    updateWorkflow: async ({ workflow }) => done.push(workflow.settings.concurrency) > 0,
  };
  const workflows = createWorkflows({
    store: store as Store,
    clock: { nowMs: () => 0 },
    ids: { next: (prefix) => `${prefix}1`, secret: () => '' },
    runner: { retire: () => undefined } as never,
    waiters: {} as never,
    warm: () => void done.push('warmed'),
    propStores: NO_PROP_STORES,
    wake: { notify: (topic) => void done.push(topic) },
  });
  await workflows.updateWorkflow('u_1', 'p_1', { settings: { concurrency: 9 } as Settings });
  await workflows.activateDeployment('u_1', 'p_1', 'd_1');
  assert.deepEqual(done, [9, 'warmed', 'schedules', 'runs', runnable.settings.concurrency, 'schedules', 'runs']);
});
