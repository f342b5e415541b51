// Workflows and sources as records: kept as written, replaced as a whole, deleted with what belongs to them.

import { deepEqual, equal, rejects } from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Workflow } from '../../../src/domain/resource.ts';
import { all, at, defined, failed, type Harness, only, START_MS, sameMembers, timesInTurn } from '../fixtures.ts';
import { runsOf } from '../log/counting.ts';
import { Stage } from '../stage.ts';

const SETTINGS = {
  timeoutMs: 1234,
  memoryMb: 99,
  concurrency: 3,
  queueLimit: 7,
  throttle: { limit: 3, intervalMs: 1000 },
  retry: { attempts: 3, baseMs: 10, maxMs: 100, also: ['Timeout'], reportFirst: true },
  notify: false,
  env: { KEY: 'välue', EMPTY: '' },
  grouping: [{ group: 'payments', code: 'E', message: 'card *', step: 'charge' }],
  watch: { silentAfterMs: 60_000, succeededWithinMs: null, errorRatio: { over: 0.2, ofAtLeast: 5, windowMs: 60_000 } },
  channels: ['ch_0Vj3aBc9dEfGhIjK'],
  errorRetention: { days: 90, newest: 1000 },
  globalErrors: 'fallback' as const,
};

const triggersOf = (stage: Stage, workflow: { id: string }) => stage.store.listTriggers(stage.owner.id, workflow.id);

/** Replaces a workflow's record alone; its triggers are given as they shall be. */
function replace(stage: Stage, workflow: Workflow): Promise<boolean> {
  return stage.store.updateWorkflow({ workflow, deployment: null, triggers: [], subscriptions: [] });
}

export function workflowsContract(harness: Harness): void {
  describe('a workflow', () => {
    it('is given back as it was made', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow({ name: 'für “alles”', active: false, settings: SETTINGS });
      deepEqual(await stage.store.getWorkflow(stage.owner.id, workflow.id), workflow);
    });

    it('keeps its code in a deployment', async () => {
      await using stage = await Stage.open(harness);
      const { write, workflow } = await stage.hooked();
      const { deploymentId } = workflow;
      deepEqual(await stage.store.getDeployment(stage.owner.id, deploymentId), write.deployment);
      const { items } = await stage.store.listDeployments(stage.owner.id, workflow.id, { limit: 10 });
      deepEqual(only(items), write.deployment);
    });

    it('keeps its triggers, oldest first', async () => {
      await using stage = await Stage.open(harness);
      const workflow = stage.make.workflow();
      const makers = [
        () => stage.make.httpTrigger(workflow.id, { customResponse: true, tokenHash: 'abc' }),
        () => stage.make.timer(workflow.id, START_MS),
        () => stage.make.httpTrigger(workflow.id),
      ];
      const triggers = makers.map((make) => {
        stage.clock.advance(1);
        return make();
      });
      await stage.write({ workflow, triggers });
      deepEqual(await triggersOf(stage, workflow), triggers);
    });

    it('is replaced whole by an update', async () => {
      await using stage = await Stage.open(harness);
      const { workflow, write } = await stage.hooked();
      const changed = {
        ...workflow,
        name: 'new',
        settings: SETTINGS,
        ...{ deploymentId: stage.ids.next('d_'), updatedAtMs: 5 },
      };
      const deployment = stage.make.deployment(changed);
      equal(await stage.store.updateWorkflow({ ...write, workflow: changed, deployment }), true);
      deepEqual(await stage.store.getWorkflow(stage.owner.id, workflow.id), changed);
      const { items } = await stage.store.listDeployments(stage.owner.id, workflow.id, { limit: 10 });
      deepEqual(
        items.map((d) => d.id),
        [changed.deploymentId, workflow.deploymentId],
      );
      deepEqual(await triggersOf(stage, workflow), write.triggers);
    });

    it('is updated from the version that was read', async () => {
      await using stage = await Stage.open(harness);
      const { workflow, write } = await stage.hooked();
      const to = (name: string, updatedAtMs: number) => ({
        ...write,
        workflow: { ...workflow, name, updatedAtMs },
        deployment: null,
      });
      const ifUpdatedAtMs = workflow.updatedAtMs;
      const both = [to('a', ifUpdatedAtMs + 1), to('b', ifUpdatedAtMs + 2)];
      const made = await Promise.all(both.map((one) => stage.store.updateWorkflow({ ...one, ifUpdatedAtMs })));
      deepEqual(made.toSorted(), [false, true]);
      const { name, updatedAtMs } = defined(await stage.store.getWorkflow(stage.owner.id, workflow.id));
      equal(name, at(both, made.indexOf(true)).workflow.name);
      equal(await stage.store.updateWorkflow({ ...to('c', 1), ifUpdatedAtMs: updatedAtMs }), true);
    });

    it('can roll back to an older deployment', async () => {
      await using stage = await Stage.open(harness);
      const { workflow, trigger, write } = await stage.hooked();
      const newer = { ...workflow, deploymentId: stage.ids.next('d_') };
      await stage.store.updateWorkflow({ ...write, workflow: newer, deployment: stage.make.deployment(newer) });
      await stage.store.updateWorkflow({ ...write, workflow, deployment: null });
      const run = only((await stage.append(trigger.id, {}, all())).claims.runs);
      equal(run.runnable.deploymentId, workflow.deploymentId);
    });

    it('keeps the order in which triggers are given', async () => {
      await using stage = await Stage.open(harness);
      const workflow = stage.make.workflow();
      const [source, neighbour] = [await stage.source(), await stage.neighbour()];
      const triggers = [stage.make.httpTrigger(workflow.id), stage.make.timer(workflow.id, START_MS)];
      const { subscriptions: standing } = await stage.write({ workflow, triggers });
      const shown = () => stage.store.listTriggerSubscriptions(stage.owner.id, workflow.id);
      deepEqual(await shown(), standing);
      // Of a trigger by subscription there is no other record.
      stage.clock.advance(1);
      const heard = stage.make.subscription({ from: source.id, to: workflow.id }, { via: 'trigger' });
      const subscriptions = [heard, at(standing, 1), at(standing, 0)];
      await stage.store.updateWorkflow({ workflow, deployment: null, triggers, subscriptions });
      await stage.subscribe(stage.owner.id, workflow.id);
      deepEqual(await shown(), subscriptions);
      deepEqual(await stage.store.listTriggerSubscriptions(neighbour.owner.id, workflow.id), []);
      await stage.store.updateWorkflow({
        workflow,
        deployment: null,
        triggers,
        subscriptions: subscriptions.toReversed(),
      });
      deepEqual(await shown(), subscriptions.toReversed());
    });

    it('loses triggers that an update leaves out', async () => {
      await using stage = await Stage.open(harness);
      const workflow = stage.make.workflow();
      const triggers = [stage.make.httpTrigger(workflow.id), stage.make.httpTrigger(workflow.id)];
      const write = await stage.write({ workflow, triggers });
      const [gone, kept] = [at(triggers, 0), at(triggers, 1)];
      const subscriptions = write.subscriptions.filter((s) => s.emitterId === kept.id);
      await stage.store.updateWorkflow({ workflow, deployment: null, triggers: [kept], subscriptions });
      deepEqual(await triggersOf(stage, workflow), [kept]);
      deepEqual(await stage.store.triggerByKey(String(kept.key)), kept);
      equal(await stage.store.triggerByKey(String(gone.key)), undefined);
      equal((await stage.append(kept.id)).claims.runsWaiting, true);
      equal((await stage.append(gone.id)).firstRun, null);
      const { items } = await stage.store.listSubscriptions({ ownerId: stage.owner.id }, { limit: 10 });
      deepEqual(items, subscriptions);
    });

    it('takes no trigger of another one', async () => {
      await using stage = await Stage.open(harness);
      const [first, second] = [await stage.hooked(), await stage.hooked()];
      const taken = { ...at(first.write.triggers, 0), runnableId: second.workflow.id, customResponse: true };
      const write = { ...second.write, workflow: { ...second.workflow, name: 'taken' }, deployment: null };
      await rejects(stage.store.updateWorkflow({ ...write, triggers: [taken] }), /another workflow or source/);
      deepEqual(await triggersOf(stage, first.workflow), first.write.triggers);
      deepEqual(await triggersOf(stage, second.workflow), second.write.triggers);
      deepEqual(await stage.store.getWorkflow(stage.owner.id, second.workflow.id), second.workflow);
    });

    it('keeps subscriptions that others made', async () => {
      await using stage = await Stage.open(harness);
      const { workflow, trigger } = await stage.hooked();
      const webhook = await stage.webhook();
      const from = await stage.subscribe(workflow.id, webhook.id);
      const to = await stage.subscribe(webhook.id, workflow.id, '$errors');
      await replace(stage, workflow);
      equal((await stage.append(trigger.id)).firstRun, null);
      const { items } = await stage.store.listSubscriptions({ ownerId: stage.owner.id }, { limit: 10 });
      deepEqual(items, [to, from]);
    });

    it('may swap what triggers it by subscription', async () => {
      await using stage = await Stage.open(harness);
      const [source, workflow] = [await stage.source(), await stage.workflow()];
      const via = { via: 'trigger' } as const;
      const subscriptions = [stage.make.subscription({ from: source.id, to: workflow.id }, via)];
      await stage.store.updateWorkflow({ workflow, deployment: null, triggers: [], subscriptions });
      equal((await stage.append(source.id)).claims.runsWaiting, true);
      await replace(stage, workflow);
      equal((await stage.append(source.id)).firstRun, null);
    });

    it('finds its triggers only while active', async () => {
      await using stage = await Stage.open(harness);
      const { workflow, trigger, write } = await stage.hooked();
      deepEqual(await stage.store.triggerByKey(String(trigger.key)), trigger);
      equal(await stage.store.triggerByKey('unknown'), undefined);
      await stage.store.updateWorkflow({ ...write, deployment: null, workflow: { ...workflow, active: false } });
      equal(await stage.store.triggerByKey(String(trigger.key)), undefined);
      await stage.store.updateWorkflow({ ...write, deployment: null });
      deepEqual(await stage.store.triggerByKey(String(trigger.key)), trigger);
    });

    it('keeps runs in flight on their deployment', async () => {
      await using stage = await Stage.open(harness);
      const { workflow, trigger, write } = await stage.hooked();
      const old = only((await stage.append(trigger.id, {}, all())).claims.runs);
      const changed = { ...workflow, deploymentId: stage.ids.next('d_') };
      await stage.store.updateWorkflow({ ...write, workflow: changed, deployment: stage.make.deployment(changed) });
      const young = only((await stage.append(trigger.id, {}, all())).claims.runs);
      await stage.end(old, failed());
      deepEqual(
        (await runsOf(stage, workflow.id)).map((r) => [r.run, r.deploymentId]),
        [
          [young.run, changed.deploymentId],
          [old.run, workflow.deploymentId],
        ],
      );
      equal(young.runnable.deploymentId, changed.deploymentId);
    });

    it('is not made twice with one id', async () => {
      await using stage = await Stage.open(harness);
      const { workflow, write } = await stage.hooked();
      const again = { ...write, workflow: { ...workflow, name: 'twin' } };
      await rejects(stage.store.createWorkflow(again));
      equal((await stage.store.getWorkflow(stage.owner.id, workflow.id))?.name, workflow.name);
    });
  });

  describe('deleting a workflow', () => {
    it('takes triggers and subscriptions along', async () => {
      await using stage = await Stage.open(harness);
      const { workflow, trigger } = await stage.hooked();
      const [webhook, other] = [await stage.webhook(), await stage.workflow()];
      await stage.subscribe(workflow.id, webhook.id);
      await stage.subscribe(webhook.id, workflow.id, '$errors');
      const kept = await stage.subscribe(webhook.id, other.id, '$errors');
      equal(await stage.store.deleteWorkflow(stage.owner.id, workflow.id), true);
      deepEqual((await stage.store.listSubscriptions({ ownerId: stage.owner.id }, { limit: 9 })).items, [kept]);
      equal(await stage.store.triggerByKey(String(trigger.key)), undefined);
      for (const id of [workflow.id, trigger.id]) equal(await stage.store.exists(stage.owner.id, id), false);
      equal(await stage.store.getWorkflow(stage.owner.id, workflow.id), undefined);
    });

    it('answers false the second time', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      equal(await stage.store.deleteWorkflow(stage.owner.id, workflow.id), true);
      equal(await stage.store.deleteWorkflow(stage.owner.id, workflow.id), false);
      equal(await replace(stage, workflow), false);
      equal(await stage.store.getWorkflow(stage.owner.id, workflow.id), undefined);
    });

    it('cancels its queued runs and no others', async () => {
      await using stage = await Stage.open(harness);
      const [gone, kept] = [await stage.workflow(), await stage.workflow()];
      await timesInTurn(3, () => stage.appendFor(gone.id));
      await stage.appendFor(kept.id);
      await stage.store.deleteWorkflow(stage.owner.id, gone.id);
      const { runs } = await stage.store.ledger(stage.owner.id);
      deepEqual([runs.cancelled, runs.queued], [3, 1]);
      equal(only(await stage.claim()).runnable.id, kept.id);
    });

    it('lets a run in flight come to its end', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const run = await stage.started(workflow);
      await stage.store.deleteWorkflow(stage.owner.id, workflow.id);
      const { errorEntry } = await stage.end(run, failed('Boom'));
      const error = defined(await stage.store.getEmission(stage.owner.id, defined(errorEntry)));
      equal(error.code, 'Boom');
      const { runs, errors } = await stage.store.ledger(stage.owner.id);
      deepEqual([runs.failed, errors], [1, 1]);
    });

    it('cancels a run that comes back later', async () => {
      await using stage = await Stage.open(harness);
      const [gone, kept] = [await stage.workflow(), await stage.workflow()];
      const [a, b] = [await stage.started(gone), await stage.started(kept)];
      await stage.store.deleteWorkflow(stage.owner.id, gone.id);
      await stage.giveBack(a, b);
      equal(only(await stage.claim()).run, b.run);
      const { runs } = await stage.store.ledger(stage.owner.id);
      deepEqual([runs.cancelled, runs.queued, runs.running], [1, 0, 1]);
    });
  });

  describe('a source', () => {
    it('is given back as it was made', async () => {
      await using stage = await Stage.open(harness);
      const source = await stage.source({ dedupe: 'unique', settings: SETTINGS });
      deepEqual(await stage.store.getSource(stage.owner.id, source.id), source);
      const { componentCode: _, ...configured } = source;
      deepEqual(await stage.store.getConfiguredSource(stage.owner.id, source.id), configured);
      const workflow = await stage.workflow();
      equal(await stage.store.getConfiguredSource(stage.owner.id, workflow.id), undefined);
      const other = await stage.neighbour();
      equal(await stage.store.getConfiguredSource(other.owner.id, source.id), undefined);
      const deployment = await stage.store.getDeployment(stage.owner.id, source.deploymentId);
      equal(deployment?.runnableId, source.id);
    });

    it('is replaced whole by an update', async () => {
      await using stage = await Stage.open(harness);
      const source = await stage.source();
      const changed = {
        ...source,
        name: 'b',
        configuredProps: { x: [] },
        componentCode: 'c',
        dedupe: 'unique' as const,
      };
      const write = { source: changed, deployment: null, triggers: [], subscriptions: [] };
      equal(await stage.updateSource(write), true);
      deepEqual(await stage.store.getSource(stage.owner.id, source.id), changed);
    });

    it('goes with triggers, subscriptions and queued runs', async () => {
      await using stage = await Stage.open(harness);
      const source = stage.make.source();
      const trigger = stage.make.httpTrigger(source.id);
      const own = stage.make.subscription({ from: trigger.id, to: source.id }, { via: 'trigger' });
      const write = { source, deployment: null, triggers: [trigger], subscriptions: [own] };
      await stage.store.createSource(write);
      const listener = await stage.workflow();
      await stage.subscribe(source.id, listener.id);
      equal((await stage.append(trigger.id)).claims.runsWaiting, true);
      equal(await stage.deleteSource(source), true);
      equal(await stage.deleteSource(source), false);
      equal(await stage.updateSource(write), false);
      equal(await stage.store.getSource(stage.owner.id, source.id), undefined);
      equal(await stage.store.triggerByKey(String(trigger.key)), undefined);
      equal((await stage.store.listSubscriptions({ ownerId: stage.owner.id }, { limit: 9 })).totalCount, 0);
      equal((await stage.store.ledger(stage.owner.id)).runs.cancelled, 1);
    });

    it('is no workflow, nor the other way', async () => {
      await using stage = await Stage.open(harness);
      const [source, workflow] = [await stage.source(), await stage.workflow()];
      equal(await stage.store.getWorkflow(stage.owner.id, source.id), undefined);
      equal(await stage.store.getSource(stage.owner.id, workflow.id), undefined);
      equal(await stage.store.deleteWorkflow(stage.owner.id, source.id), false);
      equal(await stage.store.deleteSource(stage.owner.id, workflow.id), false);
      const { items } = await stage.store.listWorkflows({ ownerId: stage.owner.id }, { limit: 9 });
      sameMembers(
        items.map((w) => w.id),
        [stage.global.id, workflow.id],
      );
      equal(only((await stage.store.listSources(stage.owner.id, { limit: 9 })).items).id, source.id);
    });
  });
}
