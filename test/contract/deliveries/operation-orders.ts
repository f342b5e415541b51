// What operations obey and outlive: orders of their owner, reopenings, a webhook that is disabled or deleted.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LIMITS, MINUTE_MS } from '../../../src/domain/limits.ts';
import type { NewOperation, Operation } from '../../../src/domain/operation.ts';
import { all, at, type Harness, none, only, walk } from '../fixtures.ts';
import { assertLedgerAddsUp } from '../log/counting.ts';
import { carryOut, count, exhaustedOnes, order, shown, start, stepOn } from './operating.ts';
import { change, countOf, recordOf, withWebhooks } from './sending.ts';

export function operationOrdersContract(harness: Harness): void {
  describe('orders to an operation', () => {
    it('pause it and let it go on', async () => {
      await using stage = await exhaustedOnes(harness, 3);
      const operation = await start(stage);
      await count(stage, operation);
      for (const _ of [1, 2]) {
        const { operation: paused, refused } = await order(stage, operation, 'pause');
        deepEqual([paused.state, paused.total, refused], ['paused', 3, false]);
      }
      equal(await stepOn(stage), false);
      deepEqual(await stage.deliveries(), []);
      const { operation: resumed, refused } = await order(stage, operation, 'resume');
      deepEqual([resumed.state, refused], ['running', false]);
      deepEqual(await carryOut(stage), [3]);
      equal((await shown(stage, operation)).state, 'done');
    });

    it('cancel it where it stands', async () => {
      await using stage = await exhaustedOnes(harness, LIMITS.resendsWaiting + 5);
      const operation = await start(stage);
      await stepOn(stage);
      stage.clock.advance(MINUTE_MS);
      const { operation: cancelled, refused } = await order(stage, operation, 'cancel');
      deepEqual([cancelled.state, refused, cancelled.endedAtMs], ['cancelled', false, stage.clock.ms]);
      deepEqual(await carryOut(stage), [LIMITS.resendsWaiting]);
      deepEqual(await shown(stage, operation), cancelled);
      equal(await countOf(stage, stage.main, 'exhausted'), 5);
    });

    it('cannot bring back one that is over', async () => {
      await using stage = await exhaustedOnes(harness, 1);
      const [done, cancelled] = [await start(stage), await start(stage)];
      await order(stage, cancelled, 'cancel');
      await carryOut(stage);
      for (const [operation, state] of [
        [done, 'done'],
        [cancelled, 'cancelled'],
      ] as const) {
        for (const word of ['pause', 'resume'] as const) {
          const answer = await order(stage, operation, word);
          deepEqual([answer.refused, answer.operation.state], [true, state]);
        }
      }
    });
  });

  describe('an operation outlives', () => {
    it('a reopening, with its progress', async () => {
      await using stage = await exhaustedOnes(harness, LIMITS.resendsWaiting + 20);
      const operation = await start(stage);
      await stepOn(stage);
      const under = await stage.deliveries(10);
      const before = await shown(stage, operation);
      await stage.reopen();
      deepEqual(await shown(stage, operation), before);
      await stage.store.rescue(none());
      const rounds = await carryOut(stage);
      equal(
        rounds.reduce((sum, n) => sum + n, 0),
        stage.numbers.length,
      );
      equal((await shown(stage, operation)).resent, stage.numbers.length);
      for (const { delivery } of under) equal((await recordOf(stage, { delivery })).attemptsMade, 2);
      const { deliveries } = await stage.store.ledger(stage.owner.id);
      deepEqual([deliveries.delivered, deliveries.exhausted], [stage.numbers.length, 0]);
    });

    it('the disabling of its webhook, and waits', async () => {
      await using stage = await exhaustedOnes(harness, 3);
      const operation = await start(stage);
      await count(stage, operation);
      await change(stage, stage.main, { active: false });
      equal(await stepOn(stage), false);
      const waiting = await shown(stage, operation);
      deepEqual([waiting.state, waiting.resent], ['running', 0]);
      ok(waiting.reason, 'says why it stands still');
      equal(await countOf(stage, stage.main, 'exhausted'), 3);
      await change(stage, stage.main, { active: true });
      deepEqual(await carryOut(stage), [3]);
      const done = await shown(stage, operation);
      deepEqual([done.state, done.resent, done.reason], ['done', 3, null]);
      await assertLedgerAddsUp(stage);
    });

    it('it, and says so without a step', async () => {
      await using stage = await exhaustedOnes(harness, 1);
      const operation = await start(stage);
      await change(stage, stage.main, { active: false });
      const waiting = await shown(stage, operation);
      ok(waiting.reason, 'says why it stands still');
      const { items } = await stage.store.listOperations({ ownerId: stage.owner.id }, { limit: 9 });
      deepEqual(items, [waiting]);
      const { operation: paused } = await order(stage, operation, 'pause');
      deepEqual([paused.state, paused.reason], ['paused', null]);
      const { operation: resumed } = await order(stage, operation, 'resume');
      deepEqual([resumed.state, resumed.reason], ['running', waiting.reason]);
      await change(stage, stage.main, { active: true });
      equal((await shown(stage, operation)).reason, null);
    });

    it('not the deletion of its webhook, though it is paused', async () => {
      await using stage = await exhaustedOnes(harness, 3);
      const operation = await start(stage);
      equal((await order(stage, operation, 'pause')).operation.state, 'paused');
      await stage.store.deleteWebhook(stage.owner.id, stage.main.id);
      const over = await shown(stage, operation);
      equal(over.state, 'cancelled');
      ok(over.endedAtMs !== null && over.reason, 'says why it ended early');
      equal(await stepOn(stage), false);
    });

    it('not the deletion of its webhook', async () => {
      await using stage = await exhaustedOnes(harness, 3);
      const operation = await start(stage);
      await count(stage, operation);
      await stage.store.deleteWebhook(stage.owner.id, stage.main.id);
      equal(await stepOn(stage), false);
      const over = await shown(stage, operation);
      ok(over.state === 'cancelled' || over.state === 'done', over.state);
      ok(over.endedAtMs !== null && over.reason, 'says why it ended early');
      equal((await stage.store.ledger(stage.owner.id)).deliveries.exhausted, 3);
      equal(await stage.store.createOperation(stage.make.operation(stage.main.id)), false);
    });
  });

  describe('operations', () => {
    it('are listed newest first, by webhook too', async () => {
      await using stage = await withWebhooks(harness, 2);
      const made: NewOperation[] = [];
      for (const webhook of [...stage.webhooks, ...stage.webhooks]) {
        const operation = stage.make.operation(webhook.id);
        await stage.store.createOperation(operation);
        made.push(operation);
      }
      const ids = made.map((o) => o.id).reverse();
      const ownerId = stage.owner.id;
      const page = (webhookId?: string) =>
        walk<Operation, string>(
          (query) => stage.store.listOperations({ ownerId, ...(webhookId ? { webhookId } : {}) }, query),
          (operation) => operation.id,
          1,
        );
      deepEqual(
        (await page()).map((o) => o.id),
        ids,
      );
      deepEqual(
        (await page(stage.main.id)).map((o) => o.id),
        [at(ids, 1), at(ids, 3)],
      );
    });

    it('are their owner’s alone', async () => {
      await using stage = await exhaustedOnes(harness, 1);
      const other = (await stage.neighbour()).owner.id;
      const operation = await start(stage);
      equal(await stage.store.createOperation({ ...stage.make.operation(stage.main.id), ownerId: other }), false);
      equal(await stage.store.getOperation(other, operation.id), undefined);
      equal(await stage.store.orderOperation(other, operation.id, 'cancel'), undefined);
      deepEqual(await stage.store.listOperations({ ownerId: other }, { limit: 9 }), { totalCount: 0, items: [] });
      equal(await stage.store.orderOperation(stage.owner.id, 'op_0000000000009999', 'cancel'), undefined);
      await stepOn(stage);
      equal(only((await stage.store.claimDeliveries(9, all())).deliveries).trigger, 'resend');
    });
  });
}
