// What an open delivery waits for: its webhook, those that come before it, a pause, or the head of the order.

import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HOUR_MS, MINUTE_MS } from '../../../src/domain/limits.ts';
import { at, defined, type Harness, mail, none, only, START_MS, succeeded, timesInTurn } from '../fixtures.ts';
import {
  change,
  deliverAll,
  type Heard,
  listed,
  numbersOf,
  putOff,
  record,
  resend,
  wholeOf,
  withWebhooks,
} from './sending.ts';

const standingOf = async (stage: Heard, number: number) =>
  defined((await wholeOf(stage, { delivery: number })).position);

async function numbers(stage: Heard, count: number): Promise<number[]> {
  await timesInTurn(count, () => stage.append(stage.emitterId));
  return numbersOf(await listed(stage, stage.main));
}

export function standingContract(harness: Harness): void {
  describe('the standing of a delivery', () => {
    it('says how many come before it', async () => {
      await using stage = await withWebhooks(harness, 2);
      const mine = await numbers(stage, 4);
      for (const [ahead, number] of mine.entries()) {
        const expected = { webhook: stage.main, pausedUntilMs: null, sending: 0, ahead, head: null };
        deepEqual(await standingOf(stage, number), expected);
      }
    });

    it('counts first attempts, whatever the clock says', async () => {
      await using stage = await withWebhooks(harness);
      const mine = await numbers(stage, 3);
      stage.clock.advance(-HOUR_MS);
      equal((await standingOf(stage, at(mine, 2))).ahead, 2);
    });

    it('says how many are on their way', async () => {
      await using stage = await withWebhooks(harness);
      const mine = await numbers(stage, 5);
      const under = await stage.deliveries(2);
      const last = await standingOf(stage, at(mine, 4));
      deepEqual([last.sending, last.ahead], [2, 2]);
      equal((await standingOf(stage, at(numbersOf(under), 0))).sending, 2);
      await stage.delivered(at(under, 0));
      equal((await standingOf(stage, at(mine, 4))).sending, 1);
    });

    it('does not count what is not due', async () => {
      await using stage = await withWebhooks(harness);
      const mine = await numbers(stage, 3);
      await stage.retrying(at(await stage.deliveries(1), 0), HOUR_MS);
      equal((await standingOf(stage, at(mine, 2))).ahead, 1);
      const waiting = await standingOf(stage, at(mine, 0));
      deepEqual([waiting.pausedUntilMs, waiting.sending, waiting.head], [null, 0, null]);
    });

    it('tells of a pause while it lasts', async () => {
      await using stage = await withWebhooks(harness);
      const mine = await numbers(stage, 2);
      await record(stage, at(await stage.deliveries(1), 0), putOff(MINUTE_MS));
      for (const number of mine) equal((await standingOf(stage, number)).pausedUntilMs, START_MS + MINUTE_MS);
      stage.clock.advance(MINUTE_MS);
      for (const number of mine) equal((await standingOf(stage, number)).pausedUntilMs, null);
    });

    it('names the head of an ordered webhook', async () => {
      await using stage = await withWebhooks(harness, 1, { settings: { ordered: true } });
      const mine = await numbers(stage, 3);
      const heads = async () => Promise.all(mine.map(async (number) => (await standingOf(stage, number)).head));
      deepEqual(await heads(), [null, mine[0], mine[0]]);
      await stage.retrying(only(await stage.deliveries()), HOUR_MS);
      deepEqual(await heads(), [null, mine[0], mine[0]]);
    });

    it('is there while held, as the webhook is', async () => {
      await using stage = await withWebhooks(harness);
      const mine = await numbers(stage, 1);
      const held = await change(stage, stage.main, { active: false });
      deepEqual((await standingOf(stage, at(mine, 0))).webhook, held);
    });

    it('is gone when it is over, and back', async () => {
      await using stage = await withWebhooks(harness);
      await numbers(stage, 1);
      const over = at(await deliverAll(stage), 0);
      equal((await wholeOf(stage, over)).position, null);
      await resend(stage, over);
      deepEqual((await wholeOf(stage, over)).position?.webhook, stage.main);
    });

    it('is none of mails and lost webhooks', async () => {
      await using stage = await withWebhooks(harness);
      const mine = await numbers(stage, 2);
      const [under] = await stage.deliveries(1);
      await stage.store.deleteWebhook(stage.owner.id, stage.main.id);
      for (const number of mine) equal((await wholeOf(stage, { delivery: number })).position, null);
      equal((await wholeOf(stage, defined(under))).record.state, 'sending');
      const run = await stage.started(await stage.workflow());
      await stage.end(run, succeeded({ outgoing: [mail('hello')] }), none());
      equal((await wholeOf(stage, only(await stage.deliveries()))).position, null);
    });
  });
}
