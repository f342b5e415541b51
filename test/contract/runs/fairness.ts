// Fair shares: nobody's crowd keeps another waiting, and neither first attempts nor retries starve.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ClaimedDelivery } from '../../../src/domain/delivery/delivery.ts';
import { DAY_MS, LIMITS, SECOND_MS } from '../../../src/domain/limits.ts';
import { numbersOf, pendingFor, withWebhooks } from '../deliveries/sending.ts';
import {
  all,
  at,
  CountedSlots,
  defined,
  type Harness,
  none,
  only,
  shareOf,
  times,
  timesInTurn,
  upTo,
} from '../fixtures.ts';
import { Stage } from '../stage.ts';

const LIMIT = 128;

/** A source that so many webhooks listen to. */
async function crowd(stage: Stage, count: number): Promise<string> {
  const { id } = await stage.source();
  const webhooks = await Promise.all(times(count, () => stage.webhook()));
  await Promise.all(webhooks.map((webhook) => stage.subscribe(id, webhook.id)));
  return id;
}

export function fairnessContract(harness: Harness): void {
  describe('fair shares', () => {
    it('let nobody wait behind five thousand', async () => {
      await using stage = await withWebhooks(harness, 2);
      const [busy, calm] = [at(stage.webhooks, 0), at(stage.webhooks, 1)];
      await pendingFor(stage, busy, 5000);
      await stage.deliveries(LIMIT);
      await pendingFor(stage, calm, 1);
      const claimed = await stage.deliveries(LIMIT);
      equal(claimed.filter((d) => d.webhook?.id === calm.id).length, 1);
      ok(claimed.length > 1, 'and the busy one goes on');
      await pendingFor(stage, calm, 3);
      ok((await stage.deliveries(4)).filter((d) => d.webhook?.id === calm.id).length >= 2);
    });

    it('reach a crowd of webhooks within few claims', async () => {
      await using stage = await Stage.open(harness);
      const many = shareOf(harness, 2000);
      const emitterId = await crowd(stage, many);
      await stage.append(emitterId);
      const reached = new Set<string>();
      for (let claims = 0; claims < Math.ceil(many / LIMIT); claims++) {
        for (const { webhook } of await stage.deliveries(LIMIT)) reached.add(defined(webhook).id);
      }
      equal(reached.size, many);
      deepEqual(await stage.deliveries(), []);
      // The next event finds slots for some of them at once, and the others wait.
      const some = shareOf(harness, 300);
      const slots = upTo(some);
      const { entry, claims } = await stage.append(emitterId, {}, slots);
      slots.assertAccountedFor(claims);
      deepEqual([claims.deliveries.length, claims.deliveriesWaiting], [some, true]);
      const receipts = await stage.store.receipts(stage.owner.id, entry);
      equal(new Set(receipts.map((r) => r.listenerId)).size, many);
      const { deliveries } = await stage.store.ledger(stage.owner.id);
      deepEqual([deliveries.sending, deliveries.pending], [many + some, many - some]);
      const rest = await stage.deliveries(many);
      equal(new Set([...numbersOf(claims.deliveries), ...numbersOf(rest)]).size, many);
    });

    it('go round where many wait for more', async () => {
      await using stage = await Stage.open(harness);
      const emitterId = await crowd(stage, 60);
      await timesInTurn(5, () => stage.append(emitterId));
      const served = new Map<string, number>();
      for (let claims = 0; claims < 12; claims++) {
        for (const { webhook } of await stage.deliveries(10)) {
          const { id } = defined(webhook);
          served.set(id, (served.get(id) ?? 0) + 1);
        }
      }
      equal(served.size, 60, 'all were served, though none could be served whole');
    });
  });

  describe('retries', () => {
    it('do not starve first attempts of others', async () => {
      await using stage = await withWebhooks(harness, 20);
      await timesInTurn(10, () => stage.append(stage.emitterId));
      for (const delivery of await stage.deliveries(1000)) await stage.retrying(delivery, SECOND_MS);
      stage.clock.advance(SECOND_MS);
      const fresh = await stage.webhook();
      await pendingFor(stage, fresh, 3);
      const claimed = await stage.deliveries(3);
      deepEqual(
        claimed.map((d) => [d.webhook?.id, d.trigger]),
        Array(3).fill([fresh.id, 'event']),
      );
      equal((await stage.deliveries(1000)).length, 200);
    });

    it('do not starve first attempts of their own', async () => {
      await using stage = await withWebhooks(harness);
      await timesInTurn(100, () => stage.append(stage.emitterId));
      for (const delivery of await stage.deliveries(1000)) await stage.retrying(delivery, SECOND_MS);
      stage.clock.advance(SECOND_MS);
      await pendingFor(stage, stage.main, 100);
      const claimed = await stage.deliveries(LIMITS.inFlightPerWebhook);
      ok(claimed.filter((d) => d.trigger === 'event').length >= LIMITS.inFlightPerWebhook - 1);
      // Nor when the end of one attempt brings the next.
      let under = defined(claimed[0]);
      const triggers: string[] = [];
      for (let i = 0; i < 32; i++) {
        const { claims } = await stage.delivered(under, upTo(1));
        under = claims.deliveries[0] ?? only(await stage.deliveries(1));
        triggers.push(under.trigger);
      }
      ok(triggers.filter((trigger) => trigger === 'event').length >= 16, triggers.join(' '));
    });

    it('have their share of what went before they were due', async () => {
      await using stage = await withWebhooks(harness);
      await stage.append(stage.emitterId);
      const failed = only(await stage.deliveries());
      await stage.retrying(failed, SECOND_MS);
      await pendingFor(stage, stage.main, LIMITS.inFlightPerWebhook);
      equal((await stage.deliveries(LIMITS.inFlightPerWebhook - 1)).length, LIMITS.inFlightPerWebhook - 1);
      stage.clock.advance(SECOND_MS);
      deepEqual(numbersOf(await stage.deliveries(1)), [failed.delivery]);
    });

    it('have a share of all, also beside first attempts', async () => {
      await using stage = await withWebhooks(harness, LIMITS.inFlightPerWebhook + 1);
      const last = at(stage.webhooks, -1);
      await pendingFor(stage, last, 1);
      const failed = only(await stage.deliveries());
      await stage.retrying(failed, SECOND_MS);
      stage.clock.advance(SECOND_MS);
      await stage.append(stage.emitterId);
      const claimed = await stage.deliveries(LIMITS.inFlightPerWebhook);
      equal(numbersOf(claimed).includes(failed.delivery), true, 'its first attempt waits behind those of the others');
    });

    it('of a busy webhook are claimed as well', async () => {
      await using stage = await withWebhooks(harness);
      await stage.append(stage.emitterId);
      const failed = only(await stage.deliveries());
      await stage.retrying(failed, SECOND_MS);
      stage.clock.advance(SECOND_MS);
      for (let round = 0; round < 4; round++) {
        await pendingFor(stage, stage.main, 20);
        const claimed = await stage.deliveries(LIMITS.inFlightPerWebhook);
        if (numbersOf(claimed).includes(failed.delivery)) return;
        for (const delivery of claimed) await stage.delivered(delivery);
      }
      throw new Error('the retry starves');
    });

    it('of a webhook always at work go too', async () => {
      await using stage = await withWebhooks(harness);
      await stage.append(stage.emitterId);
      const failed = only(await stage.deliveries());
      await stage.retrying(failed, SECOND_MS);
      stage.clock.advance(SECOND_MS);
      await pendingFor(stage, stage.main, 200);
      const under: ClaimedDelivery[] = [];
      // As the engine has it: eight slots, and each that is freed takes what the store hands over or a claim gives.
      const take = (more: readonly ClaimedDelivery[]) => under.push(...more);
      const free = () => upTo(LIMITS.inFlightPerWebhook - under.length);
      for (let ends = 0; ends < 100; ends++) {
        if (under.length < LIMITS.inFlightPerWebhook)
          take((await stage.store.claimDeliveries(LIMIT, free())).deliveries);
        const next = defined(under.shift());
        if (next.delivery === failed.delivery) return;
        take((await stage.delivered(next, free())).claims.deliveries);
      }
      throw new Error('the retry starves');
    });

    it('of anybody get one hand in eight', async () => {
      await using stage = await withWebhooks(harness, 2);
      const [failed, dead] = [at(stage.webhooks, 0), at(stage.webhooks, 1)];
      await pendingFor(stage, failed, 1);
      await stage.retrying(only(await stage.deliveries()), SECOND_MS);
      stage.clock.advance(SECOND_MS);
      await pendingFor(stage, dead, 20);
      const served: string[] = [];
      for (let i = 0; i < 16; i++) {
        const one = only(await stage.deliveries(1));
        const isFailed = one.webhook?.id === failed.id;
        served.push(`${isFailed ? 'failed' : 'dead'} ${one.trigger}`);
        await stage.retrying(one, isFailed ? 0 : DAY_MS);
      }
      const round = [...Array(7).fill('dead event'), 'failed retry'];
      deepEqual(served, [...round, ...round]);
      // Where no retry may have a hand, first attempts go on.
      const slots = new CountedSlots(10, (id) => id === dead.id);
      equal((await stage.store.claimDeliveries(100, slots)).deliveries.length, 6);
    });

    it('have their turn hand by hand', async () => {
      await using stage = await withWebhooks(harness);
      await stage.append(stage.emitterId);
      await stage.retrying(only(await stage.deliveries()), 0);
      const other = await stage.source();
      await stage.subscribe(other.id, (await stage.webhook()).id);
      await timesInTurn(10, () => stage.append(other.id));
      const order: string[] = [];
      // Each slot that is freed has a claim of its own, which may take more than there are slots.
      for (let n = 0; n < 8; n++)
        order.push(only((await stage.store.claimDeliveries(100, upTo(1))).deliveries).trigger);
      deepEqual(order, [...Array(7).fill('event'), 'retry']);
    });

    it('do not wait behind a crowd that is dead', async () => {
      await using stage = await withWebhooks(harness);
      const many = shareOf(harness, 150);
      await stage.append(stage.emitterId);
      const failed = only(await stage.deliveries());
      await stage.retrying(failed, SECOND_MS);
      const emitterId = await crowd(stage, many);
      await timesInTurn(3, () => stage.append(emitterId));
      stage.clock.advance(SECOND_MS);
      const served = new Set<string>();
      let isBack = false;
      // One hand after the other, as attempts end; and the retry's fails each time, and is due again.
      for (let claims = 0; claims < 2 * many; claims++) {
        const one = only(await stage.deliveries(1));
        const isRetry = one.delivery === failed.delivery;
        isBack ||= isRetry;
        if (!isRetry) served.add(defined(one.webhook).id);
        await stage.retrying(one, isRetry ? 0 : DAY_MS);
      }
      deepEqual([isBack, served.size], [true, many], 'and all of the crowd have their turn');
    });
  });

  describe('the slots of a node', () => {
    it('are asked with the webhook as it stands', async () => {
      await using stage = await withWebhooks(harness, 1, { settings: { maxInFlight: 3, headers: { 'x-a': 'b' } } });
      const [atAccepting, atClaiming] = [all(), all()];
      await stage.append(stage.emitterId, {}, atAccepting);
      await stage.append(stage.emitterId, {}, none());
      await stage.store.claimDeliveries(9, atClaiming);
      for (const slots of [atAccepting, atClaiming]) {
        deepEqual(slots.asked.get(stage.main.id), stage.main);
      }
    });

    it('may refuse one webhook, and take others', async () => {
      await using stage = await withWebhooks(harness, 3);
      const full = stage.main.id;
      await timesInTurn(4, () => stage.append(stage.emitterId));
      const slots = new CountedSlots(100, (id) => id !== full);
      const claims = await stage.store.claimDeliveries(LIMIT, slots);
      slots.assertAccountedFor(claims);
      equal(claims.deliveries.length, 8);
      equal((await stage.deliveries()).length, 4);
    });
  });
}
