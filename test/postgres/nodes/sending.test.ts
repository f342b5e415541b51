// What two nodes that send to the same webhook must agree on: pauses, health, order, and what is sent again. On their
// stores alone, so that the clock of the database stands where the test sets it.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import type { ClaimedDelivery } from '../../../src/domain/delivery/delivery.ts';
import { HEALTHY } from '../../../src/domain/delivery/health.ts';
import { ERRORS } from '../../../src/domain/emission.ts';
import { failureOfDelivery } from '../../../src/domain/failure.ts';
import { DAY_MS, LIMITS, MINUTE_MS } from '../../../src/domain/limits.ts';
import type { Webhook } from '../../../src/domain/resource.ts';
import type { Store } from '../../../src/store/contract/store.ts';
import { all, anAttempt, at, CountedSlots, defined, none, only, START_MS, times } from '../../contract/fixtures.ts';
import type { WebhookChanges } from '../../contract/maker.ts';
import { claimed, end, type Stores, send, storesOn } from './stores.ts';

interface Two extends Stores {
  readonly a: Store;
  readonly b: Store;
}

async function two(changes: WebhookChanges = {}): Promise<Two> {
  const made = await storesOn(2, changes);
  return { ...made, a: at(made.stores, 0), b: at(made.stores, 1) };
}

const numbersOf = (deliveries: readonly { delivery: number }[]) => deliveries.map(({ delivery }) => delivery);

function exhaust(node: Store, delivery: ClaimedDelivery) {
  const made = anAttempt({ status: 500, detail: 'answered 500' });
  const error = failureOfDelivery(delivery, made, { code: 'DeliveryExhausted' });
  return end(node, delivery, { state: 'exhausted', made, error });
}

/** What is due, to the last one; their numbers. */
async function deliverAll(node: Store): Promise<number[]> {
  const numbers: number[] = [];
  for (;;) {
    const deliveries = await claimed(node);
    if (deliveries.length === 0) return numbers;
    numbers.push(...numbersOf(deliveries));
    await Promise.all(deliveries.map((delivery) => end(node, delivery, { state: 'delivered' })));
  }
}

/** One event that goes out at this node, and whose delivery is exhausted. */
async function failAt(nodes: Two, node: Store) {
  const { claims } = await send(nodes, node, all());
  return exhaust(node, only(claims.deliveries));
}

async function healthAt({ stage, webhook }: Two, node: Store) {
  return (await node.webhookHealth(stage.owner.id, [webhook.id])).get(webhook.id);
}

async function codesAt({ stage, webhook }: Two, node: Store) {
  const channel = { ownerId: stage.owner.id, emitterId: webhook.id, name: ERRORS };
  return (await node.listEmissions(channel, { limit: 100 }, false)).items.map(({ code }) => code);
}

test('a pause told to one holds at both', async () => {
  await using nodes = await two();
  const { a, b, clock } = nodes;
  const first = only((await send(nodes, a, all())).claims.deliveries);
  const untilMs = START_MS + MINUTE_MS;
  await end(a, first, { state: 'retrying', nextAttemptAtMs: untilMs, pauseUntilMs: untilMs });
  deepEqual((await send(nodes, b, all())).claims.deliveries, []);
  deepEqual((await send(nodes, a, all())).claims.deliveries, []);
  equal((await healthAt(nodes, b))?.pausedUntilMs, untilMs);
  clock.advance(MINUTE_MS - 1);
  const { deliveries, nextDueAtMs } = await b.claimDeliveries(100, all());
  deepEqual([deliveries, nextDueAtMs], [[], untilMs]);
  clock.advance(1);
  const after = await claimed(b);
  equal(after.length, 3);
  const again = defined(after.find(({ delivery }) => delivery === first.delivery));
  deepEqual([again.trigger, again.attempt, again.tries], ['retry', 1, 0]);
});

test('a pause that ends early for one ends for both', async () => {
  await using nodes = await two();
  const { a, b, stage, webhook } = nodes;
  const first = only((await send(nodes, a, all())).claims.deliveries);
  const untilMs = START_MS + DAY_MS;
  await end(a, first, { state: 'retrying', nextAttemptAtMs: untilMs, pauseUntilMs: untilMs });
  await send(nodes, b);
  deepEqual(await claimed(b), []);
  const change = (before: Webhook) => ({ ...before, url: 'https://example.org/other' });
  await a.updateWebhook(stage.owner.id, webhook.id, change);
  const next = await claimed(b);
  deepEqual(next.map(({ trigger }) => trigger).sort(), ['event', 'retry'], 'and the one that was put off');
  for (const { webhook: now } of next) equal(now?.url, 'https://example.org/other');
});

test('failures at both count together', async () => {
  await using nodes = await two();
  const { a, b } = nodes;
  for (const node of [a, b]) await failAt(nodes, node);
  deepEqual(await codesAt(nodes, a), ['DeliveryExhausted', 'DeliveryExhausted']);
  await failAt(nodes, a);
  equal((await codesAt(nodes, b)).filter((code) => code === 'WebhookFailing').length, 1);
  await failAt(nodes, b);
  equal((await codesAt(nodes, a)).filter((code) => code === 'WebhookFailing').length, 1);
  deepEqual(await healthAt(nodes, a), await healthAt(nodes, b));
  const { claims } = await send(nodes, b, all());
  await end(b, only(claims.deliveries), { state: 'delivered' });
  deepEqual(await healthAt(nodes, a), HEALTHY);
});

test('days of failures at both disable at both', async () => {
  await using nodes = await two();
  const { a, b, clock, stage, webhook } = nodes;
  for (const node of [a, b, a]) await failAt(nodes, node);
  await send(nodes, a);
  clock.advance(LIMITS.disablingMs);
  const waiting = only(await claimed(b));
  await send(nodes, a);
  equal((await exhaust(b, waiting)).isDisabled, true);
  ok((await codesAt(nodes, a)).includes('WebhookDisabled'));
  equal((await a.getWebhook(stage.owner.id, webhook.id))?.active, false);
  deepEqual((await send(nodes, a, all())).claims.deliveries, []);
  equal((await b.ledger(stage.owner.id)).deliveries.held, 2);
});

test('an ordered webhook keeps its order over both', async () => {
  await using nodes = await two({ settings: { ordered: true } });
  const { a, b, stage, webhook, clock } = nodes;
  for (let n = 0; n < 10; n++) await send(nodes, n % 2 === 0 ? a : b);
  const of = { ownerId: stage.owner.id, listenerId: webhook.id };
  const order = numbersOf((await a.listDeliveries(of, { limit: 100 })).items).reverse();
  const sent: number[] = [];
  for (let n = 0; sent.length < 10; n++) {
    const delivery = only((await Promise.all([claimed(a), claimed(b)])).flat());
    const [node, other] = n % 2 === 0 ? [a, b] : [b, a];
    deepEqual(await claimed(other), []);
    // The one at the head fails once, and holds up the others at both.
    if (delivery.tries === 0) {
      await end(node, delivery, { state: 'retrying', nextAttemptAtMs: clock.ms + MINUTE_MS });
      deepEqual([...(await claimed(a)), ...(await claimed(b))], []);
      clock.advance(MINUTE_MS);
    } else {
      await end(node, delivery, { state: 'delivered' });
      sent.push(delivery.delivery);
    }
  }
  deepEqual(sent, order);
});

test('an operation of both sends each again once', async () => {
  await using nodes = await two();
  const { a, b, stage, webhook } = nodes;
  const count = LIMITS.operationStep + 100;
  await Promise.all(times(count, (n) => send(nodes, n % 2 === 0 ? a : b)));
  await deliverAll(a);
  const operation = stage.make.operation(webhook.id, { states: ['delivered'] });
  ok(await b.createOperation(operation));
  const again: number[] = [];
  const stateAt = async (node: Store) => (await node.getOperation(stage.owner.id, operation.id))?.state;
  const work = async (node: Store): Promise<void> => {
    while ((await stateAt(node)) === 'running') {
      await node.stepOperation();
      const deliveries = await claimed(node);
      ok(deliveries.every(({ trigger }) => trigger === 'resend'));
      again.push(...numbersOf(deliveries));
      await Promise.all(deliveries.map((delivery) => end(node, delivery, { state: 'delivered' })));
    }
  };
  await Promise.all([work(a), work(b)]);
  for (const node of [a, b]) again.push(...(await deliverAll(node)));
  deepEqual([again.length, new Set(again).size], [count, count]);
  const done = defined(await a.getOperation(stage.owner.id, operation.id));
  deepEqual([done.state, done.total, done.resent, done.passedOver], ['done', count, count, 0]);
});

test('what is sent again at one goes out at the other', async () => {
  await using nodes = await two();
  const { a, b, stage } = nodes;
  const { claims } = await send(nodes, a, all());
  const first = only(claims.deliveries);
  await exhaust(a, first);
  const answers = await Promise.all([a, b].map((node) => node.resendDelivery(stage.owner.id, first.delivery)));
  deepEqual(
    answers.map((answer) => typeof answer === 'object' && [answer.state, answer.dueBy]),
    Array(2).fill(['retrying', 'resend']),
  );
  const again = only([...(await claimed(b)), ...(await claimed(a))]);
  deepEqual([again.delivery, again.trigger, again.tries], [first.delivery, 'resend', 0]);
  // What the first attempt's node has still to say is of a lease that is over.
  equal((await end(a, first, { state: 'delivered' })).held, false);
  equal((await end(b, again, { state: 'delivered' })).held, true);
});

test('webhooks without free slots delay no other', async () => {
  await using nodes = await two();
  const { a, b, stage, clock } = nodes;
  const { id: emitterId } = await stage.source();
  for (let n = 0; n < 500; n++) await stage.subscribe(emitterId, (await stage.webhook()).id);
  const last = await stage.webhook();
  await stage.subscribe(emitterId, last.id);
  await b.append(stage.make.emission(emitterId), none());
  // As the engine goes on: at once as long as something is due, and else with the next poll.
  const claimWith = async (slots: CountedSlots): Promise<[found: string[], claims: number]> => {
    const found: string[] = [];
    for (let claims = 1; ; claims++) {
      const { deliveries, nextDueAtMs } = await a.claimDeliveries(100, slots);
      found.push(...deliveries.map(({ webhook }) => defined(webhook).id));
      if (nextDueAtMs === null || nextDueAtMs > clock.ms || claims === 100) return [found, claims];
    }
  };
  deepEqual(await claimWith(new CountedSlots(100, (id) => id === last.id)), [[last.id], 3]);
  deepEqual(
    await claimWith(new CountedSlots(100, () => false)),
    [[], 3],
    'all were looked at, and nobody goes round for ever',
  );
});

test('settings changed at one count at the other', async () => {
  await using nodes = await two();
  const { a, b, stage, webhook } = nodes;
  const settings = { ...webhook.settings, timeoutMs: 5000, headers: { 'x-shop': '1' } };
  await a.updateWebhook(stage.owner.id, webhook.id, (before) => ({ ...before, settings }));
  deepEqual(only((await send(nodes, b, all())).claims.deliveries).webhook?.settings, settings);
  const changes = times(20, (n) => [a, b][n % 2]?.updateWebhook(stage.owner.id, webhook.id, oneMore));
  await Promise.all(changes);
  equal((await b.getWebhook(stage.owner.id, webhook.id))?.description, 'x'.repeat(20));
});

/** A change that shows whether another one was lost. */
function oneMore(before: Webhook): Webhook {
  return { ...before, description: `${before.description ?? ''}x` };
}
