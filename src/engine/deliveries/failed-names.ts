// Names in the error of a mail, request or notice that was given up: people know a workflow or channel by its name, and not by its
// id. They are read when it is given up, since deliveries do not have them.

import type { DeliveryNames } from '../../domain/delivery/delivery-name.ts';
import { failureOfDelivery } from '../../domain/failure.ts';
import { PREFIX } from '../../domain/ids.ts';
import { channelOfListener } from '../../domain/notices/listener.ts';
import type { AttemptEnd, Store } from '../../store/contract/store.ts';

type NamingStore = Pick<Store, 'getOwner' | 'getWorkflow' | 'getChannel'>;

/** Returns the end of an attempt with names in its error. A name that cannot be read is left out: the error is told anyway. */
export async function withNames(store: NamingStore, end: AttemptEnd): Promise<AttemptEnd> {
  const { delivery, made, error } = end;
  if (!error || error.code === null || delivery.webhook) return end;
  const names = await namesOf(store, delivery.emission).catch(() => null);
  return names ? { ...end, error: failureOfDelivery(delivery, made, { code: error.code, names }) } : end;
}

async function namesOf(
  store: NamingStore,
  { ownerId, emitterId, onlyListenerId }: AttemptEnd['delivery']['emission'],
): Promise<DeliveryNames> {
  const channelId = channelOfListener(onlyListenerId);
  const [owner, emitter, channel] = await Promise.all([
    emitterId === ownerId ? store.getOwner(ownerId) : undefined,
    emitterId.startsWith(PREFIX.workflow) ? store.getWorkflow(ownerId, emitterId) : undefined,
    channelId === null ? undefined : store.getChannel(ownerId, channelId),
  ]);
  return { emitter: emitter?.name ?? null, owner: owner?.name ?? null, channel: channel?.name ?? null };
}
