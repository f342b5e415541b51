// Several stores on one database, each a node of its own, with the clock of the database where the test sets it.

import type { ClaimedDelivery } from '../../../src/domain/delivery/delivery.ts';
import type { Webhook } from '../../../src/domain/resource.ts';
import type { AttemptEnd, Attempted, FreeSlots, Store } from '../../../src/store/contract/store.ts';
import { all, anAttempt, at, none, TestClock } from '../../contract/fixtures.ts';
import type { WebhookChanges } from '../../contract/maker.ts';
import { Stage } from '../../contract/stage.ts';
import type { FreshOptions } from '../../support/postgres/fresh.ts';
import { newDatabase } from '../../support/postgres/shared.ts';
import { openTestStore } from '../../support/postgres/store.ts';

export interface Stores extends AsyncDisposable {
  readonly stage: Stage;
  readonly stores: readonly Store[];
  readonly clock: TestClock;
  readonly url: string;
  readonly emitterId: string;
  readonly webhook: Webhook;
}

/** With a source that one webhook listens to. */
export async function storesOn(
  count: number,
  changes: WebhookChanges = {},
  options: FreshOptions = {},
): Promise<Stores> {
  const { url, drop } = await newDatabase(options);
  const clock = new TestClock();
  const stores: Store[] = [];
  for (let n = 0; n < count; n++) stores.push(await openTestStore({ url, clock }));
  const stage = await Stage.on(at(stores, 0), clock);
  const webhook = await stage.webhook(changes);
  const { id: emitterId } = await stage.source();
  await stage.subscribe(emitterId, webhook.id);
  const dispose = async (): Promise<void> => {
    await Promise.all(stores.map((store) => store.close()));
    await drop();
  };
  return { stage, stores, clock, url, emitterId, webhook, [Symbol.asyncDispose]: dispose };
}

export const send = ({ stage, emitterId }: Stores, node: Store, slots: FreeSlots = none()) =>
  node.append(stage.make.emission(emitterId), slots);

export const claimed = async (node: Store, slots: FreeSlots = all()): Promise<readonly ClaimedDelivery[]> =>
  (await node.claimDeliveries(100, slots)).deliveries;

export function end(
  node: Store,
  delivery: ClaimedDelivery,
  more: Partial<AttemptEnd> & Pick<AttemptEnd, 'state'>,
): Promise<Attempted> {
  const rest = { made: anAttempt(), nextAttemptAtMs: null, pauseUntilMs: null, error: null, disableWebhook: false };
  return node.recordAttempt({ ...rest, delivery, ...more }, none());
}
