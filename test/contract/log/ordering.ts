// Ordered webhooks: one delivery at a time, in the order of the emissions, and a failing head holds up the rest.

import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { ClaimedDelivery } from '../../../src/domain/delivery/delivery.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../src/domain/limits.ts';
import type { Claims } from '../../../src/store/contract/store.ts';
import {
  change,
  FAILED,
  type Heard,
  listed,
  numbersOf,
  pendingFor,
  putOff,
  record,
  recordOf,
  resend,
  withWebhooks,
} from '../deliveries/sending.ts';
import { all, at, defined, type Harness, none, only, START_MS, shareOf, timesInTurn } from '../fixtures.ts';
import { assertLedgerAddsUp } from './counting.ts';

const ORDERED = { settings: { ordered: true } };

/** An ordered webhook with so many deliveries; their numbers. */
async function queued(harness: Harness, count: number): Promise<Heard & { numbers: number[] }> {
  const stage = await withWebhooks(harness, 1, ORDERED);
  await timesInTurn(count, () => stage.append(stage.emitterId));
  return Object.assign(stage, { numbers: numbersOf(await listed(stage, stage.main)) });
}

/** The one that may go now; nothing goes beside it. */
async function head(stage: Heard): Promise<ClaimedDelivery> {
  const claimed = only(await stage.deliveries());
  deepEqual(await stage.deliveries(), [], 'nothing beside it');
  return claimed;
}

/** What the end of an attempt handed over, or else what a claim gives. */
async function next(stage: Heard, { deliveries }: Claims): Promise<ClaimedDelivery> {
  return deliveries.length > 0 ? only(deliveries) : head(stage);
}

/** Delivers one after another, and says in which order. */
async function inOrder(stage: Heard): Promise<number[]> {
  const numbers: number[] = [];
  while (true) {
    const claimed = await stage.deliveries();
    if (claimed.length === 0) return numbers;
    numbers.push(only(claimed).delivery);
    await stage.delivered(only(claimed));
  }
}

const setOrdered = (stage: Heard, ordered: boolean) =>
  change(stage, stage.main, { settings: { ...stage.main.settings, ordered } });

export function orderingContract(harness: Harness): void {
  describe('an ordered webhook', () => {
    it('gets one at a time, in order', async () => {
      await using stage = await queued(harness, 6);
      const first = await head(stage);
      equal(first.delivery, at(stage.numbers, 0));
      await stage.delivered(first);
      deepEqual(await inOrder(stage), stage.numbers.slice(1));
      await assertLedgerAddsUp(stage);
    });

    it('is handed over the next one alone', async () => {
      await using stage = await queued(harness, 4);
      let under = await head(stage);
      const seen = [under.delivery];
      for (let i = 1; i < 4; i++) {
        const slots = all();
        const { claims } = await stage.delivered(under, slots);
        slots.assertAccountedFor(claims);
        under = await next(stage, claims);
        seen.push(under.delivery);
      }
      deepEqual(seen, stage.numbers);
    });

    it('takes an event at once when idle alone', async () => {
      await using stage = await withWebhooks(harness, 1, ORDERED);
      const appended = await timesInTurn(3, () => stage.append(stage.emitterId, {}, all()));
      deepEqual(
        appended.map((a) => a.claims.deliveries.length),
        [1, 0, 0],
      );
      const first = only(at(appended, 0).claims.deliveries);
      await stage.retrying(first, MINUTE_MS);
      deepEqual((await stage.append(stage.emitterId, {}, all())).claims.deliveries, []);
      deepEqual(await stage.deliveries(), []);
    });

    it('waits while its head fails', async () => {
      await using stage = await queued(harness, 3);
      const attempts: number[] = [];
      for (const delayMs of [5 * SECOND_MS, MINUTE_MS, 5 * MINUTE_MS]) {
        const failing = await head(stage);
        attempts.push(failing.delivery);
        deepEqual((await record(stage, failing, FAILED, all())).claims.deliveries, []);
        stage.clock.advance(delayMs - 1);
        deepEqual(await stage.deliveries(), []);
        stage.clock.advance(1);
      }
      deepEqual(attempts, Array(3).fill(at(stage.numbers, 0)));
      deepEqual(await inOrder(stage), stage.numbers);
      await assertLedgerAddsUp(stage);
    });

    it('says when its head is due', async () => {
      await using stage = await queued(harness, 3);
      await stage.retrying(await head(stage), MINUTE_MS);
      const claims = await stage.store.claimDeliveries(10, all());
      deepEqual([claims.deliveries, claims.nextDueAtMs], [[], START_MS + MINUTE_MS]);
    });

    it('goes on when its head is exhausted', async () => {
      await using stage = await queued(harness, 3);
      await stage.exhausted(await head(stage));
      deepEqual(await inOrder(stage), stage.numbers.slice(1));
    });

    it('is handed no second one by an end', async () => {
      for (const state of ['delivered', 'exhausted'] as const) {
        await using stage = await queued(harness, 3);
        const { claims } = await stage.attempt({ delivery: await head(stage), state }, all());
        equal((await next(stage, claims)).delivery, at(stage.numbers, 1));
        deepEqual(await stage.deliveries(), []);
      }
    });

    it('sends again in its old place', async () => {
      await using stage = await queued(harness, 4);
      const first = await head(stage);
      await stage.delivered(first);
      const under = await head(stage);
      await resend(stage, first);
      deepEqual(await stage.deliveries(), []);
      await stage.delivered(under);
      const { numbers } = stage;
      deepEqual(await inOrder(stage), [at(numbers, 0), at(numbers, 2), at(numbers, 3)]);
      await assertLedgerAddsUp(stage);
    });

    it('sends a failing head again at once', async () => {
      await using stage = await queued(harness, 2);
      const first = await head(stage);
      await stage.retrying(first, HOUR_MS);
      await resend(stage, first);
      deepEqual(await inOrder(stage), stage.numbers);
    });

    it('does not let what is sent again overtake', async () => {
      await using stage = await queued(harness, 3);
      await stage.retrying(await head(stage), MINUTE_MS);
      await resend(stage, { delivery: at(stage.numbers, 2) });
      deepEqual(await stage.deliveries(), []);
      stage.clock.advance(MINUTE_MS);
      deepEqual(await inOrder(stage), stage.numbers);
    });

    it('keeps its order when its head is lost', async () => {
      await using stage = await queued(harness, 3);
      const lost = await head(stage);
      await stage.reopen();
      const slots = all();
      const { claims } = await stage.store.rescue(slots);
      slots.assertAccountedFor(claims);
      equal((await stage.delivered(lost)).held, false);
      const under = claims.deliveries[0] ?? (await head(stage));
      equal(under.delivery, lost.delivery);
      await stage.delivered(under);
      deepEqual(await inOrder(stage), stage.numbers.slice(1));
      await assertLedgerAddsUp(stage);
    });

    it('keeps its order when its head is released', async () => {
      await using stage = await queued(harness, 3);
      await stage.store.releaseDeliveries([await head(stage)]);
      deepEqual(await inOrder(stage), stage.numbers);
    });

    it('keeps its order through a pause', async () => {
      await using stage = await queued(harness, 3);
      await record(stage, await head(stage), putOff(MINUTE_MS), all());
      deepEqual(await stage.deliveries(), []);
      stage.clock.advance(MINUTE_MS);
      deepEqual(await inOrder(stage), stage.numbers);
    });

    it('keeps its order through being disabled', async () => {
      await using stage = await queued(harness, 3);
      const first = await head(stage);
      await change(stage, stage.main, { active: false });
      await stage.retrying(first, HOUR_MS);
      await stage.append(stage.emitterId, {}, all());
      await change(stage, stage.main, { active: true });
      deepEqual(await inOrder(stage), numbersOf(await listed(stage, stage.main)));
    });

    it('holds up nobody else', async () => {
      await using stage = await queued(harness, 3);
      const other = await stage.webhook();
      await stage.retrying(await head(stage), HOUR_MS);
      await pendingFor(stage, other, 5);
      const claimed = await stage.deliveries();
      deepEqual(
        claimed.map((d) => d.webhook?.id),
        Array(5).fill(other.id),
      );
    });
  });

  describe('a webhook that becomes ordered', () => {
    it('waits for what is on its way', async () => {
      await using stage = await withWebhooks(harness);
      await timesInTurn(5, () => stage.append(stage.emitterId));
      const under = await stage.deliveries(3);
      await setOrdered(stage, true);
      const [first, second, third] = under;
      await stage.delivered(defined(second), all());
      deepEqual((await stage.retrying(defined(first), 0, {}, all())).claims.deliveries, []);
      deepEqual(await stage.deliveries(), []);
      await stage.delivered(defined(third));
      const rest = (await listed(stage, stage.main)).filter((d) => d.state !== 'delivered');
      deepEqual(await inOrder(stage), numbersOf(rest));
      equal(rest.length, 3);
    });

    it('is let go when no longer ordered', async () => {
      await using stage = await queued(harness, 5);
      await stage.retrying(await head(stage), HOUR_MS);
      await setOrdered(stage, false);
      deepEqual(numbersOf(await stage.deliveries()), stage.numbers.slice(1));
      deepEqual((await recordOf(stage, { delivery: at(stage.numbers, 0) })).state, 'retrying');
    });
  });

  describe('whatever happens to an ordered webhook', () => {
    it('ends come in the order of events', async () => {
      const steps = fc.array(fc.constantFrom('append', 'deliver', 'fail', 'exhaust', 'release', 'put off', 'reopen'), {
        maxLength: 30,
      });
      await fc.assert(
        fc.asyncProperty(steps, async (list) => {
          await using stage = await withWebhooks(harness, 1, ORDERED);
          const over: number[] = [];
          let under: ClaimedDelivery | undefined;
          for (const step of ['append', ...list, 'append']) {
            stage.clock.advance(SECOND_MS);
            if (step === 'append') {
              const { claims } = await stage.append(stage.emitterId, {}, all());
              if (under) deepEqual(claims.deliveries, [], 'one at a time');
              under ??= claims.deliveries[0];
            }
            if (step === 'reopen') {
              await stage.reopen();
              await stage.store.rescue(none());
              under = undefined;
            }
            const claimed = await stage.deliveries();
            if (under) deepEqual(claimed, [], 'one at a time');
            else if (claimed.length > 0) under = only(claimed);
            if (!under || step === 'append' || step === 'reopen') continue;
            if (step === 'deliver') await stage.delivered(under);
            if (step === 'fail') await record(stage, under, FAILED);
            if (step === 'exhaust') await stage.exhausted(under);
            if (step === 'release') await stage.store.releaseDeliveries([under]);
            if (step === 'put off') await record(stage, under, putOff(3 * SECOND_MS));
            if (step === 'deliver' || step === 'exhaust') over.push(under.delivery);
            under = undefined;
          }
          deepEqual(
            over,
            [...over].sort((a, b) => a - b),
          );
          await assertLedgerAddsUp(stage);
        }),
        { numRuns: shareOf(harness, 15) },
      );
    });
  });
}
