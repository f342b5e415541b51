// Many verbs at once: all of them end, none of them harms another.

import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { all, emit, failed, type Harness, none, only, succeeded, times, upTo } from '../fixtures.ts';
import { hashOf } from '../maker.ts';
import { numbered, Stage } from '../stage.ts';
import { assertLedgerAddsUp } from './counting.ts';

export function concurrencyContract(harness: Harness): void {
  describe('at once', () => {
    it('five hundred appends and finishes all end', async () => {
      await using stage = await Stage.open(harness);
      const { trigger } = await stage.hooked();
      const slots = all();
      const ends = times(500, async (i) => {
        const { claims } = await stage.append(trigger.id, { body: numbered(i) }, slots);
        return stage.tryEnd(only(claims.runs), i % 5 === 0 ? failed() : succeeded({ outgoing: [emit('')] }));
      });
      const finished = await Promise.all(ends);
      ok(finished.every((f) => f.held));
      const { emissions, runs, errors } = await stage.store.ledger(stage.owner.id);
      deepEqual([emissions, runs.succeeded, runs.failed, errors, runs.running], [1000, 400, 100, 100, 0]);
    });

    it('each answer belongs to its own verb', async () => {
      await using stage = await Stage.open(harness);
      const { workflow, trigger } = await stage.hooked();
      const appended = await Promise.all(times(100, (i) => stage.append(trigger.id, { body: numbered(i) }, all())));
      for (const [i, { entry, claims, firstRun }] of appended.entries()) {
        const run = only(claims.runs);
        deepEqual([run.emission.entry, run.run, run.runnable.id], [entry, firstRun, workflow.id]);
        deepEqual(new Uint8Array(run.emission.body), numbered(i));
      }
    });

    it('a verb that cannot be fails alone', async () => {
      await using stage = await Stage.open(harness);
      const { trigger, write } = await stage.hooked();
      const webhook = await stage.webhook();
      await stage.subscribe(trigger.id, webhook.id);
      const slots = upTo(30);
      const before = times(20, () => stage.append(trigger.id, {}, slots));
      const poison = [
        stage.store.createWorkflow(write),
        stage.store.createWebhook(webhook),
        stage.store.createKey(stage.key, hashOf('other')),
      ].map((verb) => rejects(verb));
      const after = times(20, () => stage.append(trigger.id, {}, slots));
      const claims = (await Promise.all([...before, ...after])).map((a) => a.claims);
      await Promise.all(poison);
      slots.assertAccountedFor(...claims);
      equal(claims.flatMap((c) => c.runs).length, 30);
      equal((await stage.store.ledger(stage.owner.id)).emissions, 40);
      await assertLedgerAddsUp(stage);
    });

    it('a verb that fails leaves nothing behind', async () => {
      await using stage = await Stage.open(harness);
      const { write, trigger } = await stage.hooked();
      const workflow = stage.make.workflow();
      const first = stage.make.httpTrigger(workflow.id);
      // The last thing to be written is what cannot be: this trigger belongs to another workflow.
      const triggers = [first, { ...trigger, runnableId: workflow.id }];
      const parts = { workflow, deployment: stage.make.deployment(workflow), triggers, subscriptions: [] };
      const under = times(5, () => stage.append(trigger.id));
      await rejects(stage.store.createWorkflow(parts));
      await Promise.all(under);
      equal(await stage.store.getWorkflow(stage.owner.id, workflow.id), undefined);
      equal(await stage.store.getDeployment(stage.owner.id, workflow.deploymentId), undefined);
      equal(await stage.store.exists(stage.owner.id, first.id), false);
      deepEqual(await stage.store.listTriggers(stage.owner.id, write.workflow.id), write.triggers);
    });

    it('one poisoned verb among finishes harms none', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const runs = await Promise.all(times(20, () => stage.started(workflow)));
      const ends = runs.slice(0, 10).map((run) => stage.tryEnd(run, failed(), none()));
      const poison = rejects(stage.store.createWebhook({ ...(await stage.webhook()), ownerId: stage.owner.id }));
      ends.push(...runs.slice(10).map((run) => stage.tryEnd(run, failed(), none())));
      ok((await Promise.all(ends)).every((f) => f.held));
      await poison;
      const { runs: states, errors } = await stage.store.ledger(stage.owner.id);
      deepEqual([states.failed, errors], [20, 20]);
    });

    it('reads see only what is whole', async () => {
      await using stage = await Stage.open(harness);
      const { trigger } = await stage.hooked();
      await stage.subscribe(trigger.id, (await stage.webhook()).id);
      const under = times(200, () => stage.append(trigger.id));
      for (const _ of times(20, () => 0)) {
        const { emissions, runs, deliveries } = await stage.store.ledger(stage.owner.id);
        deepEqual([runs.queued, deliveries.pending], [emissions, emissions]);
      }
      await Promise.all(under);
      equal((await stage.store.ledger(stage.owner.id)).emissions, 200);
    });

    it('claims, appends and finishes keep slots right', async () => {
      await using stage = await Stage.open(harness);
      const { trigger } = await stage.hooked();
      const slots = upTo(40);
      const claims = await Promise.all([
        ...times(30, async () => (await stage.append(trigger.id, {}, slots)).claims),
        ...times(10, () => stage.store.claimRuns(5, slots)),
      ]);
      slots.assertAccountedFor(...claims);
      const runs = claims.flatMap((c) => c.runs).map((r) => r.run);
      equal(new Set(runs).size, runs.length);
      await assertLedgerAddsUp(stage);
    });
  });
}
