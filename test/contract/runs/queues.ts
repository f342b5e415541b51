// Whatever has happened to webhooks and their deliveries, a claim takes just what may go: nothing that must wait, and
// nothing is forgotten. What may go is read from the records, by the promises of store.ts.

import { equal, ok, rejects } from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { ClaimedDelivery } from '../../../src/domain/delivery/delivery.ts';
import { MINUTE_MS, SECOND_MS } from '../../../src/domain/limits.ts';
import type { Webhook } from '../../../src/domain/resource.ts';
import type { DeliveryRecord } from '../../../src/store/contract/records.ts';
import type { Claims } from '../../../src/store/contract/store.ts';
import { change, FAILED, healthOf, listed, numbersOf, putOff, record } from '../deliveries/sending.ts';
import { all, at, defined, type Harness, none, sameMembers, shareOf, timesInTurn, upTo } from '../fixtures.ts';
import { assertLedgerAddsUp } from '../log/counting.ts';
import { type RandomStep, stepOf } from '../log/random-steps.ts';
import { Stage } from '../stage.ts';

const STEPS = [
  'append',
  'append to busy slots',
  'claim few',
  'claim',
  'deliver',
  'deliver and take',
  'fail',
  'exhaust',
  'put off',
  'resend',
  'release',
  'disable',
  'enable',
  'order',
  'loosen',
  'move',
  'second',
  'minute',
  'reopen',
] as const;

type Step = RandomStep<(typeof STEPS)[number]>;

interface Queue {
  readonly webhook: Webhook;
  readonly waiting: readonly DeliveryRecord[];
  readonly sending: number;
  readonly pausedUntilMs: number;
}

class Play {
  readonly stage: Stage;
  readonly webhooks: readonly Webhook[];
  readonly emitterIds: readonly string[];
  under: ClaimedDelivery[] = [];

  constructor(stage: Stage, webhooks: readonly Webhook[], emitterIds: readonly string[]) {
    this.stage = stage;
    this.webhooks = webhooks;
    this.emitterIds = emitterIds;
  }

  /** Two webhooks with an emitter each, of which one is ordered; and an emitter that both hear. */
  static async on(stage: Stage): Promise<Play> {
    const webhooks = [await stage.webhook(), await stage.webhook({ settings: { ordered: true } })];
    const emitterIds = (await timesInTurn(3, () => stage.source())).map((source) => source.id);
    for (const [i, { id }] of webhooks.entries()) {
      await stage.subscribe(at(emitterIds, i), id);
      await stage.subscribe(at(emitterIds, 2), id);
    }
    return new Play(stage, webhooks, emitterIds);
  }

  async step({ what, which, isPoisoned }: Step): Promise<void> {
    const poison = isPoisoned ? rejects(this.stage.store.createWebhook(at(this.webhooks, 0))) : undefined;
    await Promise.all([this.#do(what, which), poison]);
    await this.#assertInOrder();
  }

  async #do(what: Step['what'], which: number): Promise<void> {
    const { stage } = this;
    const webhook = at(this.webhooks, which % this.webhooks.length);
    const settings = async () => defined(await stage.store.getWebhook(stage.owner.id, webhook.id)).settings;
    if (what === 'append') this.#take((await stage.append(at(this.emitterIds, which % 3), {}, upTo(1))).claims);
    else if (what === 'append to busy slots') await stage.append(at(this.emitterIds, which % 3));
    else if (what === 'claim few') this.#take(await stage.store.claimDeliveries(1 + (which % 3), all()));
    else if (what === 'claim') await this.claim();
    else if (what === 'second') stage.clock.advance(SECOND_MS);
    else if (what === 'minute') stage.clock.advance(MINUTE_MS);
    else if (what === 'disable') await change(stage, webhook, { active: false });
    else if (what === 'enable') await change(stage, webhook, { active: true });
    else if (what === 'order') await change(stage, webhook, { settings: { ...(await settings()), ordered: true } });
    else if (what === 'loosen') await change(stage, webhook, { settings: { ...(await settings()), ordered: false } });
    else if (what === 'move') await change(stage, webhook, { url: `https://example.org/${which}` });
    else if (what === 'resend') {
      const some = await listed(stage, webhook);
      const one = some[which % Math.max(some.length, 1)];
      if (one) await stage.store.resendDelivery(stage.owner.id, one.delivery);
    } else if (what === 'reopen') {
      await stage.reopen();
      this.under = [];
      await stage.store.rescue(none());
    } else await this.#end(what, which);
  }

  async #end(what: Step['what'], which: number): Promise<void> {
    const { stage } = this;
    const [delivery] = this.under.splice(which % Math.max(this.under.length, 1), 1);
    if (!delivery) return;
    if (what === 'release') return stage.store.releaseDeliveries([delivery]);
    const slots = what === 'deliver and take' ? upTo(2) : none();
    const answers = { fail: FAILED, 'put off': putOff((1 + (which % 3)) * SECOND_MS) } as const;
    const end =
      what === 'exhaust'
        ? await stage.exhausted(delivery)
        : await record(stage, delivery, what === 'fail' || what === 'put off' ? answers[what] : {}, slots);
    equal(end.held, true);
    this.#take(end.claims);
  }

  #take({ deliveries }: Claims): void {
    this.under.push(...deliveries);
  }

  /** Claims all that may go, and sees that it is just that. */
  async claim(): Promise<number> {
    const { stage } = this;
    const queues = await Promise.all(this.webhooks.map((webhook) => this.#queueOf(webhook)));
    const claims = await stage.store.claimDeliveries(1000, all());
    const nowMs = stage.clock.ms;
    sameMembers(
      numbersOf(claims.deliveries),
      queues.flatMap((queue) => mayGo(queue, nowMs)),
    );
    this.#take(claims);
    const after = await Promise.all(this.webhooks.map((webhook) => this.#queueOf(webhook)));
    const dueAtMs = Math.min(...after.map((queue) => dueOf(queue)));
    equal(claims.nextDueAtMs, Number.isFinite(dueAtMs) ? dueAtMs : null);
    return claims.deliveries.length;
  }

  async #queueOf({ id }: Webhook): Promise<Queue> {
    const { stage } = this;
    const records = await listed(stage, { id });
    return {
      webhook: defined(await stage.store.getWebhook(stage.owner.id, id)),
      waiting: records.filter((r) => r.state === 'pending' || r.state === 'retrying'),
      sending: records.filter((r) => r.state === 'sending').length,
      pausedUntilMs: (await healthOf(stage, { id })).pausedUntilMs ?? 0,
    };
  }

  /** Nothing is held under way that the records do not know of. */
  async #assertInOrder(): Promise<void> {
    const states = await Promise.all(this.webhooks.map((webhook) => listed(this.stage, webhook, 'sending')));
    sameMembers(numbersOf(states.flat()), numbersOf(this.under));
  }

  /** All of it goes out. */
  async finish(): Promise<void> {
    for (const webhook of this.webhooks) await change(this.stage, webhook, { active: true });
    for (let rounds = 0; rounds < 300; rounds++) {
      for (const delivery of this.under.splice(0)) await this.stage.delivered(delivery);
      this.stage.clock.advance(MINUTE_MS);
      const left = (await Promise.all(this.webhooks.map((webhook) => this.#queueOf(webhook)))).flatMap(
        (q) => q.waiting,
      );
      if (left.length === 0) return;
      ok((await this.claim()) > 0 || left.every((r) => Number(r.nextAttemptAtMs) > this.stage.clock.ms), 'it is stuck');
    }
    throw new Error('it never comes to rest');
  }
}

function mayGo({ webhook, waiting, sending, pausedUntilMs }: Queue, nowMs: number): number[] {
  if (!webhook.active || pausedUntilMs > nowMs) return [];
  const isDue = (r: DeliveryRecord): boolean => Number(r.nextAttemptAtMs) <= nowMs;
  if (!webhook.settings.ordered) return numbersOf(waiting.filter(isDue));
  return sending > 0 ? [] : numbersOf(waiting.slice(0, 1).filter(isDue));
}

/** When the first of what waits may go, all that may go now being under way; Infinity when that is no matter of time. */
function dueOf({ webhook, waiting, sending, pausedUntilMs }: Queue): number {
  const { ordered } = webhook.settings;
  if (ordered && sending > 0) return Number.POSITIVE_INFINITY;
  const heads = ordered ? waiting.slice(0, 1) : waiting;
  return Math.min(...heads.map((r) => Math.max(Number(r.nextAttemptAtMs), pausedUntilMs)));
}

export function queuesContract(harness: Harness): void {
  describe('whatever has happened, a claim', () => {
    it('takes just what may go', async () => {
      const steps = fc.array(stepOf(STEPS), { maxLength: 40 });
      await fc.assert(
        fc.asyncProperty(steps, async (list) => {
          await using stage = await Stage.open(harness);
          const play = await Play.on(stage);
          for (const step of list) await play.step(step);
          await play.claim();
          await assertLedgerAddsUp(stage);
          await play.finish();
          await assertLedgerAddsUp(stage);
        }),
        { numRuns: shareOf(harness, 25) },
      );
    });
  });
}
