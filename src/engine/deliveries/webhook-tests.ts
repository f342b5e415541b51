// A test of a webhook: one request now, signed and judged like a delivery, of which nothing is kept.

import { utf8 } from '../../domain/bytes.ts';
import { type ClaimedDelivery, decide } from '../../domain/delivery/delivery.ts';
import { type Emission, PLAIN_EMISSION } from '../../domain/emission.ts';
import { NUMBERS_PER_MS } from '../../domain/ids.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { Probe } from '../../domain/requests.ts';
import type { Webhook } from '../../domain/resource.ts';
import type { Clock, Ids } from '../../ports.ts';
import type { Store } from '../../store/contract/store.ts';
import { TestPlaces } from '../capacity/test-places.ts';
import { noWebhook } from '../resources/webhooks.ts';

export interface WebhookTestDeps {
  readonly store: Pick<Store, 'getWebhook'>;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Undefined: it was cut off, because this process stops. */
  readonly probe: (delivery: ClaimedDelivery) => Promise<Pick<Probe, 'attempt' | 'request'> | undefined>;
}

/** In `webhook-id`: a test is no emission of the log. */
const TEST_PREFIX = 'test_';

export function createWebhookTests({ store, clock, ids, probe }: WebhookTestDeps) {
  const places = new TestPlaces('webhooks');

  async function testWebhook(ownerId: string, id: string, event: Uint8Array | null): Promise<Probe> {
    const webhook = await store.getWebhook(ownerId, id);
    if (!webhook) throw noWebhook(id);
    return places.run(ownerId, () => made(webhook, event));
  }

  async function made(webhook: Webhook, event: Uint8Array | null): Promise<Probe> {
    const nowMs = clock.nowMs();
    const body =
      event ?? utf8(JSON.stringify({ test: true, webhook_id: webhook.id, ts: new Date(nowMs).toISOString() }));
    const delivery = deliveryOf(webhook, { emitId: ids.next(TEST_PREFIX), nowMs, body });
    const probed = await probe(delivery);
    if (!probed) throw new Refusal('unavailable', 'This process is stopping; try again');
    // Without jitter: only the state is shown.
    return { ...probed, state: decide(delivery, probed.attempt, 0.5).state };
  }

  return { testWebhook };
}

interface TestEvent {
  readonly emitId: string;
  readonly nowMs: number;
  readonly body: Uint8Array;
}

/**
 * Returns a delivery as if the owner had emitted the event now, for this webhook alone. It has no row: its number and fence say
 * nothing.
 */
function deliveryOf(webhook: Webhook, { emitId, nowMs, body }: TestEvent): ClaimedDelivery {
  const { ownerId } = webhook;
  const emission: Emission = {
    ...PLAIN_EMISSION,
    entry: nowMs * NUMBERS_PER_MS,
    emitId,
    traceId: emitId,
    ownerId,
    emitterId: ownerId,
    originId: ownerId,
    sourceType: 'API',
    body,
    test: true,
    onlyListenerId: webhook.id,
  };
  return {
    delivery: 0,
    fence: 0,
    kind: 'webhook',
    emission,
    subscriptionId: null,
    via: 'direct',
    webhook,
    mailTo: null,
    attempt: 1,
    tries: 0,
    trigger: 'test',
  };
}
