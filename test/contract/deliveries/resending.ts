// Sending again by hand: due at once, in place of what was to come, and never twice.

import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ClaimedDelivery } from '../../../src/domain/delivery/delivery.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../src/domain/limits.ts';
import { all, defined, type Harness, mail, none, only, succeeded, times, timesInTurn } from '../fixtures.ts';
import { assertLedgerAddsUp } from '../log/counting.ts';
import { aSecret } from '../maker.ts';
import {
  change,
  codesOf,
  countOf,
  deliverAll,
  FAILED,
  type Heard,
  numbersOf,
  putOff,
  record,
  recordOf,
  resend,
  wholeOf,
  withWebhooks,
} from './sending.ts';

/** One delivery that this node holds. */
async function claimed(stage: Heard): Promise<ClaimedDelivery> {
  await stage.append(stage.emitterId);
  return only(await stage.deliveries());
}

const refusal = (stage: Heard, { delivery }: { delivery: number }) =>
  stage.store.resendDelivery(stage.owner.id, delivery);

/** It is due now, by hand, and is claimed as such. */
async function assertResent(stage: Heard, delivery: { delivery: number }): Promise<ClaimedDelivery> {
  const before = await recordOf(stage, delivery);
  const answer = await resend(stage, delivery);
  const due = { state: 'retrying', dueBy: 'resend', nextAttemptAtMs: stage.clock.ms, endedAtMs: null } as const;
  deepEqual(answer, { ...before, ...due });
  deepEqual(await recordOf(stage, delivery), answer);
  await assertLedgerAddsUp(stage);
  const again = only(await stage.deliveries());
  deepEqual([again.delivery, again.trigger, again.attempt], [delivery.delivery, 'resend', before.attemptsMade + 1]);
  await assertLedgerAddsUp(stage);
  return again;
}

export function resendingContract(harness: Harness): void {
  describe('sent again', () => {
    it('what was delivered begins the schedule anew', async () => {
      await using stage = await withWebhooks(harness);
      const first = await claimed(stage);
      await stage.delivered(first);
      stage.clock.advance(HOUR_MS);
      const again = await assertResent(stage, first);
      deepEqual([again.tries, again.emission.emitId], [0, first.emission.emitId]);
      await record(stage, again, FAILED);
      const after = await recordOf(stage, first);
      deepEqual([after.state, after.dueBy, after.attemptsMade], ['retrying', 'schedule', 2]);
      equal(after.nextAttemptAtMs, stage.clock.ms + 5 * SECOND_MS);
      stage.clock.advance(5 * SECOND_MS);
      const third = only(await stage.deliveries());
      deepEqual([third.trigger, third.tries, third.attempt], ['retry', 1, 3]);
      await stage.delivered(third);
      const { record: over, attempts } = await wholeOf(stage, first);
      deepEqual([over.state, over.attemptsMade, over.endedAtMs], ['delivered', 3, stage.clock.ms]);
      deepEqual(
        attempts.map((a) => [a.n, a.trigger]),
        [
          [1, 'event'],
          [2, 'resend'],
          [3, 'retry'],
        ],
      );
      await assertLedgerAddsUp(stage);
    });

    it('what was exhausted has all its retries again', async () => {
      const retryDelaysMs = [SECOND_MS, MINUTE_MS, HOUR_MS];
      await using stage = await withWebhooks(harness, 1, { settings: { retryDelaysMs } });
      await stage.append(stage.emitterId);
      let isAgain = false;
      let attempts = 0;
      while (true) {
        const delivery = only(await stage.deliveries());
        attempts++;
        await record(stage, delivery, FAILED);
        const { state, nextAttemptAtMs } = await recordOf(stage, delivery);
        if (state === 'exhausted' && isAgain) break;
        if (state === 'exhausted') {
          await resend(stage, delivery);
          isAgain = true;
        } else stage.clock.ms = Number(nextAttemptAtMs);
      }
      equal(attempts, 2 * (retryDelaysMs.length + 1));
      equal((await codesOf(stage, stage.main)).filter((code) => code === 'DeliveryExhausted').length, 2);
      await assertLedgerAddsUp(stage);
    });

    it('what waits takes the place of its retry', async () => {
      await using stage = await withWebhooks(harness);
      const first = await claimed(stage);
      await stage.retrying(first, HOUR_MS);
      const again = await assertResent(stage, first);
      equal(again.tries, 1);
      await stage.delivered(again);
      stage.clock.advance(HOUR_MS);
      deepEqual(await stage.deliveries(), []);
      equal((await wholeOf(stage, first)).attempts.length, 2);
    });

    it('what waits keeps its place in the schedule', async () => {
      await using stage = await withWebhooks(harness);
      const first = await claimed(stage);
      await record(stage, first, FAILED);
      const again = await assertResent(stage, first);
      await record(stage, again, FAILED);
      equal((await recordOf(stage, first)).nextAttemptAtMs, stage.clock.ms + MINUTE_MS);
      stage.clock.advance(MINUTE_MS);
      equal(only(await stage.deliveries()).tries, 2);
    });

    it('what was put off keeps its numbers apart', async () => {
      await using stage = await withWebhooks(harness);
      const first = await claimed(stage);
      await record(stage, first, putOff(MINUTE_MS));
      await resend(stage, first);
      stage.clock.advance(MINUTE_MS);
      const again = only(await stage.deliveries());
      deepEqual([again.attempt, again.tries, again.trigger], [1, 0, 'resend']);
      await stage.delivered(again);
      const { record: over, attempts } = await wholeOf(stage, first);
      deepEqual([over.attemptsMade, attempts.map((a) => a.n)], [1, [1, 2]]);
    });

    it('what is pending is due by hand', async () => {
      await using stage = await withWebhooks(harness);
      const { entry } = await stage.append(stage.emitterId);
      const { number } = only(await stage.store.receipts(stage.owner.id, entry));
      const again = await assertResent(stage, { delivery: defined(number) });
      equal(again.tries, 0);
      await record(stage, again, FAILED);
      equal((await recordOf(stage, again)).nextAttemptAtMs, stage.clock.ms + 5 * SECOND_MS);
      deepEqual(await stage.deliveries(), []);
    });

    it('a mail is sent again as well', async () => {
      await using stage = await withWebhooks(harness);
      const run = await stage.started(await stage.workflow());
      const slots = all();
      const { claims } = await stage.end(run, succeeded({ outgoing: [mail('a'), mail('b')] }), slots);
      const [fine, lost] = claims.deliveries;
      await stage.delivered(defined(fine));
      await stage.exhausted(defined(lost));
      for (const delivery of [fine, lost]) {
        const again = await assertResent(stage, defined(delivery));
        deepEqual([again.kind, again.mailTo, again.tries], ['mail', 'ada@example.org', 0]);
        await stage.delivered(again);
      }
      equal((await stage.store.ledger(stage.owner.id)).deliveries.delivered, 2);
    });

    it('it goes to where the webhook is now', async () => {
      await using stage = await withWebhooks(harness);
      await stage.append(stage.emitterId);
      const [over] = await deliverAll(stage);
      const changed = await change(stage, stage.main, {
        url: 'https://example.org/new',
        secrets: [aSecret('whsec_dG9kYXk')],
        settings: { ...stage.main.settings, headers: { 'x-new': '1' } },
      });
      const again = await assertResent(stage, defined(over));
      deepEqual(again.webhook, changed);
    });

    it('it stays so through release and rescue', async () => {
      await using stage = await withWebhooks(harness);
      await stage.append(stage.emitterId);
      const [over] = await deliverAll(stage);
      const first = await assertResent(stage, defined(over));
      await stage.store.releaseDeliveries([first]);
      const second = only(await stage.deliveries());
      await stage.reopen();
      await stage.store.rescue(none());
      const third = only(await stage.deliveries());
      for (const delivery of [second, third]) {
        deepEqual([delivery.delivery, delivery.trigger, delivery.attempt], [first.delivery, 'resend', 2]);
      }
      await assertLedgerAddsUp(stage);
    });

    it('it is still due after a reopening', async () => {
      await using stage = await withWebhooks(harness);
      await stage.append(stage.emitterId);
      const [over] = await deliverAll(stage);
      await resend(stage, defined(over));
      await stage.reopen();
      await stage.store.rescue(none());
      equal(only(await stage.deliveries()).trigger, 'resend');
    });

    it('many times at once, it goes once', async () => {
      await using stage = await withWebhooks(harness);
      await stage.append(stage.emitterId);
      const [over] = await deliverAll(stage);
      const answers = await Promise.all(times(8, () => resend(stage, defined(over))));
      deepEqual(
        answers.map((a) => a.state),
        Array(8).fill('retrying'),
      );
      deepEqual(numbersOf(await deliverAll(stage)), numbersOf([defined(over)]));
      equal((await recordOf(stage, defined(over))).attemptsMade, 2);
      await assertLedgerAddsUp(stage);
    });

    it('many of one webhook all go', async () => {
      await using stage = await withWebhooks(harness);
      await timesInTurn(20, () => stage.append(stage.emitterId));
      const over = await deliverAll(stage);
      await Promise.all(over.map((delivery) => resend(stage, delivery)));
      await assertLedgerAddsUp(stage);
      deepEqual(new Set(numbersOf(await deliverAll(stage))), new Set(numbersOf(over)));
      equal((await stage.store.ledger(stage.owner.id)).deliveries.delivered, 20);
    });
  });

  describe('not sent again', () => {
    it('is what is on its way', async () => {
      await using stage = await withWebhooks(harness);
      const under = await claimed(stage);
      equal(await refusal(stage, under), 'sending');
      equal((await stage.delivered(under)).held, true);
      deepEqual(await stage.deliveries(), []);
    });

    it('is what is held, or would be', async () => {
      await using stage = await withWebhooks(harness);
      await stage.append(stage.emitterId);
      const [over] = await deliverAll(stage);
      await change(stage, stage.main, { active: false });
      const { entry } = await stage.append(stage.emitterId);
      const { number } = only(await stage.store.receipts(stage.owner.id, entry));
      equal(await refusal(stage, { delivery: defined(number) }), 'held');
      equal(await refusal(stage, defined(over)), 'held');
      deepEqual([await countOf(stage, stage.main, 'held'), await countOf(stage, stage.main, 'delivered')], [1, 1]);
      await assertLedgerAddsUp(stage);
    });

    it('is what has lost its webhook', async () => {
      await using stage = await withWebhooks(harness);
      await stage.append(stage.emitterId);
      const [over] = await deliverAll(stage);
      const { entry } = await stage.append(stage.emitterId);
      const { number } = only(await stage.store.receipts(stage.owner.id, entry));
      await stage.store.deleteWebhook(stage.owner.id, stage.main.id);
      equal((await recordOf(stage, { delivery: defined(number) })).state, 'cancelled');
      equal(await refusal(stage, { delivery: defined(number) }), 'gone');
      equal(await refusal(stage, defined(over)), 'gone');
      const { deliveries } = await stage.store.ledger(stage.owner.id);
      deepEqual([deliveries.cancelled, deliveries.delivered, deliveries.retrying], [1, 1, 0]);
    });

    it('is what there is not, or another’s', async () => {
      await using stage = await withWebhooks(harness);
      const other = await stage.neighbour();
      await stage.append(stage.emitterId);
      const over = defined((await deliverAll(stage))[0]);
      equal(await stage.store.resendDelivery(other.owner.id, over.delivery), undefined);
      equal(await stage.store.resendDelivery(stage.owner.id, over.delivery + 1), undefined);
      equal(await stage.store.resendDelivery(stage.owner.id, 0), undefined);
      equal((await recordOf(stage, over)).state, 'delivered');
      deepEqual(await stage.deliveries(), []);
    });
  });
}
