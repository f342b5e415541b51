// Retries: the schedule from the first attempt to the last, by a clock that is set by hand.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AttemptTrigger, ClaimedDelivery } from '../../../src/domain/delivery/delivery.ts';
import { HOUR_MS, LIMITS, MINUTE_MS, SECOND_MS } from '../../../src/domain/limits.ts';
import { change, codesOf, FAILED, type Heard, record, recordOf, wholeOf, withWebhooks } from '../deliveries/sending.ts';
import { at, type Harness, none, only, START_MS } from '../fixtures.ts';
import { assertLedgerAddsUp } from '../log/counting.ts';

/** Fails until it is exhausted, each time as soon as it is due and not a millisecond before. */
async function failThrough(stage: Heard): Promise<ClaimedDelivery[]> {
  const claimed: ClaimedDelivery[] = [];
  while (true) {
    const delivery = only(await stage.deliveries());
    claimed.push(delivery);
    equal((await record(stage, delivery, FAILED)).held, true);
    const { state, nextAttemptAtMs } = await recordOf(stage, delivery);
    if (state === 'exhausted') return claimed;
    deepEqual([state, typeof nextAttemptAtMs], ['retrying', 'number']);
    stage.clock.ms = Number(nextAttemptAtMs) - 1;
    deepEqual(await stage.deliveries(), [], 'never early');
    stage.clock.advance(1);
  }
}

const triggers = (count: number): AttemptTrigger[] => ['event', ...Array<AttemptTrigger>(count - 1).fill('retry')];

export function retriesContract(harness: Harness): void {
  describe('a schedule', () => {
    it('makes eleven attempts in about 75 hours', async () => {
      await using stage = await withWebhooks(harness);
      await stage.append(stage.emitterId);
      const claimed = await failThrough(stage);
      deepEqual(
        claimed.map((d) => [d.attempt, d.tries, d.trigger]),
        triggers(11).map((trigger, i) => [i + 1, i, trigger]),
      );
      equal(stage.clock.ms - START_MS, 75 * HOUR_MS + 36 * MINUTE_MS + 5 * SECOND_MS);
      const { record: last, attempts } = await wholeOf(stage, at(claimed, 0));
      deepEqual([last.state, last.attemptsMade, last.nextAttemptAtMs], ['exhausted', 11, null]);
      equal(last.endedAtMs, stage.clock.ms);
      deepEqual(
        attempts.map((a) => [a.n, a.trigger]),
        triggers(11).map((trigger, i) => [i + 1, trigger]),
      );
      deepEqual(
        attempts.slice(1).map((a, i) => a.startedAtMs - at(attempts, i).startedAtMs),
        LIMITS.retryDelaysMs,
      );
      await assertLedgerAddsUp(stage);
    });

    it('is told with its end and on its way', async () => {
      await using stage = await withWebhooks(harness);
      await stage.append(stage.emitterId);
      await failThrough(stage);
      deepEqual(await codesOf(stage, stage.main), ['WebhookFailing', 'DeliveryExhausted']);
    });

    it('may be one of the webhook itself', async () => {
      await using stage = await withWebhooks(harness, 1, { settings: { retryDelaysMs: [SECOND_MS, HOUR_MS] } });
      await stage.append(stage.emitterId);
      const claimed = await failThrough(stage);
      deepEqual([claimed.length, stage.clock.ms - START_MS], [3, HOUR_MS + SECOND_MS]);
      await assertLedgerAddsUp(stage);
    });

    it('may have no retries at all', async () => {
      await using stage = await withWebhooks(harness, 1, { settings: { retryDelaysMs: [] } });
      await stage.append(stage.emitterId);
      equal((await failThrough(stage)).length, 1);
    });

    it('is the one that the webhook has now', async () => {
      await using stage = await withWebhooks(harness);
      await stage.append(stage.emitterId);
      await record(stage, only(await stage.deliveries()), FAILED);
      const settings = { ...stage.main.settings, retryDelaysMs: [SECOND_MS] };
      await change(stage, stage.main, { settings });
      stage.clock.advance(5 * SECOND_MS);
      const second = only(await stage.deliveries());
      deepEqual([second.tries, second.webhook?.settings], [1, settings]);
      await record(stage, second, FAILED);
      equal((await recordOf(stage, second)).state, 'exhausted');
    });

    it('goes on where it was after a reopening', async () => {
      await using stage = await withWebhooks(harness);
      await stage.append(stage.emitterId);
      await record(stage, only(await stage.deliveries()), FAILED);
      await stage.reopen();
      await stage.store.rescue(none());
      stage.clock.advance(5 * SECOND_MS - 1);
      deepEqual(await stage.deliveries(), []);
      stage.clock.advance(1);
      const second = only(await stage.deliveries());
      deepEqual([second.attempt, second.tries, second.trigger], [2, 1, 'retry']);
    });

    it('does not move for what was lost', async () => {
      await using stage = await withWebhooks(harness);
      await stage.append(stage.emitterId);
      await record(stage, only(await stage.deliveries()), FAILED);
      stage.clock.advance(5 * SECOND_MS);
      const lost = only(await stage.deliveries());
      await stage.reopen();
      await stage.store.rescue(none());
      const again = only(await stage.deliveries());
      deepEqual([again.delivery, again.attempt, again.tries, again.trigger], [lost.delivery, 2, 1, 'retry']);
      equal((await wholeOf(stage, lost)).attempts.length, 1);
      await assertLedgerAddsUp(stage);
    });
  });

  describe('why a delivery is due', () => {
    it('is the event at first, then the schedule', async () => {
      await using stage = await withWebhooks(harness);
      await stage.append(stage.emitterId);
      const first = only(await stage.deliveries());
      equal((await recordOf(stage, first)).dueBy, 'event');
      await record(stage, first, FAILED);
      const { dueBy, nextAttemptAtMs } = await recordOf(stage, first);
      deepEqual([dueBy, nextAttemptAtMs], ['schedule', START_MS + 5 * SECOND_MS]);
    });

    it('stays that of its last attempt when cancelled', async () => {
      await using stage = await withWebhooks(harness);
      await stage.append(stage.emitterId);
      const delivery = only(await stage.deliveries());
      await stage.store.deleteWebhook(stage.owner.id, stage.main.id);
      await record(stage, delivery, FAILED);
      const { state, dueBy, attemptsMade } = await recordOf(stage, delivery);
      deepEqual([state, dueBy, attemptsMade], ['cancelled', 'event', 1]);
      await assertLedgerAddsUp(stage);
    });

    it('is listed as it is shown alone', async () => {
      await using stage = await withWebhooks(harness, 2);
      await stage.append(stage.emitterId);
      for (const delivery of await stage.deliveries()) await record(stage, delivery, FAILED);
      await stage.append(stage.emitterId);
      const { items } = await stage.store.listDeliveries({ ownerId: stage.owner.id }, { limit: 10 });
      deepEqual(
        items.map((item) => item.dueBy),
        ['event', 'event', 'schedule', 'schedule'],
      );
      for (const item of items) deepEqual(await recordOf(stage, item), item);
    });

    it('keeps its attempts with what they came to', async () => {
      await using stage = await withWebhooks(harness);
      await stage.append(stage.emitterId);
      const answers = [
        FAILED,
        { outcome: 'timeout', status: null, detail: 'Too slow.' } as const,
        { status: 429, retryAfterMs: 1000 },
        { status: 204, responseBody: 'ä\u0000' },
      ];
      const made = [];
      for (const answer of answers) {
        const delivery = only(await stage.deliveries());
        await record(stage, delivery, answer);
        made.push({ ...answer, startedAtMs: stage.clock.ms });
        stage.clock.ms = (await recordOf(stage, delivery)).nextAttemptAtMs ?? stage.clock.ms;
      }
      const [listed] = (await stage.store.listDeliveries({ ownerId: stage.owner.id }, { limit: 1 })).items;
      ok(listed);
      const { attempts } = await wholeOf(stage, listed);
      for (const [i, attempt] of attempts.entries()) {
        deepEqual({ ...attempt, ...at(made, i) }, attempt);
        equal(attempt.n, i + 1);
      }
      deepEqual([attempts.length, listed.attemptsMade, listed.state], [4, 3, 'delivered']);
    });
  });
}
