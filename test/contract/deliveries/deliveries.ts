// Deliveries: claimed when due, in turn, recorded attempt by attempt, and only under a lease that is still ours.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type DeliveryState, MAIL } from '../../../src/domain/delivery/delivery.ts';
import { NO_MAIL_SENT } from '../../../src/domain/delivery/kept-mail.ts';
import { ERRORS } from '../../../src/domain/emission.ts';
import { MINUTE_MS, SECOND_MS } from '../../../src/domain/limits.ts';
import {
  all,
  anAttempt,
  at,
  CountedSlots,
  defined,
  emit,
  type Harness,
  mail,
  none,
  only,
  START_MS,
  sameMembers,
  succeeded,
  timesInTurn,
  upTo,
} from '../fixtures.ts';
import { assertLedgerAddsUp } from '../log/counting.ts';
import { STUBBORN, Stage } from '../stage.ts';
import { pendingFor, withWebhooks } from './sending.ts';

export function deliveriesContract(harness: Harness): void {
  describe('a delivery', () => {
    it('is claimed with all that sending needs', async () => {
      await using stage = await withWebhooks(harness);
      const { entry } = await stage.append(stage.emitterId, { body: STUBBORN, name: '' });
      const delivery = only(await stage.deliveries());
      deepEqual(
        [delivery.kind, delivery.attempt, delivery.trigger, delivery.via, delivery.mailTo],
        ['webhook', 1, 'event', 'subscription', null],
      );
      equal(delivery.tries, 0);
      deepEqual(delivery.webhook, at(stage.webhooks, 0));
      equal(delivery.emission.entry, entry);
      deepEqual(new Uint8Array(delivery.emission.body), STUBBORN);
    });

    it('is recorded with its one attempt', async () => {
      await using stage = await withWebhooks(harness);
      const { entry, emitId } = await stage.append(stage.emitterId, { name: '' });
      const delivery = only(await stage.deliveries());
      const made = anAttempt({
        responseHeaders: { 'x-a': 'ä', 'set-cookie': 'b' },
        responseBody: 'fine \u0000',
        sent: { url: 'http://127.0.0.1/ä', attempt: 1, userAgent: 'errand/1', ownHeaders: ['__proto__', 'x-a'] },
      });
      const finished = await stage.attempt({ delivery, state: 'delivered', made });
      deepEqual([finished.held, finished.errorEntry], [true, null]);
      const whole = defined(await stage.store.getDelivery(stage.owner.id, delivery.delivery));
      deepEqual(whole.record, {
        delivery: delivery.delivery,
        kind: 'webhook',
        listenerId: at(stage.webhooks, 0).id,
        subscriptionId: delivery.subscriptionId,
        entry,
        emitId,
        emitterId: stage.emitterId,
        eventName: '',
        ledBy: [],
        subject: null,
        state: 'delivered',
        attemptsMade: 1,
        nextAttemptAtMs: null,
        dueBy: 'event',
        endedAtMs: START_MS,
        unsent: null,
      });
      deepEqual(whole.attempts, [{ ...made, n: 1, trigger: 'event' }]);
      await assertLedgerAddsUp(stage);
    });

    it('of a mail is listed with its subject', async () => {
      await using stage = await Stage.open(harness);
      const long = `Grüße ${'🎉'.repeat(2000)}`;
      const outgoing = [mail('hello'), mail(long), { ...emit('', { text: 'no subject' }), kind: 'email' as const }];
      await stage.end(await stage.started(await stage.workflow()), succeeded({ outgoing }));
      const listed = async (state?: DeliveryState) =>
        (await stage.store.listDeliveries({ ownerId: stage.owner.id, listenerId: MAIL, state }, { limit: 10 })).items;
      const subjects = (await listed()).map(({ subject }) => subject);
      deepEqual([subjects.length, subjects.at(-1), subjects[0]], [3, 'hello', null]);
      match(subjects[1] ?? '', /^Grüße (🎉)+…$/u);
      await stage.delivered(defined((await stage.deliveries())[0]));
      const over = only(await listed('delivered'));
      const { record } = defined(await stage.store.getDelivery(stage.owner.id, over.delivery));
      deepEqual([over.subject, record.subject], ['hello', 'hello']);
      const again = await stage.store.resendDelivery(stage.owner.id, over.delivery);
      equal(typeof again === 'object' && again.subject, 'hello');
    });

    it('of a mail that is only a file says why, until it was sent', async () => {
      await using stage = await Stage.open(harness);
      await stage.end(await stage.started(await stage.workflow()), succeeded({ outgoing: [mail('hello')] }));
      const listed = async () =>
        only((await stage.store.listDeliveries({ ownerId: stage.owner.id, kind: 'mail' }, { limit: 10 })).items);
      const ofOne = async (delivery: number) =>
        defined(await stage.store.getDelivery(stage.owner.id, delivery)).record.unsent;
      equal((await listed()).unsent, null, 'it waits');
      const detail = `${NO_MAIL_SENT}no mail server is configured.`;
      const delivery = only(await stage.deliveries());
      await stage.attempt({ delivery, state: 'delivered', made: anAttempt({ detail }) });
      deepEqual([(await listed()).unsent, await ofOne(delivery.delivery)], [detail, detail]);
      await stage.store.resendDelivery(stage.owner.id, delivery.delivery);
      equal((await listed()).unsent, null, 'it waits again');
      const second = only(await stage.deliveries());
      await stage.attempt({ delivery: second, state: 'delivered', made: anAttempt() });
      deepEqual([(await listed()).unsent, await ofOne(delivery.delivery)], [null, null]);
    });

    it('waits for its next attempt by the clock', async () => {
      await using stage = await withWebhooks(harness);
      await stage.append(stage.emitterId);
      const first = only(await stage.deliveries());
      await stage.retrying(first, MINUTE_MS);
      const { record } = defined(await stage.store.getDelivery(stage.owner.id, first.delivery));
      deepEqual([record.state, record.nextAttemptAtMs, record.endedAtMs], ['retrying', START_MS + MINUTE_MS, null]);
      stage.clock.advance(MINUTE_MS - 1);
      deepEqual(await stage.deliveries(), []);
      stage.clock.advance(1);
      const second = only(await stage.deliveries());
      deepEqual([second.delivery, second.attempt, second.trigger], [first.delivery, 2, 'retry']);
      ok(second.fence > first.fence);
      await assertLedgerAddsUp(stage);
    });

    it('goes at once beside a retry not due', async () => {
      await using stage = await withWebhooks(harness);
      const goesAtOnce = async (): Promise<number> =>
        (await stage.append(stage.emitterId, {}, all())).claims.deliveries.length;
      await stage.append(stage.emitterId);
      await stage.retrying(only(await stage.deliveries()), MINUTE_MS);
      equal(await goesAtOnce(), 1);
      stage.clock.advance(MINUTE_MS);
      equal(await goesAtOnce(), 0, 'the retry is due');
      equal((await stage.deliveries()).length, 2);
      await assertLedgerAddsUp(stage);
    });

    it('emits an error from its webhook when exhausted', async () => {
      await using stage = await withWebhooks(harness);
      const webhookId = at(stage.webhooks, 0).id;
      const { emitId } = await stage.append(stage.emitterId, { body: STUBBORN, lineage: [stage.emitterId], hops: 1 });
      const delivery = only(await stage.deliveries());
      const slots = all();
      const { errorEntry, claims } = await stage.exhausted(delivery, {}, slots);
      slots.assertAccountedFor(claims);
      equal(only(claims.runs).runnable.id, stage.global.id);
      const error = defined(await stage.store.getEmission(stage.owner.id, defined(errorEntry)));
      deepEqual([error.name, error.emitterId, error.code], [ERRORS, webhookId, 'DeliveryExhausted']);
      deepEqual([error.causeDelivery, error.causeRun, error.hops], [delivery.delivery, null, 2]);
      deepEqual([error.lineage, error.traceId], [[stage.emitterId, webhookId], emitId]);
      const start = defined(error.originalStart);
      deepEqual(new Uint8Array(error.body.subarray(start, start + defined(error.originalLength))), STUBBORN);
      equal((await stage.store.getDelivery(stage.owner.id, delivery.delivery))?.record.endedAtMs, START_MS);
      await assertLedgerAddsUp(stage);
    });

    it('keeps error loops through webhooks finite', async () => {
      await using stage = await withWebhooks(harness);
      const webhookId = at(stage.webhooks, 0).id;
      await stage.subscribe('*', webhookId, ERRORS);
      await stage.append(stage.emitterId);
      const { errorEntry } = await stage.exhausted(only(await stage.deliveries()));
      const receipts = await stage.store.receipts(stage.owner.id, defined(errorEntry));
      equal(receipts.find((r) => r.listenerId === stage.global.id)?.kind, 'run');
      equal(receipts.find((r) => r.listenerId === webhookId)?.kind, 'withheld');
      deepEqual(await stage.deliveries(), []);
    });

    it('takes one result, from the lease that holds', async () => {
      await using stage = await withWebhooks(harness);
      await stage.append(stage.emitterId);
      const delivery = only(await stage.deliveries());
      const ends = await Promise.all([stage.delivered(delivery), stage.exhausted(delivery)]);
      equal(ends.filter((e) => e.held).length, 1);
      const late = await stage.exhausted(delivery, {}, all());
      deepEqual([late.held, late.errorEntry, late.claims.runs.length], [false, null, 0]);
      const { record, attempts } = defined(await stage.store.getDelivery(stage.owner.id, delivery.delivery));
      deepEqual([record.attemptsMade, attempts.length], [1, 1]);
      await assertLedgerAddsUp(stage);
    });

    it('comes back when released, not counted', async () => {
      await using stage = await withWebhooks(harness, 2);
      await stage.append(stage.emitterId);
      const [back, kept] = await stage.deliveries();
      await stage.store.releaseDeliveries([defined(back)]);
      const again = only(await stage.deliveries());
      deepEqual([again.delivery, again.attempt, again.trigger], [back?.delivery, 1, 'event']);
      equal((await stage.delivered(defined(back))).held, false);
      equal((await stage.delivered(again)).held, true);
      await stage.store.releaseDeliveries([defined(back), again]);
      equal((await stage.delivered(defined(kept))).held, true);
      deepEqual(await stage.deliveries(), []);
      await assertLedgerAddsUp(stage);
    });

    it('is not taken back by a lease that is over', async () => {
      await using stage = await withWebhooks(harness);
      await stage.append(stage.emitterId);
      const back = only(await stage.deliveries());
      await stage.store.releaseDeliveries([back]);
      const again = only(await stage.deliveries());
      await stage.store.releaseDeliveries([back]);
      deepEqual(await stage.deliveries(), [], 'it is still on its way');
      equal((await stage.delivered(again)).held, true);
      await assertLedgerAddsUp(stage);
    });

    it('is still a retry when released', async () => {
      await using stage = await withWebhooks(harness);
      await stage.append(stage.emitterId);
      await stage.retrying(only(await stage.deliveries()), SECOND_MS);
      stage.clock.advance(SECOND_MS);
      await stage.store.releaseDeliveries(await stage.deliveries());
      const again = only(await stage.deliveries());
      deepEqual([again.attempt, again.trigger], [2, 'retry']);
    });
  });

  describe('claiming deliveries', () => {
    it('takes webhooks in turn', async () => {
      await using stage = await withWebhooks(harness, 3);
      const [busy, ...calm] = stage.webhooks;
      await pendingFor(stage, defined(busy), 10);
      for (const webhook of calm) await pendingFor(stage, webhook, 1);
      const claimed = (await stage.deliveries(3)).map((d) => defined(d.webhook).id);
      sameMembers(
        claimed,
        stage.webhooks.map((w) => w.id),
      );
    });

    it('serves each webhook within few small claims', async () => {
      await using stage = await withWebhooks(harness, 3);
      for (const webhook of stage.webhooks) await pendingFor(stage, webhook, 6);
      const served = await timesInTurn(6, async () => defined(only(await stage.deliveries(1)).webhook).id);
      sameMembers(
        [...new Set(served)],
        stage.webhooks.map((w) => w.id),
      );
    });

    it('takes first attempts before retries', async () => {
      await using stage = await withWebhooks(harness, 1);
      await stage.append(stage.emitterId);
      const retry = only(await stage.deliveries());
      await stage.retrying(retry, SECOND_MS);
      stage.clock.advance(MINUTE_MS);
      const { entry } = await stage.append(stage.emitterId);
      const [first, second] = [only(await stage.deliveries(1)), only(await stage.deliveries(1))];
      deepEqual([first.emission.entry, first.attempt], [entry, 1]);
      deepEqual([second.delivery, second.attempt], [retry.delivery, 2]);
    });

    it('takes first attempts first across webhooks too', async () => {
      await using stage = await withWebhooks(harness, 2);
      const [failing, fresh] = stage.webhooks;
      await pendingFor(stage, defined(failing), 3);
      for (const delivery of await stage.deliveries()) await stage.retrying(delivery, SECOND_MS);
      stage.clock.advance(MINUTE_MS);
      await pendingFor(stage, defined(fresh), 2);
      equal(only(await stage.deliveries(1)).webhook?.id, fresh?.id);
      equal((await stage.deliveries()).length, 4);
    });

    it('takes the oldest of a webhook first', async () => {
      await using stage = await withWebhooks(harness);
      const appended = await timesInTurn(4, () => stage.append(stage.emitterId));
      const claimed = [...(await stage.deliveries(2)), ...(await stage.deliveries(2))];
      deepEqual(
        claimed.map((d) => d.emission.entry),
        appended.map((a) => a.entry),
      );
    });

    it('claims no more than limit and slots', async () => {
      await using stage = await withWebhooks(harness);
      await timesInTurn(10, () => stage.append(stage.emitterId));
      const [many, few] = [all(), upTo(2)];
      const byLimit = await stage.store.claimDeliveries(3, many);
      deepEqual([byLimit.deliveries.length, byLimit.deliveriesWaiting], [3, true]);
      many.assertAccountedFor(byLimit);
      const byHands = await stage.store.claimDeliveries(10, few);
      deepEqual([byHands.deliveries.length, byHands.deliveriesWaiting], [2, true]);
      few.assertAccountedFor(byHands);
      const rest = await stage.store.claimDeliveries(10, many);
      deepEqual([rest.deliveries.length, rest.deliveriesWaiting], [5, false]);
      await assertLedgerAddsUp(stage);
    });

    it('passes over a webhook without free slots', async () => {
      await using stage = await withWebhooks(harness, 2);
      const [dead, alive] = stage.webhooks;
      await pendingFor(stage, defined(dead), 5);
      await pendingFor(stage, defined(alive), 1);
      const slots = new CountedSlots(9, (id) => id !== dead?.id);
      const claims = await stage.store.claimDeliveries(3, slots);
      equal(only(claims.deliveries).webhook?.id, alive?.id);
      slots.assertAccountedFor(claims);
      equal((await stage.deliveries()).length, 5);
    });

    it('is asked for where an end hands nothing over', async () => {
      await using stage = await withWebhooks(harness);
      await timesInTurn(4, () => stage.append(stage.emitterId));
      const [first, second] = await stage.deliveries(2);
      const { claims: nothing } = await stage.delivered(defined(first), none());
      deepEqual([nothing.deliveries.length, nothing.deliveriesWaiting], [0, true]);
      // What took the one slot goes on with the rest.
      const { claims: one } = await stage.delivered(defined(second), upTo(1));
      deepEqual([one.deliveries.length, one.deliveriesWaiting], [1, false]);
    });

    it('gives each delivery to one of many claims', async () => {
      await using stage = await withWebhooks(harness, 4);
      await timesInTurn(5, () => stage.append(stage.emitterId));
      const claimed = (await Promise.all([1, 2, 3, 4].map(() => stage.deliveries(8)))).flat();
      deepEqual([claimed.length, new Set(claimed.map((d) => d.delivery)).size], [20, 20]);
    });

    it('says when the next one is due', async () => {
      await using stage = await withWebhooks(harness, 2);
      const nextDue = async () => (await stage.store.claimDeliveries(9, none())).nextDueAtMs;
      equal(await nextDue(), null);
      await stage.append(stage.emitterId);
      const [a, b] = await stage.deliveries();
      equal(await nextDue(), null);
      await stage.retrying(defined(a), 2 * MINUTE_MS);
      await stage.retrying(defined(b), MINUTE_MS);
      equal(await nextDue(), START_MS + MINUTE_MS);
    });
  });
}
