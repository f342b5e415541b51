// Owners and keys; and that nothing of one owner is there for another.

import { deepEqual, equal, rejects } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ERRORS } from '../../../src/domain/emission.ts';
import type { Webhook } from '../../../src/domain/resource.ts';
import type { OwnerWrite } from '../../../src/store/contract/resources.ts';
import {
  all,
  at,
  CountingIds,
  defined,
  failed,
  type Harness,
  only,
  sameMembers,
  TestClock,
  times,
} from '../fixtures.ts';
import { hashOf, Maker } from '../maker.ts';
import { Stage } from '../stage.ts';

function ownerWrite(make: Maker, secret: string): OwnerWrite {
  const workflow = make.workflow();
  const whole = { workflow, deployment: make.deployment(workflow), triggers: [], subscriptions: [] };
  return {
    owner: make.owner({ globalErrorWorkflowId: workflow.id }),
    key: make.key(),
    keyHash: hashOf(secret),
    workflow: whole,
  };
}

export function ownersContract(harness: Harness): void {
  describe('an owner', () => {
    it('comes with its workflow and its key', async () => {
      await using stage = await Stage.open(harness);
      deepEqual(await stage.store.getOwner(stage.owner.id), stage.owner);
      deepEqual(await stage.store.getWorkflow(stage.owner.id, stage.global.id), stage.global);
      deepEqual(await stage.store.keyByHash(stage.keyHash), stage.key);
      deepEqual(await stage.store.listOwners(), [stage.owner]);
    });

    it('comes whole or not at all', async () => {
      await using stage = await Stage.open(harness);
      const id = stage.ids.next('u_');
      const owner = { ...stage.owner, id };
      const [key, keyHash] = [stage.make.key({ ownerId: id }), hashOf('another')];
      // The workflow's id is taken already.
      const workflow = { workflow: stage.global, deployment: null, triggers: [], subscriptions: [] };
      await rejects(stage.store.createOwner({ owner, key, keyHash, workflow }));
      equal(await stage.store.getOwner(id), undefined);
      equal(await stage.store.keyByHash(keyHash), undefined);
      deepEqual(await stage.store.listOwners(), [stage.owner]);
    });

    it('is made only where there is room', async () => {
      await using stage = await Stage.open(harness);
      const next = () => {
        const id = stage.ids.next('u_');
        const workflow = { ...stage.global, id: stage.ids.next('p_'), ownerId: id, deploymentId: stage.ids.next('d_') };
        const owner = { ...stage.owner, id, globalErrorWorkflowId: workflow.id };
        const whole = { workflow, deployment: null, triggers: [], subscriptions: [] };
        return { owner, key: stage.make.key({ ownerId: id }), keyHash: hashOf(id), workflow: whole };
      };
      equal(await stage.store.createOwner(next(), 1), false);
      deepEqual(await stage.store.listOwners(), [stage.owner]);
      const made = await Promise.all(times(5, () => stage.store.createOwner(next(), 3)));
      equal(made.filter(Boolean).length, 2);
      equal((await stage.store.listOwners()).length, 3);
      equal(await stage.store.createOwner(next()), true);
    });

    it('is replaced by an update', async () => {
      await using stage = await Stage.open(harness);
      const changed = { ...stage.owner, name: 'Grace', email: null, digestWindowMs: 5, updatedAtMs: 9 };
      equal(await stage.store.updateOwner({ ...changed, name: 'late' }, stage.owner.updatedAtMs - 1), false);
      equal(await stage.store.updateOwner(changed, stage.owner.updatedAtMs), true);
      deepEqual(await stage.store.getOwner(stage.owner.id), changed);
      equal(await stage.store.getOwner('u_0000000000009999'), undefined);
    });

    it('survives that the store is reopened', async () => {
      await using stage = await Stage.open(harness);
      const other = await stage.neighbour();
      await stage.reopen();
      sameMembers(
        (await stage.store.listOwners()).map((o) => o.id),
        [stage.owner.id, other.owner.id],
      );
      deepEqual(await stage.store.keyByHash(other.keyHash), other.key);
    });
  });

  describe('a first owner', () => {
    it('is made whole in an empty store', async () => {
      const clock = new TestClock();
      await using opened = await harness.open({ clock });
      const { store } = opened;
      const write = ownerWrite(new Maker(clock, new CountingIds()), 'a');
      equal(await store.createFirstOwner(write), true);
      deepEqual(await store.listOwners(), [write.owner]);
      deepEqual(await store.keyByHash(write.keyHash), write.key);
      deepEqual(await store.getWorkflow(write.owner.id, write.workflow.workflow.id), write.workflow.workflow);
    });

    it('is made once, however many come', async () => {
      const [clock, ids] = [new TestClock(), new CountingIds()];
      await using opened = await harness.open({ clock });
      const { store } = opened;
      const writes = times(8, (n) => ownerWrite(new Maker(clock, ids), `key ${n}`));
      const answers = await Promise.all(writes.map((write) => store.createFirstOwner(write)));
      const made = only(writes.filter((_, n) => answers[n]));
      deepEqual(await store.listOwners(), [made.owner]);
      for (const { owner, keyHash, workflow } of writes.filter((write) => write !== made)) {
        equal(await store.keyByHash(keyHash), undefined);
        equal(await store.getWorkflow(owner.id, workflow.workflow.id), undefined);
      }
      deepEqual(await store.keyByHash(made.keyHash), made.key);
    });

    it('is refused when there is an owner', async () => {
      await using stage = await Stage.open(harness);
      const write = ownerWrite(new Maker(stage.clock, stage.ids), 'late');
      equal(await stage.store.createFirstOwner(write), false);
      await stage.reopen();
      equal(await stage.store.createFirstOwner(write), false);
      deepEqual(await stage.store.listOwners(), [stage.owner]);
      equal(await stage.store.keyByHash(write.keyHash), undefined);
    });
  });

  describe('a key', () => {
    it('keeps its end and its maker', async () => {
      await using stage = await Stage.open(harness);
      const made = stage.make.key({
        scopes: ['keys', 'account'],
        expiresAtMs: stage.clock.nowMs() + 5000,
        createdBy: stage.key.id,
        workflowId: 'p_0000000000000001',
      });
      await stage.store.createKey(made, hashOf('ends'));
      stage.clock.advance(5000);
      deepEqual(await stage.store.keyByHash(hashOf('ends')), made, 'expired or not: that is for the caller to judge');
      await stage.reopen();
      deepEqual(
        (await stage.store.listKeys(stage.owner.id)).find(({ id }) => id === made.id),
        made,
      );
    });

    it('remembers its latest use', async () => {
      await using stage = await Stage.open(harness);
      for (const atMs of [3000, 9000, 5000]) await stage.store.touchKey(stage.key.id, atMs);
      await stage.store.touchKey('key_0000000000009999', 1);
      await stage.reopen();
      equal((await stage.store.keyByHash(stage.keyHash))?.lastUsedAtMs, 9000);
      await stage.store.revokeKey(stage.owner.id, stage.key.id, 1);
      await stage.store.touchKey(stage.key.id, 10_000);
      equal((await stage.store.listKeys(stage.owner.id))[0]?.lastUsedAtMs, 10_000);
    });

    it('is found by its hash alone', async () => {
      await using stage = await Stage.open(harness);
      const key = stage.make.key({ label: 'für “CI”', scopes: ['read', 'write', 'admin'] });
      await stage.store.createKey(key, hashOf('a'));
      deepEqual(await stage.store.keyByHash(hashOf('a')), key);
      const ofService = stage.make.key({ scopes: ['ingest'], workflowId: 'p_1', service: 'Ladenkasse “1”' });
      await stage.store.createKey(ofService, hashOf('c'));
      await stage.reopen();
      deepEqual(await stage.store.keyByHash(hashOf('c')), ofService);
      equal(await stage.store.keyByHash(hashOf('b')), undefined);
      equal(await stage.store.keyByHash(key.id), undefined);
    });

    it('is unknown from its revocation on', async () => {
      await using stage = await Stage.open(harness);
      const [gone, kept] = [stage.make.key(), stage.make.key()];
      await stage.store.createKey(gone, hashOf('a'));
      await stage.store.createKey(kept, hashOf('b'));
      equal(await stage.store.revokeKey(stage.owner.id, gone.id, 77), true);
      equal(await stage.store.keyByHash(hashOf('a')), undefined);
      deepEqual(await stage.store.keyByHash(hashOf('b')), kept);
      await stage.reopen();
      equal(await stage.store.keyByHash(hashOf('a')), undefined);
    });

    it('stays listed after its revocation', async () => {
      await using stage = await Stage.open(harness);
      const key = stage.make.key();
      await stage.store.createKey(key, hashOf('a'));
      await stage.store.revokeKey(stage.owner.id, key.id, 77);
      const keys = await stage.store.listKeys(stage.owner.id);
      equal(keys.length, 2);
      deepEqual(
        keys.find((k) => k.id === key.id),
        { ...key, revokedAtMs: 77 },
      );
    });

    it('cannot be revoked by another owner', async () => {
      await using stage = await Stage.open(harness);
      const other = await stage.neighbour();
      equal(await stage.store.revokeKey(stage.owner.id, other.key.id, 1), false);
      equal(await stage.store.revokeKey(stage.owner.id, 'key_0000000000009999', 1), false);
      deepEqual(await stage.store.keyByHash(other.keyHash), other.key);
    });

    it('counts how often its sessions were ended', async () => {
      await using stage = await Stage.open(harness);
      const [other, second, gone] = [await stage.neighbour(), stage.make.key(), stage.make.key()];
      await stage.store.createKey(second, hashOf('a'));
      await stage.store.createKey(gone, hashOf('b'));
      await stage.store.revokeKey(stage.owner.id, gone.id, 77);
      equal(await stage.store.endSessions(stage.owner.id, second.id), 1);
      equal(await stage.store.endSessions(stage.owner.id, null), 2, 'the revoked one has none');
      equal(await stage.store.endSessions(stage.owner.id, other.key.id), 0, 'of another owner');
      await stage.reopen();
      const epochs = [stage.keyHash, hashOf('a'), other.keyHash].map(async (hash) => {
        return (await stage.store.keyByHash(hash))?.sessionEpoch;
      });
      deepEqual(await Promise.all(epochs), [1, 2, 0]);
    });

    it('hash is not given out twice', async () => {
      await using stage = await Stage.open(harness);
      await rejects(stage.store.createKey(stage.make.key(), stage.keyHash));
      deepEqual(await stage.store.keyByHash(stage.keyHash), stage.key);
    });
  });

  describe('existence', () => {
    it('is told of every kind of id', async () => {
      await using stage = await Stage.open(harness);
      const { workflow, trigger } = await stage.hooked();
      const timed = stage.make.workflow();
      const timer = at((await stage.write({ workflow: timed, triggers: [stage.make.timer(timed.id, 1)] })).triggers, 0);
      const [source, webhook] = [await stage.source(), await stage.webhook()];
      for (const id of [stage.owner.id, workflow.id, trigger.id, timer.id, source.id, webhook.id]) {
        equal(await stage.store.exists(stage.owner.id, id), true, id);
      }
      for (const prefix of ['u_', 'p_', 'dc_', 'wh_', 'hi_', 'ti_', '']) {
        equal(await stage.store.exists(stage.owner.id, `${prefix}0000000000009999`), false, prefix);
      }
    });
  });

  describe('another owner', () => {
    it('reads nothing of what is configured', async () => {
      await using stage = await Stage.open(harness);
      const { store } = stage;
      const other = (await stage.neighbour()).owner.id;
      const { workflow, trigger } = await stage.hooked();
      const [source, webhook] = [await stage.source(), await stage.webhook()];
      const subscription = await stage.subscribe(workflow.id, webhook.id);
      const page = { limit: 10 };
      const empty = { totalCount: 0, items: [] };
      equal(await store.getWorkflow(other, workflow.id), undefined);
      equal(await store.getSource(other, source.id), undefined);
      equal(await store.getWebhook(other, webhook.id), undefined);
      equal(await store.getSubscription(other, subscription.id), undefined);
      equal(await store.getDeployment(other, workflow.deploymentId), undefined);
      deepEqual(await store.listDeployments(other, workflow.id, page), empty);
      deepEqual(await store.listTriggers(other, workflow.id), []);
      deepEqual(await store.listSources(other, page), empty);
      deepEqual(await store.listWebhooks(other, page), empty);
      deepEqual(await store.listSubscriptions({ ownerId: other }, page), empty);
      deepEqual(await store.listSubscriptions({ ownerId: other, emitterId: workflow.id }, page), empty);
      equal((await store.listWorkflows({ ownerId: other }, page)).totalCount, 1, 'its own global one');
      equal((await store.listKeys(other)).length, 1);
      for (const { id } of [workflow, trigger, source, webhook, stage.owner]) {
        equal(await store.exists(other, id), false, id);
      }
      equal(await store.exists(stage.owner.id, trigger.id), true);
    });

    it('reads nothing of what has happened', async () => {
      await using stage = await Stage.open(harness);
      const { store } = stage;
      const other = (await stage.neighbour()).owner.id;
      const [workflow, webhook] = [await stage.workflow(), await stage.webhook()];
      await stage.subscribe(workflow.id, webhook.id, ERRORS);
      const run = await stage.started(workflow);
      const { errorEntry, claims } = await stage.end(run, failed(), all());
      const entry = defined(errorEntry);
      const { delivery } = only(claims.deliveries);
      const page = { limit: 10 };
      const empty = { totalCount: 0, items: [] };
      const channel = { emitterId: workflow.id, name: ERRORS };
      equal((await store.listEmissions({ ownerId: stage.owner.id, ...channel }, page, true)).totalCount, 1);
      deepEqual(await store.listEmissions({ ownerId: other, ...channel }, page, true), empty);
      equal(await store.getEmission(other, entry), undefined);
      deepEqual(await store.receipts(other, entry), []);
      equal(await store.getRun(other, run.run), undefined);
      deepEqual(await store.listRuns({ ownerId: other, runnableId: workflow.id }, page), empty);
      equal(await store.getDelivery(other, delivery), undefined);
      deepEqual(await store.listDeliveries({ ownerId: other }, page), empty);
      deepEqual(await store.listDeliveries({ ownerId: other, listenerId: webhook.id }, page), empty);
      equal((await store.ledger(other)).emissions, 0);
    });

    it('changes nothing of what is not its own', async () => {
      await using stage = await Stage.open(harness);
      const { store } = stage;
      const other = (await stage.neighbour()).owner.id;
      const { workflow, write } = await stage.hooked();
      const [source, webhook] = [await stage.source(), await stage.webhook()];
      const subscription = await stage.subscribe(workflow.id, webhook.id);
      const { firstRun } = await stage.appendFor(workflow.id);
      await stage.append(source.id);
      await store.beginSourceChange({ ownerId: stage.owner.id, sourceId: source.id, kind: 'update' });
      equal(await store.deleteWorkflow(other, workflow.id), false);
      equal(await store.deleteSource(other, source.id), false);
      equal(await store.deleteWebhook(other, webhook.id), undefined);
      equal(await store.deleteSubscription(other, subscription.id), undefined);
      equal(await store.deleteSourceEvents(other, source.id), 0);
      equal(await store.cancelRun(other, defined(firstRun)), undefined);
      equal(await store.updateWorkflow({ ...write, workflow: { ...workflow, ownerId: other, name: 'x' } }), false);
      const rename = (before: Webhook): Webhook => ({ ...before, name: 'x' });
      equal(await store.updateWebhook(other, webhook.id, rename), undefined);
      const theirs = { ...source, ownerId: other, name: 'x' };
      equal(await store.updateSource({ source: theirs, deployment: null, triggers: [], subscriptions: [] }), false);
      deepEqual(await store.getWorkflow(stage.owner.id, workflow.id), workflow);
      deepEqual(await store.getWebhook(stage.owner.id, webhook.id), webhook);
      deepEqual(await store.getSource(stage.owner.id, source.id), source);
      equal(only(await stage.claim()).run, firstRun);
    });

    it('cannot run what is not its own', async () => {
      await using stage = await Stage.open(harness);
      const other = await stage.neighbour();
      const [ours, theirs] = [await stage.workflow(), await other.workflow()];
      equal((await other.appendFor(ours.id)).firstRun, null);
      const { firstRun } = await other.appendFor(theirs.id);
      equal(only(await stage.claim()).run, firstRun);
    });
  });
}
