// Deployments that one node prunes while another one needs them, or their code.

import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import { LIMITS } from '../../../../src/domain/limits.ts';
import type { Deployment, Workflow } from '../../../../src/domain/resource.ts';
import type { Store } from '../../../../src/store/contract/store.ts';
import { checkPostgres } from '../../../../src/store/postgres/maintenance/check.ts';
import { at, timesInTurn } from '../../../contract/fixtures.ts';
import { timesOf } from '../../../support/data/thorough.ts';
import { type Stores, storesOn } from '../stores.ts';

const ROUNDS = timesOf(25, 8);
const CODE = 'export default () => 1'.padEnd(50_000);

async function deploy({ stage }: Stores, node: Store): Promise<Deployment> {
  const workflow = stage.make.workflow();
  const deployment = stage.make.deployment(workflow, CODE);
  await node.createWorkflow({ workflow, deployment, triggers: [], subscriptions: [] });
  return deployment;
}

const prune = ({ clock }: Stores, node: Store) => node.pruneDeployments(clock.nowMs(), null);

const activate = (node: Store, workflow: Workflow, deploymentId: string): Promise<boolean> =>
  node.updateWorkflow({ workflow: { ...workflow, deploymentId }, deployment: null, triggers: [], subscriptions: [] });

test('code that is deployed while it is pruned stays', async () => {
  await using all = await storesOn(2);
  const { stage, stores, url } = all;
  const [one, two] = [at(stores, 0), at(stores, 1)];
  for (let n = 0; n < ROUNDS; n++) {
    const { ownerId, runnableId } = await deploy(all, one);
    await one.deleteWorkflow(ownerId, runnableId);
    const [{ deleted }, made] = await Promise.all([prune(all, one), deploy(all, two)]);
    equal(deleted, 1);
    deepEqual(await one.getDeployment(stage.owner.id, made.id), made);
    await two.deleteWorkflow(ownerId, made.runnableId);
    await Promise.all([prune(all, one), prune(all, two)]);
    equal(await one.getDeployment(stage.owner.id, made.id), undefined);
  }
  deepEqual((await checkPostgres(url)).findings, []);
});

test('what is activated while it is pruned is there or refused', async () => {
  await using all = await storesOn(2);
  const { stage, stores, url } = all;
  const [one, two] = [at(stores, 0), at(stores, 1)];
  for (let n = 0; n < ROUNDS; n++) {
    const workflow = await stage.workflow();
    await timesInTurn(LIMITS.deploymentsKept, () => {
      const changed = { ...workflow, deploymentId: stage.ids.next('d_') };
      const deployment = stage.make.deployment(changed);
      return one.updateWorkflow({ workflow: changed, deployment, triggers: [], subscriptions: [] });
    });
    const old = workflow.deploymentId;
    const [isDone] = await Promise.all([activate(two, workflow, old), prune(all, one)]);
    equal((await one.getDeployment(stage.owner.id, old)) !== undefined, isDone);
    await stage.store.deleteWorkflow(stage.owner.id, workflow.id);
    await prune(all, one);
  }
  deepEqual((await checkPostgres(url)).findings, []);
});
