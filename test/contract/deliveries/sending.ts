// The moves of the tests about sending: webhooks that hear a source, attempts judged as the engine judges them, and what
// became of a delivery.

import { equal } from 'node:assert/strict';
import {
  type Attempt,
  type ClaimedDelivery,
  type DeliveryState,
  decide,
} from '../../../src/domain/delivery/delivery.ts';
import type { WebhookHealth } from '../../../src/domain/delivery/health.ts';
import { ERRORS } from '../../../src/domain/emission.ts';
import { failureOfDelivery } from '../../../src/domain/failure.ts';
import type { Webhook } from '../../../src/domain/resource.ts';
import type { DeliveryRecord, DeliveryWhole } from '../../../src/store/contract/records.ts';
import type { Attempted, FreeSlots } from '../../../src/store/contract/store.ts';
import { all, anAttempt, at, defined, type Harness, none, times, timesInTurn, walk } from '../fixtures.ts';
import type { WebhookChanges } from '../maker.ts';
import { numbered, Stage } from '../stage.ts';

export type Heard = Stage & {
  readonly emitterId: string;
  readonly webhooks: readonly Webhook[];
  readonly main: Webhook;
};

/** A stage with a source that so many webhooks listen to; `main` is the first of them. */
export async function withWebhooks(harness: Harness, count = 1, changes: WebhookChanges = {}): Promise<Heard> {
  const stage = await Stage.open(harness);
  const webhooks = await timesInTurn(count, () => stage.webhook(changes));
  const { id: emitterId } = await stage.source();
  for (const { id } of webhooks) await stage.subscribe(emitterId, id);
  return Object.assign(stage, { emitterId, webhooks, main: at(webhooks, 0) });
}

/** So many deliveries, each of an emission of its own, for one webhook alone; none of them under way. */
export async function pendingFor(stage: Stage, webhook: Pick<Webhook, 'id'>, count: number): Promise<void> {
  const source = await stage.source();
  await stage.subscribe(source.id, webhook.id);
  await Promise.all(times(count, (i) => stage.append(source.id, { body: numbered(i) })));
}

/** What the engine writes when an attempt came to that, without jitter. */
export function record(
  stage: Pick<Stage, 'store' | 'clock'>,
  delivery: ClaimedDelivery,
  answer: Partial<Attempt> = {},
  slots: FreeSlots = none(),
): Promise<Attempted> {
  const made = anAttempt({ startedAtMs: stage.clock.nowMs(), ...answer });
  const decision = decide(delivery, made, 0.5);
  const { state } = decision;
  const nextAttemptAtMs = state === 'retrying' ? stage.clock.nowMs() + decision.inMs : null;
  const end = {
    delivery,
    made,
    state,
    nextAttemptAtMs,
    pauseUntilMs: state === 'retrying' && decision.isPause ? nextAttemptAtMs : null,
    error: state === 'exhausted' ? failureOfDelivery(delivery, made, decision) : null,
    disableWebhook: state === 'exhausted' && decision.code === 'WebhookGone',
  };
  return stage.store.recordAttempt(end, slots);
}

export const FAILED: Partial<Attempt> = { status: 500, detail: 'answered 500' };

/** The receiver asked to be left alone for so long. */
export const putOff = (retryAfterMs: number): Partial<Attempt> => ({
  status: 429,
  detail: 'answered 429',
  retryAfterMs,
});

export async function wholeOf(stage: Stage, { delivery }: { delivery: number }): Promise<DeliveryWhole> {
  return defined(await stage.store.getDelivery(stage.owner.id, delivery));
}

export async function recordOf(stage: Stage, delivery: { delivery: number }): Promise<DeliveryRecord> {
  return (await wholeOf(stage, delivery)).record;
}

export async function resend(stage: Stage, { delivery }: { delivery: number }): Promise<DeliveryRecord> {
  const answer = defined(await stage.store.resendDelivery(stage.owner.id, delivery));
  if (typeof answer === 'string') throw new Error(`not sent again: ${answer}`);
  return answer;
}

export async function healthOf(stage: Stage, { id }: { id: string }): Promise<WebhookHealth> {
  return defined((await stage.store.webhookHealth(stage.owner.id, [id])).get(id));
}

export async function change(stage: Stage, { id }: { id: string }, changes: Partial<Webhook>): Promise<Webhook> {
  return defined(await stage.store.updateWebhook(stage.owner.id, id, (before) => ({ ...before, ...changes })));
}

/** Codes of what a webhook's `$errors` channel lists, oldest first. */
export async function codesOf(stage: Stage, { id }: { id: string }): Promise<(string | null)[]> {
  const channel = { ownerId: stage.owner.id, emitterId: id, name: ERRORS };
  const { items } = await stage.store.listEmissions(channel, { limit: 100 }, false);
  return items.map((item) => item.code).reverse();
}

/** Of one webhook, oldest first. */
export async function listed(stage: Stage, { id }: { id: string }, state?: DeliveryState): Promise<DeliveryRecord[]> {
  const of = { ownerId: stage.owner.id, listenerId: id, ...(state ? { state } : {}) };
  const found = await walk<DeliveryRecord, number>(
    (page) => stage.store.listDeliveries(of, page),
    (item) => item.delivery,
  );
  return found.reverse();
}

export async function countOf(stage: Stage, { id }: { id: string }, state: DeliveryState): Promise<number> {
  return (await stage.store.listDeliveries({ ownerId: stage.owner.id, listenerId: id, state }, { limit: 1 }))
    .totalCount;
}

/** Claims and exhausts whatever is due, round by round, until nothing is. */
export async function exhaustAll(stage: Stage): Promise<void> {
  await drain(stage, (delivery) => stage.exhausted(delivery));
}

export async function deliverAll(stage: Stage): Promise<ClaimedDelivery[]> {
  return drain(stage, (delivery) => stage.delivered(delivery));
}

async function drain(stage: Stage, end: (delivery: ClaimedDelivery) => Promise<Attempted>): Promise<ClaimedDelivery[]> {
  const claimed: ClaimedDelivery[] = [];
  while (true) {
    const { deliveries } = await stage.store.claimDeliveries(1000, all());
    if (deliveries.length === 0) return claimed;
    claimed.push(...deliveries);
    for (const { held } of await Promise.all(deliveries.map(end))) equal(held, true, 'the lease is ours');
  }
}

export const numbersOf = (deliveries: readonly { delivery: number }[]): number[] => deliveries.map((d) => d.delivery);
