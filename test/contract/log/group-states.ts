// The state of a group of errors: what ends it, and who is named for it.

import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MAIL } from '../../../src/domain/delivery/delivery.ts';
import { MUTED_MAIL } from '../../../src/domain/delivery/digest.ts';
import { DAY_MS, HOUR_MS } from '../../../src/domain/limits.ts';
import { all, type Harness, mail, only, START_MS, succeeded, timesInTurn } from '../fixtures.ts';
import { Stage } from '../stage.ts';
import { change, fail, groups, muted, oneGroup, order, redeployed, stateOf, whole } from './grouping.ts';

export function groupStatesContract(harness: Harness): void {
  describe('the state of a group', () => {
    it('is open again when a resolved one recurs', async () => {
      await using stage = await Stage.open(harness);
      const { workflow, group } = await oneGroup(stage);
      equal((await order(stage, group, { state: 'resolved', inNextDeployment: false })).state, 'resolved');
      equal(await stateOf(stage, group), 'resolved');
      stage.clock.advance(5);
      const entry = await fail(stage, workflow);
      const { group: now } = await whole(stage, group);
      const { deploymentId } = workflow;
      deepEqual(now.reopened, { from: 'resolved', by: 'error', atMs: stage.clock.ms, entry, deploymentId });
      deepEqual([now.state, now.count], ['open', 2]);
    });

    it('keeps mails back while it is muted', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const mailed = async (): Promise<number> =>
        (await stage.store.listDeliveries({ ownerId: stage.owner.id, listenerId: MAIL }, { limit: 1 })).totalCount;
      const failAndMail = async (): Promise<number> => {
        const entry = await fail(stage, workflow);
        await stage.end(only(await stage.claim(1, stage.global.id)), succeeded({ outgoing: [mail('failed')] }));
        return entry;
      };
      await timesInTurn(2, failAndMail);
      await order(stage, only(await groups(stage)), muted({ untilMs: stage.clock.nowMs() + 2 * DAY_MS }));
      const error = await failAndMail();
      const receipts = await stage.store.receipts(stage.owner.id, error);
      equal(receipts.find(({ listenerId }) => listenerId === MAIL)?.reason, MUTED_MAIL);
      equal((await stage.store.outcomeOfError(stage.owner.id, error)).told, 'withheld');
      stage.clock.advance(DAY_MS);
      deepEqual((await stage.store.closeDigests(all())).deliveries, [], 'of the repeat before it, either');
      await failAndMail();
      equal(await mailed(), 1);
      stage.clock.advance(DAY_MS);
      await failAndMail();
      equal(await mailed(), 2, 'the mute is over');
    });

    it('stays resolved until the next deployment has it', async () => {
      await using stage = await Stage.open(harness);
      const { workflow, group } = await oneGroup(stage);
      await order(stage, group, { state: 'resolved', inNextDeployment: true });
      await fail(stage, workflow);
      deepEqual([await stateOf(stage, group), (await whole(stage, group)).group.count], ['resolved', 2]);
      const next = await redeployed(stage, workflow);
      equal(await stateOf(stage, group), 'resolved');
      const entry = await fail(stage, next);
      const { reopened, state } = (await whole(stage, group)).group;
      equal(state, 'open');
      deepEqual([reopened?.by, reopened?.deploymentId, reopened?.entry], ['deployment', next.deploymentId, entry]);
    });

    it('counts a deployment that is there as no next one', async () => {
      await using stage = await Stage.open(harness);
      const { workflow, group } = await oneGroup(stage);
      const next = await redeployed(stage, workflow);
      await order(stage, group, { state: 'resolved', inNextDeployment: true });
      await fail(stage, next);
      equal(await stateOf(stage, group), 'resolved');
    });

    it('waits for no deployment of errors that have none', async () => {
      await using stage = await Stage.open(harness);
      const [emitter, webhook] = [await stage.source(), await stage.webhook()];
      await stage.subscribe(emitter.id, webhook.id);
      const { claims } = await stage.append(emitter.id, {}, all());
      await stage.exhausted(only(claims.deliveries));
      const group = only(await groups(stage, { emitterId: webhook.id }));
      for (const standing of [
        { state: 'resolved', inNextDeployment: true } as const,
        muted({ untilNextDeployment: true }),
      ]) {
        equal((await stage.store.updateErrorGroup(stage.owner.id, group.id, { status: standing }))?.refused, true);
      }
      equal(await stateOf(stage, group), 'open');
    });

    it('is open when the time of a mute is over', async () => {
      await using stage = await Stage.open(harness);
      const { workflow, group } = await oneGroup(stage);
      await order(stage, group, muted({ untilMs: START_MS + HOUR_MS }));
      stage.clock.ms = START_MS + HOUR_MS - 1;
      await fail(stage, workflow);
      deepEqual([await stateOf(stage, group), (await groups(stage, { state: 'muted' })).length], ['muted', 1]);
      stage.clock.advance(1);
      const over = (await whole(stage, group)).group;
      deepEqual([over.state, over.reopened?.by, over.reopened?.atMs], ['open', 'time', START_MS + HOUR_MS]);
      deepEqual([(await groups(stage, { state: 'open' })).length, await groups(stage, { state: 'muted' })], [1, []]);
      const entry = await fail(stage, workflow);
      deepEqual((await whole(stage, group)).group.reopened?.entry, entry);
    });

    it('is open with the last error of a mute', async () => {
      await using stage = await Stage.open(harness);
      const { workflow, group } = await oneGroup(stage);
      await order(stage, group, muted({ afterCount: 3 }));
      await timesInTurn(2, () => fail(stage, workflow));
      equal(await stateOf(stage, group), 'muted');
      const entry = await fail(stage, workflow);
      const { state, reopened, count } = (await whole(stage, group)).group;
      deepEqual([state, reopened?.by, reopened?.entry, count], ['open', 'count', entry, 4]);
    });

    it('is muted until whichever end comes first', async () => {
      await using stage = await Stage.open(harness);
      const { workflow, group } = await oneGroup(stage);
      await order(stage, group, muted({ afterCount: 100, untilMs: START_MS + DAY_MS, untilNextDeployment: true }));
      await fail(stage, workflow);
      equal(await stateOf(stage, group), 'muted');
      await fail(stage, await redeployed(stage, workflow));
      equal((await whole(stage, group)).group.reopened?.by, 'deployment');
    });

    it('leaves note and assignee as they were', async () => {
      await using stage = await Stage.open(harness);
      const { group } = await oneGroup(stage);
      await change(stage, group, { note: 'known', assignee: 'ada@example.org' });
      await order(stage, group, { state: 'resolved', inNextDeployment: false });
      const now = await change(stage, group, { assignee: null });
      deepEqual([now.state, now.note, now.assignee], ['resolved', 'known', null]);
    });

    it('is resolved when its workflow is deleted', async () => {
      await using stage = await Stage.open(harness);
      const { workflow, group } = await oneGroup(stage);
      const other = await stage.workflow();
      await fail(stage, other);
      await stage.store.deleteWorkflow(stage.owner.id, workflow.id);
      equal(await stateOf(stage, group), 'resolved');
      equal(only(await groups(stage, { emitterId: other.id })).state, 'open');
    });
  });
}
