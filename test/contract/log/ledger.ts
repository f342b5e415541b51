// The ledger adds up after every kind of operation: it says what the lists say.

import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DELIVERY_STATES } from '../../../src/domain/delivery/delivery.ts';
import { RUN_STATES } from '../../../src/domain/run/run.ts';
import {
  all,
  at,
  defined,
  emit,
  ended,
  failed,
  type Harness,
  mail,
  none,
  succeeded,
  timesInTurn,
} from '../fixtures.ts';
import { Stage } from '../stage.ts';
import { assertLedgerAddsUp, assertOneErrorPerFailure } from './counting.ts';

/** A chain in which everything happens: trigger → workflow → webhook and workflow, with mails and failures. */
async function busy(stage: Stage): Promise<{ triggerId: string; webhookId: string; secondId: string }> {
  const { workflow, trigger } = await stage.hooked();
  const [second, webhook] = [await stage.workflow(), await stage.webhook()];
  await stage.subscribe(workflow.id, second.id, 'paid');
  await stage.subscribe(workflow.id, webhook.id, '*');
  await stage.subscribe('*', webhook.id, '$errors');
  return { triggerId: trigger.id, webhookId: webhook.id, secondId: second.id };
}

export function ledgerContract(harness: Harness): void {
  describe('the ledger', () => {
    it('begins with every count at zero', async () => {
      await using stage = await Stage.open(harness);
      const zeros = (states: readonly string[]): object => Object.fromEntries(states.map((state) => [state, 0]));
      const expected = { emissions: 0, runs: zeros(RUN_STATES), deliveries: zeros(DELIVERY_STATES), errors: 0 };
      deepEqual(await stage.store.ledger(stage.owner.id), expected);
    });

    it('adds up after each step of work', async () => {
      await using stage = await Stage.open(harness);
      const { triggerId } = await busy(stage);
      await timesInTurn(6, async (i) => {
        await stage.append(triggerId, {}, i % 2 === 0 ? all() : none());
        await assertLedgerAddsUp(stage);
      });
      const outcomes = [
        succeeded({ outgoing: [emit('paid'), emit('')] }),
        failed('Boom', { outgoing: [emit('paid'), mail('hello')] }),
        ended('unattributed'),
        ended('returned'),
        ended('cancelled'),
        succeeded(),
      ];
      for (const [i, run] of (await stage.claim()).entries()) {
        await stage.end(run, at(outcomes, i % outcomes.length), i % 2 === 0 ? all() : none());
        await assertLedgerAddsUp(stage);
      }
      const { deliveries } = await stage.store.claimDeliveries(100, all());
      for (const [i, delivery] of deliveries.entries()) {
        if (i % 3 === 0) await stage.delivered(delivery);
        else if (i % 3 === 1) await stage.retrying(delivery, 1000);
        else await stage.exhausted(delivery);
        await assertLedgerAddsUp(stage);
      }
      await assertOneErrorPerFailure(stage);
    });

    it('adds up after releases and cancels', async () => {
      await using stage = await Stage.open(harness);
      const { triggerId } = await busy(stage);
      await timesInTurn(4, () => stage.append(triggerId));
      const [released, kept] = await stage.claim(2);
      await stage.giveBack(defined(released));
      await assertLedgerAddsUp(stage);
      await stage.store.cancelRun(stage.owner.id, defined(released).run);
      await assertLedgerAddsUp(stage);
      await stage.end(defined(kept), succeeded({ outgoing: [emit('')] }));
      await stage.store.releaseDeliveries(await stage.deliveries());
      await assertLedgerAddsUp(stage);
      const { runs, deliveries } = await stage.store.ledger(stage.owner.id);
      deepEqual([runs.cancelled, runs.succeeded, runs.queued, deliveries.pending], [1, 1, 2, 1]);
    });

    it('adds up after a reopening and a rescue', async () => {
      await using stage = await Stage.open(harness);
      const { triggerId } = await busy(stage);
      const appended = await timesInTurn(5, () => stage.append(triggerId, {}, all()));
      await stage.end(at(at(appended, 0).claims.runs, 0), failed('Boom', { outgoing: [emit('')] }), all());
      await stage.reopen();
      await assertLedgerAddsUp(stage);
      await stage.store.rescue(none());
      await assertLedgerAddsUp(stage);
      await assertOneErrorPerFailure(stage);
    });

    it('counts errors of runs and of deliveries', async () => {
      await using stage = await Stage.open(harness);
      const { secondId, webhookId } = await busy(stage);
      await stage.failure({ id: secondId });
      const [delivery] = await stage.deliveries();
      equal(delivery?.webhook?.id, webhookId);
      await stage.exhausted(defined(delivery));
      equal((await stage.store.ledger(stage.owner.id)).errors, 2);
      await assertLedgerAddsUp(stage);
    });

    it('keeps what deleted resources did', async () => {
      await using stage = await Stage.open(harness);
      const { triggerId, secondId, webhookId } = await busy(stage);
      await stage.append(triggerId, {}, all());
      await stage.failure({ id: secondId });
      const before = await stage.store.ledger(stage.owner.id);
      equal(before.errors, 1);
      await stage.store.deleteWebhook(stage.owner.id, webhookId);
      await stage.store.deleteWorkflow(stage.owner.id, secondId);
      const after = await stage.store.ledger(stage.owner.id);
      const total = (counts: Readonly<Record<string, number>>): number =>
        Object.values(counts).reduce((sum, n) => sum + n, 0);
      deepEqual([after.emissions, after.errors], [before.emissions, before.errors]);
      equal(total(after.runs), total(before.runs));
      equal(total(after.deliveries), total(before.deliveries));
    });

    it('counts each owner apart', async () => {
      await using stage = await Stage.open(harness);
      const other = await stage.neighbour();
      const { workflow } = await stage.hooked();
      await stage.failure(workflow);
      const theirs = await other.workflow();
      await other.end(await other.started(theirs));
      const [a, b] = [await stage.store.ledger(stage.owner.id), await stage.store.ledger(other.owner.id)];
      deepEqual([a.emissions, a.runs.failed, a.runs.succeeded, a.errors], [2, 1, 0, 1]);
      deepEqual([b.emissions, b.runs.failed, b.runs.succeeded, b.errors], [1, 0, 1, 0]);
    });

    it('is the same on every reading', async () => {
      await using stage = await Stage.open(harness);
      const { triggerId } = await busy(stage);
      await stage.append(triggerId, {}, all());
      const before = await stage.store.ledger(stage.owner.id);
      await stage.reopen();
      deepEqual(await stage.store.ledger(stage.owner.id), before);
    });
  });
}
