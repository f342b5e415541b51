// Deployments that one node prunes while another one needs them, or their code; and beside processes of an older version.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { LIMITS } from '../../../src/domain/limits.ts';
import type { Deployment, Workflow } from '../../../src/domain/resource.ts';
import type { Store } from '../../../src/store/contract/store.ts';
import { checkPostgres } from '../../../src/store/postgres/maintenance/check.ts';
import { at, defined, timesInTurn } from '../../contract/fixtures.ts';
import { queryOn } from '../../support/postgres/databases.ts';
import { type Stores, storesOn } from './stores.ts';

const ROUNDS = 25;
const CODE = 'export default () => 1'.padEnd(50_000);
const FAR_MS = 10_000_000_000_000;

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

test('while an older process lives, code stays whole', async () => {
  await using all = await storesOn(1);
  const { stage, stores, url } = all;
  const store = at(stores, 0);
  await queryOn(
    url,
    `INSERT INTO nodes (slot, name, version, started_at_ms, beat_at_ms, seals)
      VALUES (31, 'old', '0.1.0', 0, ${FAR_MS}, true)`,
  );
  const [gone, kept] = [await deploy(all, store), await deploy(all, store)];
  await store.deleteWorkflow(stage.owner.id, gone.runnableId);
  const steps = await queryOn(url, `SELECT steps FROM deployments WHERE id = '${kept.id}'`);
  deepEqual(JSON.parse(steps[0]?.steps), kept.steps);
  equal(await store.shareCode(), false);
  deepEqual(await prune(all, store), { deleted: 0, next: null });
  await queryOn(url, "UPDATE nodes SET gone_at_ms = 1 WHERE name = 'old'");
  equal((await prune(all, store)).deleted, 1);
  while (await store.shareCode());
  const codes = await queryOn(url, `SELECT text FROM codes WHERE length(text) > ${CODE.length} ORDER BY text`);
  ok(codes.length === 2 && codes[1]?.text === JSON.stringify(CODE));
  deepEqual(defined(await store.getDeployment(stage.owner.id, kept.id)), kept);
  deepEqual((await checkPostgres(url)).findings, []);
});
