// Requests that code asks for: deliveries in lines of their own, one for each owner and place, with what they say sealed.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ClaimedDelivery } from '../../../src/domain/delivery/delivery.ts';
import { ERRORS, HTTP } from '../../../src/domain/emission.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../src/domain/limits.ts';
import { FAILED, putOff, record, recordOf, resend, wholeOf } from '../deliveries/sending.ts';
import {
  all,
  CountedSlots,
  defined,
  failed,
  type Harness,
  http,
  mail,
  none,
  only,
  parsed,
  succeeded,
} from '../fixtures.ts';
import { Stage } from '../stage.ts';
import { assertLedgerAddsUp } from './counting.ts';

const ONE = 'https://one.example/a?token=in-the-query';
const OTHER = 'http://two.example:8080/';
const HEADERS = { authorization: 'Bearer 5f8a-very-private' };

const listenerOf = (stage: Stage, origin: string): string => `http:${stage.owner.id}:${origin}`;

/** A run that asks for these has ended; nothing was claimed meanwhile. Returns its number. */
async function asked(stage: Stage, ...urls: string[]): Promise<number> {
  const run = await stage.started(await stage.workflow());
  await stage.end(run, succeeded({ outgoing: urls.map((url) => http(url, { headers: HEADERS })) }), none());
  return run.run;
}

async function claimed(stage: Stage, ...urls: string[]): Promise<readonly ClaimedDelivery[]> {
  await asked(stage, ...urls);
  return stage.deliveries();
}

const urlOf = ({ emission }: ClaimedDelivery): string => (parsed(emission.body) as { url: string }).url;

export function httpSendsContract(harness: Harness): void {
  describe('requests', () => {
    it('go out with the end of their run', async () => {
      await using stage = await Stage.open(harness);
      const run = await stage.started(await stage.workflow());
      const slots = all();
      const { claims } = await stage.end(run, succeeded({ outgoing: [http(ONE, { headers: HEADERS })] }), slots);
      slots.assertAccountedFor(claims);
      const listenerId = listenerOf(stage, 'https://one.example:443');
      deepEqual([...slots.asked], [[listenerId, null]]);
      const delivery = only(claims.deliveries);
      deepEqual([delivery.kind, delivery.mailTo, delivery.webhook, delivery.trigger], ['http', null, null, 'event']);
      deepEqual(parsed(delivery.emission.body), { method: 'POST', url: ONE, headers: HEADERS });
      deepEqual([delivery.emission.name, delivery.emission.onlyListenerId], [HTTP, listenerId]);
      const { record: kept, position: standing } = await wholeOf(stage, delivery);
      deepEqual([kept.kind, kept.listenerId, kept.state, standing], ['http', listenerId, 'sending', null]);
      await stage.delivered(delivery);
      equal((await recordOf(stage, delivery)).state, 'delivered');
      await assertLedgerAddsUp(stage);
    });

    it('go out also of a run that fails', async () => {
      await using stage = await Stage.open(harness);
      const run = await stage.started(await stage.workflow());
      await stage.end(run, failed('Boom', { outgoing: [http(ONE)] }), none());
      equal(urlOf(only(await stage.deliveries())), ONE);
      await assertLedgerAddsUp(stage);
    });

    it('come back as written to every reader', async () => {
      await using stage = await Stage.open(harness);
      const body = { method: 'PUT', url: OTHER, headers: HEADERS, body: 'a\u0000é😀' };
      const workflow = await stage.workflow();
      await stage.end(await stage.started(workflow), succeeded({ outgoing: [http(OTHER, body)] }), none());
      await stage.reopen();
      const delivery = only(await stage.deliveries());
      deepEqual(parsed(delivery.emission.body), body);
      const { ownerId, entry } = delivery.emission;
      deepEqual(parsed(defined(await stage.store.getEmission(ownerId, entry)).body), body);
      const channel = { ownerId, emitterId: workflow.id, name: HTTP };
      const { items } = await stage.store.listEmissions(channel, { limit: 5 }, true);
      deepEqual(parsed(defined(only(items).body)), body);
    });

    it('cannot be read where they are kept', async () => {
      await using stage = await Stage.open(harness);
      const [delivery] = await claimed(stage, ONE);
      await record(stage, defined(delivery), FAILED);
      stage.clock.advance(MINUTE_MS);
      await stage.exhausted(only(await stage.deliveries()));
      const raw = await stage.raw();
      ok(raw.includes('one.example'), 'this is where it is kept');
      for (const word of ['very-private', 'in-the-query']) {
        for (const spelt of [word, Buffer.from(word).toString('hex')]) ok(!raw.includes(spelt), `${word} can be read`);
      }
    });

    it('are tried again, and exhausted into an error', async () => {
      await using stage = await Stage.open(harness);
      const delivery = only(await claimed(stage, ONE));
      await record(stage, delivery, FAILED);
      equal((await recordOf(stage, delivery)).nextAttemptAtMs, stage.clock.ms + 5 * SECOND_MS);
      stage.clock.advance(5 * SECOND_MS);
      const second = only(await stage.deliveries());
      deepEqual([second.kind, second.attempt, second.tries, second.trigger], ['http', 2, 1, 'retry']);
      const { errorEntry } = await stage.exhausted(second);
      const error = defined(await stage.store.getEmission(stage.owner.id, defined(errorEntry)));
      deepEqual([error.name, error.emitterId], [ERRORS, delivery.emission.emitterId]);
      equal(only(await stage.claim()).runnable.id, stage.global.id);
      await assertLedgerAddsUp(stage);
    });

    it('stand in a line for each place', async () => {
      await using stage = await Stage.open(harness);
      await asked(stage, ONE, ONE, OTHER);
      const refused = listenerOf(stage, 'https://one.example:443');
      const slots = new CountedSlots(10, (id) => id !== refused);
      const claims = await stage.store.claimDeliveries(10, slots);
      slots.assertAccountedFor(claims);
      deepEqual(claims.deliveries.map(urlOf), [OTHER]);
      ok(claims.deliveriesWaiting);
      equal((await stage.deliveries()).length, 2);
      await assertLedgerAddsUp(stage);
    });

    it('stand in a line for each owner', async () => {
      await using stage = await Stage.open(harness);
      const other = await stage.neighbour();
      await asked(stage, ONE);
      await asked(other, ONE);
      const slots = new CountedSlots(10, (id) => id === listenerOf(other, 'https://one.example:443'));
      const { deliveries } = await stage.store.claimDeliveries(10, slots);
      equal(only(deliveries).emission.ownerId, other.owner.id);
      const theirs = { ownerId: stage.owner.id, delivery: only(deliveries).delivery };
      equal(await stage.store.getDelivery(theirs.ownerId, theirs.delivery), undefined);
      equal(await stage.store.resendDelivery(theirs.ownerId, theirs.delivery), undefined);
      deepEqual(
        only((await stage.store.listDeliveries({ ownerId: theirs.ownerId, kind: 'http' }, { limit: 5 })).items).state,
        'pending',
      );
    });

    it('wait as long as their place asks', async () => {
      await using stage = await Stage.open(harness);
      const [first, second] = await claimed(stage, ONE, ONE);
      await asked(stage, ONE, OTHER);
      await record(stage, defined(first), putOff(HOUR_MS));
      await record(stage, defined(second), putOff(MINUTE_MS));
      const free = await stage.deliveries();
      deepEqual(free.map(urlOf), [OTHER]);
      const { record: kept, pausedUntilMs } = await wholeOf(stage, defined(second));
      deepEqual([kept.attemptsMade, pausedUntilMs], [0, stage.clock.ms + HOUR_MS]);
      stage.clock.advance(HOUR_MS - 1);
      deepEqual(await stage.deliveries(), [], 'also when the last answer asked for less');
      stage.clock.advance(1);
      equal((await stage.deliveries()).length, 3);
      await assertLedgerAddsUp(stage);
    });

    it('are put off for three days at most', async () => {
      await using stage = await Stage.open(harness);
      let delivery = only(await claimed(stage, ONE));
      stage.clock.advance(3 * DAY_MS);
      await record(stage, delivery, { ...putOff(HOUR_MS), startedAtMs: stage.clock.ms });
      const after = await recordOf(stage, delivery);
      deepEqual([after.attemptsMade, after.dueBy], [1, 'schedule']);
      equal(after.nextAttemptAtMs, stage.clock.ms + HOUR_MS, 'yet not before it asked for');
      stage.clock.advance(HOUR_MS);
      delivery = only(await stage.deliveries());
      equal(delivery.tries, 1);
    });

    it('are sent again by hand', async () => {
      await using stage = await Stage.open(harness);
      const delivery = only(await claimed(stage, ONE));
      await stage.exhausted(delivery);
      stage.clock.advance(40 * DAY_MS);
      // What was kept of an idle place may be gone by then.
      await stage.store.prune(0, 0);
      const again = await resend(stage, delivery);
      deepEqual([again.kind, again.state, again.dueBy], ['http', 'retrying', 'resend']);
      const taken = only(await stage.deliveries());
      deepEqual([taken.delivery, taken.trigger, urlOf(taken)], [delivery.delivery, 'resend', ONE]);
      equal(await stage.store.resendDelivery(stage.owner.id, delivery.delivery), 'sending');
      await stage.delivered(taken);
      await assertLedgerAddsUp(stage);
    });

    it('go out again when their process is lost', async () => {
      await using stage = await Stage.open(harness);
      const delivery = only(await claimed(stage, ONE));
      await stage.reopen();
      await stage.store.rescue(none());
      const again = only(await stage.deliveries());
      deepEqual([again.delivery, again.kind, urlOf(again)], [delivery.delivery, 'http', ONE]);
      equal((await stage.delivered(delivery)).held, false);
      equal((await stage.delivered(again)).held, true);
      await assertLedgerAddsUp(stage);
    });

    it('stand on receipts of run and event', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow();
      const run = await stage.started(workflow);
      await stage.end(run, succeeded({ outgoing: [http(ONE), mail('hello')] }), none());
      const causes = defined(await stage.store.getRun(stage.owner.id, run.run)).causes;
      const listenerId = listenerOf(stage, 'https://one.example:443');
      const shown = [
        ['delivery', listenerId, run.via, 'pending'],
        ['mail', 'mail', run.via, 'pending'],
      ];
      deepEqual(
        causes.map((c) => [c.kind, c.listenerId, c.via, c.state]),
        shown,
      );
      const receipts = await stage.store.receipts(stage.owner.id, run.emission.entry);
      deepEqual(
        receipts.slice(1).map((c) => [c.kind, c.listenerId, c.via, c.state]),
        shown,
      );
    });

    it('have a list of their own', async () => {
      await using stage = await Stage.open(harness);
      const run = await stage.started(await stage.workflow());
      await stage.end(run, succeeded({ outgoing: [http(ONE), mail('hello'), http(OTHER)] }), none());
      const ofKind = { ownerId: stage.owner.id, kind: 'http' } as const;
      const first = await stage.store.listDeliveries(ofKind, { limit: 1 });
      deepEqual([first.totalCount, first.items[0]?.listenerId], [2, listenerOf(stage, 'http://two.example:8080')]);
      const second = await stage.store.listDeliveries(ofKind, { limit: 1, after: defined(first.items[0]).delivery });
      deepEqual([second.totalCount, second.items[0]?.listenerId], [2, listenerOf(stage, 'https://one.example:443')]);
      const over = await stage.store.listDeliveries({ ...ofKind, state: 'delivered' }, { limit: 5 });
      deepEqual(over.items, []);
    });
  });
}
