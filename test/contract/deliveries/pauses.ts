// Pauses: a receiver that asks to be left alone (Retry-After) is left alone, by every delivery to it, as long as it asked.

import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DAY_MS, HOUR_MS, LIMITS, MINUTE_MS, SECOND_MS } from '../../../src/domain/limits.ts';
import { all, at, defined, type Harness, none, only, START_MS, timesInTurn } from '../fixtures.ts';
import { assertLedgerAddsUp } from '../log/counting.ts';
import {
  change,
  countOf,
  deliverAll,
  FAILED,
  type Heard,
  healthOf,
  numbersOf,
  pendingFor,
  putOff,
  record,
  recordOf,
  resend,
  wholeOf,
  withWebhooks,
} from './sending.ts';

const PAUSE_MS = 10 * MINUTE_MS;

/** So many deliveries wait for a webhook that has just asked for PAUSE_MS; the number of the one that it answered. */
async function paused(stage: Heard, waiting = 0): Promise<number> {
  await stage.append(stage.emitterId);
  const first = only((await stage.deliveries()).filter((d) => d.webhook?.id === stage.main.id));
  await pendingFor(stage, stage.main, waiting);
  const { held, claims } = await record(stage, first, putOff(PAUSE_MS), all());
  deepEqual([held, claims.deliveries], [true, []], 'nothing is handed over to a paused webhook');
  return first.delivery;
}

const nextDue = async (stage: Heard): Promise<number | null> =>
  (await stage.store.claimDeliveries(100, none())).nextDueAtMs;

/** Nothing until then, and the rest at once. */
async function assertSilentUntil(stage: Heard, untilMs: number, count: number): Promise<void> {
  deepEqual(await stage.deliveries(), []);
  stage.clock.ms = untilMs - 1;
  deepEqual(await stage.deliveries(), [], 'never early');
  stage.clock.ms = untilMs;
  equal((await stage.deliveries()).length, count);
}

export function pausesContract(harness: Harness): void {
  describe('an attempt that was put off', () => {
    it('does not count, yet is listed', async () => {
      await using stage = await withWebhooks(harness);
      const delivery = await paused(stage);
      const { record: first, attempts } = await wholeOf(stage, { delivery });
      deepEqual([first.state, first.attemptsMade, first.dueBy], ['retrying', 0, 'retry_after']);
      equal(first.nextAttemptAtMs, START_MS + PAUSE_MS);
      deepEqual([only(attempts).n, only(attempts).status, only(attempts).retryAfterMs], [1, 429, PAUSE_MS]);
      await assertLedgerAddsUp(stage);
    });

    it('leaves the schedule where it was', async () => {
      await using stage = await withWebhooks(harness);
      await stage.append(stage.emitterId);
      await record(stage, only(await stage.deliveries()), FAILED);
      stage.clock.advance(5 * SECOND_MS);
      for (let i = 0; i < 20; i++) {
        const delivery = only(await stage.deliveries());
        deepEqual([delivery.attempt, delivery.tries, delivery.trigger], [2, 1, 'retry']);
        await record(stage, delivery, putOff(HOUR_MS));
        stage.clock.advance(HOUR_MS);
      }
      const last = only(await stage.deliveries());
      await record(stage, last, FAILED);
      const { record: after, attempts } = await wholeOf(stage, last);
      deepEqual([after.attemptsMade, after.dueBy], [2, 'schedule']);
      equal(after.nextAttemptAtMs, stage.clock.ms + MINUTE_MS);
      deepEqual(
        attempts.map((a) => a.n),
        attempts.map((_, i) => i + 1),
      );
      equal(attempts.length, 22);
    });

    it('makes the next one a retry, first anew', async () => {
      await using stage = await withWebhooks(harness);
      const delivery = await paused(stage);
      stage.clock.advance(PAUSE_MS);
      const again = only(await stage.deliveries());
      deepEqual([again.delivery, again.attempt, again.tries, again.trigger], [delivery, 1, 0, 'retry']);
      await stage.delivered(again);
      const { record: over, attempts } = await wholeOf(stage, again);
      deepEqual([over.state, over.attemptsMade], ['delivered', 1]);
      deepEqual(
        attempts.map((a) => [a.n, a.trigger, a.status]),
        [
          [1, 'event', 429],
          [2, 'retry', 200],
        ],
      );
      await assertLedgerAddsUp(stage);
    });

    it('is forgotten by a webhook that is held', async () => {
      await using stage = await withWebhooks(harness);
      await stage.append(stage.emitterId);
      const delivery = only(await stage.deliveries());
      await change(stage, stage.main, { active: false });
      await record(stage, delivery, putOff(PAUSE_MS));
      equal((await recordOf(stage, delivery)).state, 'held');
      await change(stage, stage.main, { active: true });
      const again = only(await stage.deliveries());
      deepEqual([again.attempt, again.tries], [1, 0]);
      await assertLedgerAddsUp(stage);
    });
  });

  describe('a paused webhook', () => {
    it('gets nothing at all, and others do', async () => {
      await using stage = await withWebhooks(harness, 2);
      await paused(stage, 3);
      const other = at(stage.webhooks, 1);
      await pendingFor(stage, other, 1);
      equal(only(await stage.deliveries()).webhook?.id, other.id);
      await assertSilentUntil(stage, START_MS + PAUSE_MS, 4);
      await assertLedgerAddsUp(stage);
    });

    it('gets nothing of what is accepted meanwhile', async () => {
      await using stage = await withWebhooks(harness, 2);
      await paused(stage);
      const slots = all();
      const { claims } = await stage.append(stage.emitterId, {}, slots);
      slots.assertAccountedFor(claims);
      equal(only(claims.deliveries).webhook?.id, at(stage.webhooks, 1).id);
      equal(await countOf(stage, stage.main, 'pending'), 1);
      await assertSilentUntil(stage, START_MS + PAUSE_MS, 2);
      await assertLedgerAddsUp(stage);
    });

    it('is still paused after a reopening', async () => {
      await using stage = await withWebhooks(harness);
      await paused(stage, 2);
      await stage.reopen();
      await stage.store.rescue(all());
      equal((await healthOf(stage, stage.main)).pausedUntilMs, START_MS + PAUSE_MS);
      deepEqual((await stage.append(stage.emitterId, {}, all())).claims.deliveries, []);
      await assertSilentUntil(stage, START_MS + PAUSE_MS, 4);
      await assertLedgerAddsUp(stage);
    });

    it('waits as long as was asked at most', async () => {
      for (const asked of [
        [PAUSE_MS, MINUTE_MS],
        [MINUTE_MS, PAUSE_MS],
      ]) {
        await using stage = await withWebhooks(harness);
        await timesInTurn(2, () => stage.append(stage.emitterId));
        for (const [i, delivery] of (await stage.deliveries()).entries()) {
          await record(stage, delivery, putOff(at(asked, i)));
        }
        equal((await healthOf(stage, stage.main)).pausedUntilMs, START_MS + PAUSE_MS);
        await assertSilentUntil(stage, START_MS + PAUSE_MS, 2);
      }
    });

    it('is not woken by a success under way', async () => {
      await using stage = await withWebhooks(harness);
      await timesInTurn(3, () => stage.append(stage.emitterId));
      const [first, second, third] = await stage.deliveries();
      await record(stage, defined(first), putOff(PAUSE_MS));
      await stage.delivered(defined(second));
      await record(stage, defined(third), FAILED);
      stage.clock.advance(MINUTE_MS);
      await assertSilentUntil(stage, START_MS + PAUSE_MS, 2);
    });

    it('takes back what is released, and waits', async () => {
      await using stage = await withWebhooks(harness);
      await timesInTurn(3, () => stage.append(stage.emitterId));
      const [first, ...rest] = await stage.deliveries();
      await record(stage, defined(first), putOff(PAUSE_MS));
      await stage.store.releaseDeliveries(rest);
      await assertSilentUntil(stage, START_MS + PAUSE_MS, 3);
    });

    it('waits with what is sent again too', async () => {
      await using stage = await withWebhooks(harness);
      await stage.append(stage.emitterId);
      const [over] = await deliverAll(stage);
      const delivery = await paused(stage);
      await resend(stage, defined(over));
      await resend(stage, { delivery });
      await assertSilentUntil(stage, START_MS + PAUSE_MS, 2);
    });

    it('says when it may be written to', async () => {
      await using stage = await withWebhooks(harness, 2);
      await paused(stage, 2);
      equal(await nextDue(stage), START_MS + PAUSE_MS);
      await pendingFor(stage, at(stage.webhooks, 1), 1);
      await record(stage, only(await stage.deliveries()), FAILED);
      equal(await nextDue(stage), START_MS + 5 * SECOND_MS);
    });

    it('lets the schedule have its later times', async () => {
      await using stage = await withWebhooks(harness);
      await timesInTurn(2, () => stage.append(stage.emitterId));
      const [slow, quick] = await stage.deliveries();
      await stage.retrying(defined(slow), HOUR_MS);
      await record(stage, defined(quick), putOff(MINUTE_MS));
      stage.clock.advance(MINUTE_MS);
      deepEqual(numbersOf(await stage.deliveries()), numbersOf([defined(quick)]));
      equal(await nextDue(stage), START_MS + HOUR_MS);
    });

    it('may ask for a day, and once more', async () => {
      await using stage = await withWebhooks(harness);
      await stage.append(stage.emitterId);
      for (let days = 1; days <= 2; days++) {
        await record(stage, only(await stage.deliveries()), putOff(LIMITS.retryAfterMs));
        stage.clock.ms = START_MS + days * DAY_MS - 1;
        deepEqual(await stage.deliveries(), []);
        stage.clock.advance(1);
      }
      equal((await deliverAll(stage)).length, 1);
    });

    it('is forgotten with its address', async () => {
      await using stage = await withWebhooks(harness);
      await paused(stage, 2);
      await change(stage, stage.main, { url: 'https://example.org/elsewhere' });
      equal((await healthOf(stage, stage.main)).pausedUntilMs, null);
      equal((await stage.append(stage.emitterId)).claims.deliveriesWaiting, true);
      const claimed = await stage.deliveries();
      equal(claimed.filter((d) => d.trigger === 'event').length, 3);
      equal(claimed.filter((d) => d.trigger === 'retry').length, 1, 'the one that was put off');
    });

    it('is forgotten when it is enabled again', async () => {
      await using stage = await withWebhooks(harness);
      await paused(stage, 2);
      await change(stage, stage.main, { active: false });
      await change(stage, stage.main, { active: true });
      equal((await stage.deliveries()).length, 3);
      await assertLedgerAddsUp(stage);
    });

    it('stays paused when only its name changes', async () => {
      await using stage = await withWebhooks(harness);
      await paused(stage, 1);
      await change(stage, stage.main, { name: 'other' });
      await assertSilentUntil(stage, START_MS + PAUSE_MS, 2);
    });
  });
}
