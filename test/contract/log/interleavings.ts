// Whatever the order in which things happen: the ledger adds up, each failed run has one `$errors`, and no run is lost.

import { deepEqual, equal, rejects } from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { ClaimedDelivery } from '../../../src/domain/delivery/delivery.ts';
import { SECOND_MS } from '../../../src/domain/limits.ts';
import { RESENDABLE } from '../../../src/domain/operation.ts';
import type { Webhook } from '../../../src/domain/resource.ts';
import type { ClaimedRun } from '../../../src/domain/run/run.ts';
import { change, putOff, record } from '../deliveries/sending.ts';
import { CountedSlots, emit, ended, failed, type Harness, mail, shareOf, succeeded, timesInTurn } from '../fixtures.ts';
import { Stage } from '../stage.ts';
import { assertCountersAreRight, assertLedgerAddsUp, assertOneErrorPerFailure } from './counting.ts';

const STEPS = [
  'append',
  'append busy',
  'claim',
  'succeed',
  'emit',
  'fail',
  'mail',
  'unattributed',
  'return',
  'late',
  'release',
  'cancel',
  'deliver',
  'retry',
  'exhaust',
  'put off',
  'release deliveries',
  'resend',
  'resend many',
  'disable',
  'enable',
  'order',
  'second',
  'poison',
  'reopen',
] as const;

type Step = (typeof STEPS)[number];

const OUTCOMES = {
  succeed: succeeded(),
  emit: succeeded({ outgoing: [emit(''), emit('paid')] }),
  fail: failed('Boom', { outgoing: [emit('')] }),
  mail: succeeded({ outgoing: [mail('news')] }),
  unattributed: ended('unattributed'),
  return: ended('returned'),
} as const;

/** A few workflows that hear each other and a webhook, and what this node holds of their work. */
class Play {
  readonly stage: Stage;
  readonly triggerIds: readonly string[];
  readonly webhook: Webhook;
  runs: ClaimedRun[] = [];
  deliveries: ClaimedDelivery[] = [];
  /** Held once, and no longer. */
  lost: ClaimedRun[] = [];
  made: number[] = [];
  #turn = 0;

  constructor(stage: Stage, webhook: Webhook, triggerIds: readonly string[]) {
    this.stage = stage;
    this.webhook = webhook;
    this.triggerIds = triggerIds;
  }

  static async on(stage: Stage): Promise<Play> {
    const webhook = await stage.webhook();
    const hooked = await timesInTurn(3, (i) => stage.hooked({ settings: { queueLimit: i === 2 ? 2 : 100 } }));
    const [a, b, c] = hooked.map((h) => h.workflow.id) as [string, string, string];
    for (const [from, to, name] of [
      [a, b, ''],
      [b, a, '$errors'],
      [a, b, '$errors'],
      [b, c, 'paid'],
    ] as const) {
      await stage.subscribe(from, to, name);
    }
    await stage.subscribe('p_*', webhook.id, '*');
    await stage.subscribe(c, webhook.id, '$errors');
    return new Play(
      stage,
      webhook,
      hooked.map((h) => h.trigger.id),
    );
  }

  /** Steps of one group are called at once; each takes what it works on before it waits. */
  async step(step: Step): Promise<void> {
    const { stage } = this;
    const slots = new CountedSlots(2);
    if (step === 'append' || step === 'append busy') {
      const triggerId = this.triggerIds[this.#turn++ % this.triggerIds.length] as string;
      const appended = await stage.append(triggerId, {}, step === 'append' ? slots : new CountedSlots(0));
      if (appended.firstRun !== null) this.made.push(appended.firstRun);
      this.#hold(appended.claims);
    } else if (step === 'claim') {
      this.#hold(await stage.store.claimRuns(3, slots));
      this.#hold(await stage.store.claimDeliveries(3, slots));
    } else if (step in OUTCOMES) {
      const run = this.runs.shift();
      if (!run) return;
      this.lost.push(run);
      const { held, claims } = await stage.tryEnd(run, OUTCOMES[step as keyof typeof OUTCOMES], slots);
      equal(held, true);
      this.#hold(claims);
    } else if (step === 'late') {
      const run = this.lost.at(-1);
      if (run) equal((await stage.tryEnd(run, failed('Late'), slots)).held, false);
    } else if (!(await this.#webhookStep(step))) await this.#otherStep(step, slots);
  }

  /** What its owner and the time do to the webhook. */
  async #webhookStep(step: Step): Promise<boolean> {
    const { stage, webhook } = this;
    if (step === 'second') stage.clock.advance(SECOND_MS);
    else if (step === 'poison') await rejects(stage.store.createWebhook(webhook));
    else if (step === 'disable') await change(stage, webhook, { active: false });
    else if (step === 'enable') await change(stage, webhook, { active: true });
    else if (step === 'order') await change(stage, webhook, { settings: { ...webhook.settings, ordered: true } });
    else if (step === 'resend') {
      const { items } = await stage.store.listDeliveries({ ownerId: stage.owner.id }, { limit: 5 });
      const chosen = items[this.#turn++ % Math.max(items.length, 1)];
      if (chosen) await stage.store.resendDelivery(stage.owner.id, chosen.delivery);
    } else if (step === 'resend many') {
      await stage.store.createOperation(stage.make.operation(webhook.id, { states: RESENDABLE }));
      for (let i = 0; i < 3; i++) await stage.store.stepOperation();
    } else return false;
    return true;
  }

  async #otherStep(step: Step, slots: CountedSlots): Promise<void> {
    const { stage } = this;
    const due = { deliver: 'delivered', retry: 'retrying', exhaust: 'exhausted', 'put off': 'retrying' } as const;
    if (step === 'release') {
      const released = this.runs.splice(0, 2);
      this.lost.push(...released);
      await stage.giveBack(...released);
    } else if (step === 'release deliveries') {
      await stage.store.releaseDeliveries(this.deliveries.splice(0, 2));
    } else if (step === 'cancel') {
      const run = this.made[this.#turn++ % Math.max(this.made.length, 1)];
      if (run !== undefined) await stage.store.cancelRun(stage.owner.id, run);
    } else if (step in due) {
      const delivery = this.deliveries.shift();
      if (!delivery) return;
      if (step === 'deliver') equal((await stage.delivered(delivery)).held, true);
      if (step === 'retry') equal((await stage.retrying(delivery, 0)).held, true);
      if (step === 'put off') equal((await record(stage, delivery, putOff(SECOND_MS))).held, true);
      if (step === 'exhaust') this.#hold((await stage.exhausted(delivery, {}, slots)).claims);
    }
  }

  async reopen(): Promise<void> {
    await this.stage.reopen();
    this.lost.push(...this.runs.splice(0));
    this.deliveries = [];
    this.#hold((await this.stage.store.rescue(new CountedSlots(1))).claims);
  }

  /** Runs and sends all that is left. */
  async finish(): Promise<void> {
    const { stage } = this;
    await change(stage, this.webhook, { active: true });
    for (let rounds = 0; rounds < 400; rounds++) {
      stage.clock.advance(SECOND_MS);
      while ((await stage.store.stepOperation()).isMore);
      this.#hold(await stage.store.claimRuns(100, new CountedSlots()));
      this.#hold(await stage.store.claimDeliveries(100, new CountedSlots()));
      if (this.runs.length + this.deliveries.length === 0) return;
      for (const run of this.runs.splice(0)) await stage.end(run);
      for (const delivery of this.deliveries.splice(0)) await stage.delivered(delivery);
    }
    throw new Error('it never comes to rest');
  }

  #hold(claims: { runs: readonly ClaimedRun[]; deliveries: readonly ClaimedDelivery[] }): void {
    this.runs.push(...claims.runs);
    this.deliveries.push(...claims.deliveries);
  }
}

export function interleavingsContract(harness: Harness): void {
  describe('any interleaving', () => {
    it('keeps the ledger and one error per failure', async () => {
      const groups = fc.array(fc.array(fc.constantFrom(...STEPS), { minLength: 1, maxLength: 6 }), { maxLength: 14 });
      await fc.assert(
        fc.asyncProperty(groups, async (list) => {
          await using stage = await Stage.open(harness);
          const play = await Play.on(stage);
          for (const group of list) {
            await Promise.all(group.filter((step) => step !== 'reopen').map((step) => play.step(step)));
            if (group.includes('reopen')) await play.reopen();
            await assertLedgerAddsUp(stage);
          }
          await assertOneErrorPerFailure(stage);
          await assertCountersAreRight(stage);
          await play.finish();
          const { runs, deliveries } = await stage.store.ledger(stage.owner.id);
          const { pending, sending, retrying, held } = deliveries;
          deepEqual([runs.queued, runs.running, pending, sending, retrying, held], [0, 0, 0, 0, 0, 0]);
          await assertLedgerAddsUp(stage);
          await assertOneErrorPerFailure(stage);
        }),
        { numRuns: shareOf(harness, 40) },
      );
    });
  });
}
