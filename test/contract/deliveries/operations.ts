// Operations: sending many again in the background, in bounded steps, to the last one and none twice.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DAY_MS, HOUR_MS, LIMITS, MINUTE_MS } from '../../../src/domain/limits.ts';
import type { Operation } from '../../../src/domain/operation.ts';
import { at, defined, type Harness, START_MS, timesInTurn } from '../fixtures.ts';
import { assertLedgerAddsUp } from '../log/counting.ts';
import { carryOut, count, exhaustedOf, exhaustedOnes, shown, start, stepOn } from './operating.ts';
import {
  countOf,
  deliverAll,
  listed,
  numbersOf,
  pendingFor,
  recordOf,
  resend,
  wholeOf,
  withWebhooks,
} from './sending.ts';

export function operationsContract(harness: Harness): void {
  describe('an operation', () => {
    it('is given back as it was ordered', async () => {
      await using stage = await withWebhooks(harness);
      const operation = await start(stage, { sinceMs: 5, untilMs: 9, states: ['delivered', 'retrying'] });
      const expected: Operation = {
        ...operation,
        replaying: null,
        state: 'running',
        total: null,
        resent: 0,
        passedOver: 0,
        updatedAtMs: START_MS,
        endedAtMs: null,
        reason: null,
      };
      deepEqual(await shown(stage, operation), expected);
      deepEqual(await stage.store.listOperations({ ownerId: stage.owner.id }, { limit: 9 }), {
        totalCount: 1,
        items: [expected],
      });
    });

    it('counts first, then sends, oldest first', async () => {
      await using stage = await exhaustedOnes(harness, 5);
      const operation = await start(stage);
      const counted = await count(stage, operation);
      deepEqual([counted.state, counted.total, counted.resent], ['running', 5, 0]);
      equal(await stepOn(stage), true);
      const claimed = await stage.deliveries();
      deepEqual(numbersOf(claimed), stage.numbers);
      for (const delivery of claimed) {
        deepEqual([delivery.trigger, delivery.attempt, delivery.tries], ['resend', 2, 0]);
      }
      stage.clock.advance(MINUTE_MS);
      await stepOn(stage);
      const done = await shown(stage, operation);
      deepEqual([done.state, done.total, done.resent, done.passedOver, done.reason], ['done', 5, 5, 0, null]);
      ok(done.endedAtMs !== null && done.endedAtMs >= START_MS);
      await assertLedgerAddsUp(stage);
    });

    it('with nothing to do is done', async () => {
      await using stage = await withWebhooks(harness);
      const operation = await start(stage);
      equal(await stepOn(stage), false);
      const done = await shown(stage, operation);
      deepEqual([done.state, done.total, done.resent, done.passedOver], ['done', 0, 0, 0]);
      deepEqual(await stage.store.stepOperation(), { isResent: false, isMore: false });
    });

    it('is done when the last that fits is due', async () => {
      await using stage = await exhaustedOnes(harness, LIMITS.resendsWaiting);
      await pendingFor(stage, stage.main, 1);
      await deliverAll(stage);
      const operation = await start(stage, { states: ['exhausted'] });
      await stepOn(stage);
      const done = await shown(stage, operation);
      deepEqual([done.state, done.resent], ['done', LIMITS.resendsWaiting]);
      equal(await countOf(stage, stage.main, 'retrying'), LIMITS.resendsWaiting);
    });

    it('that is new waits for its turn', async () => {
      await using stage = await exhaustedOnes(harness, 1);
      const first = await start(stage);
      await count(stage, first);
      await start(stage);
      equal((await stage.store.stepOperation()).isResent, true, 'the first goes on');
      equal((await shown(stage, first)).resent, 1);
    });

    it('takes what was accepted in its time', async () => {
      await using stage = await withWebhooks(harness);
      const numbers: number[] = [];
      for (let i = 0; i < 4; i++) {
        numbers.push(...(await exhaustedOf(stage, stage.main, 1)).slice(-1));
        stage.clock.advance(HOUR_MS);
      }
      await start(stage, { sinceMs: START_MS + HOUR_MS, untilMs: START_MS + 3 * HOUR_MS });
      await stepOn(stage);
      deepEqual(numbersOf(await stage.deliveries()), numbers.slice(1, 3));
    });

    it('takes the states that it names', async () => {
      await using stage = await withWebhooks(harness);
      await timesInTurn(4, () => stage.append(stage.emitterId));
      const [delivered, exhausted, retrying, sending] = await stage.deliveries();
      await stage.delivered(defined(delivered));
      await stage.exhausted(defined(exhausted));
      await stage.retrying(defined(retrying), DAY_MS);
      await stage.append(stage.emitterId);
      const first = await start(stage, { states: ['delivered', 'retrying', 'cancelled'] });
      await stepOn(stage);
      const claimed = await stage.deliveries();
      deepEqual(
        claimed.filter((d) => d.trigger === 'resend').map((d) => d.delivery),
        numbersOf([defined(delivered), defined(retrying)]),
      );
      deepEqual(
        claimed.map((d) => d.tries).sort(),
        [0, 0, 1],
        'what waited keeps its place in the schedule, what was over begins anew',
      );
      equal((await recordOf(stage, defined(exhausted))).state, 'exhausted');
      equal((await recordOf(stage, defined(sending))).state, 'sending');
      equal((await shown(stage, first)).resent, 2);
      await assertLedgerAddsUp(stage);
    });

    it('is only about its own webhook', async () => {
      await using stage = await exhaustedOnes(harness, 2);
      const other = await stage.webhook();
      await exhaustedOf(stage, other, 3);
      await start(stage);
      await stepOn(stage);
      deepEqual(numbersOf(await stage.deliveries()), stage.numbers);
      equal(await countOf(stage, other, 'exhausted'), 3);
    });

    it('passes over what changed its state meanwhile', async () => {
      await using stage = await exhaustedOnes(harness, 4);
      const operation = await start(stage);
      await count(stage, operation);
      await resend(stage, { delivery: at(stage.numbers, 1) });
      await deliverAll(stage);
      await carryOut(stage);
      const done = await shown(stage, operation);
      deepEqual([done.state, done.total, done.resent, done.passedOver], ['done', 4, 3, 1]);
      for (const delivery of stage.numbers) equal((await wholeOf(stage, { delivery })).attempts.length, 2);
    });

    it('sends all of many, and none twice', async () => {
      await using stage = await exhaustedOnes(harness, 1500);
      const operation = await start(stage);
      const rounds = await carryOut(stage);
      for (const size of rounds) ok(size <= LIMITS.resendsWaiting, `${size} waited at once`);
      const done = await shown(stage, operation);
      deepEqual([done.state, done.total, done.resent, done.passedOver], ['done', 1500, 1500, 0]);
      const records = await listed(stage, stage.main);
      deepEqual(numbersOf(records), stage.numbers);
      ok(records.every((d) => d.state === 'delivered' && d.attemptsMade === 2));
      const { deliveries } = await stage.store.ledger(stage.owner.id);
      deepEqual([deliveries.delivered, deliveries.exhausted, deliveries.retrying], [1500, 0, 0]);
    });

    it('waits while enough of it is waiting', async () => {
      await using stage = await exhaustedOnes(harness, LIMITS.resendsWaiting + 44);
      const operation = await start(stage);
      await stepOn(stage);
      equal(await countOf(stage, stage.main, 'retrying'), LIMITS.resendsWaiting);
      equal((await shown(stage, operation)).resent, LIMITS.resendsWaiting);
      deepEqual(await stage.store.stepOperation(), { isResent: false, isMore: false });
      const claimed = await stage.deliveries(100);
      await stepOn(stage);
      ok((await countOf(stage, stage.main, 'retrying')) <= LIMITS.resendsWaiting);
      for (const delivery of claimed) equal((await stage.delivered(delivery)).held, true);
      await carryOut(stage);
      equal((await shown(stage, operation)).state, 'done');
    });

    it('that waits does not hold up another', async () => {
      await using stage = await exhaustedOnes(harness, LIMITS.resendsWaiting + 1);
      const other = await stage.webhook();
      await exhaustedOf(stage, other, 3);
      await start(stage);
      await stepOn(stage);
      const second = stage.make.operation(other.id);
      equal(await stage.store.createOperation(second), true);
      equal(await stepOn(stage), true);
      equal((await shown(stage, second)).resent, 3);
    });
  });
}
