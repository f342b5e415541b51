// A workflow that is written only while no other one has its name: files that are deployed in two ways at once.

import { deepEqual, equal, rejects } from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NamedWorkflow } from '../../../src/store/contract/resources.ts';
import type { Harness } from '../fixtures.ts';
import { Stage } from '../stage.ts';

const NAME = 'Charge orders';

async function namesOf(stage: Stage): Promise<string[]> {
  const { items } = await stage.store.listWorkflows({ ownerId: stage.owner.id, name: NAME }, { limit: 100 });
  return items.map(({ id }) => id);
}

function create(stage: Stage, onlyNamed: readonly NamedWorkflow[]): Promise<void> {
  const workflow = stage.make.workflow({ name: NAME });
  const deployment = stage.make.deployment(workflow);
  return stage.store.createWorkflow({ workflow, deployment, triggers: [], subscriptions: [], onlyNamed });
}

export function namedWorkflowsContract(harness: Harness): void {
  describe('a workflow with a name of its own', () => {
    it('is one, however many are made at once', async () => {
      await using stage = await Stage.open(harness);
      const made = await Promise.allSettled(Array.from({ length: 8 }, () => create(stage, [])));
      equal(made.filter(({ status }) => status === 'fulfilled').length, 1);
      equal((await namesOf(stage)).length, 1);
    });

    it('is written beside those that were looked at', async () => {
      await using stage = await Stage.open(harness);
      const other = await stage.workflow({ name: NAME });
      await rejects(create(stage, []));
      await rejects(create(stage, [{ id: other.id, deploymentId: 'd_0Vj3aBc9dEfGhIjK' }]));
      deepEqual(await namesOf(stage), [other.id]);
      await create(stage, [other]);
      equal((await namesOf(stage)).length, 2);
    });

    it('is not changed into a name that another one has', async () => {
      await using stage = await Stage.open(harness);
      const [first, second] = [await stage.workflow({ name: NAME }), await stage.workflow({ name: 'Refunds' })];
      const renamed = { ...second, name: NAME };
      const write = { workflow: renamed, deployment: null, triggers: [], subscriptions: [] };
      await rejects(stage.store.updateWorkflow({ ...write, onlyNamed: [] }));
      deepEqual(await namesOf(stage), [first.id]);
      equal(await stage.store.updateWorkflow({ ...write, onlyNamed: [first] }), true);
      equal(await stage.store.updateWorkflow({ ...write, onlyNamed: [first] }), true, 'itself is left out');
    });

    it('does not count those of another owner', async () => {
      await using stage = await Stage.open(harness);
      const neighbour = await stage.neighbour();
      await neighbour.workflow({ name: NAME });
      await create(stage, []);
      equal((await namesOf(stage)).length, 1);
    });
  });
}
