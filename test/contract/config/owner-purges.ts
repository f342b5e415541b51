// The purge of an owner. That no table is forgotten is test/unit/store/purge/purge.test.ts.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PREFIX } from '../../../src/domain/ids.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/domain/limits.ts';
import { DELETION } from '../../../src/domain/owners/deletion.ts';
import type { Store } from '../../../src/store/contract/store.ts';
import { at, defined, type Harness, times } from '../fixtures.ts';
import { numbered, Stage } from '../stage.ts';
import { heartbeat, ping, watchFor } from '../watches/watching.ts';
import { deleted, deleteOf, recordOn, restore, sweepAll } from './owner-deletions.ts';

/** Purges an owner whose grace is over. */
export async function purge(stage: Stage): Promise<void> {
  await sweepAll(stage);
  stage.clock.advance(DELETION.settledMs);
  await sweepAll(stage);
}

export function ownerPurgesContract(harness: Harness): void {
  describe('the purge of an owner', () => {
    it('waits for its time and for what is under way', async () => {
      await using stage = await Stage.open(harness);
      const other = await stage.neighbour();
      const workflow = await other.workflow();
      const run = await other.started(workflow);
      await deleteOf(other, DAY_MS);
      const purgeAtMs = stage.clock.nowMs() + DAY_MS;
      equal((await stage.store.sweepOwners(recordOn(stage))).nextAtMs, purgeAtMs);
      stage.clock.advance(DAY_MS);
      await sweepAll(stage);
      const { running, nextAtMs } = await stage.store.sweepOwners(recordOn(stage));
      deepEqual(running, [{ ownerId: other.owner.id, run: run.run }]);
      ok(defined(nextAtMs) > stage.clock.nowMs());
      equal(await restore(other), 'purging');
      ok(await stage.store.getWorkflow(other.owner.id, workflow.id), 'nothing is gone before');
      await other.end(run);
      await sweepAll(stage);
      equal(await stage.store.getWorkflow(other.owner.id, workflow.id), undefined);
    });

    it('leaves the other owners as they were, and tells the first one', async () => {
      await using stage = await Stage.open(harness);
      const { workflow } = await stage.hooked();
      const entry = await stage.failure(workflow);
      const other = await deleted(stage, 0);
      const emission = await stage.store.getEmission(stage.owner.id, entry);
      const deployment = defined(await stage.store.getDeployment(stage.owner.id, workflow.deploymentId));
      await purge(stage);
      equal(await stage.store.getOwner(other.owner.id), undefined);
      equal(await stage.store.keyByHash(other.keyHash), undefined);
      deepEqual(await stage.store.listOwners(), [stage.owner]);
      deepEqual(await stage.store.getWorkflow(stage.owner.id, workflow.id), workflow);
      deepEqual(await stage.store.getDeployment(stage.owner.id, workflow.deploymentId), deployment);
      deepEqual(await stage.store.getEmission(stage.owner.id, entry), emission);
      const { items } = await stage.store.listAudit({ ownerId: stage.owner.id, operation: 'purgeOwner' }, { limit: 9 });
      deepEqual(
        items.map(({ targetId, path }) => [targetId, path]),
        [[other.owner.id, other.owner.name]],
      );
      equal((await stage.store.ledger(other.owner.id)).emissions, 0);
    });

    it('deletes what a late request has written', async () => {
      await using stage = await Stage.open(harness);
      const other = await stage.neighbour();
      const { trigger } = await other.hooked();
      await deleteOf(other, 0);
      await sweepAll(stage);
      const { entry } = await other.append(trigger.id);
      await other.workflow();
      await stage.store.createAccount({
        ...{ id: other.ids.next(PREFIX.account), ownerId: other.owner.id, app: 'slack', name: 'late', fields: {} },
        oauth: null,
        ...{ createdAtMs: stage.clock.nowMs(), updatedAtMs: stage.clock.nowMs() },
      });
      stage.clock.advance(DELETION.settledMs);
      await sweepAll(stage);
      equal(await stage.store.getEmission(other.owner.id, entry), undefined);
      equal((await stage.store.listAccounts({ ownerId: other.owner.id }, { limit: 9 })).totalCount, 0);
      equal(await stage.store.getOwner(other.owner.id), undefined);
    });

    it('goes on where a kill has stopped it', async () => {
      await using stage = await Stage.open(harness);
      const other = await stage.neighbour();
      const [workflow, { trigger }] = [await other.workflow(), await other.hooked()];
      const kept = await stage.failure(await stage.workflow());
      for (let n = 0; n < 30; n++) {
        await other.failure(workflow);
        await other.append(trigger.id);
      }
      await deleteOf(other, 0);
      for (let n = 0; ; n++) {
        const { isMore, nextAtMs } = await stage.store.sweepOwners(recordOn(stage));
        if (n % 3 === 0) await stage.reopen();
        if (!isMore && nextAtMs === null) break;
        if (!isMore) stage.clock.advance(MINUTE_MS);
        ok(n < 500);
      }
      deepEqual(
        (await stage.store.listOwners()).map(({ id }) => id),
        [stage.owner.id],
      );
      ok(await stage.store.getEmission(stage.owner.id, kept));
      equal(
        (await stage.store.listAudit({ ownerId: stage.owner.id, operation: 'purgeOwner' }, { limit: 9 })).totalCount,
        1,
      );
    });

    it('is made once by many at the same time', async () => {
      await using stage = await Stage.open(harness);
      const others = [await stage.neighbour(), await stage.neighbour()];
      for (const other of others) {
        const workflow = await other.workflow();
        for (let n = 0; n < 5; n++) await other.failure(workflow);
        await deleteOf(other, 0);
      }
      for (let n = 0; (await stage.store.listOwners()).length > 1; n++) {
        await Promise.all(times(4, () => stage.store.sweepOwners(recordOn(stage))));
        stage.clock.advance(MINUTE_MS);
        ok(n < 500);
      }
      equal(
        (await stage.store.listAudit({ ownerId: stage.owner.id, operation: 'purgeOwner' }, { limit: 9 })).totalCount,
        2,
      );
    });

    it('waits for the last hooks of enabled sources', async () => {
      await using stage = await Stage.open(harness);
      const other = await stage.neighbour();
      const [source, kept] = [await other.source(), await stage.source()];
      await deleteOf(other, DAY_MS);
      deepEqual((await stage.store.sweepOwners(recordOn(stage))).sources, [], 'it can be restored');
      stage.clock.advance(DAY_MS);
      await sweepAll(stage);
      const swept = await stage.store.sweepOwners(recordOn(stage));
      deepEqual(swept.sources, [{ ownerId: other.owner.id, id: source.id }]);
      ok(defined(swept.nextAtMs) > stage.clock.nowMs());
      ok(await stage.store.getSource(other.owner.id, source.id));
      equal(
        await stage.store.beginSourceChange({ ownerId: other.owner.id, sourceId: source.id, kind: 'delete' }),
        'begun',
      );
      equal(await stage.store.deleteSource(other.owner.id, source.id), true);
      await purge(stage);
      equal(await stage.store.getOwner(other.owner.id), undefined);
      ok(await stage.store.getSource(stage.owner.id, kept.id));
    });

    it('waits for hooks no longer than it may', async () => {
      await using stage = await Stage.open(harness);
      const other = await stage.neighbour();
      await other.source();
      await deleteOf(other, 0);
      await purge(stage);
      ok(await stage.store.getOwner(other.owner.id));
      stage.clock.advance(DELETION.hooksMs);
      await purge(stage);
      equal(await stage.store.getOwner(other.owner.id), undefined);
    });

    it('frees nothing of an owner with the same name', async () => {
      await using stage = await Stage.open(harness);
      const first = await deleted(stage, 0);
      const second = await stage.neighbour();
      await purge(stage);
      const third = await stage.neighbour();
      deepEqual([first.owner.name, second.owner.name], [third.owner.name, third.owner.name]);
      for (const { keyHash, key } of [second, third]) deepEqual(await stage.store.keyByHash(keyHash), key);
      equal(await stage.store.keyByHash(first.keyHash), undefined);
    });

    it('comes with an end of its heartbeats', async () => {
      await using stage = await Stage.open(harness);
      const other = await stage.neighbour();
      const beating = await heartbeat(other);
      await ping(other, beating);
      await deleteOf(other, 0);
      await purge(stage);
      equal(await stage.store.heartbeatByKey(beating.heartbeat.key), undefined);
      await watchFor(stage, HOUR_MS);
      equal(await stage.store.nextDueAtMs(), null);
    });
  });

  describe('reading all emissions of an owner', () => {
    it('gives each once, in order, with its body', async () => {
      await using stage = await Stage.open(harness);
      const other = await stage.neighbour();
      const [{ trigger }, theirs] = [await stage.hooked(), await other.hooked()];
      const made: number[] = [];
      for (let n = 0; n < 20; n++) {
        made.push((await stage.append(trigger.id, { body: numbered(n) })).entry);
        await other.append(theirs.trigger.id, { body: numbered(n) });
      }
      const read = [];
      for (let after: number | null = -1; after !== null; ) {
        const page: Awaited<ReturnType<Store['readEmissions']>> = await stage.store.readEmissions(
          stage.owner.id,
          after,
        );
        read.push(...page.items);
        after = page.next;
      }
      deepEqual(
        read.map(({ entry }) => entry),
        made,
      );
      deepEqual(at(read, 7), await stage.store.getEmission(stage.owner.id, at(made, 7)));
    });
  });
}
