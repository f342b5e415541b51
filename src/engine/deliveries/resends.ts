// Sending one delivery again by hand.

import type { NotResendable } from '../../domain/delivery/progress.ts';
import { numberedId, PREFIX } from '../../domain/ids.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { Wake } from '../../ports.ts';
import type { DeliveryRecord } from '../../store/contract/records.ts';
import type { Store } from '../../store/contract/store.ts';

export interface ResendDeps {
  /** The store as people see it. */
  readonly shown: Pick<Store, 'resendDelivery'>;
  readonly wake: Wake;
}

export function createResends({ shown, wake }: ResendDeps) {
  async function resendDelivery(ownerId: string, delivery: number): Promise<DeliveryRecord> {
    const id = numberedId(PREFIX.delivery, delivery);
    const resent = await shown.resendDelivery(ownerId, delivery);
    if (resent === undefined) throw new Refusal('not_found', `there is no delivery ${id}`);
    if (typeof resent === 'string') throw refusal(id, resent);
    wake.notify('deliveries');
    return resent;
  }

  return { resendDelivery };
}

function refusal(id: string, why: NotResendable): Refusal {
  if (why === 'sending') {
    return new Refusal('conflict', `${id} is being sent now: wait for its result, then send it again`);
  }
  if (why === 'held') {
    return new Refusal('conflict', `the webhook of ${id} is not active: enable it, and its held deliveries are sent`);
  }
  return new Refusal('impossible', `${id} cannot be sent again: its webhook was deleted`);
}
