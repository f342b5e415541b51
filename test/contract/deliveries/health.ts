// A webhook's health is written with the attempt that shows it, and its notices are errors like others.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HEALTHY, noticeText } from '../../../src/domain/delivery/health.ts';
import { ERRORS } from '../../../src/domain/emission.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/domain/limits.ts';
import { all, defined, type Harness, mail, none, only, parsed, START_MS, succeeded, timesInTurn } from '../fixtures.ts';
import { assertLedgerAddsUp } from '../log/counting.ts';
import {
  change,
  codesOf,
  countOf,
  deliverAll,
  FAILED,
  type Heard,
  healthOf,
  listed,
  record,
  recordOf,
  withWebhooks,
} from './sending.ts';

const NO_RETRIES = { settings: { retryDelaysMs: [] } };
const FAILING = [...Array(3).fill('DeliveryExhausted'), 'WebhookFailing'];

/** An event that fails for good at once, for a webhook without retries. */
async function fail(stage: Heard): Promise<void> {
  await stage.append(stage.emitterId);
  for (const delivery of await stage.deliveries()) await record(stage, delivery, FAILED);
}

/** Failing for five days, but for one attempt; told of it on the way. */
async function onTheBrink(stage: Heard): Promise<void> {
  await timesInTurn(3, () => fail(stage));
  stage.clock.advance(5 * DAY_MS);
}

export function healthContract(harness: Harness): void {
  describe('health', () => {
    it('is good until an attempt fails', async () => {
      await using stage = await withWebhooks(harness, 1, NO_RETRIES);
      deepEqual(await healthOf(stage, stage.main), HEALTHY);
      await stage.append(stage.emitterId);
      await deliverAll(stage);
      deepEqual(await healthOf(stage, stage.main), HEALTHY);
      stage.clock.advance(MINUTE_MS);
      await fail(stage);
      const failingSinceMs = START_MS + MINUTE_MS;
      deepEqual(await healthOf(stage, stage.main), { ...HEALTHY, failingSinceMs, exhaustedInRow: 1 });
    });

    it('is told of the asked and owned alone', async () => {
      await using stage = await withWebhooks(harness, 3);
      const other = await stage.neighbour();
      const theirs = await other.webhook();
      const [first, second] = stage.webhooks.map((w) => w.id);
      const ids = [defined(first), defined(second), theirs.id, 'wh_0000000000009999'];
      const told = await stage.store.webhookHealth(stage.owner.id, ids);
      deepEqual(new Map(told), new Map([first, second].map((id) => [defined(id), HEALTHY])));
      equal((await stage.store.webhookHealth(stage.owner.id, [])).size, 0);
    });

    it('is good again after one success', async () => {
      await using stage = await withWebhooks(harness, 1, NO_RETRIES);
      await timesInTurn(2, () => fail(stage));
      await stage.append(stage.emitterId);
      await deliverAll(stage);
      deepEqual(await healthOf(stage, stage.main), HEALTHY);
      await timesInTurn(2, () => fail(stage));
      ok(!(await codesOf(stage, stage.main)).includes('WebhookFailing'));
    });

    it('is the same after a reopening', async () => {
      await using stage = await withWebhooks(harness, 1, NO_RETRIES);
      await timesInTurn(3, () => fail(stage));
      const before = await healthOf(stage, stage.main);
      deepEqual(before, { failingSinceMs: START_MS, exhaustedInRow: 3, noticedAtMs: START_MS, pausedUntilMs: null });
      await stage.reopen();
      deepEqual(await healthOf(stage, stage.main), before);
      await fail(stage);
      deepEqual(await codesOf(stage, stage.main), [...FAILING, 'DeliveryExhausted']);
    });

    it('is not judged by a lost lease', async () => {
      await using stage = await withWebhooks(harness, 1, NO_RETRIES);
      await stage.append(stage.emitterId);
      const lost = only(await stage.deliveries());
      await stage.store.releaseDeliveries([lost]);
      const late = await record(stage, lost, FAILED);
      deepEqual([late.held, late.isDisabled], [false, false]);
      deepEqual(await healthOf(stage, stage.main), HEALTHY);
    });

    it('is not judged while it is disabled', async () => {
      await using stage = await withWebhooks(harness, 1, NO_RETRIES);
      await timesInTurn(4, () => stage.append(stage.emitterId));
      const claimed = await stage.deliveries();
      await change(stage, stage.main, { active: false });
      for (const delivery of claimed) equal((await record(stage, delivery, FAILED)).held, true);
      deepEqual(await healthOf(stage, stage.main), HEALTHY);
      deepEqual(await codesOf(stage, stage.main), Array(4).fill('DeliveryExhausted'));
    });

    it('begins anew with another address', async () => {
      await using stage = await withWebhooks(harness, 1, NO_RETRIES);
      await timesInTurn(3, () => fail(stage));
      const before = await healthOf(stage, stage.main);
      await change(stage, stage.main, { description: 'the same address' });
      deepEqual(await healthOf(stage, stage.main), before);
      await change(stage, stage.main, { url: 'https://example.org/mended' });
      deepEqual(await healthOf(stage, stage.main), HEALTHY);
      await timesInTurn(3, () => fail(stage));
      deepEqual(await codesOf(stage, stage.main), [...FAILING, ...FAILING]);
    });

    it('does not go by what an old address says', async () => {
      await using stage = await withWebhooks(harness, 1, NO_RETRIES);
      await timesInTurn(2, () => stage.append(stage.emitterId));
      const [first, second] = await stage.deliveries();
      await change(stage, stage.main, { url: 'https://example.org/moved' });
      const ended = await record(stage, defined(first), { ...FAILED, status: 410 });
      deepEqual([ended.held, ended.isDisabled], [true, false]);
      equal((await record(stage, defined(second), FAILED)).held, true);
      deepEqual(await healthOf(stage, stage.main), HEALTHY);
      equal((await stage.append(stage.emitterId)).claims.deliveriesWaiting, true);
      equal((await stage.deliveries()).length, 1, 'it is active');
    });

    it('is no matter of mails', async () => {
      await using stage = await withWebhooks(harness);
      const workflow = await stage.workflow();
      const mails = Array.from({ length: 4 }, (_, i) => mail(`${i}`));
      await stage.end(await stage.started(workflow), succeeded({ outgoing: mails }));
      for (const delivery of await stage.deliveries()) equal((await stage.exhausted(delivery)).held, true);
      deepEqual(await codesOf(stage, workflow), Array(4).fill('DeliveryExhausted'));
      deepEqual(await healthOf(stage, stage.main), HEALTHY);
    });
  });

  describe('a notice', () => {
    it('tells once of three exhausted deliveries', async () => {
      await using stage = await withWebhooks(harness, 1, NO_RETRIES);
      await timesInTurn(6, () => fail(stage));
      deepEqual(await codesOf(stage, stage.main), [...FAILING, ...Array(3).fill('DeliveryExhausted')]);
      equal((await stage.store.ledger(stage.owner.id)).errors, 7);
      await assertLedgerAddsUp(stage);
    });

    it('tells once of a day of failures', async () => {
      await using stage = await withWebhooks(harness);
      await stage.append(stage.emitterId);
      for (const afterMs of [DAY_MS - 1, 1, HOUR_MS, HOUR_MS]) {
        await stage.retrying(only(await stage.deliveries()), afterMs);
        stage.clock.advance(afterMs);
      }
      deepEqual(await codesOf(stage, stage.main), ['WebhookFailing']);
      equal((await healthOf(stage, stage.main)).noticedAtMs, START_MS + DAY_MS);
      await assertLedgerAddsUp(stage);
    });

    it('tells again after a success between', async () => {
      await using stage = await withWebhooks(harness, 1, NO_RETRIES);
      await timesInTurn(3, () => fail(stage));
      await stage.append(stage.emitterId);
      await deliverAll(stage);
      await timesInTurn(3, () => fail(stage));
      deepEqual(await codesOf(stage, stage.main), [...FAILING, ...FAILING]);
    });

    it('tells once, however many end at once', async () => {
      await using stage = await withWebhooks(harness, 1, NO_RETRIES);
      await timesInTurn(12, () => stage.append(stage.emitterId));
      const claimed = await stage.deliveries();
      const ends = await Promise.all(claimed.map((delivery) => record(stage, delivery, FAILED)));
      ok(ends.every((end) => end.held));
      const codes = await codesOf(stage, stage.main);
      deepEqual([codes.length, codes.filter((code) => code === 'WebhookFailing').length], [13, 1]);
      equal((await healthOf(stage, stage.main)).exhaustedInRow, 12);
      await assertLedgerAddsUp(stage);
    });

    it('reaches subscribers and the global error workflow', async () => {
      await using stage = await withWebhooks(harness, 1, NO_RETRIES);
      const [hears, told] = [await stage.workflow(), await stage.webhook()];
      for (const { id } of [hears, told]) await stage.subscribe(stage.main.id, id, ERRORS);
      await timesInTurn(2, () => fail(stage));
      await stage.append(stage.emitterId);
      await stage.claim();
      const third = only((await stage.deliveries()).filter((d) => d.webhook?.id === stage.main.id));
      const slots = all();
      const { claims } = await record(stage, third, FAILED, slots);
      slots.assertAccountedFor(claims);
      const [newest] = (
        await stage.store.listEmissions(
          { ownerId: stage.owner.id, emitterId: stage.main.id, name: ERRORS },
          { limit: 1 },
          false,
        )
      ).items;
      const notice = defined(await stage.store.getEmission(stage.owner.id, defined(newest).entry));
      const receipts = await stage.store.receipts(stage.owner.id, notice.entry);
      deepEqual(
        receipts.map((r) => `${r.kind} ${r.via} ${r.listenerId}`).sort(),
        [`run global ${stage.global.id}`, `run subscription ${hears.id}`, `delivery subscription ${told.id}`].sort(),
      );
      deepEqual([notice.code, notice.causeDelivery], ['WebhookFailing', third.delivery]);
      deepEqual([notice.sourceType, notice.traceId], ['ERROR', third.emission.traceId]);
      const { error } = parsed(notice.body) as { error: { code: string; msg: string } };
      const text = noticeText({ code: 'WebhookFailing', failingSinceMs: START_MS, exhaustedInRow: 3 }, 'answered 500');
      deepEqual([error.code, error.msg], ['WebhookFailing', text]);
      await assertLedgerAddsUp(stage);
    });
  });

  describe('a webhook that fails for five days', () => {
    it('is disabled, and says so', async () => {
      await using stage = await withWebhooks(harness, 1, NO_RETRIES);
      await onTheBrink(stage);
      await stage.append(stage.emitterId);
      const last = only(await stage.deliveries());
      await stage.append(stage.emitterId);
      const end = await record(stage, last, FAILED, all());
      deepEqual([end.held, end.isDisabled, end.claims.deliveries], [true, true, []]);
      equal((await stage.store.getWebhook(stage.owner.id, stage.main.id))?.active, false);
      deepEqual(await codesOf(stage, stage.main), [...FAILING, 'DeliveryExhausted', 'WebhookDisabled']);
      deepEqual(await healthOf(stage, stage.main), HEALTHY);
      equal((await recordOf(stage, last)).state, 'exhausted');
      await assertLedgerAddsUp(stage);
    });

    it('is not disabled a millisecond before', async () => {
      await using stage = await withWebhooks(harness, 1, NO_RETRIES);
      await onTheBrink(stage);
      stage.clock.advance(-1);
      await fail(stage);
      equal((await stage.store.getWebhook(stage.owner.id, stage.main.id))?.active, true);
      stage.clock.advance(1);
      await fail(stage);
      equal((await stage.store.getWebhook(stage.owner.id, stage.main.id))?.active, false);
    });

    it('keeps what waits, and what comes', async () => {
      await using stage = await withWebhooks(harness);
      await timesInTurn(3, () => stage.append(stage.emitterId));
      const [first, second, third] = await stage.deliveries();
      await stage.retrying(defined(first), MINUTE_MS);
      stage.clock.advance(DAY_MS);
      await stage.retrying(defined(second), 5 * DAY_MS);
      await stage.append(stage.emitterId);
      stage.clock.advance(4 * DAY_MS);
      const end = await stage.retrying(defined(third), MINUTE_MS);
      deepEqual([end.held, end.isDisabled], [true, true]);
      deepEqual(
        (await listed(stage, stage.main)).map((d) => d.state),
        Array(4).fill('held'),
      );
      await stage.append(stage.emitterId, {}, all());
      equal(await countOf(stage, stage.main, 'held'), 5);
      stage.clock.advance(DAY_MS);
      deepEqual(await stage.deliveries(), []);
      await assertLedgerAddsUp(stage);
      await change(stage, stage.main, { active: true });
      equal((await deliverAll(stage)).length, 5);
      await assertLedgerAddsUp(stage);
    });

    it('begins anew when it is enabled', async () => {
      await using stage = await withWebhooks(harness, 1, NO_RETRIES);
      await onTheBrink(stage);
      await fail(stage);
      await change(stage, stage.main, { active: true });
      await fail(stage);
      const { failingSinceMs, exhaustedInRow } = await healthOf(stage, stage.main);
      deepEqual([failingSinceMs, exhaustedInRow], [START_MS + 5 * DAY_MS, 1]);
      stage.clock.advance(6 * DAY_MS);
      await fail(stage);
      equal((await codesOf(stage, stage.main)).at(-1), 'WebhookFailing');
      equal((await stage.store.getWebhook(stage.owner.id, stage.main.id))?.active, true);
    });
  });

  describe('a 410', () => {
    it('disables at once, with one error', async () => {
      await using stage = await withWebhooks(harness, 1, NO_RETRIES);
      await timesInTurn(2, () => fail(stage));
      await timesInTurn(2, () => stage.append(stage.emitterId));
      const [first] = await stage.deliveries(1);
      const end = await record(stage, defined(first), { status: 410 }, all());
      deepEqual([end.held, end.isDisabled, end.claims.deliveries], [true, true, []]);
      deepEqual(await codesOf(stage, stage.main), ['DeliveryExhausted', 'DeliveryExhausted', 'WebhookGone']);
      deepEqual(await healthOf(stage, stage.main), HEALTHY);
      deepEqual([await countOf(stage, stage.main, 'held'), await countOf(stage, stage.main, 'pending')], [1, 0]);
      await assertLedgerAddsUp(stage);
    });

    it('alone disables; other ends say no', async () => {
      await using stage = await withWebhooks(harness, 1, NO_RETRIES);
      for (const answer of [{}, FAILED, { status: 429, retryAfterMs: 1 }]) {
        await stage.append(stage.emitterId);
        for (const delivery of await stage.deliveries()) {
          equal((await record(stage, delivery, answer, none())).isDisabled, false);
        }
      }
    });
  });
}
