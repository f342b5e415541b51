// Versions of code: what they have in common is stored once for each owner, and those that nobody needs go.

import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { LIMITS } from '../../../src/domain/limits.ts';
import type { Deployment, Source, Workflow } from '../../../src/domain/resource.ts';
import type { DeploymentPlace } from '../../../src/store/contract/deployments.ts';
import { all, at, defined, failed, type Harness, only, timesInTurn, walk } from '../fixtures.ts';
import { Stage } from '../stage.ts';

const KEPT = LIMITS.deploymentsKept;
/** What text in a database does not take as it is. */
const ODD = `a\u0000b\u0001c\ud800 "\\{},é😀`;

/** Deploys workflows and sources with this code. */
async function deploy(stage: Stage, code: string): Promise<Deployment> {
  const workflow = stage.make.workflow();
  const deployment = stage.make.deployment(workflow, code);
  await stage.store.createWorkflow({ workflow, deployment, triggers: [], subscriptions: [] });
  return deployment;
}

const read = (stage: Stage, { id }: Pick<Deployment, 'id'>): Promise<Deployment | undefined> =>
  stage.store.getDeployment(stage.owner.id, id);

/** Deploys it anew, so many times, with code of its own each time; the ids, oldest first. */
function save(stage: Stage, workflow: Workflow, count: number): Promise<string[]> {
  return timesInTurn(count, async (i) => {
    const changed = { ...workflow, deploymentId: stage.ids.next('d_') };
    const deployment = stage.make.deployment(changed, `export default () => ${i} /* ${workflow.id} */`);
    equal(await stage.store.updateWorkflow({ workflow: changed, deployment, triggers: [], subscriptions: [] }), true);
    return deployment.id;
  });
}

function activate(stage: Stage, workflow: Workflow, deploymentId: string): Promise<boolean> {
  const changed = { ...workflow, deploymentId };
  return stage.store.updateWorkflow({ workflow: changed, deployment: null, triggers: [], subscriptions: [] });
}

/** From beginning to end; how many went. */
async function prune(stage: Stage, settledMs = stage.clock.nowMs()): Promise<number> {
  let deleted = 0;
  for (let after: DeploymentPlace | null = null; ; ) {
    const step: Pruned = await stage.store.pruneDeployments(settledMs, after);
    deleted += step.deleted;
    if (step.next === null) return deleted;
    ok(after === null || placeOf(step.next) > placeOf(after), 'each step gets further');
    after = step.next;
  }
}

type Pruned = Awaited<ReturnType<Stage['store']['pruneDeployments']>>;

const placeOf = ({ runnableId, id }: DeploymentPlace): string => `${runnableId} ${id}`;

/** Oldest first. */
async function listed(stage: Stage, runnable: { id: string }): Promise<string[]> {
  const list = await walk<Deployment, string>(
    (page) => stage.store.listDeployments(stage.owner.id, runnable.id, page),
    ({ id }) => id,
    7,
  );
  return list.map(({ id }) => id).reverse();
}

export function deploymentsContract(harness: Harness): void {
  describe('code', () => {
    it('is stored once for each owner', async () => {
      await using stage = await Stage.open(harness);
      const other = await stage.neighbour();
      const code = randomBytes(100_000).toString('hex');
      const made = await timesInTurn(20, () => deploy(stage, code));
      // Forty times, if it were not; and SQLite keeps a log of what it writes.
      const bytes = (await stage.raw()).length;
      ok(bytes < 12 * code.length, `${bytes} bytes for ${code.length}`);
      const others = await deploy(other, code);
      for (const deployment of made) deepEqual(await read(stage, deployment), deployment);
      deepEqual(await read(other, others), others);
      equal(await read(other, at(made, 0)), undefined);
      await stage.execute(`UPDATE codes SET text = '"changed"' WHERE owner_id = '${other.owner.id}'`);
      equal(at(defined(await read(other, others)).steps, 0).code, 'changed');
      deepEqual(await read(stage, at(made, 0)), at(made, 0));
    });

    it('of sources is stored once for each owner', async () => {
      await using stage = await Stage.open(harness);
      const other = await stage.neighbour();
      const componentCode = `export default {} // ${randomBytes(2000).toString('hex')}`;
      const sources = await timesInTurn(100, () => stage.source({ componentCode }));
      const others = await other.source({ componentCode });
      // In the code and in the bundle of its deployment, of each owner; SQLite keeps a log of what it writes.
      const found = (await stage.raw()).split(componentCode).length - 1;
      ok(found <= 8, `${found} times`);
      for (const source of sources) deepEqual(await stage.store.getSource(stage.owner.id, source.id), source);
      deepEqual(await other.store.getSource(other.owner.id, others.id), others);
      const listed = await walk<Source, string>(
        (page) => stage.store.listSources(stage.owner.id, page),
        ({ id }) => id,
        40,
      );
      deepEqual(listed.reverse(), sources);
    });

    it('of a source is that of its active deployment', async () => {
      await using stage = await Stage.open(harness);
      const code = (n: number): string => `export default { version: ${n} }`.padEnd(1000);
      const source = await stage.source({ componentCode: code(0) });
      const versions = await timesInTurn(KEPT + 2, async (n) => {
        const changed = { ...source, deploymentId: stage.ids.next('d_'), componentCode: code(n + 1) };
        const deployment = stage.make.deployment(changed, changed.componentCode);
        equal(await stage.updateSource({ source: changed, deployment, triggers: [], subscriptions: [] }), true);
        return changed;
      });
      const back = at(versions, -2);
      equal(await stage.updateSource({ source: back, deployment: null, triggers: [], subscriptions: [] }), true);
      equal(await prune(stage), 3);
      deepEqual(await stage.store.getSource(stage.owner.id, source.id), back);
    });

    it('of a source cannot be changed without a deployment of it', async () => {
      await using stage = await Stage.open(harness);
      const source = await stage.source({ componentCode: 'export default 1 //'.padEnd(1000) });
      const changed = { ...source, componentCode: 'export default 2 //'.padEnd(1000) };
      const parts = { source: changed, triggers: [], subscriptions: [] };
      equal(await stage.updateSource({ ...parts, deployment: null }), false);
      const other = stage.make.deployment({ ...source, deploymentId: stage.ids.next('d_') }, 'export default 3');
      await rejects(stage.updateSource({ ...parts, deployment: other }), /is not that of its deployment/);
      deepEqual(await stage.store.getSource(stage.owner.id, source.id), source);
    });

    it('of a source is given back whatever is in it', async () => {
      await using stage = await Stage.open(harness);
      for (const componentCode of ['', ODD, ODD.repeat(100)]) {
        const source = await stage.source({ componentCode });
        deepEqual(await stage.store.getSource(stage.owner.id, source.id), source);
      }
    });

    it('is given back whatever is in it', async () => {
      await using stage = await Stage.open(harness);
      for (const code of ['', ODD, ODD.repeat(100)]) {
        const deployment = await deploy(stage, code);
        deepEqual(await read(stage, deployment), deployment);
        const page = await stage.store.listDeployments(stage.owner.id, deployment.runnableId, { limit: 10 });
        deepEqual(only(page.items), deployment);
      }
    });

    it('goes though another owner has the same', async () => {
      await using stage = await Stage.open(harness);
      const other = await stage.neighbour();
      const code = randomBytes(1000).toString('hex');
      const [mine, others] = [await deploy(stage, code), await deploy(other, code)];
      // So that it shows what is found there later.
      await stage.execute(`UPDATE codes SET text = '"mine-${code}"' WHERE owner_id = '${stage.owner.id}'`);
      await stage.store.deleteWorkflow(stage.owner.id, mine.runnableId);
      equal(await prune(stage), 1);
      deepEqual(await read(other, others), others);
      const again = await deploy(stage, code);
      deepEqual(await read(stage, again), again, 'written anew, and not found there');
    });

    it('stays while a deployment has it', async () => {
      await using stage = await Stage.open(harness);
      const other = await stage.neighbour();
      const first = await deploy(stage, 'shared');
      const [second, others] = [await deploy(stage, 'shared'), await deploy(other, 'shared')];
      await stage.store.deleteWorkflow(stage.owner.id, first.runnableId);
      equal(await prune(stage), 1);
      equal(await read(stage, first), undefined);
      deepEqual(await read(stage, second), second);
      await stage.store.deleteWorkflow(stage.owner.id, second.runnableId);
      equal(await prune(stage), 1);
      deepEqual(await read(other, others), others);
      const third = await deploy(stage, 'shared');
      deepEqual(await read(stage, third), third);
    });
  });

  describe('deployments', () => {
    it('go, but those that somebody needs', async () => {
      await using stage = await Stage.open(harness);
      const other = await stage.neighbour();
      const [workflow, others] = [await stage.workflow(), await other.workflow()];
      const run = await stage.waiting(workflow);
      const ids = await save(stage, workflow, 30);
      await save(other, others, 30);
      equal(await activate(stage, workflow, at(ids, 4)), true);
      // The one that is active, and the one with which the run goes on.
      equal(await prune(stage), 9 + 11);
      deepEqual(await listed(stage, workflow), [workflow.deploymentId, at(ids, 4), ...ids.slice(-KEPT)]);
      equal((await listed(other, others)).length, KEPT);
      equal((await stage.pass(LIMITS.maxWaitMs)).queued, 1);
      equal(await prune(stage), 0);
      const again = only(await stage.claim());
      equal(again.runnable.deploymentId, workflow.deploymentId);
      equal(await prune(stage), 0);
      equal(at(defined(await read(stage, { id: workflow.deploymentId })).steps, 0).code, 'export default () => 1');
      await stage.end(again, failed());
      equal(await prune(stage), 1);
      equal(await read(stage, { id: workflow.deploymentId }), undefined);
      const kept = defined(await stage.store.getRun(stage.owner.id, run.run));
      deepEqual([kept.state, kept.deploymentId], ['failed', workflow.deploymentId]);
      deepEqual(await listed(stage, workflow), [at(ids, 4), ...ids.slice(-KEPT)]);
    });

    it('stay while what they belong to was just changed', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      await save(stage, workflow, KEPT);
      equal(await prune(stage, workflow.updatedAtMs - 1), 0);
      equal(await prune(stage, workflow.updatedAtMs), 1);
    });

    it('of a source that is being changed stay', async () => {
      await using stage = await Stage.open(harness);
      const source = await stage.source();
      await timesInTurn(KEPT, async () => {
        const changed = { ...source, deploymentId: stage.ids.next('d_') };
        const deployment = stage.make.deployment(changed);
        equal(await stage.updateSource({ source: changed, deployment, triggers: [], subscriptions: [] }), true);
      });
      const change = { ownerId: stage.owner.id, sourceId: source.id, kind: 'update' } as const;
      await stage.store.beginSourceChange(change);
      equal(await prune(stage), 0);
      await stage.store.endSourceChange(change.ownerId, source.id);
      equal(await prune(stage), 1);
      equal(await read(stage, { id: source.deploymentId }), undefined);
    });

    it('of a workflow that is gone go with its last run', async () => {
      await using stage = await Stage.open(harness);
      const { workflow, trigger } = await stage.hooked();
      const run = only((await stage.append(trigger.id, {}, all())).claims.runs);
      await stage.store.deleteWorkflow(stage.owner.id, workflow.id);
      equal(await prune(stage), 0);
      ok(await read(stage, { id: workflow.deploymentId }));
      await stage.end(run);
      equal(await prune(stage), 1);
      equal(await read(stage, { id: workflow.deploymentId }), undefined);
    });

    it('that are gone are not activated', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const ids = await save(stage, workflow, KEPT);
      await prune(stage);
      equal(await activate(stage, workflow, workflow.deploymentId), false);
      equal(await activate(stage, workflow, (await stage.workflow()).deploymentId), false, 'nor those of others');
      const stands = defined(await stage.store.getWorkflow(stage.owner.id, workflow.id));
      equal(stands.deploymentId, at(ids, -1));
    });

    it('of many workflows are walked over in steps', async () => {
      await using stage = await Stage.open(harness);
      const workflows = await timesInTurn(6, () => stage.workflow());
      for (const workflow of workflows) await save(stage, workflow, KEPT + 1);
      equal(await prune(stage), 6 * 2);
      for (const workflow of workflows) equal((await listed(stage, workflow)).length, KEPT);
    });
  });
}
